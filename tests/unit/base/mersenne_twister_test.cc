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
