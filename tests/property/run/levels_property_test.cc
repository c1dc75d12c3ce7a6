#include "sim/run/levels.h"

#include <catch2/catch.hpp>

#include "sim/alloc/caching_allocator.h"
#include "sim/alloc/event_clock.h"
#include "tests/property/alloc/random_trace.h"

namespace tidemark {
namespace {

History play(const RandomTrace& trace, bool sampling) {
  DeviceMemory memory({trace.total_bytes, trace.context_bytes, 0, 0});
  TraceClock clock;
  CachingAllocator allocator(trace.settings, memory, clock);
  if (trace.memory_fraction) allocator.set_memory_fraction(*trace.memory_fraction);
  History history;
  history.sampling = sampling;
  allocator.set_history(&history);
  std::span<const Instruction> rest(trace.instructions);
  while (!rest.empty()) rest = rest.subspan(allocator.execute(rest));
  allocator.finish_samples();
  return history;
}

}  // namespace

TEST_CASE("events alone tell the amounts that samples tell") {
  std::size_t traces = 0;
  std::size_t compared = 0;
  const std::uint64_t first = first_seed(400001);
  for (std::uint64_t i = 0; i < seed_count(60); ++i) {
    const RandomTrace trace = random_trace(first + i, 400);
    if (!events_tell_levels(trace.settings)) continue;
    ++traces;
    INFO(trace.describe());
    History sampled = play(trace, true);
    DeviceResult device;
    device.events = play(trace, false).events;
    REQUIRE(device.events == sampled.events);
    DeviceResult whole;
    whole.events = device.events;
    whole.samples = std::move(sampled.samples);
    visit_levels(device, [&](std::uint32_t at, const MemorySample& level) {
      INFO("event " << at << " " << action_name(device.events[at].action));
      const MemorySample& sample = whole.samples[at];
      REQUIRE(level.reserved == sample.reserved);
      REQUIRE(level.active == sample.active);
      REQUIRE(level.allocated == sample.allocated);
      REQUIRE(level.requested == sample.requested);
      if (device.events[at].action == Action::kSegmentAlloc) return;
      const MemorySample told = sample_after(device, at);
      REQUIRE(told.inactive_split == sample.inactive_split);
      REQUIRE(told.largest_free == sample.largest_free);
      if (device.events[at].action != Action::kAlloc) return;
      REQUIRE(block_bytes_of(device, at) == block_bytes_of(whole, at));
      ++compared;
    });
  }
  if (traces == 0) return;  // the one seed that TIDEMARK_SEED names
  CHECK(compared > 100 * traces);
}

}  // namespace tidemark
