#include "sim/run/run.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/alloc/settings_parser.h"
#include "sim/lang/runtime/notes.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/ops/exactness.h"
#include "sim/run/alternatives.h"
#include "sim/run/import_files.h"
#include "sim/run/job_times.h"
#include "sim/run/ranks.h"
#include "sim/run/record.h"
#include "sim/torch/source/messages.h"
#include "sim/torch/source/model_source.h"

namespace tidemark {
namespace {

/// `assume`: one of the ways that the scenario leaves open.
torch::ModelProgram program_of(const Scenario& scenario, const std::vector<std::string>& assume) {
  torch::ModelProgram program;
  program.model = scenario.model.source;
  program.is_script = scenario.is_script;
  program.ops = scenario.ops;
  for (const std::string& text : assume)
    if (!is_of_chance(text) && !is_of_routing(text)) program.assume.push_back(text);
  program.takes_late_ends = std::ranges::find(assume, kChanceLate) != assume.end();
  program.routing = routing_of(assume);
  for (const Parameter& parameter : scenario.params) {
    program.names.emplace_back(parameter.name, std::make_shared<const SourceText>(SourceText{
                                                   "params." + parameter.name, parameter.value}));
  }
  program.setup = scenario.model.setup;
  program.loop = scenario.loop;
  program.path = scenario.model.import_folders;
  program.path.insert(program.path.end(), scenario.packages.begin(), scenario.packages.end());
  if (scenario.model.sees_zoo) program.path.emplace_back(kZooFolder);
  program.packages = scenario.packages;
  std::vector<std::string> own = scenario.packages;
  own.push_back(scenario.folder);
  std::vector<std::string> code = scenario.model.import_folders;
  if (std::string project = project_of(scenario.folder); !project.empty())
    code.push_back(std::move(project));
  program.files = std::make_shared<HostFiles>(own, code, scenario.edited);
  program.arguments = scenario.script_args;
  if (scenario.is_script) program.arguments.insert(program.arguments.begin(), scenario.loop->name);
  program.environment = scenario.script_env;
  program.end_after_steps = scenario.script_steps;
  program.end_at_ns = scenario.script_until_ns;
  program.backends = scenario.backends;
  program.compile = scenario.compile;
  program.wheel = scenario.wheel;
  program.rank = scenario.rank;
  program.devices.assign(static_cast<std::size_t>(scenario.device_count), scenario.device);
  return program;
}

Simulator simulator_of(const Scenario& scenario, const Program& program,
                       const RunOptions& options) {
  SimulatorOptions simulation;
  simulation.policy = scenario.policy;
  simulation.costs = options.costs;
  simulation.keep_events = options.keep_events;
  simulation.keep_samples = options.keep_samples;
  simulation.keep_live = options.keep_live;
  simulation.keep_times = options.keep_times;
  simulation.count_users = scenario.rank.has_value();
  if (options.keep_track && scenario.rank)
    simulation.track_of = static_cast<std::uint8_t>(scenario.rank->local());
  SimulatedDevice device;
  device.spec = scenario.device;
  device.settings = scenario.settings;
  device.memory_fraction = scenario.memory_fraction;
  device.other_bytes = scenario.other_bytes;
  const std::vector<SimulatedDevice> devices(static_cast<std::size_t>(scenario.device_count),
                                             device);
  return {program, devices, simulation};
}

/// Of a rank's machine, the GPU that is its own.
void keep_own(RunResult& result, std::size_t device) {
  DeviceResult own = std::move(result.devices[device]);
  result.devices.clear();
  result.devices.push_back(std::move(own));
}

/// Takes every instruction and refuses none.
class Recorder final : public Sink {
 public:
  explicit Recorder(Recording& recording) : recording_(recording) {}
  Outcome execute(std::span<const Instruction> chunk) override {
    recording_.instructions.insert(recording_.instructions.end(), chunk.begin(), chunk.end());
    return {};
  }
  Bytes query(MemoryQuery /*what*/, std::uint8_t /*device*/) override {
    recording_.asks = true;
    return 0;
  }
  std::vector<std::pair<std::string, std::int64_t>> statistics(std::uint8_t /*device*/) override {
    recording_.asks = true;
    return {};
  }
  bool query_event(std::uint32_t /*event*/) override {
    recording_.asks = true;
    return true;
  }
  std::optional<bool> query_stream(std::uint8_t /*device*/, StreamId /*stream*/) override {
    recording_.asks = true;
    return true;
  }

 private:
  Recording& recording_;
};

std::vector<AssumptionResult> told(const std::vector<lang::Assumption>& assumptions) {
  std::vector<AssumptionResult> out;
  for (const lang::Assumption& each : assumptions) {
    const std::uint32_t first = each.at.source ? each.at.source->first_line - 1 : 0;
    out.push_back({each.at.source ? each.at.source->name : std::string(), each.at.line + first,
                   each.at.column, each.text, each.direction, each.is_check, each.is_given,
                   each.times});
  }
  return out;
}

std::vector<NoteResult> told(const std::vector<lang::Note>& notes) {
  std::vector<NoteResult> out;
  for (const lang::Note& each : notes) {
    if (each.at.source) {
      out.push_back({each.at.source->name, each.at.line + each.at.source->first_line - 1,
                     each.at.column, each.text, each.times});
    } else {
      out.push_back({{}, 0, 0, each.text, each.times});
    }
  }
  return out;
}

RunBasis basis_of(const torch::ModelSource& source, const Scenario& scenario) {
  return {scenario.wheel.pytorch,
          ops::unproven(source.operators(), scenario.wheel.pytorch),
          told(source.assumptions()),
          told(source.notes()),
          {},
          scenario.rank,
          {},
          {}};
}

/// Whether a file's name ends with a path as the user gives it.
bool is_called(std::string_view name, std::string_view path) {
  if (!name.ends_with(path)) return false;
  return path.empty() || name.size() == path.size() || name[name.size() - path.size() - 1] == '/';
}

/// What is said of a place at which the run asks nothing that it does not know is told.
void note_unused(const std::vector<std::string>& assume, RunResult& result) {
  std::vector<NoteResult> unused;
  for (const std::string& text : assume) {
    if (text == lang::kAssumeZeros || is_of_chance(text) || is_of_routing(text)) continue;
    const lang::GivenValue given = lang::parse_given_value(text);
    const auto is_there = [&](const auto& each) {
      return each.line == given.line && is_called(each.file, given.file);
    };
    const bool is_used = given.is_condition ? std::ranges::any_of(result.assumptions, is_there)
                                            : std::ranges::any_of(result.notes, is_there);
    if (!is_used) {
      unused.push_back({{},
                        0,
                        0,
                        fmt::format("assume: {} is without effect: nothing there depends on a "
                                    "value that is not known",
                                    text),
                        1});
    }
  }
  result.notes.insert(result.notes.end(), unused.begin(), unused.end());
}

/// The scenario under the allocator that its code asks for, where it gives none itself; else
/// std::nullopt. `conf`: of the code's os.environ. Errors: as parse_settings().
std::optional<Scenario> as_asked(const Scenario& scenario, const std::string& conf) {
  const AllocatorSettings& own = scenario.settings;
  if (conf.empty() || !own.text.empty() || own.backend != Backend::kNative) return std::nullopt;
  Scenario asked = scenario;
  asked.settings = parse_settings("os.environ['PYTORCH_ALLOC_CONF']", conf, own.version).settings;
  return asked;
}

/// Blocks that several streams use are let go in the order of a table whose hash has the number of
/// the device in it. Source: docs/rules/allocator.md#10.
void part_by_device(lang::Alike& alike) {
  const Rank& job = alike.job();
  alike.keep_only([&](int rank) { return rank % job.per_node == job.local(); });
}

/// `alike` takes which ranks of the job do what this one does; null: nobody asks.
RunResult run_way(const Scenario& scenario, const RunOptions& options,
                  const std::vector<std::string>& assume, lang::Alike* alike = nullptr,
                  torch::Mailbox* mailbox = nullptr) {
  Program program;
  program.traffic.is_followed = options.keep_track && scenario.rank.has_value();
  std::string printed;
  Simulator simulator = simulator_of(scenario, program, options);
  torch::ModelProgram model = program_of(scenario, assume);
  const std::shared_ptr<HostFiles> files = std::static_pointer_cast<HostFiles>(model.files);
  model.watched = options.watched;
  model.details = options.details;
  model.leave_out_repeats = options.leave_out_repeats;
  model.is_last = options.is_last;
  model.alike = alike;
  model.mailbox = mailbox;
  torch::ModelSource source(std::move(model), [&](std::string_view text) { printed += text; });
  try {
    source.run(program, simulator);
  } catch (const InputError&) {
    if (options.printed_before_error != nullptr) *options.printed_before_error = printed;
    throw;
  }
  if (const auto asked = as_asked(scenario, source.allocator_conf()))
    return run_way(*asked, options, assume, alike, mailbox);
  const auto own = static_cast<std::size_t>(scenario.rank ? scenario.rank->local() : 0);
  if (alike != nullptr && simulator.users(own) > 1) part_by_device(*alike);
  RunResult result = simulator.finish();
  if (scenario.rank) keep_own(result, own);
  if (program.traffic.is_followed) result.track = simulator.take_track();
  result.program = std::move(program);
  result.ended_by_oom = source.ended_by_oom();
  result.printed = std::move(printed);
  result.packages = packages_read(*files, scenario.packages);
  result.own_files = own_modules(*files, scenario.packages);
  result.took_default_pytorch = !scenario.names_pytorch;
  static_cast<RunBasis&>(result) = basis_of(source, scenario);
  note_unused(assume, result);
  return result;
}

/// The worst of the ways that the scenario leaves open, and where there are several what each of
/// them comes to.
std::vector<std::string> settled_way(const Scenario& scenario,
                                     std::vector<AlternativeResult>& alternatives) {
  std::vector<std::vector<std::string>> ways = ways_of(scenario.assume);
  if (ways.size() == 1) return std::move(ways.front());
  RunOptions peaks;
  peaks.keep_events = peaks.keep_live = peaks.keep_times = false;
  peaks.leave_out_repeats = true;
  const std::size_t worst = worst_of(
      ways, [&](const auto& way) { return run_way(scenario, peaks, way); }, alternatives);
  return std::move(ways[worst]);
}

Scenario of_rank(const Scenario& scenario, int rank) {
  Scenario one = scenario;
  one.rank->index = rank;
  one.rank_choice = RankChoice::kOne;
  return one;
}

RunResult run_one(const Scenario& scenario, const RunOptions& options, lang::Alike* alike,
                  torch::Mailbox* mailbox) {
  std::vector<AlternativeResult> alternatives;
  const std::vector<std::string> way = settled_way(scenario, alternatives);
  RunResult result = run_way(scenario, options, way, alike, mailbox);
  result.alternatives = std::move(alternatives);
  return result;
}

/// The most ranks that are run for what they send in one exchange.
constexpr std::size_t kMostSenders = 16;
/// How often a rank is run anew because others sent something since.
constexpr int kMostRounds = 3;

/// Runs the ranks of a job from which something is missing, as far as they come, and first those
/// from which they miss something: the stages of a pipeline. `played` are ranks that are run
/// already. Returns whether any of it is there now.
bool run_senders(const Scenario& scenario, const torch::Mailbox& mailbox,
                 std::vector<int>& played) {
  RunOptions none;
  none.keep_events = none.keep_live = none.keep_times = false;
  none.leave_out_repeats = true;
  none.is_last = false;
  const auto is_there = [&](const auto& message) {
    return mailbox.messages.find(message.first, message.second).has_value();
  };
  for (const auto& message : mailbox.missing) {
    if (is_there(message) || std::ranges::find(played, message.second) != played.end()) continue;
    if (played.size() > kMostSenders) break;
    played.push_back(message.second);
    const Scenario sender = of_rank(scenario, message.second);
    bool may_ask = true;  // what it sends, those that do the same send too
    for (int round = 1; round <= kMostRounds + 1; ++round) {
      lang::Alike asked(*sender.rank);
      torch::Mailbox own{mailbox.messages};
      try {
        run_one(sender, none, may_ask ? &asked : nullptr, &own);
        break;
      } catch (const InputError&) {
        // What it sent before that is there.
        if (!own.missing.empty() && run_senders(sender, own, played)) continue;
        if (is_there(message) || !may_ask) break;
        may_ask = false;
      }
    }
  }
  return std::ranges::any_of(mailbox.missing, is_there);
}

/// Runs a rank by `run`, and anew while other ranks' messages are missing that their own runs send.
template <class Run>
RunResult exchanging(const Scenario& scenario, torch::Messages& messages, const Run& run) {
  for (int round = 1;; ++round) {
    torch::Mailbox mailbox{messages};
    std::exception_ptr error;
    std::optional<RunResult> result;
    try {
      result = run(mailbox);
    } catch (const InputError&) {
      error = std::current_exception();
    }
    const bool is_done = mailbox.missing.empty() || round == kMostRounds;
    std::vector<int> played{scenario.rank->index};
    if (!is_done && run_senders(scenario, mailbox, played)) continue;
    if (error) std::rethrow_exception(error);
    return std::move(*result);
  }
}

/// A rank by itself.
RunResult run_rank(const Scenario& scenario, const RunOptions& options, torch::Messages& messages) {
  if (!scenario.rank) return run_one(scenario, options, nullptr, nullptr);
  return exchanging(scenario, messages, [&](torch::Mailbox& mailbox) {
    if (options.watched != nullptr) options.watched->clear();
    if (options.details != nullptr) *options.details = {};
    return run_one(scenario, options, nullptr, &mailbox);
  });
}

/// Where PyTorch itself leaves something to chance, and nobody said which end counts: what the
/// other end comes to. The result is about the earliest, unless the latest alone does not fit.
RunResult with_both_ends(RunResult result, const Scenario& scenario, const RunOptions& options,
                         torch::Messages& messages) {
  const auto is_chance = [](const NoteResult& note) {
    return note.text.starts_with(lang::kLeftToChance);
  };
  if (std::ranges::none_of(result.notes, is_chance) || !result.alternatives.empty() ||
      std::ranges::any_of(scenario.assume, is_of_chance))
    return result;
  Scenario late = result.rank ? of_rank(scenario, result.rank->index) : scenario;
  late.assume.emplace_back(kChanceLate);
  RunOptions peaks;
  peaks.keep_events = peaks.keep_live = peaks.keep_times = false;
  peaks.leave_out_repeats = true;
  std::vector<AlternativeResult> ends{
      told_of({std::string(kChanceEarly)}, result),
      told_of({std::string(kChanceLate)}, run_rank(late, peaks, messages))};
  const auto amounts = [](const AlternativeResult& one) {
    return std::tuple(one.ended_by_oom, one.refused, one.peak_allocated, one.peak_reserved);
  };
  if (amounts(ends[0]) == amounts(ends[1])) return result;
  const bool is_late_shown = ends[1].ended_by_oom && !ends[0].ended_by_oom;
  ends[is_late_shown ? 1 : 0].is_shown = true;
  if (is_late_shown) {
    std::vector<RankResult> ranks = std::move(result.ranks);
    std::optional<JobTimes> times = std::move(result.times);
    if (options.watched != nullptr) options.watched->clear();
    if (options.details != nullptr) *options.details = {};
    result = run_rank(late, options, messages);
    result.ranks = std::move(ranks);
    result.times = std::move(times);
  }
  result.alternatives = std::move(ends);
  return result;
}

}  // namespace

Recording record(const Scenario& scenario, KernelDetails* kernels) {
  Recording recording;
  Recorder recorder(recording);
  std::vector<AlternativeResult> alternatives;
  torch::ModelProgram model = program_of(scenario, settled_way(scenario, alternatives));
  model.kernels = kernels;
  torch::ModelSource source(std::move(model), {});
  source.run(recording.program, recorder);
  static_cast<RunBasis&>(recording) = basis_of(source, scenario);
  recording.alternatives = std::move(alternatives);
  recording.allocator_conf = source.allocator_conf();
  return recording;
}

std::optional<RunResult> run_recorded(const Recording& recording, const Scenario& scenario,
                                      const RunOptions& options) {
  if (recording.asks || ways_of(scenario.assume).size() > 1) return std::nullopt;
  if (scenario.rank_choice != RankChoice::kOne) return std::nullopt;
  if (const auto asked = as_asked(scenario, recording.allocator_conf))
    return run_recorded(recording, *asked, options);
  Simulator simulator = simulator_of(scenario, recording.program, options);
  if (simulator.execute(recording.instructions).failed_at) return std::nullopt;
  RunResult result = simulator.finish();
  static_cast<RunBasis&>(result) = recording;
  result.took_default_pytorch = !scenario.names_pytorch;
  return result;
}

namespace {

/// Plays a rank, and tells which others do the same. Where that cannot be asked, it alone does.
RunResult play(const Scenario& scenario, const RunOptions& options, const RankQuestion& question,
               torch::Messages& messages, std::vector<int>& alike) {
  const Scenario one = of_rank(scenario, question.rank);
  std::optional<lang::Alike> asked;
  try {
    RunResult result = exchanging(one, messages, [&](torch::Mailbox& mailbox) {
      asked.emplace(*one.rank, question.among);
      asked->on_parting = question.parted;
      return run_one(one, options, &*asked, &mailbox);
    });
    if (!asked->is_void()) {
      alike = asked->ranks();
      return result;
    }
  } catch (const InputError&) {
    // Something that cannot take what is another on other ranks; or an error of the program's own.
  }
  alike = {question.rank};
  return run_rank(one, options, messages);
}

/// The ranks that were run, for what they do over time.
class JobLog {
 public:
  explicit JobLog(bool is_asked) : is_asked_(is_asked) {}

  /// Takes a rank's track, and what its transfers are told by; ranks that do the same.
  void take(RunResult& result, const std::vector<int>& ranks) {
    if (!is_asked_ || !result.track) return;
    JobPlay play = play_of(ranks, result);
    const std::scoped_lock lock(mutex_);
    plays_.push_back(std::move(play));
  }

  std::optional<JobTimes> times(const Scenario& scenario, const std::vector<RankResult>& ranks) {
    if (!is_asked_) return std::nullopt;
    JobTimes times;
    times.missing = "a rank ends by an out-of-memory error";
    if (std::ranges::any_of(ranks, [](const RankResult& one) { return one.ended_by_oom; }))
      return times;
    if (plays_.empty()) return std::nullopt;
    std::ranges::sort(plays_, {}, [](const JobPlay& play) { return play.ranks.front(); });
    return job_times(*scenario.rank, scenario.device, plays_);
  }

 private:
  bool is_asked_;
  std::mutex mutex_;
  std::vector<JobPlay> plays_;
};

}  // namespace

RunResult run(const Scenario& scenario, const RunOptions& options) {
  torch::Messages messages;
  const auto whole_of = [&](RunResult result) {
    return with_both_ends(std::move(result), scenario, options, messages);
  };
  if (!scenario.rank || scenario.rank_choice == RankChoice::kOne)
    return whole_of(run_rank(scenario, options, messages));
  JobLog log(options.keep_waits);
  RunOptions events;
  events.costs = options.costs;
  events.keep_samples = events.keep_live = events.keep_times = false;
  events.leave_out_repeats = true;
  events.keep_track = options.keep_waits;
  const bool may_ask =
      scenario.rank_choice == RankChoice::kSome && ways_of(scenario.assume).size() == 1;
  std::vector<RankResult> ranks;
  std::optional<RunResult> whole;  // of the first rank, as it is wanted
  if (!may_ask) {
    ranks = compare_ranks(ranks_to_run(*scenario.rank, scenario.rank_choice), options.threads,
                          [&](int rank) {
                            RunResult result = run_rank(of_rank(scenario, rank), events, messages);
                            log.take(result, {rank});
                            return result;
                          });
  } else {
    RunOptions wanted = options;
    wanted.is_last = false;
    wanted.keep_track = options.keep_waits && options.leave_out_repeats;
    const auto world = static_cast<std::size_t>(scenario.rank->world);
    ranks = classes_of_ranks(*scenario.rank, options.threads, [&](const RankQuestion& question) {
      std::vector<int> same;
      const bool is_first = question.rank == 0;
      RunResult one = play(scenario, is_first ? wanted : events, question, messages, same);
      RankPlay told = told_of(question.rank, one);
      // What is wanted of the first may say less of its events than others are compared by.
      if (is_first && same.size() < world && !(options.keep_events && options.leave_out_repeats)) {
        RunResult other = play(scenario, events, question, messages, same);
        told = told_of(question.rank, other);
        log.take(other, same);
      } else {
        log.take(one, same);
      }
      if (is_first) whole = std::move(one);
      told.result.ranks = std::move(same);
      return told;
    });
    if (ranks.front().ranks.front() == 0) {
      whole->ranks = std::move(ranks);
      whole->times = log.times(scenario, whole->ranks);
      return whole_of(std::move(*whole));
    }
  }
  RunResult result = run_rank(of_rank(scenario, ranks.front().ranks.front()), options, messages);
  result.ranks = std::move(ranks);
  result.times = log.times(scenario, result.ranks);
  return whole_of(std::move(result));
}

}  // namespace tidemark
