#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Texts are UTF-8; Python's strings are code points.
namespace tidemark::lang {

/// Requires: a code point, at most 0x10FFFF.
inline void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
  constexpr std::uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kFirst[more] | (code >> (6U * static_cast<unsigned>(more))));
  for (int i = more - 1; i >= 0; --i)
    out += static_cast<char>(0x80U | ((code >> (6U * static_cast<unsigned>(i))) & 0x3FU));
}

/// The code point that begins at `at`, which is moved behind it. Requires: at < text.size(), well
/// formed text.
inline std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) : 0U;
  };
  const std::uint32_t first = byte(at++);
  if (first < 0xC0) return first;
  const int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  std::uint32_t code = first & (0x3FU >> static_cast<unsigned>(more));
  for (int i = 0; i < more; ++i) code = (code << 6U) | (byte(at++) & 0x3FU);
  return code;
}

/// Requires: well formed text. Cost: its bytes.
inline std::int64_t count_code_points(std::string_view text) {
  std::int64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

}  // namespace tidemark::lang
