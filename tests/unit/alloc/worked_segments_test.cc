// Worked examples of docs/rules/allocator.md, W3 and W17 to W22: expandable segments, private
// pools, and the numbers beside the drawings. u: reserved addresses without memory.
#include "tests/unit/alloc/both_allocators.h"

using namespace tidemark;

namespace {
constexpr std::int64_t kMega = 1 << 20;
const BothAllocators::Setup kExpandable{.conf = "expandable_segments:True"};
}  // namespace

TEST_CASE("W3: free blocks keep the requested size of their last life") {
  const auto blocks = [](int steps) {
    DeviceMemory memory({80 * kGiB, 0, 0, 0});
    TraceClock clock;
    CachingAllocator allocator(AllocatorSettings{}, memory, clock);
    if (steps > 0) allocator.allocate(0, 1000, 0, 0);
    if (steps > 1) allocator.free(0);
    if (steps > 2) allocator.allocate(1, 600, 0, 0);
    std::string text;
    const std::vector<SegmentInfo> segments = allocator.segments();
    REQUIRE(segments.size() == 1);
    for (const BlockInfo& block : segments[0].blocks) {
      text += fmt::format("({}, {}, {})", block.bytes, block.requested_bytes,
                          block_state_name(block.state));
    }
    return text + fmt::format(" {}", segments[0].requested_bytes);
  };
  // S0 |1K A, asked 1000|      2047K f, never asked      |
  CHECK(blocks(1) == "(1024, 1000, active_allocated)(2096128, 0, inactive) 1000");
  // S0 |              2M f, asked 1000               |: the freed block swallowed its neighbour
  CHECK(blocks(2) == "(2097152, 1000, inactive) 0");
  // S0 |1K A, asked 600|      2047K f, asked 1000       |: the old object is the rest
  CHECK(blocks(3) == "(1024, 600, active_allocated)(2096128, 1000, inactive) 600");
}

TEST_CASE("W17: an expandable range grows and shrinks by pages") {
  BothAllocators both(kExpandable);
  const RequestId a = both.malloc(3 * kMiB);
  // L |3A|   17f    |u...
  CHECK(both.drawing() == "L: 3A 17f");
  CHECK(both.events() == "segment_map(20M) alloc(3M)");
  CHECK(both.reserved() == 20 * kMega);
  const RequestId b = both.malloc(30 * kMiB);
  // L |3A|      30A      |7f|u...: the missing 13M are one page more
  CHECK(both.drawing() == "L: 3A 30A 7f");
  CHECK(both.events() == "segment_map(20M) alloc(30M)");
  CHECK(both.allocated() == 34603008);
  const RequestId c = both.malloc(1000);
  CHECK(both.drawing(kKiB) == "s: 1A 2047f | L: 3072A 30720A 7168f");
  CHECK(both.events() == "segment_map(2M) alloc(1000)");
  CHECK(both.reserved() == 42 * kMega);
  both.free(b);
  CHECK(both.events() == "free_requested(30M) free_completed(30M)");
  both.empty_cache();
  // L |3A|   17f    |u...: whole pages alone
  CHECK(both.drawing(kKiB) == "s: 1A 2047f | L: 3072A 17408f");
  CHECK(both.events() == "segment_unmap(20M)");
  CHECK(both.reserved() == 22 * kMega);
  CHECK(both.stat("num_device_free") == 1);
  const RequestId d = both.malloc(25 * kMiB);
  // L |3A|     25A     |12f|u...
  CHECK(both.drawing(kKiB) == "s: 1A 2047f | L: 3072A 25600A 12288f");
  CHECK(both.events() == "segment_map(20M) alloc(25M)");
  CHECK(both.stat("num_device_alloc") == 4);
  for (const RequestId id : {a, d, c}) both.free(id);
  both.events();
  both.empty_cache();
  CHECK(both.drawing().empty());
  CHECK(both.events() == "segment_unmap(40M) segment_unmap(2M)");
  CHECK(both.reserved() == 0);
  CHECK(both.stat("num_device_free") == 3);
  CHECK(both.cell("segment.all") == "0/0/0/0");
  CHECK(both.cell("inactive_split_bytes.all") == "0/0/0/0");
}

TEST_CASE("W17b: a hole in a range is filled first when it suffices") {
  BothAllocators both(kExpandable);
  both.malloc(20 * kMiB);
  const RequestId middle = both.malloc(20 * kMiB);
  both.malloc(20 * kMiB);
  both.free(middle);
  both.empty_cache();
  // L |20A|20u|20A|u...
  CHECK(both.drawing() == "L: 20A 20u 20A");
  CHECK(both.reserved() == 40 * kMega);
  both.malloc(12 * kMiB);
  // L |20A|12A|8f|20A|u...
  CHECK(both.drawing() == "L: 20A 12A 8f 20A");
  CHECK(both.reserved() == 60 * kMega);
  both.malloc(30 * kMiB);
  // L |20A|12A|8f|20A|30A|10f|u...: the 8f with what follows does not suffice
  CHECK(both.drawing() == "L: 20A 12A 8f 20A 30A 10f");
  CHECK(both.reserved() == 100 * kMega);
}

TEST_CASE("W17c: the block at the growing end is the last choice") {
  BothAllocators both(kExpandable);
  const RequestId first = both.malloc(6 * kMiB);
  for (const Bytes bytes : {2 * kMiB, 4 * kMiB, 3 * kMiB}) both.malloc(bytes);
  both.free(first);
  // L |6f|2A|4A|3A|5f|u...: 5f fits better, but reaches to the end of the range
  CHECK(both.drawing() == "L: 6f 2A 4A 3A 5f");
  both.malloc(2 * kMiB);
  CHECK(both.drawing() == "L: 2A 4f 2A 4A 3A 5f");
}

TEST_CASE("W17d: only whole pages of the small range go back") {
  BothAllocators both(kExpandable);
  std::vector<RequestId> m;
  for (int i = 0; i < 5; ++i) m.push_back(both.malloc(kMiB));
  // s |1A 1A|1A 1A|1A 1f|u...: three pages
  CHECK(both.drawing() == "s: 1A 1A 1A 1A 1A 1f");
  CHECK(both.reserved() == 6 * kMega);
  both.free(m[1]);
  both.free(m[2]);
  both.empty_cache();
  // s |1A 2f|....|1A|1A 1f|: 1M to 3M covers no page
  CHECK(both.drawing() == "s: 1A 2f 1A 1A 1f");
  CHECK(both.reserved() == 6 * kMega);
  both.free(m[3]);
  both.empty_cache();
  // s |1A 1f|uu uu|1A 1f|
  CHECK(both.drawing() == "s: 1A 1f 2u 1A 1f");
  CHECK(both.reserved() == 4 * kMega);
}

TEST_CASE("W18: another stream's request takes the cached pages back") {
  BothAllocators both({.conf = "expandable_segments:True", .room_bytes = 100 * kMiB});
  both.free(both.malloc(50 * kMiB));
  // L |   60f   |, 40M left
  both.events();
  both.malloc(70 * kMiB, 9);
  // L9 |   70A   |10f|: 80M needed; the first map failed as a whole
  CHECK(both.drawing() == "L9: 70A 10f");
  CHECK(both.events() == "segment_unmap(60M) segment_map(80M) alloc(70M)");
  CHECK(both.reserved() == 80 * kMega);
  CHECK(both.stat("num_alloc_retries") == 1);
  CHECK(both.stat("num_device_alloc") == 2);
  CHECK(both.stat("num_device_free") == 1);
}

TEST_CASE("W19: ranges that merge beyond the split limit are never used again") {
  BothAllocators both({.conf = "expandable_segments:True,max_split_size_mb:128"});
  const std::vector<std::string> expected{// |   136.5f   |2A|1.5f|
                                          "L: 136.5f 2A 1.5f",
                                          // |   136.5f   |2A|   136.5f   |2A|3f|
                                          "L: 136.5f 2A 136.5f 2A 3f",
                                          "L: 136.5f 2A 136.5f 2A 136.5f 2A 4.5f"};
  std::int64_t cycle = 0;
  for (const std::string& drawing : expected) {
    ++cycle;
    const RequestId a = both.malloc(91 * kMiB);
    const RequestId b = both.malloc(45 * kMiB + kMiB / 2);
    both.malloc(2 * kMiB);
    both.free(a);
    both.free(b);
    CHECK(both.drawing() == drawing);
    CHECK(both.allocated() == 2 * cycle * kMega);
    CHECK(both.reserved() == 140 * cycle * kMega);
  }
}

TEST_CASE("W20: a private pool keeps its memory until it goes") {
  BothAllocators both;
  const RequestId x = both.malloc(5 * kMiB, 0, 1);
  both.malloc(5 * kMiB);
  // pool 1: S0 |5A|   15f    |   default: S1 |5A|   15f    |
  CHECK(both.drawing() == "S0: 5A 15f | S1: 5A 15f");
  CHECK(both.split() == std::pair<std::int64_t, std::int64_t>{2, 31457280});
  both.free(x);
  both.empty_cache();
  CHECK(both.drawing() == "S0: 20f | S1: 5A 15f");
  CHECK(both.split() == std::pair<std::int64_t, std::int64_t>{1, 15728640});
  both.delete_pool(1);
  CHECK(both.drawing() == "S1: 5A 15f");
  CHECK(both.reserved() == 20 * kMega);
  CHECK(both.segments() == 1);
  CHECK(both.stat("num_device_free") == 1);
}

TEST_CASE("W21: a pool without splits hands out whole segments") {
  BothAllocators both({.no_split_pool = 1});
  both.malloc(1000, 0, 1);
  both.malloc(1000, 0, 1);
  // S0 |2M A|   S1 |2M A|
  CHECK(both.drawing() == "S0: 2A | S1: 2A");
  CHECK(both.allocated() == 4194304);
  CHECK(both.requested() == 2000);
  CHECK(both.segments() == 2);
  CHECK(both.split() == std::pair<std::int64_t, std::int64_t>{0, 0});
}

TEST_CASE("W22: current, peak and accumulated") {
  BothAllocators both;
  const RequestId a = both.malloc(5 * kMiB);
  both.malloc(6 * kMiB);
  both.free(a);
  // S0 |5f|6A|  9f  |
  CHECK(both.drawing() == "S0: 5f 6A 9f");
  CHECK(both.cell("allocation.all") == "1/2/2/1");
  CHECK(both.cell("active.all") == "1/2/2/1");
  CHECK(both.cell("segment.all") == "1/1/1/0");
  CHECK(both.cell("inactive_split.all") == "2/2/2/0");
  for (const char* bytes : {"allocated_bytes.all", "active_bytes.all", "requested_bytes.all"}) {
    CHECK(both.cell(bytes) == "6291456/11534336/11534336/5242880");
  }
  CHECK(both.cell("reserved_bytes.all") == "20971520/20971520/20971520/0");
  CHECK(both.cell("inactive_split_bytes.all") == "14680064/15728640/20971520/6291456");
  CHECK(both.cell("allocated_bytes.large_pool") == both.cell("allocated_bytes.all"));
  CHECK(both.cell("allocated_bytes.small_pool") == "0/0/0/0");
}
