#include "sim/base/mersenne_twister.h"

#include <catch2/catch.hpp>

namespace tidemark {
namespace {

TEST_CASE("the ten thousandth word is the one that the C++ standard names") {
  MersenneTwister words(5489);
  words.skip(9999);
  CHECK(words.next() == 4123659995U);
  CHECK(words.position() == 10000);
}

TEST_CASE("a generator that is seeded by an array gives the words of its authors' own test") {
  // The first of mt19937ar.out, which init_by_array({0x123, 0x234, 0x345, 0x456}) gives.
  const std::uint32_t key[] = {0x123, 0x234, 0x345, 0x456};
  MersenneTwister words{std::span<const std::uint32_t>(key)};
  CHECK(words.next() == 1067595299U);
  CHECK(words.next() == 955945823U);
  CHECK(words.next() == 477289528U);
}

TEST_CASE("a generator goes on from another's words") {
  MersenneTwister one(7);
  one.skip(700);
  MersenneTwister other(one.words(), one.index());
  for (int i = 0; i < 700; ++i) CHECK(one.next() == other.next());
}

TEST_CASE("words that are skipped are the words that would have been given") {
  MersenneTwister one(7);
  MersenneTwister other(7);
  for (int i = 0; i < 700; ++i) one.next();
  other.skip(3);
  other.skip(0);
  other.skip(697);
  CHECK(other.position() == one.position());
  for (int i = 0; i < 700; ++i) CHECK(one.next() == other.next());
}

}  // namespace
}  // namespace tidemark
