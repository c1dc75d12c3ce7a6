#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

/// The version of a PyTorch release ("2.11") or of a CUDA toolkit ("13.0").
struct Version {
  std::uint8_t major = 0;
  std::uint8_t minor = 0;
  friend constexpr auto operator<=>(const Version&, const Version&) = default;
};
/// "2.11".
std::string to_string(Version version);

/// Range of the PyTorch releases that Tidemark knows.
inline constexpr Version kOldestVersion{2, 4};
inline constexpr Version kNewestVersion{2, 15};

/// The PyTorch releases from one to another, both included: where a rule holds.
struct Releases {
  Version from = kOldestVersion;
  Version to = kNewestVersion;
  [[nodiscard]] constexpr bool contain(Version version) const {
    return from <= version && version <= to;
  }
};
/// "2.4 to 2.14", "2.15".
std::string to_string(const Releases& releases);

/// A PyTorch as it is installed: its release, and the CUDA toolkit that its kernels were compiled
/// with.
struct Wheel {
  Version pytorch = kNewestVersion;
  Version cuda{13, 2};
  friend constexpr auto operator<=>(const Wheel&, const Wheel&) = default;
};
/// The PyTorch of a program or request trace that names none: the newest that is known, of PyPI.
inline constexpr Wheel kDefaultWheel{};
/// The one that `pip install torch` takes from PyPI on Linux. Requires: a known release.
Wheel pypi_wheel(Version pytorch);

/// Reads "2.11" or "2.11.0".
/// Errors: InputError for anything else and for releases outside kOldestVersion to kNewestVersion;
/// `name` is its path.
Version parse_version(std::string_view name, std::string_view text);
/// Reads "13.0" or "cu130". Errors: InputError for anything else and for toolkits that no known
/// release came with; `name` is its path.
Version parse_cuda_version(std::string_view name, std::string_view text);

}  // namespace tidemark
