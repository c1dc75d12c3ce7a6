#pragma once

#include <cstdint>
#include <vector>

#include "sim/study/advice/fit.h"

namespace tidemark {

/// How the ranks of a job share a model: numbers of `train.parallel`. All but ep make the world.
struct Layout {
  std::int64_t world = 1;
  std::int64_t fsdp = 1;
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  std::int64_t cp = 1;
  std::int64_t ep = 1;  ///< of fsdp: no factor of the world
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// One layout, with the rest of the scenario as it stands.
struct LayoutProbe {
  Layout layout;
  FitProbe probe;  ///< of its worst rank
};

/// The layouts that a scenario can have over `world` ranks, those that ask least of the links
/// between GPUs first. Tensor parallelism needs a plan, and stays in one machine; a sequence is
/// split where the scenario says cp, experts are shared where it names them. Requires: the scenario
/// has a `train`.
std::vector<Layout> layouts_of(const Scenario& scenario, std::int64_t world);

/// Every layout over 1, 2, 4, ... GPUs, until one fits; all of that many GPUs are run. No more
/// GPUs than FitOptions::highest. Errors: InputError where the scenario has no `train`, or is
/// wrong in itself.
std::vector<LayoutProbe> fit_layouts(const ScenarioSource& source, const FitOptions& options);

}  // namespace tidemark
