#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/base/bytes.h"

namespace tidemark {

/// Simulated time: whole nanoseconds since the start of the run (292 years of room). Never wall
/// time.
using Nanoseconds = std::int64_t;

/// How long `amount` units take at `per_second` units a second, rounded up to a whole nanosecond,
/// in 128-bit arithmetic (a plain 64-bit product overflows beyond 17 GiB). Requires: per_second >
/// 0.
constexpr Nanoseconds duration_at_rate(std::uint64_t amount, std::uint64_t per_second) {
  const Wide scaled = static_cast<Wide>(amount) * 1'000'000'000U;
  return static_cast<Nanoseconds>((scaled + per_second - 1) / per_second);
}

/// "250ms", "90s", "1.5min", "2h": a number and its unit (ns, us, ms, s, min, h), rounded down to a
/// whole nanosecond. Errors: std::nullopt for other text, and for less than 1 ns or 9e18 ns and
/// more.
std::optional<Nanoseconds> parse_duration(std::string_view text);

}  // namespace tidemark
