// The fast allocator against the naive one, event by event, over random traces and settings.
#include <algorithm>
#include <span>

#include "sim/alloc/caching_allocator.h"
#include "tests/property/alloc/random_trace.h"
#include "tests/support/naive_allocator.h"

using namespace tidemark;

namespace {

struct Fast {
  explicit Fast(const RandomTrace& trace)
      : memory({trace.total_bytes, trace.context_bytes, 0, 0}),
        allocator(trace.settings, memory, clock) {
    if (trace.memory_fraction) allocator.set_memory_fraction(*trace.memory_fraction);
    allocator.set_history(&history);
  }
  /// Plays everything, going on after refused requests; returns how many there were.
  std::size_t play(std::span<const Instruction> rest) {
    std::size_t refused = 0;
    while (!rest.empty()) {
      rest = rest.subspan(allocator.execute(rest));
      refused += allocator.refused() ? 1U : 0U;
    }
    return refused;
  }
  DeviceMemory memory;
  TraceClock clock;
  History history;
  CachingAllocator allocator;
};

naive::Options naive_options(const RandomTrace& trace) {
  naive::Options options;
  options.settings = trace.settings;
  options.total_bytes = trace.total_bytes;
  options.context_bytes = trace.context_bytes;
  options.memory_fraction = trace.memory_fraction;
  return options;
}

std::string show(const Event& event) {
  return fmt::format("{} {} bytes at {} stream {} id {} after {} instructions",
                     action_name(event.action), event.bytes, event.address, event.stream, event.id,
                     event.instruction);
}

/// Empty when equal, else the first difference.
std::string first_difference(const std::vector<Event>& fast, const std::vector<Event>& naive) {
  const auto [a, b] = std::mismatch(fast.begin(), fast.end(), naive.begin(), naive.end());
  if (a == fast.end() && b == naive.end()) return {};
  return fmt::format("event {}: fast {}; naive {}", a - fast.begin(),
                     a == fast.end() ? "ended" : show(*a), b == naive.end() ? "ended" : show(*b));
}

void compare(const RandomTrace& trace) {
  INFO(trace.describe());
  naive::Allocator naive(naive_options(trace));
  std::size_t naive_refused = 0;
  for (const Instruction& instruction : trace.instructions)
    naive_refused += naive.execute(instruction) ? 0U : 1U;
  Fast fast(trace);
  const std::size_t fast_refused = fast.play(trace.instructions);
  REQUIRE(first_difference(fast.history.events, naive.events()).empty());
  REQUIRE(fast_refused == naive_refused);
  const auto statistics = flatten(fast.allocator.statistics(), trace.settings.version);
  const auto expected = naive.flat_statistics();
  REQUIRE(statistics.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(expected[i].first);
    REQUIRE(statistics[i] == expected[i]);
  }
  REQUIRE(fast.allocator.segments() == naive.segments());
  REQUIRE(fast.memory.free_bytes() == naive.device_free_bytes());
}

}  // namespace

TEST_CASE("short random traces: many settings") {
  const std::uint64_t first = first_seed(1);
  for (std::uint64_t i = 0; i < seed_count(400); ++i) compare(random_trace(first + i, 300));
}

TEST_CASE("long random traces: deep states") {
  const std::uint64_t first = first_seed(100001);
  for (std::uint64_t i = 0; i < seed_count(40); ++i) compare(random_trace(first + i, 6000));
}
