#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// Amounts of memory are unsigned 64-bit bytes everywhere; a name that holds one ends in `_bytes`
/// unless its type says so. Ratios and coarser units are formed when printing, never before.
using Bytes = std::uint64_t;

/// 128-bit arithmetic, for products that 64 bits cannot hold.
__extension__ using Wide = unsigned __int128;

inline constexpr Bytes kKiB = Bytes{1} << 10;
inline constexpr Bytes kMiB = Bytes{1} << 20;
inline constexpr Bytes kGiB = Bytes{1} << 30;

/// Rounds up to a multiple of `granule`. Requires: granule > 0, the result fits 64 bits.
constexpr Bytes round_up(Bytes bytes, Bytes granule) {
  return (bytes + granule - 1) / granule * granule;
}
constexpr Bytes round_down(Bytes bytes, Bytes granule) { return bytes / granule * granule; }

/// Errors: std::nullopt on overflow.
constexpr std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}
constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// As PyTorch prints sizes in its messages: "512 bytes", "1.50 KiB", "20.00 MiB", "79.18 GiB".
/// Source: docs/rules/allocator.md#14.2.
std::string format_bytes(Bytes bytes);

/// "20.00 MiB (20971520 bytes)": for people, exact bytes beside the rounded figure.
std::string format_bytes_exact(Bytes bytes);

/// Reads "85017755648", "24GiB", "24 GiB", "512MiB", "1.5GiB", "80GB" (powers of ten for kB, MB,
/// GB, TB). Of "21.6GiB" the whole bytes count. Errors: std::nullopt for anything else, negative,
/// parts of bytes that are written as bytes, or more than 64 bits.
std::optional<Bytes> parse_bytes(std::string_view text);

}  // namespace tidemark
