#pragma once

#include <cstdint>

namespace tidemark {

/// Between which shares of a told time the true one is expected, in thousandths. Where no card was
/// calibrated it is published_band().
struct TimeBand {
  std::int64_t low = 1000;
  std::int64_t high = 1000;
  std::int64_t count = 0;      ///< how many measurements say so
  bool is_calibrated = false;  ///< by measurements of this card
  friend bool operator==(const TimeBand&, const TimeBand&) = default;
};

}  // namespace tidemark
