#include "sim/device/published_band.h"

namespace tidemark {
namespace {

// Written by tools/trust.
constexpr std::int64_t kLow = 740;
constexpr std::int64_t kHigh = 1489;
constexpr std::int64_t kTimes = 64;

}  // namespace

TimeBand published_band() { return {kLow, kHigh, kTimes, false}; }

}  // namespace tidemark
