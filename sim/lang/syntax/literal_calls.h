#pragma once

#include <string_view>

namespace tidemark::lang {

// What literals that are no plain constants call with their text, as kImaginary; no name of a
// program can be these.
inline constexpr std::string_view kBytes = "<bytes>";
inline constexpr std::string_view kLargeInteger = "<large integer>";

}  // namespace tidemark::lang
