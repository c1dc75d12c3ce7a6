#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tidemark::torch {

/// What becomes of code that a program compiles. docs/compile.md.
enum class CompileMode : std::uint8_t {
  kRefuse,  ///< the program is refused by name
  kEager,   ///< it runs as it stands, and the result says so
  kModel,   ///< it is compiled as PyTorch does; what is not modelled is refused
};
/// As scenarios write them; the order is the enumeration's.
inline constexpr std::array<std::string_view, 3> kCompileModeNames{"refuse", "eager", "model"};

}  // namespace tidemark::torch
