#include "sim/timeline/event_layout.h"

#include <catch2/catch.hpp>

namespace tidemark {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20U;

Event event(Action action, std::uint64_t address, Bytes bytes) {
  Event made;
  made.action = action;
  made.address = address;
  made.bytes = bytes;
  return made;
}

TEST_CASE("The largest free stretch is what no request covers") {
  // 0        512      2048                2 MiB
  // | 300 B  | 1500 B | free              |
  // then the first is freed: the largest stays the tail; then the second: all is one stretch.
  const std::vector<Event> events{
      event(Action::kSegmentAlloc, 0, 2 * kMiB), event(Action::kAlloc, 0, 300),
      event(Action::kAlloc, 512, 1500),          event(Action::kFreeRequested, 0, 300),
      event(Action::kFreeCompleted, 0, 300),     event(Action::kFreeCompleted, 512, 1500),
      event(Action::kSegmentFree, 0, 2 * kMiB),
  };
  const std::vector<EventAmounts> amounts = event_amounts(events);
  const std::vector<EventAmounts> expected{
      {2 * kMiB, 2 * kMiB},
      {2 * kMiB, 2 * kMiB - 512},
      {2 * kMiB, 2 * kMiB - 2048},
      {2 * kMiB, 2 * kMiB - 2048},
      {2 * kMiB, 2 * kMiB - 2048},
      {2 * kMiB, 2 * kMiB},
      {0, 0},
  };
  CHECK(amounts == expected);
}

TEST_CASE("Segments that touch do not lend each other room, pages mapped side by side do") {
  const std::vector<Event> apart{event(Action::kSegmentAlloc, 0, 2 * kMiB),
                                 event(Action::kSegmentAlloc, 2 * kMiB, 2 * kMiB)};
  CHECK(event_amounts(apart).back() == EventAmounts{4 * kMiB, 2 * kMiB});
  const std::vector<Event> mapped{event(Action::kSegmentMap, 0, 2 * kMiB),
                                  event(Action::kSegmentMap, 2 * kMiB, 2 * kMiB),
                                  event(Action::kSegmentUnmap, 0, 2 * kMiB)};
  const std::vector<EventAmounts> amounts = event_amounts(mapped);
  CHECK(amounts[1] == EventAmounts{4 * kMiB, 4 * kMiB});
  CHECK(amounts[2] == EventAmounts{2 * kMiB, 2 * kMiB});
}

TEST_CASE("Told by segment, the same choices on another driver are equal") {
  const auto run = [](std::uint64_t first, std::uint64_t second) {
    return by_segment(std::vector<Event>{
        event(Action::kSegmentAlloc, first, 2 * kMiB), event(Action::kAlloc, first + 512, 100),
        event(Action::kSegmentAlloc, second, 20 * kMiB), event(Action::kAlloc, second, 100),
        event(Action::kFreeCompleted, first + 512, 100),
        event(Action::kSegmentFree, second, 20 * kMiB)});
  };
  CHECK(run(0x1000000, 0x9000000) == run(0x9000000, 0x1000000));
  // The second block of the first segment, not of the second.
  const std::vector<Event> told = run(0x1000000, 0x9000000);
  CHECK(told[1].address == 512);
  CHECK(told[3].address != told[0].address);
}

TEST_CASE("A request that failed keeps the free bytes that stand for its address") {
  const std::vector<Event> events{event(Action::kOom, 12345, kMiB)};
  CHECK(by_segment(events).front().address == 12345);
}

}  // namespace
}  // namespace tidemark
