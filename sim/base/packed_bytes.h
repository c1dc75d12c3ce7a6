#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tidemark {

/// Numbers of one to eight bytes behind one another, for tables that are long and mostly small
/// numbers. Who reads says how many bytes a number has.
inline void put_bytes(std::vector<std::uint8_t>& out, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, value >>= 8U)
    out.push_back(static_cast<std::uint8_t>(value));
}

/// Reads them back. Requires: kPadding bytes follow the last number.
class PackedBytes {
 public:
  static constexpr std::size_t kPadding = 8;
  explicit PackedBytes(const std::uint8_t* at) : at_(at) {}
  /// Range of `count`: 0 (gives 0) to 8.
  std::uint64_t take(std::size_t count) {
    static_assert(std::endian::native == std::endian::little);
    constexpr std::uint64_t kAll = ~std::uint64_t{0};
    std::uint64_t value = 0;
    std::memcpy(&value, at_, sizeof value);
    at_ += count;
    return count == 0 ? 0 : value & (kAll >> (64U - 8U * count));
  }

 private:
  const std::uint8_t* at_;
};

/// Bytes as PackedBytes reads them, in no more memory than that.
inline std::vector<std::uint8_t> padded(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint8_t> out;
  out.reserve(bytes.size() + PackedBytes::kPadding);
  out.assign(bytes.begin(), bytes.end());
  out.resize(bytes.size() + PackedBytes::kPadding);
  return out;
}

/// Small numbers of either sign as small numbers without one.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
}

}  // namespace tidemark
