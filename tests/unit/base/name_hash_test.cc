#include "sim/base/name_hash.h"

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

namespace tidemark {
namespace {

TEST_CASE("a name's hash is the same while compiling and while running") {
  constexpr std::array<std::string_view, 6> kNames{"",        "x",           "self",
                                                   "forward", "__getattr__", "scaled_dot_product"};
  constexpr std::array<std::uint64_t, 6> kHashes{hash_name(kNames[0]), hash_name(kNames[1]),
                                                 hash_name(kNames[2]), hash_name(kNames[3]),
                                                 hash_name(kNames[4]), hash_name(kNames[5])};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::string copied(kNames[i]);
    CHECK(hash_name(copied) == kHashes[i]);
  }
}

TEST_CASE("each byte and the length count in a name's hash") {
  const std::string text = "a_name_of_nineteen_";
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = '#';
    CHECK(hash_name(other) != hash_name(text));
    CHECK(hash_name(std::string_view(text).substr(0, i)) != hash_name(text));
  }
  CHECK(hash_name(std::string(3, '\0')) != hash_name(std::string(2, '\0')));
}

}  // namespace
}  // namespace tidemark
