#pragma once

#include <span>
#include <string_view>

namespace tidemark {

/// A file of configs/devices/, part of the program.
struct EmbeddedDevice {
  std::string_view id;
  std::string_view aliases;  ///< apart by one space
  std::string_view text;     ///< the file as it is
};

/// All of them, by id. No text is read before it is asked for.
std::span<const EmbeddedDevice> embedded_devices();

}  // namespace tidemark
