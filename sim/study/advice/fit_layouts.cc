#include "sim/study/advice/fit_layouts.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/parallel.h"
#include "sim/base/problem.h"

namespace tidemark {
namespace {

/// Ranks of one machine, which what is exchanged in each layer does not leave.
constexpr std::int64_t kPerMachine = 8;
/// Nobody who asks for the fewest GPUs means more.
constexpr std::int64_t kMostGpus = 1024;

std::vector<Override> overrides_of(const Layout& layout) {
  std::vector<Override> overrides{{"ranks.world", std::to_string(layout.world)},
                                  {"train.parallel.fsdp", std::to_string(layout.fsdp)}};
  const auto add = [&](std::string_view key, std::int64_t value) {
    overrides.push_back({fmt::format("train.parallel.{}", key), std::to_string(value)});
  };
  add("tp", layout.tp);
  add("pp", layout.pp);
  add("cp", layout.cp);
  add("ep", layout.ep);
  return overrides;
}

FitProbe probe_of(const ScenarioSource& source, const FitOptions& options) {
  const Trial trial = try_scenario(source);
  FitProbe probe;
  probe.error = trial.error;
  if (!trial.error.empty()) return probe;
  const Bytes total = trial.result.devices.front().spec.total_bytes;
  probe.fits = trial.fits() && trial.spare >= headroom_bytes(total, options.headroom_ppm);
  probe.retries = trial.retries;
  probe.peak_reserved = trial.peak_reserved;
  probe.spare = trial.spare;
  probe.basis = trial.result;
  return probe;
}

}  // namespace

std::vector<Layout> layouts_of(const Scenario& scenario, std::int64_t world) {
  const ParallelSpec given = scenario.train->parallel.value_or(ParallelSpec());
  const std::int64_t most_tp = given.plan.empty() ? 1 : std::min(world, kPerMachine);
  const std::int64_t most_cp = given.has_context() ? world : 1;
  std::vector<Layout> layouts;
  for (std::int64_t cp = 1; cp <= most_cp; cp *= 2) {
    for (std::int64_t pp = 1; pp * cp <= world; pp *= 2) {
      for (std::int64_t tp = 1; tp <= most_tp && tp * pp * cp <= world; tp *= 2)
        layouts.push_back({world, world / (tp * pp * cp), tp, pp, cp});
    }
  }
  if (!given.experts.empty()) {
    // Experts are shared by ranks that share parameters, not beside tp and cp.
    const std::vector<Layout> without = layouts;
    for (const Layout& one : without) {
      if (one.tp * one.cp != 1) continue;
      for (std::int64_t ep = 2; ep <= std::min(one.fsdp, kPerMachine); ep *= 2) {
        layouts.push_back(one);
        layouts.back().ep = ep;
      }
    }
  }
  std::stable_sort(layouts.begin(), layouts.end(),
                   [](const Layout& a, const Layout& b) { return a.fsdp > b.fsdp; });
  return layouts;
}

std::vector<LayoutProbe> fit_layouts(const ScenarioSource& source, const FitOptions& options) {
  const Scenario scenario = read_scenario(overridden(source, {{"ranks.world", "1"}}));
  if (!scenario.train || !scenario.train->ddp_world.empty()) {
    throw InputError(Problem{{},
                             "--over gpus",
                             "needs a scenario whose loop shares its model",
                             "give it a `train` without ddp (docs/scenario.md)"});
  }
  std::vector<LayoutProbe> probes;
  const std::int64_t most = std::min(options.highest, kMostGpus);
  for (std::int64_t world = 1; world <= most; world *= 2) {
    const std::vector<Layout> layouts = layouts_of(scenario, world);
    const std::size_t begin = probes.size();
    probes.resize(begin + layouts.size());
    in_parallel(layouts.size(), 0, [&](std::size_t i) {
      LayoutProbe& one = probes[begin + i];
      one.layout = layouts[i];
      one.probe = probe_of(overridden(source, overrides_of(layouts[i])), options);
    });
    const auto is_done = [](const LayoutProbe& one) { return one.probe.fits; };
    if (std::any_of(probes.begin() + static_cast<std::ptrdiff_t>(begin), probes.end(), is_done))
      break;
  }
  if (!probes.front().probe.error.empty() &&
      std::ranges::all_of(probes, [](const auto& one) { return !one.probe.error.empty(); })) {
    throw InputError(Problem{
        {}, "--over gpus", probes.front().probe.error, "run it with `tidemark run` to see where"});
  }
  return probes;
}

}  // namespace tidemark
