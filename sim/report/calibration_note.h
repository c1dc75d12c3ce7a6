#pragma once

#include <cstdint>
#include <string>

#include "sim/device/calibration.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// What a run's verdict rests on: where the calibration comes from, what of it was measured, and
/// the amount under which what is only assumed must stay for the verdict to hold. `today`: days
/// since 1970, by which its age is told.
std::string calibration_note(const Calibration& calibration, const RunResult& result,
                             std::int64_t today);

}  // namespace tidemark
