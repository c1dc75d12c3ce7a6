#include "sim/format/snapshot_events.h"

#include <limits>
#include <random>

namespace tidemark {
namespace {

/// Numbers of every length, near the one before or anywhere.
SnapshotEvent drawn(std::mt19937_64& random, const SnapshotEvent& last) {
  const auto below = [&random](std::uint64_t end) { return random() % end; };
  const auto any_length = [&] { return random() >> below(64); };
  SnapshotEvent event = last;
  event.action = static_cast<Action>(below(kActionNames.size()));
  if (below(2) == 0) event.time_us += static_cast<std::int64_t>(below(70'000));
  if (below(20) == 0) event.time_us = static_cast<std::int64_t>(any_length());
  if (below(2) == 0) event.address += 512 * (below(2'000'000) - 1'000'000);
  if (below(20) == 0) event.address = any_length();
  if (below(2) == 0) event.bytes = 512 * below(100'000);
  if (below(5) == 0) event.bytes = any_length();
  if (below(2) == 0) event.stack = static_cast<StackId>(any_length());
  if (below(20) == 0) event.user_metadata = static_cast<TextId>(any_length());
  if (below(20) == 0) event.compile_context = static_cast<TextId>(any_length());
  if (below(20) == 0) event.pool = static_cast<std::uint16_t>(any_length());
  if (below(20) == 0) event.stream = static_cast<StreamId>(below(3));
  return event;
}

std::vector<SnapshotEvent> drawn(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<SnapshotEvent> events(1);
  while (events.size() < count) events.push_back(drawn(random, events.back()));
  return events;
}

SnapshotEvents packed(const std::vector<SnapshotEvent>& events,
                      std::size_t plain_bytes = ByteChunks::kPlainBytes) {
  SnapshotEvents out{ByteChunks(plain_bytes)};
  for (const SnapshotEvent& each : events) out.push_back(each);
  return out;
}

TEST_CASE("packed events are what they were, read forwards, backwards and anywhere") {
  const std::vector<SnapshotEvent> events = drawn(20'000);
  const SnapshotEvents kept = packed(events, GENERATE(std::size_t{0}, ByteChunks::kPlainBytes));
  REQUIRE(kept.size() == events.size());
  const EventTrace trace(kept, 0, kept.size());
  std::size_t at = 0;
  for (const SnapshotEvent& each : trace) REQUIRE(each == events[at++]);
  CHECK(at == events.size());
  for (std::size_t i = events.size(); i-- > 0;) REQUIRE(trace[i] == events[i]);
  for (std::size_t i = 0; i < 2'000; ++i) {
    const std::size_t anywhere = i * 7919 % events.size();
    REQUIRE(trace[anywhere] == events[anywhere]);
  }
}

TEST_CASE("a trace is a range, and finds events by kind and time") {
  std::vector<SnapshotEvent> events(1'000);
  for (std::size_t i = 0; i < events.size(); ++i)
    events[i].time_us = static_cast<std::int64_t>(i / 2);
  events[10].action = events[700].action = Action::kOom;
  const SnapshotEvents kept = packed(events);
  const EventTrace trace(kept, 100, 800);
  CHECK(trace.size() == 800);
  CHECK(trace[0].time_us == 50);
  CHECK(trace.find(Action::kOom) == 600);
  CHECK(trace.find(Action::kOom, 600) == 600);
  CHECK_FALSE(trace.find(Action::kOom, 601).has_value());
  CHECK(trace.count(Action::kOom, 600) == 0);
  CHECK(trace.count(Action::kOom, 601) == 1);
  CHECK(trace.first_at(60) == 20);
  CHECK(trace.first_at(0) == 0);
  CHECK(trace.first_at(std::numeric_limits<std::int64_t>::max()) == trace.size());
}

TEST_CASE("streams are renamed in all events") {
  std::vector<SnapshotEvent> events(600);
  for (std::size_t i = 0; i < events.size(); ++i) events[i].stream = static_cast<StreamId>(i % 3);
  SnapshotEvents kept = packed(events);
  kept.rename_streams({2, 0, 1});
  const EventTrace trace(kept, 0, kept.size());
  CHECK(trace[0].stream == 2);
  CHECK(trace[1].stream == 0);
  CHECK(trace[599].stream == 1);
}

// A request of 512 bytes to 1 MiB somewhere in 80 GiB, and its two frees, each a stack and a few
// microseconds later.
TEST_CASE("an event of a recording takes less than ten bytes") {
  std::mt19937_64 random(1);
  SnapshotEvents kept;
  constexpr std::size_t kRequests = 100'000;
  for (std::size_t i = 0; i < kRequests; ++i) {
    SnapshotEvent event;
    event.time_us = static_cast<std::int64_t>(1'700'000'000'000'000 + 100 * i);
    event.address = 0x7f0000000000 + 512 * (random() % (std::uint64_t{160} << 20U));
    event.bytes = 512 * (1 + random() % 2048);
    event.stack = static_cast<StackId>(random() % 5'000);
    kept.push_back(event);
    event.action = Action::kFreeRequested;
    event.time_us += 30;
    event.stack = static_cast<StackId>(random() % 5'000);
    kept.push_back(event);
    event.action = Action::kFreeCompleted;
    kept.push_back(event);
  }
  CHECK(kept.memory_bytes() < 10 * 3 * kRequests);
}

}  // namespace
}  // namespace tidemark
