#include "sim/lang/values/str.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace tidemark::lang;

namespace {

/// Code points of one to four bytes, `count` of them in turn.
std::vector<std::uint32_t> mixed(std::size_t count) {
  constexpr std::uint32_t kEach[] = {'a', 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF};
  std::vector<std::uint32_t> codes;
  for (std::size_t i = 0; i < count; ++i) codes.push_back(kEach[(i * i + i / 3) % 8]);
  return codes;
}

}  // namespace

TEST_CASE("A code point is written in one to four bytes and read back") {
  std::string text;
  const std::vector<std::uint32_t> codes = mixed(500);
  for (const std::uint32_t code : codes) append_utf8(text, code);
  CHECK(count_code_points(text) == 500);
  std::size_t at = 0;
  for (const std::uint32_t code : codes) CHECK(next_code_point(text, at) == code);
  CHECK(at == text.size());
}

TEST_CASE("A sequence that the text cuts short is read without looking behind the text") {
  std::string text = "\xF0\x9F";
  std::size_t at = 0;
  next_code_point(std::string_view(text).substr(0, 1), at);
  CHECK(at == 4);  // behind the text: the caller's loop ends
}

TEST_CASE("offset() is where the code point begins, at every distance from a mark") {
  for (const std::size_t count : {1U, 63U, 64U, 65U, 128U, 1000U}) {
    std::string text;
    std::vector<std::size_t> begins;
    for (const std::uint32_t code : mixed(count)) {
      begins.push_back(text.size());
      append_utf8(text, code);
    }
    begins.push_back(text.size());
    const Str str(text);
    CHECK(str.length() == static_cast<std::int64_t>(count));
    for (std::size_t i = 0; i <= count; ++i) {
      INFO("code point " << i << " of " << count);
      CHECK(str.offset(static_cast<std::int64_t>(i)) == begins[i]);
    }
  }
}

TEST_CASE("The offset in an ASCII text is the index") {
  const Str str(std::string(1000, 'x'));
  for (const std::int64_t i : {0, 1, 64, 999, 1000}) CHECK(str.offset(i) == std::size_t(i));
}

TEST_CASE("Equal texts have equal hashes, and none is zero") {
  CHECK(Str("abc").hash() == Str("abc").hash());
  CHECK(Str("abc").hash() != Str("abd").hash());
  CHECK(Str("").hash() != 0);
}
