#include "sim/run/phase_log.h"

#include <catch2/catch.hpp>

namespace tidemark {
namespace {

AllocatorStatistics allocated(std::int64_t now, std::int64_t peak) {
  AllocatorStatistics statistics;
  statistics.allocated_bytes.all.current = now;
  statistics.allocated_bytes.all.peak = peak;
  return statistics;
}

TEST_CASE("phases follow one another, and a peak before a reset within one counts") {
  PhaseLog log;
  CHECK(log.current() == kNoPhase);
  log.end({0, 0}, {}, {});  // the first mark: nothing came before it
  log.begin("forward", {0, 10});
  CHECK(log.current() == 0);
  // 700 at the end; 900 is the allocator's own peak, 1000 what it had before a reset.
  log.end({5, 20}, allocated(700, 900), allocated(0, 1000));
  log.begin("backward", {5, 20});
  log.measure("middle", {6, 25}, allocated(1, 2), 77);
  log.end({8, 30}, allocated(0, 700), {});
  DeviceResult result;
  log.finish(result);

  REQUIRE(result.phases.size() == 2);
  CHECK(result.phases[0].name == "forward");
  CHECK(result.phases[0].first_event == 0);
  CHECK(result.phases[0].events == 5);
  CHECK(result.phases[0].begin_ns == 10);
  CHECK(result.phases[0].end_ns == 20);
  CHECK(result.phases[0].allocated == PhaseBytes{700, 1000});
  CHECK(result.phases[1].first_event == 5);
  CHECK(result.phases[1].events == 3);
  REQUIRE(result.points.size() == 1);
  CHECK(result.points[0] == MeasuredPoint{"middle", 6, 1, 25, allocated(1, 2), 77});
}

TEST_CASE("what comes before any mark is a phase without a name") {
  PhaseLog log;
  log.end({4, 9}, {}, {});
  CHECK_FALSE(log.has_begun());
  CHECK(log.current() == 0);
  log.begin("step", {4, 9});
  CHECK(log.has_begun());
  log.end({4, 12}, {}, {});
  DeviceResult result;
  log.finish(result);
  REQUIRE(result.phases.size() == 2);
  CHECK(result.phases[0].name.empty());
  CHECK(result.phases[0].events == 4);
  CHECK(result.phases[1].events == 0);
}

}  // namespace
}  // namespace tidemark
