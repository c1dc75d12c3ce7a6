#include <array>

#include "sim/alloc/device_memory.h"
#include "sim/alloc/settings_parser.h"
#include "sim/base/problem.h"
#include "sim/format/snapshot.h"
#include "sim/format/snapshot_writer.h"
#include "sim/study/explain/memory_explain.h"
#include "sim/study/replay/recorded_requests.h"
#include "sim/study/replay/replay.h"

using namespace tidemark;

namespace {

constexpr std::uint64_t kBase = 0x7f0000000000;

Event event(Action action, std::uint64_t address, Bytes bytes, StreamId stream = 0) {
  Event each;
  each.action = action;
  each.address = address;
  each.bytes = bytes;
  each.stream = stream;
  return each;
}

void free(std::vector<Event>& events, std::uint64_t address, Bytes bytes, StreamId stream = 0) {
  events.push_back(event(Action::kFreeRequested, address, bytes, stream));
  events.push_back(event(Action::kFreeCompleted, address, bytes, stream));
}

/// Re-simulates, replays and explains it; returns how many requests the re-simulation refused.
std::size_t ooms_of(const std::vector<Event>& events, std::string_view conf = "") {
  SnapshotDevice device;
  device.events = events;
  const AllocatorSettings settings = parse_settings("conf", conf).settings;
  std::string pickled;
  write_snapshot(std::span(&device, 1), settings, pickled);
  const auto source = bytes_in_memory(pickled);
  const Snapshot snapshot = read_snapshot(*source, "crafted");
  const RecordedRequests recorded = recorded_requests(snapshot, {}, false);
  ReplayOptions options;
  options.device = recorded.device;
  (void)replay(recorded.trace.instructions, settings, options);
  (void)picture_named(snapshot, 0, "");
  return recorded.agreement.simulated.ooms;
}

}  // namespace

TEST_CASE("recorded segments that lie in each other are not both followed") {
  // 20 MiB at kBase and, while they are held, 20 MiB half a kibibyte behind them.
  std::vector<Event> events{event(Action::kSegmentAlloc, kBase, 20 * kMiB),
                            event(Action::kAlloc, kBase, 5 * kMiB),
                            event(Action::kSegmentAlloc, kBase + 512, 20 * kMiB),
                            event(Action::kAlloc, kBase + 512, 18 * kMiB)};
  free(events, kBase + 512, 18 * kMiB);
  free(events, kBase, 5 * kMiB);
  events.push_back(event(Action::kSegmentFree, kBase, 20 * kMiB));
  events.push_back(event(Action::kSegmentFree, kBase + 512, 20 * kMiB));
  CHECK(ooms_of(events) == 0);
}

TEST_CASE("recorded ranges that lie in each other, given back and asked for again") {
  std::vector<Event> events;
  for (int round = 0; round < 3; ++round) {
    const std::array<std::uint64_t, 3> places{kBase, kBase + 20 * kMiB, kBase + 2 * kMiB};
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto stream = static_cast<StreamId>(i);
      events.push_back(event(Action::kSegmentMap, places[i], 20 * kMiB, stream));
      events.push_back(event(Action::kAlloc, places[i], 20 * kMiB, stream));
    }
    for (std::size_t i = 0; i < places.size(); ++i)
      free(events, places[i], 20 * kMiB, static_cast<StreamId>(i));
    for (std::size_t i = 0; i < places.size(); ++i) {
      events.push_back(
          event(Action::kSegmentUnmap, places[i], 20 * kMiB, static_cast<StreamId>(i)));
    }
  }
  // A range that another begins 2 MiB behind holds less than what is asked for there.
  CHECK_NOTHROW(ooms_of(events, "expandable_segments:True"));
}

TEST_CASE("recorded addresses where the simulated driver has its own") {
  // The driver of a device of 256 GiB hands out the 576 GiB above kBase from their end.
  std::vector<Event> events{
      event(Action::kSegmentAlloc, DeviceMemory::kBase + 576 * kGiB - 20 * kMiB, 18 * kMiB)};
  for (std::uint64_t i = 0; i < 40; ++i)
    events.push_back(event(Action::kAlloc, kBase + i * 512, 18 * kMiB));
  CHECK(ooms_of(events) == 0);
}

TEST_CASE("a history that holds more than any device has is simulated on the largest one") {
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < 200; ++i)
    events.push_back(event(Action::kSegmentAlloc, kBase + i, Bytes{1} << 54U));
  events.push_back(event(Action::kAlloc, kBase, 512));
  CHECK(ooms_of(events) == 0);
  events.push_back(event(Action::kOom, (Bytes{1} << 55U) - 1, 20 * kMiB));
  CHECK_NOTHROW(ooms_of(events));
}
