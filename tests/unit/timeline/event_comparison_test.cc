#include "sim/timeline/event_comparison.h"

#include <algorithm>
#include <random>

#include "sim/timeline/diff.h"

namespace tidemark {
namespace {

using Random = std::mt19937_64;

Event drawn_event(Random& random) {
  constexpr std::array kActions{Action::kAlloc, Action::kFreeRequested, Action::kFreeRequested,
                                Action::kFreeCompleted, Action::kSegmentAlloc};
  Event event;
  event.action = kActions[random() % kActions.size()];
  event.id = static_cast<RequestId>(random() % 4);
  event.address = random() % 3;
  event.bytes = 100;
  return event;
}

/// Some of `events` moved, changed, left out and added.
std::vector<Event> changed(std::vector<Event> events, Random& random) {
  for (std::size_t changes = random() % 5; changes > 0 && !events.empty(); --changes) {
    const auto at = events.begin() + static_cast<std::ptrdiff_t>(random() % events.size());
    switch (random() % 4) {
      case 0:
        if (at + 1 != events.end()) std::iter_swap(at, at + 1);
        break;
      case 1:
        *at = drawn_event(random);
        break;
      case 2:
        events.erase(at);
        break;
      default:
        events.insert(at, drawn_event(random));
    }
  }
  return events;
}

EventComparison::Result compared_in_parts(const std::vector<Event>& a, const std::vector<Event>& b,
                                          bool unordered, Random& random) {
  EventComparison comparison;
  std::span<const Event> rest_a(a);
  std::span<const Event> rest_b(b);
  while (!rest_a.empty() || !rest_b.empty()) {
    const std::size_t from_a = std::min<std::size_t>(rest_a.size(), random() % 6);
    const std::size_t from_b = std::min<std::size_t>(rest_b.size(), random() % 6);
    comparison.take(rest_a.first(from_a), rest_b.first(from_b));
    rest_a = rest_a.subspan(from_a);
    rest_b = rest_b.subspan(from_b);
  }
  return comparison.finish(unordered);
}

std::vector<Event> from_first(const std::vector<Event>& events, std::optional<std::size_t> first) {
  if (!first || *first >= events.size()) return {};
  const auto begin = events.begin() + static_cast<std::ptrdiff_t>(*first);
  const std::size_t count = std::min(EventComparison::kShown, events.size() - *first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

TEST_CASE("events compared in parts differ as events compared whole do, ordered or not") {
  Random random(1);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < 4'000; ++i) {
    std::vector<Event> a;
    for (std::size_t n = random() % 40; n > 0; --n) a.push_back(drawn_event(random));
    const std::vector<Event> b = changed(a, random);
    for (const bool unordered : {false, true}) {
      DiffOptions options;
      options.unordered_frees = unordered;
      const EventDiff whole = diff_events(a, b, options);
      const EventComparison::Result parts = compared_in_parts(a, b, unordered, random);
      REQUIRE(parts.a_events == whole.a_events);
      REQUIRE(parts.b_events == whole.b_events);
      REQUIRE(parts.differing == whole.differing);
      REQUIRE(parts.first == whole.first);
      REQUIRE(parts.a_from_first == from_first(a, whole.first));
      REQUIRE(parts.b_from_first == from_first(b, whole.first));
      equal += whole.equal() ? 1U : 0U;
    }
  }
  CHECK(equal > 1'000);
  CHECK(equal < 7'000);
}

TEST_CASE("allocations are counted position by position, and those at other addresses") {
  const auto alloc = [](std::uint64_t address) {
    return Event{.address = address, .action = Action::kAlloc};
  };
  const std::vector<Event> a{alloc(1), alloc(2), alloc(3), alloc(4)};
  const std::vector<Event> b{alloc(1), alloc(9), {.address = 3, .action = Action::kSegmentAlloc}};
  EventComparison comparison;
  comparison.take(a, b);
  CHECK(comparison.finish(false).differing == 3);
  CHECK(comparison.allocations() == 3);
  CHECK(comparison.placed_differently() == 2);
}

}  // namespace
}  // namespace tidemark
