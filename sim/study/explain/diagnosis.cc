#include "sim/study/explain/diagnosis.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "sim/base/bytes.h"
#include "sim/run/levels.h"
#include "sim/timeline/timeline.h"

namespace tidemark {
namespace {

enum class Work : std::uint8_t { kModel, kForward, kBackward, kOptimizer };

Bytes of(const std::array<Bytes, kCategoryNames.size()>& bytes, Category category) {
  return bytes[static_cast<std::size_t>(category)];
}

/// All that the tests of the classes look at.
struct Facts {
  const ScenarioSource& source;
  const Scenario& scenario;
  const RunResult& result;
  const DeviceResult& device;
  const OomResult* oom = nullptr;
  std::array<Bytes, kCategoryNames.size()> live{};  ///< at the refusal, else at the peak
  Bytes requested_bytes = 0;                        ///< of the refused request
  Bytes capacity_bytes = 0;                         ///< what PyTorch could have at most
  Bytes outside_bytes = 0;                          ///< others' and what a limit keeps away
  Work work = Work::kForward;
  std::optional<Growth> growth;

  [[nodiscard]] Bytes live_bytes() const {
    return oom != nullptr ? oom->figures.allocated_bytes : device.peak_allocated.bytes;
  }
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Which part of a step asks: by the phase's name where it says so, else by the operator.
Work work_of(const Facts& facts, std::uint32_t phase, LabelId label) {
  const std::string_view op = facts.result.program.labels.text(label);
  if (phase != kNoPhase && phase < facts.device.phases.size()) {
    const std::string_view name = split_phase_name(facts.device.phases[phase].name).phase;
    if (name == "model") return Work::kModel;
    if (contains(name, "backward")) return Work::kBackward;
    if (name == "optimizer" || name == "clip") return Work::kOptimizer;
    if (contains(name, "forward") || contains(name, "validate") || name == "inference")
      return Work::kForward;
  }
  if (contains(op, "Backward") || contains(op, "AccumulateGrad")) return Work::kBackward;
  if (contains(op, "_foreach_") || contains(op, "_fused_")) return Work::kOptimizer;
  const Bytes of_steps = of(facts.live, Category::kActivation) +
                         of(facts.live, Category::kTemporary) +
                         of(facts.live, Category::kGradient) + of(facts.live, Category::kWorkspace);
  return of_steps == 0 ? Work::kModel : Work::kForward;
}

Facts facts_of(const ScenarioSource& source, const Scenario& scenario, const RunResult& result,
               const DeviceResult& device) {
  Facts facts{source, scenario, result, device, nullptr, {}, 0, 0, 0, Work::kForward, std::nullopt};
  const DeviceSpec& spec = device.spec;
  facts.capacity_bytes = spec.total_bytes - spec.context_bytes - scenario.other_bytes;
  facts.outside_bytes = scenario.other_bytes;
  if (scenario.memory_fraction) {
    const auto limit =
        static_cast<Bytes>(*scenario.memory_fraction * static_cast<double>(spec.total_bytes));
    if (limit < facts.capacity_bytes) {
      facts.outside_bytes += facts.capacity_bytes - limit;
      facts.capacity_bytes = limit;
    }
  }
  facts.growth = growth_of(device, result.program);
  if (device.ooms.empty()) {
    facts.live = device.peak_allocated.by_category;
    facts.work = work_of(facts, device.peak_allocated.phase, device.peak_allocated.label);
    return facts;
  }
  facts.oom = &device.ooms.back();
  facts.requested_bytes = facts.oom->figures.rounded_bytes;
  if (facts.oom->event != kNoEvent) {
    for (const LiveBlock& block : live_at(device, result.program, facts.oom->event))
      facts.live[static_cast<std::size_t>(block.category)] += block.block_bytes;
  }
  facts.work = work_of(facts, facts.oom->phase, facts.oom->label);
  return facts;
}

bool runs_with(const Facts& facts, const std::vector<Override>& overrides) {
  return try_scenario(overridden(facts.source, overrides)).fits();
}

bool is_growth(const Facts& facts) {
  if (!facts.growth) return false;
  if (facts.oom == nullptr) return true;
  const Bytes without =
      facts.live_bytes() - std::min(facts.live_bytes(), facts.growth->left_behind);
  return without + facts.requested_bytes <= facts.capacity_bytes;
}

bool is_outside(const Facts& facts) {
  if (facts.oom == nullptr || facts.outside_bytes == 0) return false;
  std::vector<Override> alone;
  if (facts.scenario.other_bytes > 0) alone.push_back({"device.other", "0"});
  if (facts.scenario.memory_fraction) alone.push_back({"allocator.memory_fraction", "1.0"});
  return runs_with(facts, alone);
}

/// Reserved more than twice what was ever allocated, by more than a twentieth of the device; or
/// refused where an allocator without fragments would not refuse.
bool is_fragmentation(const Facts& facts) {
  if (facts.oom != nullptr) {
    return facts.scenario.settings.backend != Backend::kIdeal &&
           runs_with(facts, {{"allocator.backend", "ideal"}});
  }
  const Bytes reserved = facts.device.peak_reserved.bytes;
  const Bytes allocated = facts.device.peak_allocated.bytes;
  return reserved > 2 * allocated && (reserved - allocated) * 20 > facts.device.spec.total_bytes;
}

bool refused_at(const Facts& facts, Work work) {
  return facts.oom != nullptr && facts.work == work;
}

/// One row a class: its test, what it is called, and the remedies worth trying, best first.
struct Rule {
  Fault fault;
  std::string_view name;
  std::string_view title;
  bool (*holds)(const Facts&);
  std::vector<std::string_view> remedies;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules{
      {Fault::kGrowth,
       "growth",
       "growth over steps: a leak",
       is_growth,
       {"keep-numbers", "no-grad", "set-to-none"}},
      {Fault::kOutside,
       "outside",
       "outside the allocator",
       is_outside,
       {"free-outside", "whole-device", "checkpoint", "micro-batch", "smaller-batch"}},
      {Fault::kModel,
       "model",
       "the model alone is too large",
       [](const Facts& f) { return refused_at(f, Work::kModel); },
       {"bf16", "larger-device"}},
      {Fault::kFragmentation,
       "fragmentation",
       "fragmentation",
       is_fragmentation,
       {"expandable-segments", "roundup", "empty-cache", "checkpoint", "micro-batch",
        "smaller-batch"}},
      {Fault::kOptimizer,
       "optimizer",
       "optimizer state at the step",
       [](const Facts& f) { return refused_at(f, Work::kOptimizer); },
       {"fused-optimizer", "expandable-segments", "bf16", "sgd", "larger-device"}},
      {Fault::kBackward,
       "backward",
       "gradients or temporaries at backward",
       [](const Facts& f) { return refused_at(f, Work::kBackward); },
       {"set-to-none", "expandable-segments", "checkpoint", "micro-batch", "autocast",
        "smaller-batch", "larger-device"}},
      {Fault::kActivations,
       "activations",
       "activations at forward",
       [](const Facts& f) { return f.oom != nullptr; },
       {"no-grad", "expandable-segments", "checkpoint", "micro-batch", "autocast", "smaller-batch",
        "larger-device"}},
      {Fault::kHealthy, "healthy", "healthy", [](const Facts&) { return true; }, {}},
  };
  return kRules;
}

const Rule& rule_of(Fault fault) {
  return *std::find_if(rules().begin(), rules().end(),
                       [&](const Rule& rule) { return rule.fault == fault; });
}

std::string moment(const Facts& facts, std::uint32_t phase, LabelId label) {
  std::string text;
  if (phase != kNoPhase && phase < facts.device.phases.size())
    text = facts.device.phases[phase].name;
  const std::string_view op = facts.result.program.labels.text(label);
  if (!op.empty()) text += (text.empty() ? "" : ", ") + std::string(op);
  return text;
}

/// What a block is for, where its label says more than an operator: a purpose that the library gave
/// ("FSDP: unsharded parameter"), or a pipeline's micro-batch. Empty: it does not.
std::string_view purpose_of(const Program& program, const LiveBlock& block) {
  std::string_view text = program.labels.text(block.label);
  const std::size_t colon = text.find(": ");
  if (program.purposes.contains(block.id)) {
    // A module's path has no blanks.
    const bool has_path = colon != std::string_view::npos &&
                          !contains(text.substr(0, colon), " ") &&
                          text.find(": ", colon + 2) != std::string_view::npos;
    return has_path ? text.substr(colon + 2) : text;
  }
  if (text.starts_with("stage ") && colon != std::string_view::npos) return text.substr(0, colon);
  return {};
}

/// "blocks.0.up.weight", of the label of a block with such a purpose.
std::string_view holder_of(std::string_view label, std::string_view purpose) {
  const std::size_t end = label.find(purpose);
  if (end == std::string_view::npos || end < 2) return {};
  return label.substr(0, end - 2);
}

/// The blocks of the moment by what they are for, most bytes first.
void add_purposes(const Facts& facts, Diagnosis& out) {
  struct Group {
    Bytes bytes = 0;
    std::size_t blocks = 0;
    std::string first;
  };
  const Program& program = facts.result.program;
  std::vector<LiveBlock> of_oom;
  if (facts.oom != nullptr && facts.oom->event != kNoEvent)
    of_oom = live_at(facts.device, program, facts.oom->event);
  const std::vector<LiveBlock>& live =
      facts.oom != nullptr ? of_oom : facts.device.peak_allocated.live;
  std::map<std::string_view, Group> groups;
  for (const LiveBlock& block : live) {
    const std::string_view purpose = purpose_of(program, block);
    if (purpose.empty()) continue;
    Group& group = groups[purpose];
    if (group.blocks++ == 0) group.first = holder_of(program.labels.text(block.label), purpose);
    group.bytes += block.block_bytes;
  }
  std::vector<std::pair<std::string_view, Group>> in_order(groups.begin(), groups.end());
  std::ranges::stable_sort(
      in_order, [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  constexpr std::size_t kMost = 12;
  for (std::size_t i = 0; i < std::min(in_order.size(), kMost); ++i) {
    const auto& [purpose, group] = in_order[i];
    std::string where = group.first;
    if (group.blocks > 1)
      where += fmt::format("{}{} blocks", where.empty() ? "" : ", ...: ", group.blocks);
    out.proof.push_back(
        {fmt::format("  among them: {}{}", purpose, where.empty() ? "" : " (" + where + ")"),
         group.bytes});
  }
}

void add_proof(const Facts& facts, Diagnosis& out) {
  const auto add = [&](std::string what, Bytes bytes) {
    if (bytes > 0) out.proof.push_back({std::move(what), bytes});
  };
  if (facts.oom != nullptr) {
    const OutOfMemory& figures = facts.oom->figures;
    add("asked for", facts.requested_bytes);
    add("free on the device", figures.device_free_bytes);
    add("allocated", figures.allocated_bytes);
    add("reserved but unallocated", figures.reserved_bytes - figures.allocated_bytes);
    add("largest free block in the cache",
        facts.oom->event == kNoEvent ? 0
                                     : sample_after(facts.device, facts.oom->event).largest_free);
  } else {
    add("peak allocated", facts.device.peak_allocated.bytes);
    add("peak reserved", facts.device.peak_reserved.bytes);
  }
  add("PyTorch can have", facts.capacity_bytes);
  add("held by others or kept away by a limit", facts.outside_bytes);
  for (const Category category : kCategoryOrder) {
    const auto at = static_cast<std::size_t>(category);
    add(fmt::format("  {}", kCategoryNames[at]), facts.live[at]);
  }
  add_purposes(facts, out);
}

std::string finding(const Facts& facts, Fault fault) {
  const auto live = [&](Category category) { return format_bytes(of(facts.live, category)); };
  const Bytes missing = facts.live_bytes() + facts.requested_bytes;
  switch (fault) {
    case Fault::kGrowth: {
      const Growth& growth = *facts.growth;
      std::string text =
          fmt::format("Each step leaves {} behind, {} steps in a row, measured at the steps' ends.",
                      format_bytes(growth.bytes_per_step), growth.steps);
      if (facts.oom == nullptr && growth.bytes_per_step > 0) {
        const Bytes held = facts.device.peak_reserved.bytes;
        text += fmt::format(
            " Extrapolated at this rate, the device is full after some {} more steps.",
            (facts.capacity_bytes - std::min(held, facts.capacity_bytes)) / growth.bytes_per_step);
      }
      return text;
    }
    case Fault::kOutside:
      return fmt::format(
          "Alone and without a limit the run fits: {} are held by other processes or kept away by "
          "set_per_process_memory_fraction.",
          format_bytes(facts.outside_bytes));
    case Fault::kModel:
      return fmt::format("{} of parameters and buffers are there already, and {} more do not fit.",
                         live(Category::kParameter), format_bytes(facts.requested_bytes));
    case Fault::kFragmentation:
      if (facts.oom == nullptr) {
        return fmt::format(
            "{} are reserved where {} were ever allocated: freed blocks have sizes that later "
            "requests cannot use.",
            format_bytes(facts.device.peak_reserved.bytes),
            format_bytes(facts.device.peak_allocated.bytes));
      }
      return "An allocator without fragments runs this to its end on the same device. The cached "
             "free bytes cannot serve: each piece is smaller than the request, or belongs to the "
             "other pool or another stream, and a segment in partial use cannot go back to the "
             "driver.";
    case Fault::kOptimizer:
      return fmt::format(
          "The step needs {} of state and temporaries beside {} of parameters and {} of gradients.",
          format_bytes(of(facts.live, Category::kOptimizerState) +
                       of(facts.live, Category::kTemporary) + facts.requested_bytes),
          live(Category::kParameter), live(Category::kGradient));
    case Fault::kBackward:
      return fmt::format(
          "Forward fits with {} of saved activations; what backward makes on top does not: live "
          "and asked for come to {} of {}.",
          live(Category::kActivation), format_bytes(missing), format_bytes(facts.capacity_bytes));
    case Fault::kActivations:
      if (of(facts.live, Category::kKvCache) > of(facts.live, Category::kActivation)) {
        return fmt::format("The KV cache holds {}; live and asked for come to {} of {}.",
                           live(Category::kKvCache), format_bytes(missing),
                           format_bytes(facts.capacity_bytes));
      }
      return fmt::format("Forward holds {} of activations; live and asked for come to {} of {}.",
                         live(Category::kActivation), format_bytes(missing),
                         format_bytes(facts.capacity_bytes));
    case Fault::kHealthy:
      break;
  }
  const std::int64_t retries = facts.device.statistics.num_alloc_retries;
  if (retries == 0) return "Nothing grows, nothing is refused, and the cache serves what is asked.";
  return fmt::format(
      "It fits, but only because the allocator gave its cache back {} time{}: there is no room "
      "left.",
      retries, retries == 1 ? "" : "s");
}

class Trials {
 public:
  Trials(const Facts& facts, Fault fault, Diagnosis& out)
      : facts_(facts), fault_(fault), out_(out) {}

  void run() {
    for (const std::string_view id : rule_of(fault_).remedies) {
      const Remedy& remedy = *find_remedy(id);
      for (unsigned level = 1; level <= remedy.levels; ++level) {
        const auto change = remedy.change(facts_.source, facts_.scenario, level);
        if (!change) continue;
        Combination alone;
        alone.add(remedy, *change);
        if (try_change(std::move(alone))) {
          if (remedy.price < Price::kTraining) return;
          break;
        }
      }
      if (out_.smallest) return;
    }
    if (!out_.smallest) together();
  }

 private:
  /// Those without another training, one on top of the other.
  void together() {
    Combination used;
    for (const std::string_view id : rule_of(fault_).remedies) {
      const Remedy& remedy = *find_remedy(id);
      if (remedy.price >= Price::kTraining) continue;
      for (unsigned level = 1; level <= remedy.levels; ++level) {
        const ScenarioSource source = changed(facts_.source, used.change);
        const auto change = remedy.change(source, read_scenario(source), level);
        if (!change) continue;
        Combination with = used;
        with.add(remedy, *change);
        const bool is_alone = with.remedies.size() == 1;
        if (!is_alone && try_change(with)) return;
        if (level < remedy.levels && remedy.kind == Levels::kDegrees) continue;
        if (!is_alone && !out_.tried.back().error.empty()) break;
        used = std::move(with);
        break;
      }
    }
  }

  bool try_change(Combination combination) {
    const Trial trial =
        try_scenario(changed(facts_.source, combination.change), fault_ == Fault::kGrowth);
    TriedRemedy tried;
    static_cast<Combination&>(tried) = std::move(combination);
    tried.error = trial.error;
    tried.peak_allocated = trial.peak_allocated;
    tried.peak_reserved = trial.peak_reserved;
    tried.spare = trial.spare;
    tried.undoes = trial.fits() && is_undone(trial);
    if (tried.undoes) out_.smallest = out_.tried.size();
    out_.tried.push_back(std::move(tried));
    return out_.tried.back().undoes;
  }

  bool is_undone(const Trial& trial) const {
    if (fault_ == Fault::kGrowth) {
      return std::none_of(trial.result.devices.begin(), trial.result.devices.end(),
                          [&](const DeviceResult& device) {
                            return growth_of(device, trial.result.program).has_value();
                          });
    }
    if (fault_ == Fault::kFragmentation && facts_.oom == nullptr)
      return trial.peak_reserved <= 2 * trial.peak_allocated;
    return true;
  }

  const Facts& facts_;
  Fault fault_;
  Diagnosis& out_;
};

/// The steps' ends: the first event after each step, by its number. A step is what the phases'
/// names count: "forward 3" and "backward 3" are of step 3.
std::vector<std::uint32_t> step_ends(const DeviceResult& device) {
  std::vector<std::uint32_t> ends;
  std::string_view current;
  for (const PhaseResult& phase : device.phases) {
    const std::string_view step = split_phase_name(phase.name).step;
    const std::string_view whole = step.substr(0, step.find('.'));
    if (whole.empty() || whole == current) continue;
    if (!current.empty()) ends.push_back(phase.first_event);
    current = whole;
  }
  if (current.empty() || !device.ooms.empty()) return ends;
  // What a program drops when it ends is no part of its last step.
  const auto last = std::find_if(device.events.rbegin(), device.events.rend(),
                                 [](const Event& event) { return event.action == Action::kAlloc; });
  ends.push_back(static_cast<std::uint32_t>(device.events.rend() - last));
  return ends;
}

}  // namespace

std::string_view fault_name(Fault fault) { return rule_of(fault).name; }
std::string_view fault_title(Fault fault) { return rule_of(fault).title; }

std::optional<Growth> growth_of(const DeviceResult& device, const Program& program) {
  constexpr std::size_t kNever = ~std::size_t{0};
  const std::vector<std::uint32_t> ends = step_ends(device);
  if (ends.size() < 4) return std::nullopt;
  struct Life {
    std::size_t step;
    std::uint32_t event;
    Bytes bytes;
  };
  std::vector<Life> alive;  // by request
  std::vector<std::int64_t> change(ends.size() + 1, 0);
  const auto is_own = [&](RequestId id) {
    const Category category =
        id < program.categories.size() ? program.categories[id] : Category::kUnknown;
    return category != Category::kParameter && category != Category::kOptimizerState &&
           category != Category::kGradient && category != Category::kWorkspace &&
           category != Category::kKvCache;
  };
  std::size_t step = 0;
  const auto close = [&](const Life& life, std::size_t until) {
    // Counted at the ends that it outlives by one step and more.
    if (life.step == kNever || until <= life.step + 1) return;
    change[life.step + 1] += static_cast<std::int64_t>(life.bytes);
    change[until] -= static_cast<std::int64_t>(life.bytes);
  };
  for (std::uint32_t i = 0; i < ends.back(); ++i) {
    while (i >= ends[step]) ++step;
    const Event& event = device.events[i];
    if (event.id == kNoRequest || !is_own(event.id)) continue;
    if (event.id >= alive.size()) alive.resize(std::size_t{event.id} * 2 + 1, {kNever, 0, 0});
    if (event.action == Action::kAlloc) {
      alive[event.id] = {step, i, block_bytes_of(device, i)};
    } else if (event.action == Action::kFreeRequested) {
      close(alive[event.id], step);
      alive[event.id].step = kNever;
    }
  }
  for (const Life& life : alive) close(life, ends.size());
  std::vector<Bytes> left;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    sum += change[i];
    left.push_back(static_cast<Bytes>(sum));
  }
  std::size_t rises = 0;
  while (rises + 1 < left.size() && left[left.size() - 1 - rises] > left[left.size() - 2 - rises])
    ++rises;
  if (rises < 2 || rises < ends.size() / 2) return std::nullopt;
  Growth growth;
  growth.steps = rises;
  growth.left_behind = left.back();
  growth.bytes_per_step = (left.back() - left[left.size() - 1 - rises]) / rises;
  std::map<std::string, Growth::Holder> holders;
  for (const Life& life : alive) {
    if (life.step == kNever || life.step + 1 >= ends.size()) continue;
    const std::string maker(program.labels.text(device.labels[life.event]));
    Growth::Holder& holder = holders[maker];
    holder.maker = maker;
    holder.bytes += life.bytes;
    ++holder.blocks;
  }
  for (auto& [maker, holder] : holders) {
    if (holder.blocks > 1) growth.holders.push_back(std::move(holder));
  }
  std::stable_sort(growth.holders.begin(), growth.holders.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (growth.holders.size() > 5) growth.holders.resize(5);
  return growth;
}

Diagnosis diagnose(const ScenarioSource& source, const RunResult& result) {
  const Scenario scenario = read_scenario(source);
  Diagnosis out;
  const Verdict verdict = verdict_of(result);
  out.device = verdict.device;
  const DeviceResult& device = result.devices[out.device];
  const Facts facts = facts_of(source, scenario, result, device);
  const Rule& rule = *std::find_if(rules().begin(), rules().end(),
                                   [&](const Rule& one) { return one.holds(facts); });
  out.fault = rule.fault;
  out.is_refused = facts.oom != nullptr;
  out.was_handled = verdict.ending == Ending::kHandled;
  out.when = facts.oom != nullptr
                 ? moment(facts, facts.oom->phase, facts.oom->label)
                 : moment(facts, device.peak_allocated.phase, device.peak_allocated.label);
  out.finding = finding(facts, rule.fault);
  add_proof(facts, out);
  if (rule.fault == Fault::kGrowth) out.growth = facts.growth;
  const Bytes held = device.peak_reserved.bytes;
  out.spare = facts.capacity_bytes - std::min(facts.capacity_bytes, held);
  if (out.is_refused) out.need = need_of(ProgramPlayer(scenario));
  if (rule.fault != Fault::kHealthy) Trials(facts, rule.fault, out).run();
  return out;
}

}  // namespace tidemark
