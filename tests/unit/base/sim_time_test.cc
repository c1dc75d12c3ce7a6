#include "sim/base/sim_time.h"

#include <catch2/catch.hpp>

using namespace tidemark;

TEST_CASE("A duration is a number and its unit") {
  CHECK(parse_duration("90s") == 90'000'000'000);
  CHECK(parse_duration("250ms") == 250'000'000);
  CHECK(parse_duration("1.5min") == 90'000'000'000);
  CHECK(parse_duration("2h") == 7'200'000'000'000);
  CHECK(parse_duration("1ns") == 1);
  CHECK(parse_duration("1.9ns") == 1);
  CHECK(parse_duration("3us") == 3'000);
  for (const auto* text :
       {"", "5", "s", "-1s", "0s", "0.5ns", "1 s", "1sec", "1e30h", "nans", "infs"})
    CHECK_FALSE(parse_duration(text).has_value());
}
