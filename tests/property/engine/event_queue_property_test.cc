#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/base/random.h"
#include "sim/engine/event_queue.h"

namespace tidemark {
namespace {

/// Draws a time no earlier than `now`, from few values, so that equal times and equal phases are
/// common.
EventQueue::Entry draw(Random& random, Nanoseconds now, std::uint32_t subject) {
  EventQueue::Entry entry;
  entry.key.time = now + static_cast<Nanoseconds>(random.below(8));
  entry.key.phase = static_cast<Phase>(random.below(3));
  entry.subject = subject;
  return entry;
}

bool before(const EventQueue::Entry& a, const EventQueue::Entry& b) {
  return a.key.time != b.key.time ? a.key.time < b.key.time : a.key.phase < b.key.phase;
}

}  // namespace

TEST_CASE("the event queue pops what a stable sort by time and phase gives") {
  const auto seed = GENERATE(range(1U, 41U));
  CAPTURE(seed);
  Random random(seed);
  EventQueue queue;
  std::vector<EventQueue::Entry> expected;
  const auto count = static_cast<std::uint32_t>(random.between(0, 500));
  for (std::uint32_t i = 0; i < count; ++i) {
    expected.push_back(draw(random, 0, i));
    queue.push(expected.back().key.time, expected.back().key.phase, i);
  }
  std::stable_sort(expected.begin(), expected.end(), before);
  std::vector<std::uint32_t> wanted;
  std::vector<std::uint32_t> got;
  for (const EventQueue::Entry& entry : expected) wanted.push_back(entry.subject);
  while (!queue.empty()) got.push_back(queue.pop().subject);
  REQUIRE(got == wanted);
}

TEST_CASE("pushes and pops in any mixture pop what a stable sort of those present gives first") {
  const auto seed = GENERATE(range(1U, 41U));
  CAPTURE(seed);
  Random random(seed);
  EventQueue queue;
  std::vector<EventQueue::Entry> present;
  for (std::uint32_t i = 0; i < 2'000; ++i) {
    if (present.empty() || random.chance(3, 5)) {
      present.push_back(draw(random, queue.now(), i));
      queue.push(present.back().key.time, present.back().key.phase, i);
    } else {
      std::stable_sort(present.begin(), present.end(), before);
      const Nanoseconds earlier = queue.now();
      REQUIRE(queue.pop().subject == present.front().subject);
      REQUIRE(queue.now() >= earlier);
      present.erase(present.begin());
    }
    REQUIRE(queue.size() == present.size());
  }
}

}  // namespace tidemark
