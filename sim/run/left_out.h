#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/run/run_result.h"

namespace tidemark {

/// What only grows while a run goes on.
struct StepGrowth {
  struct Device {
    AllocatorStatistics statistics;
    std::uint64_t events = 0;
    std::uint64_t device_calls = 0;
    Nanoseconds device_call_ns = 0;
  };
  std::vector<Device> devices;
  std::uint64_t instructions = 0;
  Nanoseconds now_ns = 0;  ///< host clock; 0 unless the run is timed
};

/// The turns of loops that are not simulated one by one, and what they would have added: each adds
/// what the pattern before it did.
class LeftOut {
 public:
  explicit LeftOut(std::size_t devices) : devices_(devices) {}

  /// Keeps what was simulated so far; returns a number for it.
  std::size_t keep(StepGrowth simulated);
  /// Takes what was simulated since the moment `since` for done `repeat.times` times more.
  /// Requires: keep() returned `since`. Returns how long the turns left out take.
  Nanoseconds repeat(std::size_t since, const Repeat& repeat, StepGrowth simulated);

  /// In all so far.
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
  [[nodiscard]] const StepGrowth::Device& of(std::size_t device) const { return devices_[device]; }
  /// Adds what was left out to the sums and counters of the simulated `statistics`.
  void add_to(std::size_t device, AllocatorStatistics& statistics) const;
  /// Call it once.
  std::vector<RepeatResult> finish();

 private:
  /// With what was left out before.
  [[nodiscard]] StepGrowth whole(StepGrowth simulated) const;

  std::vector<StepGrowth::Device> devices_;
  std::uint64_t instructions_ = 0;
  std::vector<StepGrowth> moments_;  ///< by the number that keep() gave
  std::vector<RepeatResult> repeats_;
};

}  // namespace tidemark
