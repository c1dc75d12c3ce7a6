#include <catch2/catch.hpp>

#include "sim/run/peak_keeper.h"

namespace tidemark {

TEST_CASE("every statistic that has a peak takes part") {
  AllocatorStatistics high;
  for (StatArray* array : {&high.allocation, &high.segment, &high.active, &high.inactive_split,
                           &high.allocated_bytes, &high.reserved_bytes, &high.active_bytes,
                           &high.inactive_split_bytes, &high.requested_bytes}) {
    array->increase(PoolKind::kSmall, 5);
    array->increase(PoolKind::kLarge, 7);
    array->decrease(PoolKind::kLarge, 7);
  }
  high.oversize_allocations.increase(3);
  high.oversize_segments.increase(4);
  high.reserved_bytes_by_private_pools.emplace_back(PoolKey{0, 2}, high.segment);

  AllocatorStatistics raised;
  raised.reserved_bytes_by_private_pools.emplace_back(PoolKey{0, 1}, StatArray{});
  raised.reserved_bytes_by_private_pools.emplace_back(PoolKey{0, 3}, StatArray{});
  raise_peaks(raised, high);
  REQUIRE(raised.reserved_bytes_by_private_pools.size() == 3);
  CHECK(raised.reserved_bytes_by_private_pools[1].first == PoolKey{0, 2});
  std::size_t peaks = 0;
  const auto wanted = flatten(high, kNewestVersion);
  for (const auto& [key, value] : flatten(raised, kNewestVersion)) {
    if (!key.ends_with(".peak") || key.find(".0_1.") != std::string::npos ||
        key.find(".0_3.") != std::string::npos) {
      continue;
    }
    CAPTURE(key);
    CHECK(value > 0);
    CHECK(std::find(wanted.begin(), wanted.end(), std::pair{key, value}) != wanted.end());
    ++peaks;
  }
  CHECK(peaks == 9 * 3 + 2 + 3);

  reset_peaks(high);
  for (const auto& [key, value] : flatten(high, kNewestVersion)) {
    if (key.ends_with("large_pool.peak")) CHECK(value == 0);
    if (key == "allocation.small_pool.peak") CHECK(value == 5);
  }
}

TEST_CASE("phases, the program and the run each have their own peaks") {
  const auto at = [](std::int64_t current, std::int64_t peak) {
    AllocatorStatistics statistics;
    statistics.allocated_bytes.all = {current, peak, 0, 0};
    return statistics;
  };
  const auto peak = [](const AllocatorStatistics& statistics) {
    return statistics.allocated_bytes.all.peak;
  };
  PeakKeeper keeper;
  keeper.keep(at(10, 90));
  keeper.phase_began(at(10, 90));
  CHECK(peak(keeper.of_phase()) == 10);
  CHECK(peak(keeper.of_program()) == 90);
  keeper.keep(at(20, 50));
  keeper.program_reset(at(20, 50));
  CHECK(peak(keeper.of_phase()) == 50);
  CHECK(peak(keeper.of_program()) == 20);
  keeper.keep(at(30, 40));
  CHECK(peak(keeper.of_phase()) == 50);
  CHECK(peak(keeper.of_program()) == 40);
  CHECK(peak(keeper.of_run()) == 90);
}

}  // namespace tidemark
