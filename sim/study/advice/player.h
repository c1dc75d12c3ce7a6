#pragma once

#include <cstdint>
#include <optional>

#include "sim/alloc/settings.h"
#include "sim/base/sim_time.h"
#include "sim/run/record.h"
#include "sim/run/scenario.h"
#include "sim/study/replay/replay.h"

namespace tidemark {

/// What a workload, played to its end, comes to under one setting. Of several GPUs the highest
/// figures.
struct PlayFigures {
  Bytes peak_reserved = 0;
  /// Requests refused, handled ones among them. With any the other figures are those of a program
  /// that goes on, or ends at the first.
  std::int64_t ooms = 0;
  std::int64_t retries = 0;
  std::uint64_t device_calls = 0;
  Nanoseconds device_call_ns = 0;  ///< by the cost model
  friend bool operator==(const PlayFigures&, const PlayFigures&) = default;
};

PlayFigures figures_of(const ReplaySummary& summary);

/// A scenario's program, recorded once and played to its end as often as it is asked.
class ProgramPlayer {
 public:
  /// Errors: as record().
  explicit ProgramPlayer(Scenario scenario);

  /// `total`: the device's, all that others hold included; none: as the scenario says. Safe from
  /// several threads at a time. Errors: as run(). Cost: that of the allocator, linear in the
  /// requests; a whole run where the code asks for memory figures or has several devices or
  /// streams.
  [[nodiscard]] PlayFigures play(const AllocatorSettings& settings,
                                 std::optional<Bytes> total = std::nullopt) const;
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const RunBasis& basis() const { return recording_; }

 private:
  Scenario scenario_;
  Recording recording_;
  bool is_plain_ = false;  ///< the requests alone decide: one device, nothing waits for a stream
};

/// What a program needs to its end, found by playing it to its end.
struct Need {
  /// Peak reserved on a device with room for all; none: more than kRoomyBytes.
  std::optional<Bytes> reserved_bytes;
  /// The least device, its context and what others hold included, on which no request is refused;
  /// a device smaller by `step_bytes` refuses one.
  Bytes total_bytes = 0;
  Bytes step_bytes = 0;
  unsigned plays = 0;
};
/// By halving between a size that is too small and one that does. Errors: as run(). Cost: some
/// dozen plays.
Need need_of(const ProgramPlayer& player);

}  // namespace tidemark
