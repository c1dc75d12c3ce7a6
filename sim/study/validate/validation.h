#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/release.h"
#include "sim/format/measured_run.h"
#include "sim/format/snapshot.h"
#include "sim/run/run_result.h"
#include "sim/timeline/diff.h"

namespace tidemark {

/// A figure on both sides. `measured` is empty where the measurement does not tell it.
struct ComparedBytes {
  Bytes simulated = 0;
  std::optional<Bytes> measured;
  /// (simulated - measured) / measured in millionths, rounded towards zero; empty without a
  /// measurement, or for one of 0.
  [[nodiscard]] std::optional<std::int64_t> error_ppm() const;
};

/// How far two curves are apart, event by event, over the events that both sides have.
struct CurveError {
  std::size_t events = 0;
  std::size_t differing = 0;
  Bytes mean = 0;  ///< of the differences without their signs, rounded down
  Bytes largest = 0;
  std::size_t largest_at = 0;
};

/// One scenario, simulated and measured.
struct ValidationCase {
  std::string name;
  Provenance provenance;
  EventTable simulated;
  EventTable measured;      ///< of a warm recording, to compare with the run's last events
  bool by_segment = false;  ///< the driver was another: addresses are told by segment and offset,
                            ///< and compared in `placed_elsewhere` alone
  bool warm = false;        ///< kinds and bytes alone are compared
  /// By segment: allocations at another place. They are no difference: the driver gave other
  /// addresses, and PyTorch breaks ties between free blocks of one size by address.
  std::size_t placed_elsewhere = 0;
  std::size_t allocations = 0;
  DiffOptions options;  ///< what `events` was compared with
  EventDiff events;     ///< a: measured, b: simulated
  /// Measured events after the request that ended the run: what the interpreter lets go of while
  /// the error leaves the program. Not compared.
  std::size_t after_oom = 0;
  std::size_t other_order = 0;  ///< frees beside one another in another order: no difference
  ComparedBytes peak_allocated;
  ComparedBytes peak_reserved;
  ComparedBytes device_total;
  CurveError reserved_curve;
  CurveError largest_free_curve;
  bool oom_simulated = false;
  bool oom_measured = false;
  [[nodiscard]] bool exact() const { return events.equal() && oom_right(); }
  [[nodiscard]] bool oom_right() const { return oom_simulated == oom_measured; }
};

/// Compares a run with what was measured of the same program. Requires: the run kept its events.
/// Errors: InputError when the two have different numbers of devices.
ValidationCase validate(std::string name, const RunResult& result, MeasuredRun measured);

/// The same of a request trace. Its refused requests are its verdict: it does not end by them. IDs
/// are counted anew, in the order of the requests, as measurements count them.
ValidationCase validate_trace(std::string name, RunResult result, MeasuredRun measured);

/// The releases that may have written a snapshot, by the keys that it has.
/// Source: docs/rules/allocator.md#16.
Releases releases_of(const Snapshot& snapshot);
/// PyPI's PyTorches that may have written it, oldest first.
std::vector<Wheel> wheels_of(const Snapshot& snapshot);

/// One figure over many cases: of the errors without their signs, in millionths.
struct ErrorSummary {
  std::size_t cases = 0;  ///< in which it was measured
  std::int64_t mean_ppm = 0;
  std::int64_t median_ppm = 0;
  std::int64_t max_ppm = 0;
  std::size_t under = 0;  ///< simulated too low: what would have run out of memory unforeseen
};

struct ValidationSummary {
  std::size_t cases = 0;
  std::size_t exact_cases = 0;
  std::size_t events = 0;  ///< measured
  std::size_t differing_events = 0;
  std::size_t wrong_oom_verdicts = 0;
  ErrorSummary peak_allocated;
  ErrorSummary peak_reserved;
  ErrorSummary device_total;
};
ValidationSummary summarise(const std::vector<ValidationCase>& cases);

/// A recorded snapshot as a measured run. Errors: as make_snapshot_program().
MeasuredRun measured_of(const Snapshot& snapshot);

}  // namespace tidemark
