#pragma once

#include <cstdint>

namespace tidemark {

/// How far simulated times err. Of the times that others published, with the configuration they
/// were taken in, eight of ten lie between these shares of what is told for it, in thousandths.
/// Written by tools/trust; docs/trust.md has the table.
inline constexpr std::int64_t kTrueTimeLow = 740;
inline constexpr std::int64_t kTrueTimeHigh = 1440;
inline constexpr std::int64_t kPublishedTimes = 64;

/// Between which shares of a told time the true one is expected, in thousandths.
struct TimeBand {
  std::int64_t low = kTrueTimeLow;
  std::int64_t high = kTrueTimeHigh;
  std::int64_t count = kPublishedTimes;  ///< how many measurements say so
  bool is_calibrated = false;            ///< by measurements of this card
  friend bool operator==(const TimeBand&, const TimeBand&) = default;
};

}  // namespace tidemark
