#pragma once

#include <cstdint>

#include "sim/base/bytes.h"

namespace tidemark {

/// Sizes that no setting changes. Source: docs/rules/allocator.md#1.
inline constexpr Bytes kMinBlockBytes = 512;
inline constexpr Bytes kSmallMaxBytes = kMiB;  ///< largest rounded request of a small pool
/// A small pool's segment, its expandable page.
inline constexpr Bytes kSmallSegmentBytes = 2 * kMiB;
inline constexpr Bytes kLargeMinBytes = 10 * kMiB;  ///< from here a segment is sized to its request
inline constexpr Bytes kLargeRoundBytes = 2 * kMiB;  ///< to a multiple of this
inline constexpr Bytes kDefaultLargeSegmentBytes = 20 * kMiB;
/// From here a request is refused unseen.
inline constexpr Bytes kHugeRequestBytes = Bytes{1} << 60;
inline constexpr Bytes kUnlimitedBytes = ~Bytes{0};

/// For sums that go down too.
constexpr std::int64_t as_signed(Bytes bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace tidemark
