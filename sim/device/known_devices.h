#pragma once

#include <span>
#include <string_view>

#include "sim/device/device.h"

namespace tidemark {

/// A device of configs/devices/, part of the program: device_compiler reads the files when Tidemark
/// is built, and writes their figures as code.
struct KnownDevice {
  std::string_view id;
  std::span<const std::string_view> aliases;
  Device (*make)();
};

/// All of them, by id.
std::span<const KnownDevice> known_devices();

}  // namespace tidemark
