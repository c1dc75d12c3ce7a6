#pragma once

#include <string>

#include "sim/device/calibration.h"
#include "sim/run/run_result.h"

namespace tidemark {

/// What a run's verdict rests on: where the calibration comes from, what of it was measured, and
/// the amount under which what is only assumed must stay for the verdict to hold.
std::string calibration_note(const Calibration& calibration, const RunResult& result);

}  // namespace tidemark
