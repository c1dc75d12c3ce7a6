#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace tidemark {

/// The hash of a name, eight bytes at a time. It finds a text in tables and is seen nowhere
/// else.
constexpr std::uint64_t hash_name(std::string_view text) {
  static_assert(std::endian::native == std::endian::little);
  const auto word_at = [text](std::size_t at, std::size_t size) {
    std::uint64_t word = 0;
    if (std::is_constant_evaluated()) {
      for (std::size_t i = 0; i < size; ++i)
        word |= std::uint64_t{static_cast<unsigned char>(text[at + i])} << (8 * i);
    } else {
      std::memcpy(&word, text.data() + at, size);
    }
    return word;
  };
  const auto mix = [](std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 32U);
  };
  std::uint64_t hash = text.size();
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) hash = mix(hash, word_at(at, 8));
  if ((text.size() & 4U) != 0) {
    hash = mix(hash, word_at(at, 4));
    at += 4;
  }
  std::uint64_t rest = 0;
  for (; at < text.size(); ++at) rest = rest << 8U | static_cast<unsigned char>(text[at]);
  return mix(hash, rest);
}

}  // namespace tidemark
