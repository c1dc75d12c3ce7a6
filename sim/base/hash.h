#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark {

/// FNV-1a: the same on every platform, so that nothing depends on the library's hash.
inline constexpr std::uint64_t kEmptyHash = 0xcbf29ce484222325U;
constexpr std::uint64_t hash_byte(std::uint64_t hash, unsigned char byte) {
  return (hash ^ byte) * 0x100000001b3U;
}
constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = kEmptyHash;
  for (const char c : text) hash = hash_byte(hash, static_cast<unsigned char>(c));
  return hash;
}
/// `hash` of what came before, and a number of eight bytes behind it.
constexpr std::uint64_t hash_number(std::uint64_t hash, std::uint64_t number) {
  for (int i = 0; i < 8; ++i, number >>= 8U)
    hash = hash_byte(hash, static_cast<unsigned char>(number & 0xffU));
  return hash;
}

}  // namespace tidemark
