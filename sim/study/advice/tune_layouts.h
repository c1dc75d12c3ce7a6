#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/study/advice/fit_layouts.h"

namespace tidemark {

/// A way to share a model among a job's ranks, with what else decides over its memory and time.
struct LayoutChoice {
  Layout layout;
  std::string schedule;           ///< of a pipeline, as scenarios name it; empty: there is none
  std::int64_t microbatches = 0;  ///< of a pipeline; 0: there is none
  bool reshard = true;            ///< parameters are given up after forward
  friend bool operator==(const LayoutChoice&, const LayoutChoice&) = default;
};

/// One that was run.
struct TunedLayout {
  LayoutChoice choice;
  std::string error;  ///< it cannot be run; empty: it can
  bool fits = false;  ///< on every rank
  Bytes peak_allocated = 0;
  Bytes peak_reserved = 0;  ///< of the worst rank
  Bytes spare = 0;
  Nanoseconds step_ns = 0;  ///< of the slowest rank, waits included; 0: not worked out
  /// The step's time for each of the batches that go through it side by side.
  Nanoseconds batch_ns = 0;
  std::uint32_t bubble_ppm = 0;  ///< of the step, of the rank with most
};

struct TunedLayouts {
  std::int64_t world = 1;
  /// Best first: those that fit, by batch_ns, then by peak reserved; then those that do not fit, by
  /// peak reserved; then those that cannot be run.
  std::vector<TunedLayout> layouts;
  RunBasis basis;  ///< of the best
  /// More were possible than kMostLayouts; the rest was not run.
  std::size_t left_out = 0;
};
inline constexpr std::size_t kMostLayouts = 192;

/// Runs a scenario under every layout of its world (layouts_of()), of pipelines under schedules and
/// numbers of micro-batches, and with and without resharding. The same result whatever `threads`.
/// Errors: InputError where the scenario has no `train`, or no ranks, or is wrong in itself. Cost:
/// a run each.
TunedLayouts tune_layouts(const ScenarioSource& source, unsigned threads);

}  // namespace tidemark
