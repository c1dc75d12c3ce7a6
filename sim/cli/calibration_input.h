#pragma once

#include <cstdint>
#include <string>

#include "sim/device/calibration.h"

namespace tidemark::cli {

struct LoadedCalibration {
  std::string name;  ///< the file's
  Calibration calibration;
};

/// What --calibration names: a file, or one of configs/calibrations by its name without ending.
/// Errors: InputError with all problems; IoError where there is none; of a shared one also where
/// its receipt is not whole.
LoadedCalibration load_calibration(const std::string& given);

/// Days since 1970.
std::int64_t today();

}  // namespace tidemark::cli
