#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/run_result.h"

namespace tidemark {

/// What lies between the marks of a program on one device, and the points that it measured, while a
/// run goes on.
///
///     mark "forward 0"       mark "backward 0"
///     |------ phase 0 -------|------ phase 1 ------...      event numbers ascend
///                  ^ point, in phase 0
class PhaseLog {
 public:
  /// Where a run stands on the device.
  struct Moment {
    std::uint32_t event = 0;  ///< number of the next event
    Nanoseconds time_ns = 0;  ///< host clock; 0 unless the run is timed
  };

  /// Requires: the phase before, if any, was ended.
  void begin(std::string name, const Moment& now);
  /// Ends the phase that goes on. What came before any mark gets a phase without a name, if there
  /// was an event. `statistics` of this moment, `peaks` since the phase began.
  void end(const Moment& now, const AllocatorStatistics& statistics,
           const AllocatorStatistics& peaks);
  void measure(std::string name, const Moment& now, AllocatorStatistics statistics,
               Bytes device_free_bytes);

  /// Index of the phase that goes on; kNoPhase before the first mark.
  [[nodiscard]] std::uint32_t current() const;
  /// Whether there was a mark.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Takes everything away, into the result. Call it once.
  void finish(DeviceResult& into);

 private:
  std::vector<PhaseResult> phases_;
  std::vector<MeasuredPoint> points_;
  bool has_begun_ = false;
};

}  // namespace tidemark
