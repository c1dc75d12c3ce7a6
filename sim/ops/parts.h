#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace tidemark::ops {

/// In the place of a part's size that nobody knows: what the known ones leave, in equal shares.
inline constexpr std::int64_t kEqualShare = std::numeric_limits<std::int64_t>::min();

/// The sizes of all parts of `total`.
std::vector<std::int64_t> with_equal_shares(std::vector<std::int64_t> sizes, std::int64_t total);

}  // namespace tidemark::ops
