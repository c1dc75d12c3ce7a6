#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/process.h"
#include "sim/cli/scenario_input.h"
#include "sim/report/results_report.h"
#include "sim/study/sweep/joint_sweep.h"
#include "sim/study/sweep/results.h"
#include "sim/study/sweep/sweep.h"

namespace tidemark::cli {

namespace {

/// "3/8". Errors: InputError.
std::pair<std::uint64_t, std::uint64_t> parse_shard(const std::string& text) {
  std::uint64_t parts[2] = {};
  const char* at = text.data();
  const char* end = at + text.size();
  for (int i = 0; i < 2; ++i) {
    const auto [rest, error] = std::from_chars(at, end, parts[i]);
    const bool is_ended = i == 0 ? rest != end && *rest == '/' : rest == end;
    if (error != std::errc() || !is_ended || parts[i] == 0 || parts[i] > 1'000'000)
      usage_error("--shard", "expected PART/PARTS, found '" + text + "'",
                  "3/8 is the third of eight");
    at = rest + 1;
  }
  if (parts[0] > parts[1])
    usage_error("--shard", fmt::format("there is no part {} of {}", parts[0], parts[1]));
  return {parts[0], parts[1]};
}

/// Leaves a sweep between two cells.
struct Interrupted {};
constexpr int kSignalled = 128;  ///< and the signal: what shells expect of a process it ended

/// How far a sweep is: one line that is written over on a terminal, now and then a line elsewhere.
class Progress {
 public:
  /// `begun`: how many of them were done before.
  Progress(Output& err, std::uint64_t total, std::uint64_t begun = 0)
      : err_(err), total_(total), begun_at_(begun), done_(begun), is_terminal_(err.is_terminal()) {}

  void tick() { show(done_ + 1); }
  void show(std::uint64_t done) {
    done_ = done;
    const Clock::time_point now = Clock::now();
    if (now - told_ <
        (is_terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10'000)))
      return;
    told_ = now;
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(now - begun_).count();
    const auto rate = static_cast<std::uint64_t>(
        spent > 0 ? (done_ - begun_at_) * 1000 / static_cast<std::uint64_t>(spent) : 0);
    const std::uint64_t left_s = rate > 0 ? (total_ - std::min(total_, done_)) / rate : 0;
    err_.print("{}{} of {} cells, {} a second, {} s left{}", is_terminal_ ? "\r" : "", done_,
               total_, rate, left_s, is_terminal_ ? "  " : "\n");
    if (is_terminal_) err_.flush();
    has_line_ = is_terminal_;
  }
  void end() {
    if (has_line_) err_.print("\r{:60}\r", "");
  }

 private:
  using Clock = std::chrono::steady_clock;
  Output& err_;
  std::uint64_t total_;
  std::uint64_t begun_at_;
  std::uint64_t done_;
  bool is_terminal_;
  bool has_line_ = false;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point told_ = begun_;
};

class SweepCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {"sweep",
            "run a scenario over every value of its sweep section",
            "Each combination of the values under `sweep:` (docs/scenario.md) is a cell: one run, "
            "one row. Rows go to an SQLite file as they are made; a sweep that was ended goes on "
            "with --resume. The results do not depend on the number of threads.",
            {{"SCENARIO", "a scenario in YAML with a sweep section; - for standard input"}},
            {{"out", "FILE",
              "where the rows go (docs/formats/results.md); without it they are only printed", ""},
             {"resume", "", "go on with the file of --out", ""},
             {"join", "",
              "share the work with every process that joins the same --out; mpirun implies it", ""},
             {"threads", "N", "cells run at a time; 0: one a processor (of a rank: 1)", "0"},
             {"shard", "I/N", "only the I-th of N parts; tidemark results merge joins their files",
              "1/1"},
             {"variant", "NAME", "the named one of the scenario's variants", ""},
             {"set", "KEY=VALUE", "override a parameter or a key of the scenario", "", true},
             kPackagesOption,
             {"limit", "N", "rows printed; 0: all", "20"},
             {"format", kTableFormats, "how to print the rows", "text"}},
            {{"tidemark sweep s.yaml", "every cell, printed"},
             {"tidemark sweep s.yaml --out r.sqlite --resume",
              "kept as they are made; go on after an interruption"},
             {"tidemark sweep s.yaml --out r.sqlite --join",
              "on many machines: each such process takes its part; or all ranks at once, after "
              "mpirun --enable-recovery -n 64"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    const ScenarioSource source =
        open_scenario(args.positional()[0], scenario_overrides(args), args.value("variant"));
    const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
    const TableFormat format = table_format(args.value("format"));
    ResultsQuery query;
    query.limit = args.number("limit", 0, ~std::uint64_t{0}).value_or(20);
    if (format != TableFormat::kText && !args.has("limit")) query.limit = 0;
    const SweepPlan plan = parse_sweep(source);
    const SweepOrigin origin{TIDEMARK_VERSION,      args.positional()[0], source.text->text,
                             source.variant,        args.values("set"),   plan.columns(),
                             sweep_size(plan).cells};
    const std::string& file = args.value("out");
    const Rank rank = rank_in_job();
    if (file.empty()) {
      for (const std::string_view option : {"resume", "join"}) {
        if (args.has(option))
          usage_error("--" + std::string(option), "needs the file to go on with",
                      "give --out FILE");
      }
      if (rank.ranks > 1)
        usage_error("--out", "the ranks of an MPI job need a file in which their rows meet",
                    "give --out FILE");
    }
    std::error_code error;
    const bool is_joint =
        args.has("join") || rank.ranks > 1 ||
        (args.has("resume") && std::filesystem::is_directory(joint_folder(file), error));
    std::optional<ResultsFile> results;
    if (is_joint) {
      if (args.has("shard"))
        usage_error("--shard", "deals cells out beforehand, --join and MPI as they go",
                    "take one of them");
      // The file's process may be killed, and the job goes on: see in_kept_child().
      const auto again = [&](int signal) {
        err.print("rank {}: signal {} ended its process; another goes on\n", rank.rank, signal);
      };
      if (const std::optional<int> code = rank.ranks > 1 ? in_kept_child(again) : std::nullopt)
        return static_cast<ExitCode>(*code);
      if (!run_together(args, source, plan, origin, rank, err)) return ExitCode::kDone;
      results = ResultsFile::open(file, false);
    } else {
      results = run_alone(args, source, plan, origin, err);
      if (!results) return static_cast<ExitCode>(kSignalled + InterruptsNoted::signal());
    }
    if (format == TableFormat::kText) out.write(sweep_summary(*results, style) + "\n");
    out.write(results_table(results->query(query), format, style));
    return ExitCode::kDone;
  }

 private:
  static std::optional<unsigned> threads(const Arguments& args) {
    const std::optional<std::uint64_t> given = args.number("threads", 0, 1024);
    return args.has("threads") && given ? std::optional(static_cast<unsigned>(*given))
                                        : std::nullopt;
  }

  /// None: a signal ended it, which is told.
  static std::optional<ResultsFile> run_alone(const Arguments& args, const ScenarioSource& source,
                                              const SweepPlan& plan, const SweepOrigin& origin,
                                              Output& err) {
    SweepOptions options;
    std::tie(options.shard, options.shards) = parse_shard(args.value("shard"));
    options.threads = threads(args).value_or(0);
    const std::string& file = args.value("out");
    const bool goes_on = args.has("resume") && ResultsFile::is_begun(file);
    ResultsFile results =
        goes_on ? ResultsFile::open(file, true) : ResultsFile::create(file, origin);
    if (goes_on) results.require_same(origin);
    const std::vector<bool> done = goes_on ? results.done() : std::vector<bool>();
    const auto begun = static_cast<std::uint64_t>(std::count(done.begin(), done.end(), true));
    const std::uint64_t total = origin.cells / options.shards;
    Progress progress(err, total, begun);
    std::uint64_t kept = begun;
    const InterruptsNoted interrupts;
    options.is_done = [&](std::uint64_t number) { return number < done.size() && done[number]; };
    options.take = [&](const SweepCell& cell, const CellResult& result) {
      results.add(cell, result);
      ++kept;
      progress.tick();
      if (InterruptsNoted::signal() != 0) throw Interrupted();
    };
    try {
      run_sweep(source, plan, options);
    } catch (const Interrupted&) {
      results.finish();
      progress.end();
      if (file.empty()) {
        err.print("Interrupted after {} of {} cells, which are not kept: --out FILE keeps them\n",
                  kept, total);
      } else {
        err.print("Interrupted: {} of {} cells are in {}. The same command goes on with --resume\n",
                  kept, total, file);
      }
      return std::nullopt;
    }
    results.finish();
    progress.end();
    return results;
  }

  /// Whether the rows were put together here: then they are for us to show.
  static bool run_together(const Arguments& args, const ScenarioSource& source,
                           const SweepPlan& plan, const SweepOrigin& origin, const Rank& rank,
                           Output& err) {
    Progress progress(err, origin.cells);
    JointSweepOptions options;
    options.threads = threads(args).value_or(rank.ranks > 1 ? 1 : 0);
    if (rank.rank == 0) options.progress = [&](std::uint64_t cells) { progress.show(cells); };
    const std::string& file = args.value("out");
    const JointPart part = run_joint_sweep(source, plan, origin, file, options);
    progress.end();
    if (part == JointPart::kNothing)
      err.print("{}: all {} cells are there already\n", file, origin.cells);
    return part == JointPart::kCollected;
  }
};

}  // namespace

TableFormat table_format(const std::string& name) {
  const auto at = std::find(std::begin(kTableFormatNames), std::end(kTableFormatNames), name);
  return static_cast<TableFormat>(at - std::begin(kTableFormatNames));
}

std::unique_ptr<Command> make_sweep_command() { return std::make_unique<SweepCommand>(); }

}  // namespace tidemark::cli
