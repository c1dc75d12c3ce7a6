#include "sim/format/request_origins.h"

#include <random>

namespace tidemark {
namespace {

TEST_CASE("a request's event and stack are found again, near and far apart") {
  std::mt19937_64 random(4);
  SnapshotEvents events;
  RequestOrigins origins;
  std::vector<RequestOrigin> expected;
  for (const StackId stack : {0U, 7U, 3U}) {
    origins.add_alive_before(stack);
    expected.push_back({RequestOrigin::kNoEvent, stack});
  }
  for (std::size_t i = 0; i < 60'000; ++i) {
    SnapshotEvent event;
    event.stack = static_cast<StackId>(random() % 1'000);
    events.push_back(event);
    if (i > 20'000 && i < 40'000) continue;  // a gap that takes three bytes
    if (random() % 3 != 0) continue;
    origins.add_recorded(i);
    expected.push_back({i, event.stack});
  }
  const EventTrace trace(events, 0, events.size());
  REQUIRE(origins.size() == expected.size());
  for (std::size_t id = 0; id < expected.size(); ++id) {
    const RequestOrigin found = origins.at(id, trace);
    REQUIRE(found.event == expected[id].event);
    REQUIRE(found.stack == expected[id].stack);
    REQUIRE(origins.event(id) == expected[id].event);
  }
}

}  // namespace
}  // namespace tidemark
