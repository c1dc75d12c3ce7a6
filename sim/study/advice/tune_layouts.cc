#include "sim/study/advice/tune_layouts.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/parallel.h"
#include "sim/base/problem.h"
#include "sim/run/parallel_setup.h"
#include "sim/run/run.h"

namespace tidemark {
namespace {

/// Of pipelines: those of one stage a rank, which every model with as many blocks can have.
constexpr std::string_view kSchedules[] = {"1f1b", "gpipe"};
/// Micro-batches are so many times as many as stages.
constexpr std::int64_t kPerStage[] = {1, 2, 4};

std::vector<Override> overrides_of(const LayoutChoice& choice) {
  std::vector<Override> overrides{{"train.parallel.replicate", "1"}};
  const auto add = [&](std::string_view key, std::string value) {
    overrides.push_back({fmt::format("train.parallel.{}", key), std::move(value)});
  };
  add("fsdp", std::to_string(choice.layout.fsdp));
  add("tp", std::to_string(choice.layout.tp));
  add("pp", std::to_string(choice.layout.pp));
  add("cp", std::to_string(choice.layout.cp));
  add("ep", std::to_string(choice.layout.ep));
  add("reshard", choice.reshard ? "true" : "false");
  if (choice.microbatches == 0) return overrides;
  add("schedule", choice.schedule);
  add("microbatches", std::to_string(choice.microbatches));
  return overrides;
}

/// The scenario's own schedule comes first, if it is another.
std::vector<std::string> schedules_of(const ParallelSpec& given) {
  std::vector<std::string> schedules;
  if (given.has_pipeline()) {
    for (const PipelineSchedule& one : kPipelineSchedules)
      if (one.kind == given.schedule) schedules.emplace_back(one.name);
  }
  for (const std::string_view name : kSchedules)
    if (std::ranges::find(schedules, name) == schedules.end()) schedules.emplace_back(name);
  return schedules;
}

std::vector<LayoutChoice> choices_of(const Scenario& scenario, std::int64_t world) {
  const ParallelSpec given = scenario.train->parallel.value_or(ParallelSpec());
  std::vector<LayoutChoice> choices;
  for (const Layout& layout : layouts_of(scenario, world)) {
    for (const bool reshard : {true, false}) {
      if (!reshard && layout.fsdp * layout.cp == 1) continue;
      if (layout.pp == 1) {
        choices.push_back({layout, {}, 0, reshard});
        continue;
      }
      std::set<std::int64_t> counts;
      for (const std::int64_t times : kPerStage) counts.insert(layout.pp * times);
      for (const std::string& schedule : schedules_of(given)) {
        for (const std::int64_t count : counts)
          choices.push_back({layout, schedule, count, reshard});
      }
    }
  }
  return choices;
}

TunedLayout run_choice(const ScenarioSource& source, const LayoutChoice& choice, RunBasis& basis) {
  TunedLayout out;
  out.choice = choice;
  RunResult result;
  try {
    RunOptions options;
    options.keep_live = options.keep_times = options.keep_samples = false;
    options.leave_out_repeats = options.keep_waits = true;
    Scenario scenario = read_scenario(overridden(source, overrides_of(choice)));
    scenario.rank_choice = RankChoice::kSome;  // the worst rank decides
    result = run(scenario, options);
  } catch (const InputError& error) {
    out.error = error.problems().front().message;
    return out;
  }
  const Verdict verdict = verdict_of(result);
  out.fits = verdict.fits();
  out.peak_allocated = verdict.peak_allocated;
  out.peak_reserved = verdict.peak_reserved;
  out.spare = verdict.spare;
  if (result.times && result.times->stuck.empty()) {
    for (std::size_t i = 0; i < result.times->ranks.size(); ++i) {
      const RankTimes& one = result.times->ranks[i];
      const Nanoseconds step = one.end_ns - one.begin_ns;
      out.step_ns = std::max(out.step_ns, step);
      if (step > 0) {
        const auto ppm = static_cast<Wide>(result.times->of(i, RankState::kBubble)) * 1'000'000U /
                         static_cast<Wide>(step);
        out.bubble_ppm = std::max(out.bubble_ppm, static_cast<std::uint32_t>(ppm));
      }
    }
    out.batch_ns = out.step_ns / std::max<std::int64_t>(choice.layout.fsdp, 1);
  }
  result.times.reset();
  basis = std::move(static_cast<RunBasis&>(result));
  return out;
}

auto order_of(const TunedLayout& one) {
  constexpr Nanoseconds kUnknown = Nanoseconds{1} << 62;
  const Nanoseconds time = !one.fits || one.batch_ns == 0 ? kUnknown : one.batch_ns;
  return std::tuple(!one.error.empty(), !one.fits, time, one.peak_reserved);
}

/// Errors: InputError.
InputError not_a_job(std::string_view what, std::string_view hint) {
  return InputError(Problem{{}, "--over layouts", std::string(what), std::string(hint)});
}

}  // namespace

TunedLayouts tune_layouts(const ScenarioSource& source, unsigned threads) {
  const Scenario scenario = read_scenario(source);
  if (!scenario.train || !scenario.train->ddp_world.empty()) {
    throw not_a_job("needs a scenario whose loop shares its model",
                    "give it a `train` without ddp (docs/scenario.md)");
  }
  if (!scenario.rank || scenario.rank->world < 2)
    throw not_a_job("needs a job of several ranks", "give it --world 8, or ranks: {world: 8}");
  TunedLayouts out;
  out.world = scenario.rank->world;
  std::vector<LayoutChoice> choices = choices_of(scenario, out.world);
  if (choices.size() > kMostLayouts) {
    out.left_out = choices.size() - kMostLayouts;
    choices.resize(kMostLayouts);
  }
  out.layouts.resize(choices.size());
  std::vector<RunBasis> bases(choices.size());
  in_parallel(choices.size(), threads,
              [&](std::size_t i) { out.layouts[i] = run_choice(source, choices[i], bases[i]); });
  if (std::ranges::all_of(out.layouts, [](const TunedLayout& one) { return !one.error.empty(); }))
    throw not_a_job(out.layouts.front().error, "run it with `tidemark run` to see where");
  std::ranges::stable_sort(out.layouts, [](const TunedLayout& a, const TunedLayout& b) {
    return order_of(a) < order_of(b);
  });
  const auto best = std::ranges::find(choices, out.layouts.front().choice);
  out.basis = std::move(bases[static_cast<std::size_t>(best - choices.begin())]);
  return out;
}

}  // namespace tidemark
