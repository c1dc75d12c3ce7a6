// Worked examples of docs/rules/allocator.md, W1 to W16: splitting, merging, retries, limits,
// collection and streams. Each picture is the memory after the step before it; A: allocated, P:
// pending, f: free. Both allocators are driven; both must agree on everything at every look.
#include "tests/unit/alloc/both_allocators.h"

using namespace tidemark;

namespace {
using Split = std::pair<std::int64_t, std::int64_t>;
constexpr std::int64_t kM = 1 << 20;
}  // namespace

TEST_CASE("W1: one small allocation") {
  BothAllocators both;
  const RequestId a = both.malloc(1000);
  // S0 2M |1K A|........ 2047K f ........|
  CHECK(both.drawing(kKiB) == "S0: 1A 2047f");
  CHECK(both.allocated() == 1024);
  CHECK(both.requested() == 1000);
  CHECK(both.reserved() == 2097152);
  CHECK(both.segments() == 1);
  CHECK(both.split() == Split{1, 2096128});
  both.free(a);
  // S0 2M |............ 2M f ............|
  CHECK(both.drawing(kKiB) == "S0: 2048f");
  CHECK(both.allocated() == 0);
  CHECK(both.reserved() == 2097152);
  CHECK(both.split() == Split{0, 0});
  both.empty_cache();
  CHECK(both.drawing().empty());
  CHECK(both.reserved() == 0);
  CHECK(both.segments() == 0);
  CHECK(both.events() ==
        "segment_alloc(2M) alloc(1000) free_requested(1000) free_completed(1000) segment_free(2M)");
  CHECK(both.stat("num_device_alloc") == 1);
  CHECK(both.stat("num_device_free") == 1);
  CHECK(both.stat("num_sync_all_streams") == 1);
  CHECK(both.cell("inactive_split_bytes.all") == "0/2096128/2096128/2096128");
}

TEST_CASE("W2: packing, best fit and merging in the small pool") {
  BothAllocators both;
  constexpr Bytes k700 = 700 * kKiB;
  const RequestId a = both.malloc(k700);
  // S0 |700A|  1348f  |
  CHECK(both.drawing(kKiB) == "S0: 700A 1348f");
  CHECK(both.split() == Split{1, 1380352});
  const RequestId b = both.malloc(k700);
  // S0 |700A|700A|648f|
  CHECK(both.drawing(kKiB) == "S0: 700A 700A 648f");
  CHECK(both.split() == Split{1, 663552});
  const RequestId c = both.malloc(k700);
  // S0 |700A|700A|648f|   S1 |700A|  1348f  |
  CHECK(both.drawing(kKiB) == "S0: 700A 700A 648f | S1: 700A 1348f");
  CHECK(both.split() == Split{2, 2043904});
  both.free(a);
  // S0 |700f|700A|648f|   S1 |700A|  1348f  |
  CHECK(both.split() == Split{3, 2760704});
  const RequestId d = both.malloc(600 * kKiB);
  // S0 |700f|700A|600A|48f|: the smallest hole that fits, not the older one
  CHECK(both.drawing(kKiB) == "S0: 700f 700A 600A 48f | S1: 700A 1348f");
  CHECK(both.allocated() == 2048000);
  CHECK(both.split() == Split{3, 2146304});
  both.free(b);
  // S0 |  1400f  |600A|48f|: blocks -1 + 1, bytes -700K + 1400K
  CHECK(both.drawing(kKiB) == "S0: 1400f 600A 48f | S1: 700A 1348f");
  CHECK(both.split() == Split{3, 2863104});
  both.free(d);
  // S0 |      2048f       |: merged on both sides and whole again: blocks -2, bytes -1448K
  CHECK(both.drawing(kKiB) == "S0: 2048f | S1: 700A 1348f");
  CHECK(both.split() == Split{1, 1380352});
  both.empty_cache();
  CHECK(both.drawing(kKiB) == "S1: 700A 1348f");
  CHECK(both.reserved() == 2 * kM);
  both.free(c);
  CHECK(both.drawing(kKiB) == "S1: 2048f");
  CHECK(both.allocated() == 0);
  CHECK(both.split() == Split{0, 0});
}

TEST_CASE("W4: five requests of 5 MiB") {
  BothAllocators both;
  std::vector<RequestId> m;
  const std::vector<std::string> expected{
      // S0 |5A|   15f    |    S0 |5A|5A|  10f  |      S0 |5A|5A|5A|5f|
      "S0: 5A 15f", "S0: 5A 5A 10f", "S0: 5A 5A 5A 5f",
      // S0 |5A|5A|5A|5A|: fits exactly    S1 |5A|   15f    |
      "S0: 5A 5A 5A 5A", "S0: 5A 5A 5A 5A | S1: 5A 15f"};
  for (const std::string& drawing : expected) {
    m.push_back(both.malloc(5 * kMiB));
    CHECK(both.drawing() == drawing);
  }
  CHECK(both.reserved() == 40 * kM);
  both.free(m[1]);
  // S0 |5A|5f|5A|5A|
  CHECK(both.drawing() == "S0: 5A 5f 5A 5A | S1: 5A 15f");
  CHECK(both.split() == Split{2, 20 * kM});
  both.free(m[3]);
  // S0 |5A|5f|5A|5f|
  CHECK(both.split() == Split{3, 25 * kM});
  both.free(m[2]);
  // S0 |5A|   15f    |: one increase of 5M, one decrease of a block
  CHECK(both.drawing() == "S0: 5A 15f | S1: 5A 15f");
  CHECK(both.cell("inactive_split.all") == "2/3/4/2");
  CHECK(both.cell("inactive_split_bytes.all") == "31457280/31457280/47185920/15728640");
}

TEST_CASE("W5: the large pool splits off more than 1 MiB") {
  BothAllocators both;
  const RequestId a = both.malloc(9 * kMiB + kMiB / 2);
  // S0 20M |  9.5A  |  10.5f  |
  CHECK(both.drawing() == "S0: 9.5A 10.5f");
  CHECK(both.split() == Split{1, 11010048});
  const RequestId b = both.malloc(9 * kMiB + 3 * kMiB / 4);
  // S0 20M |  9.5A  |  10.5A  |: 0.75M would be left, so the whole block goes
  CHECK(both.drawing() == "S0: 9.5A 10.5A");
  CHECK(both.allocated() == 20971520);
  CHECK(both.requested() == 20185088);
  CHECK(both.split() == Split{0, 0});
  both.free(a);
  CHECK(both.allocated() == 11010048);
  CHECK(both.requested() == 10223616);
  CHECK(both.split() == Split{1, 9961472});
  both.free(b);
  CHECK(both.drawing() == "S0: 20f");
  CHECK(both.split() == Split{0, 0});
  CHECK(both.reserved() == 20 * kM);
}

TEST_CASE("W6: around 10 MiB a segment is sized to its request") {
  BothAllocators both;
  both.malloc(10485760);
  both.malloc(10485761);
  both.malloc(11534336);
  both.malloc(11533824);
  // S0 |10M A|   S1 12M |10M+512 A|2096640 f|   S2 12M |12M A|: the rest is 1M exactly   S3 12M
  // |11M-512 A|1049088 f|
  CHECK(both.drawing(1) ==
        "S0: 10485760A | S1: 10486272A 2096640f | S2: 12582912A | S3: 11533824A 1049088f");
  CHECK(both.allocated() == 45088768);
  CHECK(both.requested() == 44039681);
  CHECK(both.reserved() == 48234496);
  CHECK(both.segments() == 4);
  CHECK(both.split() == Split{2, 3145728});
}

TEST_CASE("W7: 1 MiB is small, a byte more is large") {
  BothAllocators both;
  both.malloc(1048576);
  both.malloc(1048577);
  // S0 2M |1M A|1M f|   S1 20M |1M+512 A|      19922432 f      |
  CHECK(both.drawing(1) == "S0: 1048576A 1048576f | S1: 1049088A 19922432f");
  CHECK(both.allocated() == 2097664);
  CHECK(both.requested() == 2097153);
  CHECK(both.reserved() == 23068672);
  CHECK(both.stat("segment.small_pool.current") == 1);
  CHECK(both.stat("segment.large_pool.current") == 1);
  CHECK(both.split() == Split{2, 20971008});
}

TEST_CASE("W8: rounding to divisions of powers of two") {
  const std::vector<std::pair<Bytes, std::int64_t>> expected{
      {1, 512},           {512, 512},         {513, 1024},           {1200, 1536},
      {2048, 2048},       {2049, 2560},       {5000, 5120},          {1048577, 1310720},
      {3145729, 3670016}, {5242880, 5242880}, {734003200, 805306368}};
  for (const auto& [bytes, block] : expected) {
    BothAllocators both({.conf = "roundup_power2_divisions:4"});
    both.malloc(bytes);
    INFO(bytes);
    CHECK(both.allocated() == block);
  }
}

TEST_CASE("W9: which of equal blocks is taken depends on the release") {
  // The driver puts S1 below S0:  S1 |5f|5A|5A|5A|   S0 |5f|5A|5f|5A|
  // 2.11 and older take the lowest address: S1+0, S0+0, S0+10M; 2.12 and later S0+0, S0+10M, S1+0.
  const auto after = [](Version version, int requests) {
    BothAllocators both({.version = version});
    std::vector<RequestId> m;
    for (int i = 0; i < 8; ++i) m.push_back(both.malloc(5 * kMiB));
    for (const std::size_t i : {4U, 2U, 0U}) both.free(m[i]);
    CHECK(both.allocated() == 25 * kM);
    for (int i = 0; i < requests; ++i) both.malloc(5 * kMiB);
    CHECK(both.reserved() == 40 * kM);
    return both.drawing();
  };
  for (const Version old : {Version{2, 4}, Version{2, 6}, Version{2, 11}}) {
    CHECK(after(old, 0) == "S0: 5f 5A 5f 5A | S1: 5f 5A 5A 5A");
    CHECK(after(old, 1) == "S0: 5f 5A 5f 5A | S1: 5A 5A 5A 5A");
    CHECK(after(old, 2) == "S0: 5A 5A 5f 5A | S1: 5A 5A 5A 5A");
  }
  for (const Version recent : {Version{2, 12}, Version{2, 13}, Version{2, 15}}) {
    CHECK(after(recent, 1) == "S0: 5A 5A 5f 5A | S1: 5f 5A 5A 5A");
    CHECK(after(recent, 2) == "S0: 5A 5A 5A 5A | S1: 5f 5A 5A 5A");
    CHECK(after(recent, 3) == "S0: 5A 5A 5A 5A | S1: 5A 5A 5A 5A");
  }
}

TEST_CASE("W10: a full device is retried after the cache is given back") {
  BothAllocators both({.room_bytes = 100 * kMiB});
  both.free(both.malloc(60 * kMiB));
  // S0 |60f|, 40M left
  both.events();
  both.malloc(80 * kMiB);
  // S1 |80A|, 20M left: S0 went back first
  CHECK(both.drawing() == "S1: 80A");
  CHECK(both.events() == "segment_free(60M) segment_alloc(80M) alloc(80M)");
  CHECK(both.stat("num_alloc_retries") == 1);
  CHECK(both.stat("num_sync_all_streams") == 1);
  CHECK(both.stat("num_device_alloc") == 2);
  CHECK(both.stat("num_device_free") == 1);
  both.malloc(30 * kMiB);
  CHECK(both.refused());
  CHECK(both.drawing() == "S1: 80A");
  CHECK(both.events() == "oom(30M)");
  CHECK(both.stat("num_alloc_retries") == 2);
  CHECK(both.stat("num_ooms") == 1);
  CHECK(both.stat("num_sync_all_streams") == 2);
}

TEST_CASE("W11: out of memory with 22 MiB free in the cache") {
  BothAllocators both({.room_bytes = 44 * kMiB});
  std::vector<RequestId> m;
  for (int i = 0; i < 6; ++i) m.push_back(both.malloc(6 * kMiB));
  for (const std::size_t i : {0U, 2U, 4U}) both.free(m[i]);
  // S0 |6f|6A| 8f |   S1 |6A|6f|6A|2f|, 4M left: a 12M segment fits nowhere
  CHECK(both.drawing() == "S0: 6f 6A 8f | S1: 6A 6f 6A 2f");
  CHECK(both.split() == Split{4, 23068672});
  both.malloc(12 * kMiB);
  CHECK(both.refused());
  CHECK(both.drawing() == "S0: 6f 6A 8f | S1: 6A 6f 6A 2f");
  CHECK(both.allocated() == 18 * kM);
  CHECK(both.stat("num_alloc_retries") == 1);
  CHECK(both.stat("num_ooms") == 1);
  CHECK(both.stat("num_sync_all_streams") == 1);
}

TEST_CASE("W12: oversize blocks are for oversize requests, within the slack") {
  BothAllocators both({.conf = "max_split_size_mb:100"});
  const auto oversize = [&both] {
    return std::pair(both.stat("oversize_allocations.current"),
                     both.stat("oversize_segments.current"));
  };
  const RequestId a = both.malloc(150 * kMiB);
  CHECK(oversize() == std::pair<std::int64_t, std::int64_t>{1, 1});
  both.free(a);
  CHECK(oversize() == std::pair<std::int64_t, std::int64_t>{0, 1});
  both.malloc(50 * kMiB);
  // S0 |150f|   S1 |50A|: 50 may not take an oversize block
  CHECK(both.drawing() == "S0: 150f | S1: 50A");
  const RequestId c = both.malloc(140 * kMiB);
  // S0 |150A|   S1 |50A|: 150 < 140 + 20, and all of it goes
  CHECK(both.drawing() == "S0: 150A | S1: 50A");
  CHECK(both.requested() == 190 * kM);
  both.free(c);
  both.malloc(130 * kMiB);
  // S0 |150f|   S1 |50A|   S2 |130A|: 150 >= 130 + 20
  CHECK(both.drawing() == "S0: 150f | S1: 50A | S2: 130A");
  CHECK(both.reserved() == 330 * kM);
  CHECK(oversize() == std::pair<std::int64_t, std::int64_t>{1, 2});
}

TEST_CASE("W12b: just enough oversize blocks are given back") {
  {
    BothAllocators both({.conf = "max_split_size_mb:100", .room_bytes = 300 * kMiB});
    const RequestId a = both.malloc(120 * kMiB);
    const RequestId b = both.malloc(110 * kMiB);
    both.free(a);
    both.free(b);
    both.events();
    both.malloc(200 * kMiB);
    // 110f 120f, 70M left; walking back from 200: 120, then 110 (230 >= 200)
    CHECK(both.drawing() == "S2: 200A");
    CHECK(both.events() == "segment_free(120M) segment_free(110M) segment_alloc(200M) alloc(200M)");
    CHECK(both.stat("num_alloc_retries") == 0);
    CHECK(both.stat("num_sync_all_streams") == 0);
  }
  {
    BothAllocators both({.conf = "max_split_size_mb:100", .room_bytes = 300 * kMiB});
    const RequestId a = both.malloc(120 * kMiB);
    const RequestId b = both.malloc(160 * kMiB);
    both.free(a);
    both.free(b);
    both.malloc(40 * kMiB);
    // K = max(40, 100): the lower bound is the 120f, which alone goes
    CHECK(both.drawing() == "S1: 160f | S2: 40A");
  }
  {
    BothAllocators both({.conf = "max_split_size_mb:100", .room_bytes = 300 * kMiB});
    const RequestId a = both.malloc(100 * kMiB);
    both.malloc(120 * kMiB);
    both.malloc(60 * kMiB);
    both.free(a);
    both.malloc(150 * kMiB);
    // 100f goes (100 < 150: a failure all the same), the retry fails too
    CHECK(both.refused());
    CHECK(both.drawing() == "S1: 120A | S2: 60A");
    CHECK(both.reserved() == 180 * kM);
    CHECK(both.stat("num_alloc_retries") == 1);
    CHECK(both.stat("num_device_free") == 1);
  }
}

TEST_CASE("W13: a free 20 MiB segment is itself oversize and is not used again") {
  BothAllocators both({.conf = "max_split_size_mb:20"});
  const RequestId a = both.malloc(5 * kMiB);
  // S0 |5A|   15f    |
  CHECK(both.drawing() == "S0: 5A 15f");
  CHECK(both.stat("oversize_segments.current") == 1);
  both.free(a);
  both.malloc(5 * kMiB);
  // S0 |     20f     |   S1 |5A|   15f    |
  CHECK(both.drawing() == "S0: 20f | S1: 5A 15f");
  CHECK(both.reserved() == 40 * kM);
  CHECK(both.stat("oversize_segments.current") == 2);
}

TEST_CASE("W14: a limit counts whole segments") {
  BothAllocators both({.room_bytes = 1000 * kMiB, .total_bytes = 1000 * kMiB, .fraction = 0.05});
  both.malloc(20 * kMiB);
  both.malloc(20 * kMiB);
  CHECK(both.reserved() == 40 * kM);
  both.malloc(5 * kMiB);
  // 40 + 20 > 50, although 10 are left
  CHECK(both.refused());
  CHECK(both.stat("num_alloc_retries") == 1);
  CHECK(both.stat("num_ooms") == 1);
  CHECK(both.stat("num_sync_all_streams") == 1);
  both.malloc(1 * kMiB);
  // 40 + 2 <= 50
  CHECK_FALSE(both.refused());
  CHECK(both.drawing() == "S0: 20A | S1: 20A | S2: 1A 1f");
  CHECK(both.reserved() == 44040192);
}

TEST_CASE("W15: garbage collection frees the older blocks first") {
  BothAllocators both({.conf = "garbage_collection_threshold:0.8",
                       .room_bytes = 1000 * kMiB,
                       .total_bytes = 1000 * kMiB,
                       .fraction = 0.5});
  const RequestId a = both.malloc(200 * kMiB);
  const RequestId b = both.malloc(100 * kMiB);
  both.malloc(110 * kMiB);
  both.free(a);
  both.free(b);
  // searches 3:  S0 200f base 3   S1 100f base 3   S2 110A
  const RequestId d = both.malloc(90 * kMiB);
  CHECK(both.drawing() == "S0: 200f | S1: 90A 10f | S2: 110A");
  both.free(d);
  // searches 4:  S0 200f base 3   S1 100f base 4   S2 110A
  both.events();
  both.malloc(210 * kMiB);
  // searches 5: ages 2 and 1, threshold 1.5: S0 alone goes, and its 200M meet the target of 10M
  CHECK(both.drawing() == "S1: 100f | S2: 110A | S3: 210A");
  CHECK(both.reserved() == 420 * kM);
  CHECK(both.events() == "segment_free(200M) segment_alloc(210M) alloc(210M)");
  CHECK(both.stat("num_device_free") == 1);
  CHECK(both.stat("num_sync_all_streams") == 0);
  CHECK(both.stat("num_alloc_retries") == 0);
}

TEST_CASE("W16: a block that another stream uses waits for it") {
  BothAllocators both;
  const RequestId a = both.malloc(2 * kMiB);
  both.use(a, 7);
  both.free(a);
  // S0 |2P|      18f      |
  CHECK(both.drawing() == "S0: 2P 18f");
  CHECK(both.allocated() == 0);
  CHECK(both.active() == 2 * kM);
  CHECK(both.split() == Split{1, 18 * kM});
  both.malloc(2 * kMiB);
  // S0 |2P|2A|    16f     |: stream 7 is not there yet
  CHECK(both.drawing() == "S0: 2P 2A 16f");
  CHECK(both.active() == 4 * kM);
  both.sync(7);
  both.malloc(2 * kMiB);
  // S0 |2A|2A|    16f     |: the pending free completes first, then the block fits exactly
  CHECK(both.drawing() == "S0: 2A 2A 16f");
  CHECK(both.events() ==
        "segment_alloc(20M) alloc(2M) free_requested(2M) alloc(2M) free_completed(2M) alloc(2M)");
  CHECK(both.split() == Split{1, 16 * kM});
  both.malloc(3 * kMiB, 7);
  // S1 |3A|    17f     |: streams do not share blocks
  CHECK(both.drawing() == "S0: 2A 2A 16f | S1: 3A 17f");
}
