#include <catch2/catch.hpp>

#include "sim/run/event_policy.h"

namespace tidemark {

TEST_CASE("an event policy is read as it is written") {
  for (const char* text : {"sync", "ready", "lag:0", "lag:12", "simulated"}) {
    CAPTURE(text);
    const auto policy = parse_event_policy(text);
    REQUIRE(policy);
    CHECK(event_policy_name(*policy) == text);
  }
  CHECK(parse_event_policy("lag:12")->lag == 12);
}

TEST_CASE("anything else is no event policy") {
  for (const char* text :
       {"", "Sync", "lag", "lag:", "lag:-1", "lag:1x", "lag: 1", "lag:99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_event_policy(text));
  }
}

}  // namespace tidemark
