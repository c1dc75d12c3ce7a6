#pragma once

#include <compare>
#include <cstdint>

namespace tidemark {

/// A PyTorch release, as far as the allocator's behaviour tells releases apart. Range: 2.4 to 2.15.
struct Version {
  std::uint8_t major = 2;
  std::uint8_t minor = 11;
  friend constexpr auto operator<=>(const Version&, const Version&) = default;
};
inline constexpr Version kDefaultVersion{2, 11};
inline constexpr Version kOldestVersion{2, 4};
inline constexpr Version kNewestVersion{2, 15};

}  // namespace tidemark
