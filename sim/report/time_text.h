#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/base/sim_time.h"
#include "sim/device/time_error.h"
#include "sim/format/json_writer.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// "14.19 ms (10.50 to 20.43 ms)": a simulated time and between what the true one is expected.
/// Requires: ns >= 0.
std::string banded_text(Nanoseconds ns, const TimeBand& band = {});

/// Where the band comes from: "8 of 10 published times lie so, docs/trust.md".
std::string band_basis(const TimeBand& band);

/// "between 0.74 and 1.44 of a time that is told lies the true one: 8 of 10 ..."
std::string band_text(const TimeBand& band);

/// What a step takes once the program runs warm: from the last but one's begin to the last's, of
/// two steps the second one. None where the program's phases have no steps.
std::optional<Nanoseconds> step_ns(const RunResult& result);

/// Of times of driver calls, beside them.
inline constexpr std::string_view kDriverTimes =
    "Times of driver calls are assumed, since none are published; tidemark calibrate measures "
    "them.";

/// "A step takes 14.19 ms (...): ...". Empty where the run is not timed.
std::string time_line(const RunResult& result, std::size_t width);

/// The member `time` (docs/formats/json.md). Nothing where the run is not timed.
void write_time(JsonWriter& json, const RunResult& result);

/// The member `time_band`.
void write_time_band(JsonWriter& json, const TimeBand& band);

}  // namespace tidemark
