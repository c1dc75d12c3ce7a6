#include <cstdio>

#include <fmt/format.h>

#include "tests/golden/allocator/allocator_case.h"

namespace tidemark::golden {
namespace {

/// Plays every case below `folder`, prints the table, returns how many there were.
std::size_t check_all(const std::string& folder) {
  std::size_t cases = 0;
  for (const std::string& each : case_folders(folder)) {
    const AllocatorCase golden = read_case(each);
    if (golden.settings.backend != Backend::kNative) continue;
    const Differences differences = compare(golden, play(golden));
    fmt::print(
        "{:36} {:8} requests {:8} events {:6} differ {:4} statistics differ {:4} segments differ "
        "{}\n",
        golden.name, golden.trace.instructions.size(), golden.events.size(), differences.events,
        differences.statistics, differences.segments, differences.first);
    INFO(golden.name << ": " << differences.first);
    CHECK(differences.none());
    ++cases;
  }
  return cases;
}

const std::string kOwn = std::string(TIDEMARK_SOURCE_DIR) + "/tests/golden/allocator/";

TEST_CASE("the project's allocator goldens are reproduced to the byte") {
  CHECK(check_all(kOwn + "pytorch-2.11") >= 30);
}

TEST_CASE("other releases' goldens are reproduced to the byte") {
  CHECK(check_all(kOwn + "other-releases") >= 14);
}

TEST_CASE("the full set of goldens is reproduced to the byte") {
  const auto shared = shared_goldens();
  if (!shared) {
    fmt::print("skipped: the full set of goldens is not on this machine (TIDEMARK_SHARED)\n");
    return;
  }
  CHECK(check_all(*shared + "/allocator") >= 60);
  CHECK(check_all(*shared + "/allocator-versions") >= 16);
}

TEST_CASE("a changed event, statistic or block is noticed") {
  const AllocatorCase golden = read_case(kOwn + "pytorch-2.11/combo-everything");
  const Played played = play(golden);
  REQUIRE(compare(golden, played).none());
  SECTION("an address") {
    AllocatorCase changed = golden;
    changed.events[1000].address += 512;
    CHECK(compare(changed, played).events == 1);
  }
  SECTION("a missing event") {
    AllocatorCase changed = golden;
    changed.events.erase(changed.events.begin() + 1000);
    CHECK(compare(changed, played).events > 1);
  }
  SECTION("a statistic") {
    AllocatorCase changed = golden;
    ++changed.statistics[50].second;
    CHECK(compare(changed, played).statistics == 1);
  }
  SECTION("a stale requested size") {
    AllocatorCase changed = golden;
    ++changed.segments.back().blocks.back().requested_bytes;
    CHECK(compare(changed, played).segments == 1);
  }
}

}  // namespace
}  // namespace tidemark::golden
