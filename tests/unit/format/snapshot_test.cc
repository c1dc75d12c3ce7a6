#include "sim/format/snapshot.h"

#include <limits>

#include "sim/base/problem.h"
#include "sim/format/pickle_writer.h"
#include "sim/format/snapshot_program.h"
#include "sim/format/snapshot_writer.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kBase = 0x7f0000000000;

SegmentInfo small_segment(std::vector<BlockInfo> blocks) {
  SegmentInfo segment;
  segment.address = kBase;
  segment.total_bytes = 2 * kMiB;
  segment.blocks = std::move(blocks);
  return segment;
}

Snapshot round_trip(const SnapshotDevice& device) {
  std::string pickled;
  write_snapshot(std::span(&device, 1), AllocatorSettings{}, pickled);
  const auto source = bytes_in_memory(pickled);
  return read_snapshot(*source, "test");
}

Event event(Action action, std::uint64_t address, Bytes bytes, RequestId id) {
  Event each;
  each.action = action;
  each.address = address;
  each.bytes = bytes;
  each.id = id;
  return each;
}

TEST_CASE("what is written is read again: events, blocks, stacks, phases") {
  const std::vector<Event> events{event(Action::kSegmentAlloc, kBase, 2 * kMiB, kNoRequest),
                                  event(Action::kAlloc, kBase, 100, 0),
                                  event(Action::kOom, 12345, 20 * kMiB, 1),
                                  event(Action::kFreeRequested, kBase, 100, 0),
                                  event(Action::kFreeCompleted, kBase, 100, 0),
                                  event(Action::kAlloc, kBase, 700, 2)};
  const std::vector<std::string_view> labels{
      "", "net.0: linear>addmm", "net.0: linear>addmm", "", "", "loss"};
  const std::vector<SegmentInfo> segments{
      small_segment({{kBase, 1024, 700, 2, BlockState::kActiveAllocated},
                     {kBase + 1024, 2 * kMiB - 1024, 0, kNoRequest, BlockState::kInactive}})};
  const std::vector<SnapshotPhase> phases{{"forward 0", 0, 3}, {"backward 0", 3, 3}};
  SnapshotDevice device;
  device.events = events;
  device.labels = labels;
  device.segments = segments;
  device.phases = phases;
  const Snapshot snapshot = round_trip(device);
  REQUIRE(snapshot.trace(0).size() == events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    CHECK(snapshot.trace(0)[i].action == events[i].action);
    CHECK(snapshot.trace(0)[i].address == events[i].address);
    CHECK(snapshot.trace(0)[i].bytes == events[i].bytes);
  }
  CHECK(snapshot.texts[snapshot.trace(0)[1].user_metadata] == "forward 0");
  CHECK(snapshot.texts[snapshot.trace(0)[5].user_metadata] == "backward 0");
  const auto stack = snapshot.stack(snapshot.trace(0)[1].stack);
  REQUIRE(stack.size() == 3);
  CHECK(snapshot.texts[snapshot.frames[stack[0]].name] == "addmm");
  CHECK(snapshot.texts[snapshot.frames[stack[2]].name] == "net.0");
  CHECK(snapshot.trace(0)[1].stack == snapshot.trace(0)[2].stack);
  CHECK(snapshot.trace(0)[0].stack == 0);
  REQUIRE(snapshot.blocks_of(snapshot.segments[0]).size() == 2);
  CHECK(snapshot.blocks_of(snapshot.segments[0])[0].stack == snapshot.trace(0)[5].stack);
  CHECK(snapshot.annotations.size() == 4);
}

TEST_CASE("what requests are for stands behind the phase in their events' user_metadata") {
  const std::vector<Event> events{event(Action::kSegmentAlloc, kBase, 2 * kMiB, kNoRequest),
                                  event(Action::kAlloc, kBase, 100, 0),
                                  event(Action::kAlloc, kBase + 512, 100, 1),
                                  event(Action::kAlloc, kBase + 1024, 100, 2)};
  const std::vector<SnapshotPhase> phases{{"forward 0", 0, 3}};
  const std::vector<Category> categories{Category::kActivation, Category::kUnknown,
                                         Category::kParameter};
  SnapshotDevice device;
  device.events = events;
  device.phases = phases;
  device.categories = categories;
  const Snapshot snapshot = round_trip(device);
  std::vector<std::string_view> told;
  for (const SnapshotEvent& each : snapshot.trace(0))
    told.push_back(snapshot.texts[each.user_metadata]);
  CHECK(told == std::vector<std::string_view>{"forward 0", "forward 0 [activations]", "forward 0",
                                              "[parameters]"});
}

TEST_CASE("integers of every length are written and read unchanged") {
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{255}, std::int64_t{256}, std::int64_t{65535},
        std::int64_t{65536}, std::int64_t{0x7fffffff}, std::int64_t{0x80000000},
        std::int64_t{0x7fffffffff}, std::int64_t{0x8000000000}, std::int64_t{0x7fffffffffffff}}) {
    const std::vector<Event> events{event(Action::kOom, static_cast<std::uint64_t>(number), 1, 0)};
    SnapshotDevice device;
    device.events = events;
    CHECK(round_trip(device).trace(0)[0].address == static_cast<std::uint64_t>(number));
  }
}

TEST_CASE("a late free becomes a use by a stream of its own and a sync where it completed") {
  const std::vector<Event> events{event(Action::kSegmentAlloc, kBase, 2 * kMiB, kNoRequest),
                                  event(Action::kAlloc, kBase, 512, 0),
                                  event(Action::kFreeRequested, kBase, 512, 0),
                                  event(Action::kAlloc, kBase + 512, 512, 1),
                                  event(Action::kFreeCompleted, kBase, 512, 0),
                                  event(Action::kAlloc, kBase, 512, 2)};
  const std::vector<SegmentInfo> segments{
      small_segment({{kBase, 512, 512, 2, BlockState::kActiveAllocated},
                     {kBase + 512, 512, 512, 1, BlockState::kActiveAllocated},
                     {kBase + 1024, 2 * kMiB - 1024, 0, kNoRequest, BlockState::kInactive}})};
  SnapshotDevice device;
  device.events = events;
  device.segments = segments;
  const SnapshotProgram program = make_snapshot_program(round_trip(device), {});
  std::vector<Verb> verbs;
  InstructionReader(program.instructions).for_each([&verbs](const Instruction& each) {
    verbs.push_back(each.verb);
  });
  CHECK(verbs == std::vector<Verb>{Verb::kAlloc, Verb::kUse, Verb::kFree, Verb::kAlloc, Verb::kSync,
                                   Verb::kAlloc});
  CHECK(program.late_frees == 1);
  CHECK_FALSE(program.warm);
}

TEST_CASE(
    "segments given back between requests are an empty_cache; within one that needed the room, a "
    "reclaim") {
  const Bytes large = 20 * kMiB;
  const std::vector<Event> events{event(Action::kSegmentAlloc, kBase, large, kNoRequest),
                                  event(Action::kAlloc, kBase, 5 * kMiB, 0),
                                  event(Action::kFreeRequested, kBase, 5 * kMiB, 0),
                                  event(Action::kFreeCompleted, kBase, 5 * kMiB, 0),
                                  event(Action::kSegmentFree, kBase, large, kNoRequest),
                                  event(Action::kSegmentAlloc, kBase, large, kNoRequest),
                                  event(Action::kAlloc, kBase, 5 * kMiB, 1),
                                  event(Action::kFreeRequested, kBase, 5 * kMiB, 1),
                                  event(Action::kFreeCompleted, kBase, 5 * kMiB, 1),
                                  event(Action::kSegmentFree, kBase, large, kNoRequest),
                                  event(Action::kOom, 64 * kMiB, 90 * kMiB, 2)};
  SnapshotDevice device;
  device.events = events;
  const Snapshot snapshot = round_trip(device);
  const auto empty_caches = [](const SnapshotProgram& program) {
    int count = 0;
    InstructionReader(program.instructions).for_each([&count](const Instruction& each) {
      if (each.verb == Verb::kEmptyCache) ++count;
    });
    return count;
  };
  const SnapshotProgram program = make_snapshot_program(snapshot, {});
  // 64 MiB were free at the error: the second segment had fitted beside the first.
  CHECK(program.capacity_bytes == 64 * kMiB);
  CHECK(program.empty_caches == 1);
  CHECK(program.reclaims == 1);
  CHECK(empty_caches(program) == 2);
  SnapshotProgramOptions options;
  options.repeat_reclaims = false;
  CHECK(empty_caches(make_snapshot_program(snapshot, options)) == 1);
}

TEST_CASE("a history without events, and a range without any, are refused") {
  const SnapshotDevice device;
  const Snapshot empty = round_trip(device);
  CHECK_THROWS_WITH(make_snapshot_program(empty, {}),
                    "test: error: the snapshot has no recorded history of device 0; call "
                    "torch.cuda.memory._record_memory_history() before the code in question\n");
}

TEST_CASE("amounts that sum up to more than any memory are refused") {
  // 150 requests of 2^55 - 1 bytes: more than 2^62 together.
  const std::vector<Event> events(150,
                                  event(Action::kAlloc, kBase, (Bytes{1} << 55U) - 1, kNoRequest));
  SnapshotDevice device;
  device.events = events;
  CHECK_THROWS_WITH(round_trip(device),
                    "test: error: its events and segments amount to more than 4 EiB: the file is "
                    "damaged\n");
}

TEST_CASE("a small segment of an impossible size is laid out again in part only") {
  const std::vector<Event> events{event(Action::kAlloc, kBase, 512, 0)};
  const Bytes size = Bytes{1} << 54U;
  SegmentInfo segment = small_segment({{kBase, size, 0, kNoRequest, BlockState::kInactive}});
  segment.total_bytes = size;
  SnapshotDevice device;
  device.events = events;
  device.segments = std::span(&segment, 1);
  SnapshotProgramOptions options;
  options.exact_start = true;
  options.rounded = [](Bytes request) { return round_up(request, 512); };
  const SnapshotProgram program = make_snapshot_program(round_trip(device), options);
  CHECK(program.instructions.size() < 1'000'000);
  CHECK(program.notes.back() ==
        "the layout at the start of the recording could be rebuilt only in part");
}

TEST_CASE("a long history of pages mapped and unmapped is read back in the time of its length") {
  // Each unmap looks for its neighbours and for the requests before it, each map for the one that
  // comes next: with a look at all of them this would take minutes.
  constexpr std::uint64_t kRounds = 50'000;
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    events.push_back(event(Action::kSegmentMap, kBase + i * 2 * kMiB, 2 * kMiB, kNoRequest));
    events.push_back(event(Action::kSegmentUnmap, kBase + i * 2 * kMiB, 2 * kMiB, kNoRequest));
  }
  for (std::uint64_t i = 0; i < kRounds; ++i)
    events.push_back(event(Action::kSegmentFree, i * 4 * kMiB, 2 * kMiB, kNoRequest));
  SnapshotDevice device;
  device.events = events;
  const SnapshotProgram program = make_snapshot_program(round_trip(device), {});
  CHECK(program.recorded.size() == 3 * kRounds);
  CHECK(program.addresses.reservations.size() == kRounds);
}

TEST_CASE("only plain data of the right protocol is begun") {
  std::string text("\x80\x04N.", 4);
  const auto source = bytes_in_memory(text);
  CHECK_THROWS_WITH(read_snapshot(*source, "x"), Catch::Contains("it has no 'segments'"));
}

}  // namespace
}  // namespace tidemark
