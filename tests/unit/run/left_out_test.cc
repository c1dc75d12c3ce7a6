#include "sim/run/left_out.h"

#include <catch2/catch.hpp>

namespace tidemark {
namespace {

/// One device that made `requests` requests of 512 bytes, with two events and a driver call each.
StepGrowth after(std::uint64_t requests, Nanoseconds now_ns) {
  StepGrowth growth;
  StepGrowth::Device& device = growth.devices.emplace_back();
  device.statistics.allocation.all.allocated = static_cast<std::int64_t>(requests);
  device.events = 2 * requests;
  device.device_calls = requests;
  device.device_call_ns = static_cast<Nanoseconds>(100 * requests);
  growth.instructions = 3 * requests;
  growth.now_ns = now_ns;
  return growth;
}

Repeat steps(std::int64_t first, std::uint64_t times) {
  return {"step", first - 1, first - 1, first, first + static_cast<std::int64_t>(times) - 1, times};
}

TEST_CASE("what is left out adds what the pattern did, as often as it would come again") {
  LeftOut left_out(1);
  const std::size_t start = left_out.keep(after(10, 1000));
  // The pattern: 4 requests in 500 ns. Seven times more: 28 requests, 84 instructions, 3500 ns.
  CHECK(left_out.repeat(start, steps(2, 7), after(14, 1500)) == 3500);
  CHECK(left_out.instructions() == 84);
  CHECK(left_out.of(0).events == 56);
  CHECK(left_out.of(0).device_calls == 28);
  CHECK(left_out.of(0).device_call_ns == 2800);
  AllocatorStatistics statistics = after(14, 0).devices.front().statistics;
  left_out.add_to(0, statistics);
  CHECK(statistics.allocation.all.allocated == 42);

  const std::vector<RepeatResult> repeats = left_out.finish();
  REQUIRE(repeats.size() == 1);
  CHECK(repeats[0].repeat == steps(2, 7));
  CHECK(repeats[0].instructions == 84);
  CHECK(repeats[0].events == std::vector<std::uint64_t>{56});
  CHECK(repeats[0].before_event == std::vector<std::uint32_t>{28});
  CHECK(repeats[0].duration_ns == 3500);
}

TEST_CASE("a pattern that holds turns left out repeats these too") {
  LeftOut left_out(1);
  const std::size_t outer = left_out.keep(after(0, 0));
  const std::size_t inner = left_out.keep(after(1, 0));
  // Inside the outer turn the request of the inner one comes 3 times more.
  left_out.repeat(inner, steps(1, 3), after(2, 0));
  CHECK(left_out.instructions() == 9);
  // The outer turn: 2 simulated and 3 left out, twice more: 10 requests, 30 instructions.
  left_out.repeat(outer, steps(1, 2), after(2, 0));
  CHECK(left_out.instructions() == 39);
  CHECK(left_out.of(0).events == 26);
  CHECK(left_out.finish()[1].before_event == std::vector<std::uint32_t>{4});
}

}  // namespace
}  // namespace tidemark
