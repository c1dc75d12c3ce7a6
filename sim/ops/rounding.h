#pragma once

#include <cstdint>

/// Whole numbers of sizes. Requires: not negative, and no divisor of 0.
namespace tidemark::ops {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t to) { return ceil_div(a, to) * to; }

}  // namespace tidemark::ops
