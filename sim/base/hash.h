#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark {

/// FNV-1a: the same on every platform, so that nothing depends on the library's hash.
constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace tidemark
