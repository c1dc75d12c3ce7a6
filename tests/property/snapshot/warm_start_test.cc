#include <memory>

#include "sim/alloc/make_allocator.h"
#include "sim/alloc/settings_parser.h"
#include "sim/base/random.h"
#include "sim/format/snapshot.h"
#include "sim/format/snapshot_writer.h"
#include "sim/study/replay/agreement.h"

namespace tidemark {
namespace {

// Of a later release a recording does not tell in which order segments of before it were made, and
// that order decides among blocks of one size.
constexpr Version kVersion{2, 11};

/// A program of its own making, run as PyTorch would, and what a recording of it would hold.
struct Recording {
  History history;
  std::vector<SegmentInfo> segments;
};

struct Shape {
  std::string_view conf;
  bool streams = false;
  bool empty_caches = false;
};

Bytes random_bytes(Random& random) {
  switch (random.below(6)) {
    case 0:
      return 1 + random.below(4096);
    case 1:
      return 512 * (1 + random.below(2048));
    case 2:
      return 1 + random.below(kMiB);
    case 3:
      return kMiB + random.below(9 * kMiB);
    case 4:
      return 10 * kMiB + random.below(30 * kMiB);
    default:
      return kMiB * (1 + random.below(24));
  }
}

Recording record(const Shape& shape, std::uint64_t seed, std::size_t requests) {
  Random random(seed);
  const AllocatorSettings settings = parse_settings("test", shape.conf, kVersion).settings;
  DeviceMemory memory({Bytes{80} << 30U, 0, 0, 0});
  TraceClock clock;
  const std::unique_ptr<Allocator> allocator = make_allocator(settings, memory, clock);
  Recording recording;
  allocator->set_history(&recording.history);
  std::vector<RequestId> live;
  RequestId next = 0;
  for (std::size_t i = 0; i < requests; ++i) {
    if (shape.empty_caches && random.chance(1, 60)) allocator->empty_cache();
    if (!live.empty() && (live.size() > 60 || random.chance(9, 20))) {
      const std::size_t pick = random.below(live.size());
      if (shape.streams && random.chance(1, 8)) {
        allocator->record_stream(live[pick], static_cast<StreamId>(5 + random.below(2)));
      }
      allocator->free(live[pick]);
      live[pick] = live.back();
      live.pop_back();
    } else {
      const auto stream = static_cast<StreamId>(shape.streams ? random.below(3) : 0);
      REQUIRE(allocator->allocate(next, random_bytes(random), stream, 0));
      live.push_back(next++);
    }
    if (shape.streams && random.chance(1, 30)) clock.synchronize_device();
  }
  recording.segments = allocator->segments();
  allocator->set_history(nullptr);
  return recording;
}

Snapshot read_back(const Recording& recording, std::string_view conf, std::size_t keep_from) {
  SnapshotDevice device;
  device.events = std::span(recording.history.events).subspan(keep_from);
  device.segments = recording.segments;
  std::string pickled;
  write_snapshot(std::span(&device, 1), parse_settings("test", conf, kVersion).settings, pickled);
  const auto source = bytes_in_memory(pickled);
  return read_snapshot(*source, "recording");
}

std::string line_of(const Event& event) {
  return fmt::format("{} 0x{:x} {} stream {} id {}", action_name(event.action), event.address,
                     event.bytes, event.stream, event.id);
}

/// Wherever a recording is cut, what is left re-simulates to the same events and the same blocks.
/// Where the recording leaves open how large a block was, the simulator says so; even then the
/// events nearly always agree.
void check_all_cuts(const Shape& shape, std::uint64_t seeds,
                    std::size_t most_undecided_percent = 2) {
  std::size_t cuts = 0;
  std::size_t undecided = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Recording recording = record(shape, seed, 400);
    const std::size_t events = recording.history.events.size();
    for (const std::size_t part : {0U, 3U, 5U, 8U, 9U}) {
      const Snapshot snapshot = read_back(recording, shape.conf, events * part / 10);
      AgreementOptions options;
      options.version = kVersion;
      const Agreement agreement = agreement_with_recording(snapshot, options);
      INFO("settings '" << shape.conf << "', seed " << seed << ", cut at " << part << "/10");
      std::string difference;
      for (const std::string& note : agreement.notes) difference += note + "\n";
      for (const std::string& line : agreement.block_differences) difference += line + "\n";
      for (const Event& each : agreement.events.a_from_first)
        difference += "recorded  " + line_of(each) + "\n";
      for (const Event& each : agreement.events.b_from_first)
        difference += "simulated " + line_of(each) + "\n";
      ++cuts;
      if (agreement.start_blocks_of_unknown_size > 0 && !agreement.complete()) {
        ++undecided;
        continue;
      }
      INFO(difference);
      CHECK(agreement.events.differing == 0);
      CHECK(agreement.recorded == agreement.simulated);
      CHECK(agreement.differing_blocks == 0);
      if (!agreement.complete()) return;
    }
  }
  CHECK(undecided * 100 <= cuts * most_undecided_percent);
}

TEST_CASE("a recording that is cut anywhere re-simulates: default settings") {
  check_all_cuts({""}, 40);
}

TEST_CASE("a recording that is cut anywhere re-simulates: with empty_cache") {
  check_all_cuts({"", false, true}, 40);
}

TEST_CASE("a recording that is cut anywhere re-simulates: several streams, late frees") {
  check_all_cuts({"", true, false}, 40);
}

TEST_CASE("a recording that is cut anywhere re-simulates: expandable segments") {
  check_all_cuts({"expandable_segments:True"}, 40);
}

TEST_CASE("a recording that is cut anywhere re-simulates: rounded requests") {
  // Here a free stretch may have a size that no request has.
  check_all_cuts({"roundup_power2_divisions:4"}, 20, 15);
}

}  // namespace
}  // namespace tidemark
