#pragma once

#include "sim/alloc/stats.h"
#include "sim/base/state_image.h"

namespace tidemark {

/// Raises each peak of `into` to that of `from`; nothing else of `into` changes but pools it
/// lacked, which it gets.
void raise_peaks(AllocatorStatistics& into, const AllocatorStatistics& from);

/// Puts each peak of `into` down to its current value, as torch.cuda.reset_peak_memory_stats().
void reset_peaks(AllocatorStatistics& into);

/// Adds to the sums and counters of `into` what they grew by between `then` and `now`, `times`
/// over.
void add_growth(AllocatorStatistics& into, const AllocatorStatistics& then,
                const AllocatorStatistics& now, std::int64_t times);

/// Writes amounts and peaks; not the sums and counters, which decide nothing.
void write_levels(StateImage& image, const AllocatorStatistics& statistics);

/// An allocator keeps one peak a statistic; phases want one each, while the program resets the one
/// it sees. Whoever resets the allocator's peaks gives them here first.
class PeakKeeper {
 public:
  /// The peaks since the last reset by anyone.
  void keep(const AllocatorStatistics& statistics);
  /// The program reset its peaks. Requires: keep() was just called.
  void program_reset(const AllocatorStatistics& statistics);
  /// A phase began. Requires: keep() was just called.
  void phase_began(const AllocatorStatistics& statistics);

  /// Peaks since the phase began, since the program last reset them, and since the run began.
  [[nodiscard]] const AllocatorStatistics& of_phase() const { return phase_; }
  [[nodiscard]] const AllocatorStatistics& of_program() const { return program_; }
  [[nodiscard]] const AllocatorStatistics& of_run() const { return run_; }
  /// Writes all peaks.
  void write_state(StateImage& image) const;

 private:
  AllocatorStatistics phase_;
  AllocatorStatistics program_;
  AllocatorStatistics run_;
};

}  // namespace tidemark
