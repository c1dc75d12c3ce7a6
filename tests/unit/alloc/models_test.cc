// The allocators without PyTorch's cache: a device call a tensor, live bytes alone, and the
// driver's stream-ordered pool.
#include <span>

#include "sim/alloc/async_allocator.h"
#include "sim/alloc/direct_allocator.h"
#include "sim/alloc/ideal_allocator.h"
#include "sim/alloc/make_allocator.h"
#include "sim/alloc/settings_parser.h"

using namespace tidemark;

namespace {

struct Rig {
  explicit Rig(std::string_view conf, Bytes room = kGiB, Version version = Version{2, 11},
               std::optional<double> fraction = std::nullopt)
      : memory({room, 0, 0, 0}),
        allocator(make_allocator(parse_settings("conf", conf, version).settings, memory, clock,
                                 fraction)) {
    history.sampling = true;
    allocator->set_history(&history);
  }
  bool malloc(RequestId id, Bytes bytes, StreamId stream = 0) {
    return allocator->allocate(id, bytes, stream, 0);
  }
  /// The events since the last call: "segment_alloc(32M) alloc(5)".
  std::string events() {
    std::string text;
    for (; told < history.events.size(); ++told) {
      const Event& event = history.events[told];
      const std::string size = event.bytes % kMiB == 0 ? fmt::format("{}M", event.bytes / kMiB)
                                                       : std::to_string(event.bytes);
      text += fmt::format("{}{}({})", text.empty() ? "" : " ", action_name(event.action), size);
    }
    return text;
  }
  /// The chunks' parts in MiB: "10A 22f".
  std::string parts() const {
    std::string text;
    for (const SegmentInfo& segment : allocator->segments()) {
      text += text.empty() ? "" : " | ";
      std::string blocks;
      for (const BlockInfo& block : segment.blocks) {
        blocks += fmt::format("{}{}{}", blocks.empty() ? "" : " ", block.bytes / kMiB,
                              block.state == BlockState::kInactive ? 'f' : 'A');
      }
      text += blocks;
    }
    return text;
  }

  DeviceMemory memory;
  TraceClock clock;
  std::unique_ptr<Allocator> allocator;
  History history;
  std::size_t told = 0;
};

}  // namespace

TEST_CASE("what concerns no allocator passes every one by") {
  for (const std::string_view backend : {"native", "cudaMallocAsync", "naive", "ideal"}) {
    INFO(backend);
    Rig rig("backend:" + std::string(backend));
    REQUIRE(rig.malloc(0, 3 * kMiB));
    rig.events();
    const MemorySample before = rig.allocator->sample();
    std::vector<Instruction> others;
    for (int verb = 0; verb <= static_cast<int>(Verb::kPageable); ++verb) {
      if (concern_of(static_cast<Verb>(verb)) == Concern::kAllocator) continue;
      others.push_back({.bytes = 5 * kMiB, .id = 0, .verb = static_cast<Verb>(verb)});
    }
    CHECK(others.size() == 11);
    CHECK(rig.allocator->execute(others) == 11);
    CHECK_FALSE(rig.allocator->refused());
    CHECK(rig.events().empty());
    CHECK(rig.allocator->sample() == before);
    // A library that finds no memory is refused by all of them alike.
    const Instruction library{.bytes = 2 * kGiB, .id = 1, .verb = Verb::kDeviceBytes};
    rig.allocator->execute(std::span(&library, 1));
    CHECK(rig.allocator->refused());
    CHECK(rig.allocator->failure().requested_bytes == 2 * kGiB);
  }
}

TEST_CASE("the naive backend calls the driver for every tensor") {
  Rig rig("backend:naive", 8 * kMiB);
  CHECK(rig.malloc(0, 1000));
  CHECK(rig.malloc(1, 3 * kMiB));
  // |2M A|  4M A  |2M left: 1000 bytes cost 2 MiB, 3 MiB cost 4
  CHECK(rig.parts() == "2A | 4A");
  CHECK(rig.allocator->sample().reserved == 6 * kMiB);
  CHECK(rig.allocator->sample().requested == 1000 + 3 * kMiB);
  CHECK_FALSE(rig.malloc(2, 3 * kMiB));
  CHECK(rig.allocator->failure().device_free_bytes == 2 * kMiB);
  rig.allocator->free(0);
  CHECK(rig.malloc(3, 3 * kMiB));
  CHECK(rig.events() ==
        "segment_alloc(2M) alloc(1000) segment_alloc(4M) alloc(3M) oom(4M) free_requested(1000) "
        "free_completed(1000) segment_free(2M) segment_alloc(4M) alloc(3M)");
  const AllocatorStatistics statistics = rig.allocator->statistics();
  CHECK(statistics.num_device_alloc == 3);
  CHECK(statistics.num_device_free == 1);
  CHECK(statistics.num_ooms == 1);
  CHECK(statistics.segment.all.current == 2);
  CHECK(statistics.reserved_bytes.all.peak == static_cast<std::int64_t>(8 * kMiB));
}

TEST_CASE("the ideal backend holds live bytes and nothing else") {
  Rig rig("backend:ideal", 1000);
  CHECK(rig.malloc(0, 1));
  CHECK(rig.malloc(1, 700));
  CHECK(rig.allocator->sample().reserved == 701);
  CHECK_FALSE(rig.malloc(2, 300));
  rig.allocator->free(1);
  CHECK(rig.malloc(3, 999));
  CHECK(rig.allocator->sample().reserved == 1000);
  CHECK(rig.allocator->segments().empty());
  rig.allocator->finish_samples();
  REQUIRE(rig.history.samples.size() == rig.history.events.size());
  CHECK(rig.history.samples.back().allocated == 1000);
  CHECK(rig.events() ==
        "alloc(1) alloc(700) oom(300) free_requested(700) free_completed(700) alloc(999)");
}

TEST_CASE("a use by another stream delays neither bound") {
  for (const char* const conf : {"backend:naive", "backend:ideal"}) {
    Rig rig(conf);
    rig.malloc(0, kMiB);
    rig.allocator->record_stream(0, 3);
    rig.allocator->free(0);
    CHECK(rig.allocator->sample().reserved == 0);
  }
}

TEST_CASE("a memory fraction limits every backend") {
  for (const char* const conf : {"", "backend:naive", "backend:ideal", "backend:cudaMallocAsync"}) {
    Rig rig(conf, kGiB, Version{2, 11}, 0.25);
    INFO(conf);
    CHECK(rig.malloc(0, 200 * kMiB));
    CHECK_FALSE(rig.malloc(1, 100 * kMiB));
    CHECK(rig.allocator->failure().limit_bytes == 256 * kMiB);
  }
}

TEST_CASE("the stream-ordered pool grows by chunks and takes the best fit") {
  Rig rig("backend:cudaMallocAsync");
  rig.malloc(0, 10 * kMiB);
  rig.malloc(1, 4 * kMiB);
  rig.malloc(2, 10 * kMiB);
  rig.malloc(3, 40 * kMiB);
  // |40A|   |10A|4A|10A|8f|: by address; the driver puts the second chunk below the first
  CHECK(rig.parts() == "40A | 10A 4A 10A 8f");
  rig.allocator->free(1);
  rig.malloc(4, 3 * kMiB);
  // |10A|3A|1f|10A|8f|: the 4 MiB hole fits better than the 8
  CHECK(rig.parts() == "40A | 10A 3A 1f 10A 8f");
  rig.allocator->free(0);
  rig.allocator->free(4);
  // |   14f   |10A|8f|: free neighbours join, and the pool keeps them
  CHECK(rig.parts() == "40A | 14f 10A 8f");
  CHECK(rig.allocator->sample().largest_free == 14 * kMiB);
  CHECK(rig.allocator->sample().reserved == 72 * kMiB);
  rig.allocator->free(3);
  rig.allocator->empty_cache();
  CHECK(rig.parts() == "14f 10A 8f");
  CHECK(rig.events() ==
        "segment_alloc(32M) alloc(10M) alloc(4M) alloc(10M) segment_alloc(40M) alloc(40M) "
        "free_requested(4M) free_completed(4M) alloc(3M) free_requested(10M) free_completed(10M) "
        "free_requested(3M) free_completed(3M) free_requested(40M) free_completed(40M) "
        "segment_free(40M)");
}

TEST_CASE("the stream-ordered pool prefers what no other stream still uses") {
  Rig rig("backend:cudaMallocAsync");
  rig.malloc(0, 8 * kMiB, 1);
  rig.malloc(1, kMiB, 1);
  rig.malloc(2, 9 * kMiB, 0);
  rig.malloc(3, 14 * kMiB, 0);
  // |8A of 1|1A|9A of 0|14A|
  rig.allocator->free(0);
  rig.allocator->free(2);
  rig.malloc(4, 8 * kMiB, 0);
  // |8f, stream 1 not there yet|1A|8A|1f|14A|
  CHECK(rig.parts() == "8f 1A 8A 1f 14A");
  rig.malloc(5, 8 * kMiB, 0);
  // Before the pool grows, stream 0 is made to wait for stream 1.
  CHECK(rig.parts() == "8A 1A 8A 1f 14A");
}

TEST_CASE("the stream-ordered pool on a full device") {
  // Up to 2.13 a refused request throws at once; from 2.14 on the pool is trimmed first.
  for (const Version version : {Version{2, 11}, Version{2, 15}}) {
    Rig rig("backend:cudaMallocAsync", 100 * kMiB, version);
    rig.malloc(0, 60 * kMiB);
    rig.allocator->free(0);
    const bool served = rig.malloc(1, 80 * kMiB);
    CHECK(served == (version >= Version{2, 14}));
    if (!served) {
      CHECK(oom_message(rig.allocator->failure()) ==
            "Allocation on device 0 would exceed allowed memory. (out of memory)\n"
            "Currently allocated     : 0 bytes\n"
            "Requested               : 80.00 MiB\n"
            "Device limit            : 100.00 MiB\n"
            "Free (according to CUDA): 40.00 MiB\n"
            "PyTorch limit (set by user-supplied memory fraction)\n"
            "                        : 17179869184.00 GiB");
    }
  }
  // A chunk that 32 MiB do not fit into is as small as the request allows.
  Rig rig("backend:cudaMallocAsync", 40 * kMiB);
  rig.malloc(0, 30 * kMiB);
  rig.malloc(1, 5 * kMiB);
  CHECK(rig.parts() == "5A 1f | 30A 2f");
}

TEST_CASE("the asynchronous backend counts `all` alone") {
  Rig rig("backend:cudaMallocAsync");
  rig.malloc(0, 1000);
  rig.malloc(1, 2000);
  rig.allocator->free(0);
  std::string counted;
  for (const auto& [key, value] : flatten(rig.allocator->statistics(), Version{2, 11})) {
    if (value != 0) counted += fmt::format("{}={} ", key, value);
  }
  CHECK(counted ==
        "active_bytes.all.current=2000 active_bytes.all.peak=3000 allocated_bytes.all.current=2000 "
        "allocated_bytes.all.peak=3000 reserved_bytes.all.current=33554432 "
        "reserved_bytes.all.peak=33554432 ");
  rig.allocator->reset_peak();
  CHECK(rig.allocator->statistics().allocated_bytes.all.peak == 2000);
}

TEST_CASE("2^60 bytes are refused unseen by every backend") {
  for (const char* const conf : {"", "backend:naive", "backend:ideal", "backend:cudaMallocAsync"}) {
    Rig rig(conf);
    CHECK_FALSE(rig.malloc(0, Bytes{1} << 60U));
    CHECK(rig.events().empty());
    CHECK(oom_message(rig.allocator->failure()) ==
          "CUDA out of memory. Tried to allocate more than 1EB memory.");
  }
}
