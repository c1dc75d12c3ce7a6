#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/alloc/event_clock.h"
#include "sim/alloc/pinned_memory.h"
#include "sim/base/state_image.h"
#include "sim/program/instruction.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// The host's memory while a run goes on: pageable, as PyTorch's CPU allocator is asked for it, and
/// pinned.
class HostMemory {
 public:
  /// Where a run stands: HostSample but for its amounts.
  struct Moment {
    std::uint32_t event = 0;
    std::uint32_t phase = kNoPhase;
    Nanoseconds time_ns = 0;
  };

  /// `clocks`: as PinnedMemory's. `keep_samples`: off, peaks and statistics alone.
  HostMemory(std::vector<EventClock*> clocks, bool keep_samples)
      : pinned_(std::move(clocks)), keeps_samples_(keep_samples) {}

  /// Requires: of Concern::kHostMemory. Cost: constant; see PinnedMemory.
  void execute(const Instruction& instruction, const Moment& now);
  [[nodiscard]] const PinnedStatistics& pinned_statistics() const { return pinned_.statistics(); }
  void write_state(StateImage& image) const;
  /// Ends the run. Call it once.
  HostResult finish();

 private:
  PinnedMemory pinned_;
  Bytes pageable_ = 0;
  HostSample peak_;
  std::vector<HostSample> samples_;
  bool keeps_samples_;
};

}  // namespace tidemark
