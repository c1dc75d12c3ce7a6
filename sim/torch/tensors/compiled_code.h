#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tidemark::torch {

/// What becomes of code that a program compiles. docs/compile.md.
enum class CompileMode : std::uint8_t {
  kRefuse,  ///< the program is refused by name
  kEager,   ///< it runs as it stands, and the result says so
};
/// As scenarios write them; the order is the enumeration's.
inline constexpr std::array<std::string_view, 2> kCompileModeNames{"refuse", "eager"};

}  // namespace tidemark::torch
