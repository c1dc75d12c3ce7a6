#include <catch2/catch.hpp>

#include "sim/alloc/caching_allocator.h"
#include "sim/alloc/knob_values.h"

namespace tidemark {
namespace {

constexpr PoolKey kCapture{1, 0};
constexpr PoolKey kUser{0, 1};

struct Rig {
  explicit Rig(Version version = Version{2, 11}, Bytes total = 1000 * kMiB)
      : device({.total_bytes = total}), allocator(settings(version), device, clock) {
    allocator.set_history(&history);
  }
  static AllocatorSettings settings(Version version) {
    AllocatorSettings settings;
    settings.version = version;
    return settings;
  }
  void set_knobs(const KnobValues& knobs) {
    AllocatorSettings settings;
    settings.knobs = std::make_shared<const KnobValues>(knobs);
    allocator.set_settings(settings);
  }
  [[nodiscard]] std::size_t count(Action action) const {
    return static_cast<std::size_t>(
        std::count_if(history.events.begin(), history.events.end(),
                      [action](const Event& event) { return event.action == action; }));
  }
  DeviceMemory device;
  TraceClock clock;
  History history;
  CachingAllocator allocator;
};

TEST_CASE("a capture's requests come from its pool, which lives until it is released") {
  Rig rig;
  rig.allocator.begin_capture(kCapture, 1);
  REQUIRE(rig.allocator.allocate(0, 5 * kMiB, 1, 0));  // captured
  REQUIRE(rig.allocator.allocate(1, 5 * kMiB, 0, 0));  // another stream: the default pool
  rig.allocator.end_capture(kCapture);
  const auto segments = rig.allocator.segments();
  REQUIRE(segments.size() == 2);
  CHECK(std::count_if(segments.begin(), segments.end(),
                      [](const SegmentInfo& each) { return each.pool == kCapture; }) == 1);
  rig.allocator.free(0);
  rig.allocator.free(1);
  rig.allocator.empty_cache();
  CHECK(rig.allocator.segments().size() == 1);
  rig.allocator.release_pool(kCapture);
  rig.allocator.empty_cache();
  CHECK(rig.allocator.segments().empty());
  CHECK(rig.device.taken_bytes() == 0);
}

TEST_CASE("frees of blocks that other streams used wait for the end of a capture") {
  Rig rig;
  REQUIRE(rig.allocator.allocate(0, 5 * kMiB, 0, 0));
  rig.allocator.begin_capture(kCapture, 0);
  rig.allocator.record_stream(0, 2);
  rig.allocator.free(0);
  REQUIRE(rig.allocator.allocate(1, 4096, 0, 0));
  CHECK(rig.count(Action::kFreeCompleted) == 0);
  CHECK(rig.allocator.statistics().active.all.current == 2);
  rig.allocator.end_capture(kCapture);
  // The use was made during the capture: its work is known to be done, no event is waited for.
  REQUIRE(rig.allocator.allocate(2, 4096, 0, 0));
  CHECK(rig.count(Action::kFreeCompleted) == 1);
}

// Recorded: a capture on stream 1 of a CUDA graph that uses stream 2 too, PyTorch 2.11.
//
//   0 MiB   small, default pool, stream 0: x, later y     2 MiB   small, default pool, stream 1:
//   two of 8 bytes 4 MiB   large, the graph's: |a 3|b 2|c 3| 12 free|   24 MiB   small, the
//   graph's: |d 1| 1 free|
TEST_CASE("a recorded capture's events come out as PyTorch's") {
  Rig rig;
  CachingAllocator& allocator = rig.allocator;
  const auto ask = [&](RequestId id, Bytes bytes, StreamId stream) {
    REQUIRE(allocator.allocate(id, bytes, stream, 0));
  };
  ask(0, 4000, 0);
  ask(1, 8, 1);
  ask(2, 8, 1);
  allocator.begin_capture(kCapture, 1);
  allocator.set_current_stream(1);
  ask(3, 3 * kMiB, 1);
  ask(4, 2 * kMiB, 1);
  allocator.record_stream(3, 2);
  allocator.free(3);  // waits for the end of the capture
  ask(5, 3 * kMiB, 1);
  ask(6, kMiB, 1);
  allocator.set_current_stream(0);
  allocator.end_capture(kCapture);
  ask(7, 40, 0);
  for (const RequestId id : {4U, 5U, 6U}) allocator.free(id);
  allocator.empty_cache();  // the graph still holds its pool
  allocator.release_pool(kCapture);
  allocator.empty_cache();
  struct Row {
    Action action;
    Bytes offset;
    Bytes bytes;
    StreamId stream;
  };
  constexpr auto kFree = Action::kFreeRequested;
  constexpr auto kDone = Action::kFreeCompleted;
  const std::vector<Row> expected{
      {Action::kSegmentAlloc, 0, 2 * kMiB, 0},
      {Action::kAlloc, 0, 4000, 0},
      {Action::kSegmentAlloc, 2 * kMiB, 2 * kMiB, 1},
      {Action::kAlloc, 2 * kMiB, 8, 1},
      {Action::kAlloc, 2 * kMiB + 512, 8, 1},
      {Action::kSegmentAlloc, 4 * kMiB, 20 * kMiB, 1},
      {Action::kAlloc, 4 * kMiB, 3 * kMiB, 1},
      {Action::kAlloc, 7 * kMiB, 2 * kMiB, 1},
      {kFree, 4 * kMiB, 3 * kMiB, 1},
      {Action::kAlloc, 9 * kMiB, 3 * kMiB, 1},
      {Action::kSegmentAlloc, 24 * kMiB, 2 * kMiB, 1},
      {Action::kAlloc, 24 * kMiB, kMiB, 1},
      {kDone, 4 * kMiB, 3 * kMiB, 1},
      {Action::kAlloc, 4096, 40, 0},
      {kFree, 7 * kMiB, 2 * kMiB, 1},
      {kDone, 7 * kMiB, 2 * kMiB, 1},
      {kFree, 9 * kMiB, 3 * kMiB, 1},
      {kDone, 9 * kMiB, 3 * kMiB, 1},
      {kFree, 24 * kMiB, kMiB, 1},
      {kDone, 24 * kMiB, kMiB, 1},
      {Action::kSegmentFree, 24 * kMiB, 2 * kMiB, 1},
      {Action::kSegmentFree, 4 * kMiB, 20 * kMiB, 1},
  };
  const std::vector<Event>& events = rig.history.events;
  REQUIRE(events.size() == expected.size());
  for (std::size_t at = 0; at < events.size(); ++at) {
    INFO("event " << at);
    CHECK(events[at].action == expected[at].action);
    CHECK(events[at].address - events[0].address == expected[at].offset);
    CHECK(events[at].bytes == expected[at].bytes);
    CHECK(events[at].stream == expected[at].stream);
  }
}

TEST_CASE("up to 2.12 routing of any kind keeps a request from the retry") {
  for (const Version version : {Version{2, 11}, Version{2, 13}}) {
    Rig rig(version, 100 * kMiB);
    REQUIRE(rig.allocator.allocate(0, 60 * kMiB, 0, 0));
    rig.allocator.free(0);
    CHECK(rig.allocator.allocate(1, 80 * kMiB, 0, 1) == (version == Version{2, 13}));
    CHECK(rig.allocator.statistics().num_alloc_retries == (version == Version{2, 13} ? 1 : 0));
  }
}

TEST_CASE("a pool to be used on out of memory serves what nothing else can") {
  Rig rig(Version{2, 11}, 100 * kMiB);
  rig.allocator.create_pool(kUser);
  rig.allocator.set_use_on_oom(kUser, true);
  REQUIRE(rig.allocator.allocate(0, 60 * kMiB, 0, 1));
  rig.allocator.free(0);
  CHECK(rig.allocator.allocate(1, 50 * kMiB, 0, 0));
  CHECK(rig.allocator.statistics().num_alloc_retries == 0);
  CHECK(rig.count(Action::kSegmentFree) == 0);
  const auto segments = rig.allocator.segments();
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].pool == kUser);
}

TEST_CASE(
    "what a program does with pools are instructions: all streams of its own thread go there") {
  Rig rig;
  const auto act = [&rig](PoolAction action, StreamId stream = 0) {
    const Instruction each{7, static_cast<RequestId>(action), 0, stream, 0, Verb::kPool, 0};
    CHECK(rig.allocator.execute(std::span(&each, 1)) == 1);
  };
  const auto in_pool = [&rig] {
    const auto segments = rig.allocator.segments();
    return std::count_if(segments.begin(), segments.end(), [](const SegmentInfo& each) {
      return each.pool == PoolKey{0, 7};
    });
  };
  act(PoolAction::kCreate);
  act(PoolAction::kRoute);
  REQUIRE(rig.allocator.allocate(0, 30 * kMiB, 0, 0));
  REQUIRE(rig.allocator.allocate(1, 30 * kMiB, 5, 0));
  CHECK(in_pool() == 2);
  act(PoolAction::kLeaveThread);
  REQUIRE(rig.allocator.allocate(2, 30 * kMiB, 0, 0));
  CHECK(in_pool() == 2);
  act(PoolAction::kReturnThread);
  REQUIRE(rig.allocator.allocate(3, 30 * kMiB, 0, 0));
  CHECK(in_pool() == 3);
  act(PoolAction::kEndRoute);
  act(PoolAction::kRelease);
  REQUIRE(rig.allocator.allocate(4, 30 * kMiB, 0, 0));
  CHECK(in_pool() == 3);
  for (RequestId id = 0; id < 5; ++id) rig.allocator.free(id);
  act(PoolAction::kEmptyCache);  // the MemPool object still owns it
  CHECK(in_pool() == 3);
  act(PoolAction::kRelease);
  act(PoolAction::kEmptyCache);
  CHECK(in_pool() == 0);
  CHECK(rig.allocator.segments().size() == 2);
}

TEST_CASE("a pool that is taken in the middle of a stretch serves what follows at once") {
  const auto act = [](PoolAction action) {
    return Instruction{7, static_cast<RequestId>(action), 0, 0, 0, Verb::kPool, 0};
  };
  const auto ask = [](RequestId id) {
    return Instruction{30 * kMiB, id, 0, 0, 0, Verb::kAlloc, 0};
  };
  const std::vector<Instruction> all{ask(0), act(PoolAction::kCreate),   act(PoolAction::kRoute),
                                     ask(1), act(PoolAction::kEndRoute), ask(2)};
  for (const bool at_once : {true, false}) {
    Rig rig;
    const std::span<const Instruction> given(all);
    if (at_once) {
      CHECK(rig.allocator.execute(given) == all.size());
    } else {
      for (std::size_t i = 0; i < all.size(); ++i)
        CHECK(rig.allocator.execute(given.subspan(i, 1)) == 1);
    }
    const auto segments = rig.allocator.segments();
    REQUIRE(segments.size() == 3);
    CHECK(std::count_if(segments.begin(), segments.end(), [](const SegmentInfo& each) {
            return each.pool == PoolKey{0, 7};
          }) == 1);
  }
}

TEST_CASE("what cannot be done with a pool changes nothing") {
  Rig rig;
  const auto act = [&rig](PoolAction action, std::uint64_t pool) {
    const Instruction each{pool, static_cast<RequestId>(action), 0, 1, 0, Verb::kPool, 0};
    CHECK(rig.allocator.execute(std::span(&each, 1)) == 1);
  };
  constexpr std::uint32_t kLast = static_cast<std::uint32_t>(PoolAction::kEmptyCache);
  for (std::uint32_t first = 0; first <= kLast; ++first) {
    for (std::uint32_t second = 0; second <= kLast; ++second) {
      for (std::uint32_t third = 0; third <= kLast; ++third) {
        const std::uint64_t pool = 1 + (first * (kLast + 1) + second) * (kLast + 1) + third;
        for (const std::uint32_t each : {first, second, third, second})
          act(static_cast<PoolAction>(each), pool);
        const RequestId id = 7;
        REQUIRE(rig.allocator.allocate(id, kMiB, 1, 0));
        rig.allocator.free(id);
        for (const PoolAction each :
             {PoolAction::kEndRoute, PoolAction::kReturnThread, PoolAction::kRelease,
              PoolAction::kRelease, PoolAction::kRelease, PoolAction::kRelease})
          act(each, pool);
        rig.allocator.empty_cache();
        REQUIRE(rig.allocator.segments().empty());
      }
    }
  }
}

TEST_CASE("a stream that joins a capture goes to its pool until the capture ends") {
  Rig rig;
  const auto act = [&rig](PoolAction action, StreamId stream) {
    const Instruction each{
        std::uint64_t{3} << 32U, static_cast<RequestId>(action), 0, stream, 0, Verb::kPool, 0};
    CHECK(rig.allocator.execute(std::span(&each, 1)) == 1);
  };
  act(PoolAction::kCapture, 1);
  REQUIRE(rig.allocator.allocate(0, 30 * kMiB, 2, 0));
  act(PoolAction::kJoinCapture, 2);
  REQUIRE(rig.allocator.allocate(1, 30 * kMiB, 2, 0));
  act(PoolAction::kEndCapture, 0);
  REQUIRE(rig.allocator.allocate(2, 30 * kMiB, 2, 0));
  const auto segments = rig.allocator.segments();
  CHECK(std::count_if(segments.begin(), segments.end(), [](const SegmentInfo& each) {
          return each.pool == PoolKey{3, 0};
        }) == 1);
}

TEST_CASE("a pool that does not split hands out whole blocks") {
  // W21: S0 2M A, S1 2M A
  Rig rig;
  rig.allocator.create_pool(kUser);
  rig.allocator.set_no_split(kUser);
  REQUIRE(rig.allocator.allocate(0, 1000, 0, 1));
  REQUIRE(rig.allocator.allocate(1, 1000, 0, 1));
  const AllocatorStatistics statistics = rig.allocator.statistics();
  CHECK(statistics.allocated_bytes.all.current == 4194304);
  CHECK(statistics.requested_bytes.all.current == 2000);
  CHECK(statistics.segment.all.current == 2);
  CHECK(statistics.inactive_split.all.current == 0);
}

TEST_CASE("the refusal of a huge request leaves no trace") {
  Rig rig;
  CHECK_FALSE(rig.allocator.allocate(0, kHugeRequestBytes, 0, 0));
  CHECK(oom_message(rig.allocator.failure()) ==
        "CUDA out of memory. Tried to allocate more than 1EB memory.");
  CHECK(rig.history.events.empty());
  CHECK_FALSE(rig.allocator.allocate(1, kHugeRequestBytes - 512, 0, 0));
  CHECK(rig.count(Action::kOom) == 1);
}

TEST_CASE("a rejected request's message names what was asked for") {
  // 1000 MiB may be used, 900 are held; 150 MiB and a byte would exceed that.
  Rig rig(Version{2, 12}, 1000 * kMiB);
  KnobValues knobs;
  knobs.throw_on_cudamalloc_oom = true;
  rig.set_knobs(knobs);
  REQUIRE(rig.allocator.allocate(0, 900 * kMiB, 0, 0));
  CHECK_FALSE(rig.allocator.allocate(1, 150 * kMiB + 1, 0, 0));
  CHECK(oom_message(rig.allocator.failure()) ==
        "CUDA out of memory. Allocation was preemptively rejected because it would exceed "
        "per_process_memory_fraction limit. Requested size: 150.00 MiB");
  CHECK(rig.count(Action::kOom) == 0);
}

TEST_CASE("with expandable segments 2.15 advises about their address space") {
  Rig rig(Version{2, 15}, 85017755648);
  KnobValues knobs;
  knobs.expandable_segments = true;
  // 1 % of the device, 810.79 MiB: 41 pages of 20 MiB. What the device could hold blames the
  // reserve, what it could not hold does not.
  knobs.expandable_segments_reserve = {ExpandableReserve::Kind::kFraction, 0.01, 0};
  rig.set_knobs(knobs);
  CHECK(rig.allocator.allocate(0, 820 * kMiB, 0, 0));
  const auto end_of_message = [&rig] {
    const std::string text = oom_message(rig.allocator.failure());
    return text.substr(text.find("unallocated. ") + 13);
  };
  CHECK_FALSE(rig.allocator.allocate(1, 821 * kMiB, 0, 0));
  CHECK(end_of_message() ==
        "This allocation exceeds the expandable-segment reserve of 810.79 MiB for this stream, and "
        "a single allocation cannot span expandable segments. Raise PYTORCH_CUDA_ALLOC_CONF "
        "expandable_segments_reserve or expandable_segments_reserve_by_class (or unset it) so that "
        "a segment is at least 822.00 MiB.");
  CHECK_FALSE(rig.allocator.allocate(2, 80 * kGiB, 0, 0));
  CHECK(end_of_message() ==
        "expandable_segments is enabled. If instead the process is running out of virtual address "
        "space (VSZ), expandable segments may be over-reserving VA (each segment reserves ~9/8 of "
        "device memory, times the number of streams); reduce it via PYTORCH_CUDA_ALLOC_CONF "
        "expandable_segments_reserve / expandable_segments_reserve_by_class.");
}

TEST_CASE("the out-of-memory message is PyTorch's") {
  Rig rig(Version{2, 11}, 85017755648);
  REQUIRE(rig.allocator.allocate(0, 5 * kMiB, 0, 1));
  rig.allocator.set_memory_fraction(0.3);
  CHECK_FALSE(rig.allocator.allocate(1, Bytes{1} << 40U, 0, 0));
  CHECK(oom_message(rig.allocator.failure()) ==
        "CUDA out of memory. Tried to allocate 1024.00 GiB. GPU 0 has a total capacity of 79.18 "
        "GiB of which 79.16 GiB is free. Including non-PyTorch memory, this process has 20.00 MiB "
        "memory in use. 23.75 GiB allowed; Of the allocated memory 20.00 MiB is allocated by "
        "PyTorch, with 15.00 MiB allocated in private pools (e.g., CUDA Graphs), and 0 bytes is "
        "reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
        "setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
        "documentation for Memory Management  "
        "(https://docs.pytorch.org/docs/stable/notes/"
        "cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)");
}

TEST_CASE("samples show the amounts after their events") {
  Rig rig;
  rig.history.sampling = true;
  REQUIRE(rig.allocator.allocate(0, 1000, 0, 0));
  rig.allocator.free(0);
  rig.allocator.finish_samples();
  REQUIRE(rig.history.samples.size() == 4);
  CHECK(rig.history.samples[0].reserved == 2097152);
  CHECK(rig.history.samples[0].allocated == 0);
  CHECK(rig.history.samples[1].allocated == 1024);
  CHECK(rig.history.samples[1].requested == 1000);
  CHECK(rig.history.samples[1].largest_free == 2096128);
  CHECK(rig.history.samples[2].allocated == 0);
  CHECK(rig.history.samples[2].active == 1024);
  CHECK(rig.history.samples[3] == MemorySample{.reserved = 2097152, .largest_free = 2097152});
}

TEST_CASE("ids far apart are served") {
  Rig rig;
  REQUIRE(rig.allocator.allocate(0xfffffffeU, 1000, 0, 0));
  REQUIRE(rig.allocator.allocate(3, 1000, 0, 0));
  rig.allocator.free(0xfffffffeU);
  rig.allocator.free(0xfffffffeU);
  CHECK(rig.allocator.statistics().allocation.all.current == 1);
  CHECK(rig.count(Action::kFreeCompleted) == 1);
}

}  // namespace
}  // namespace tidemark
