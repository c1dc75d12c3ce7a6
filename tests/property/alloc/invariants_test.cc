// What must hold after every step, counted from scratch. Source: docs/rules/allocator.md#18.1.
#include <algorithm>

#include "sim/alloc/caching_allocator.h"
#include "tests/property/alloc/random_trace.h"

using namespace tidemark;

namespace {

struct Counted {
  std::int64_t reserved = 0, active = 0, allocated = 0, requested = 0, inactive_split = 0,
               active_blocks = 0, allocated_blocks = 0, split_blocks = 0, segments = 0;
  Bytes largest_free = 0;
};

/// Adds one segment up, checking how its blocks lie.
void count_segment(const SegmentInfo& segment, Counted& counted) {
  std::uint64_t end = segment.address;
  bool before_free = false;
  Bytes allocated = 0, active = 0, requested = 0;
  for (const BlockInfo& block : segment.blocks) {
    REQUIRE(block.address == end);  // the blocks tile the segment
    REQUIRE((block.bytes > 0 && block.bytes % 512 == 0));
    const bool is_free = block.state == BlockState::kInactive;
    REQUIRE(!(is_free && before_free));  // two free neighbours are merged
    before_free = is_free;
    end += block.bytes;
    if (is_free) {
      counted.largest_free = std::max(counted.largest_free, block.bytes);
      if (!segment.expandable && segment.blocks.size() > 1) {
        counted.inactive_split += static_cast<std::int64_t>(block.bytes);
        ++counted.split_blocks;
      }
      continue;
    }
    REQUIRE(block.id != kNoRequest);
    REQUIRE(block.requested_bytes > 0);
    active += block.bytes;
    requested += block.requested_bytes;
    ++counted.active_blocks;
    if (block.state != BlockState::kActiveAllocated) continue;
    allocated += block.bytes;
    ++counted.allocated_blocks;
  }
  REQUIRE(end == segment.address + segment.total_bytes);
  REQUIRE(segment.allocated_bytes == allocated);
  REQUIRE(segment.active_bytes == active);
  REQUIRE(segment.requested_bytes == requested);
  if (!segment.expandable) {
    ++counted.segments;
    if (segment.kind == PoolKind::kSmall) REQUIRE(segment.total_bytes == 2 * kMiB);
    REQUIRE(segment.total_bytes % kMiB == 0);
  }
  counted.reserved += static_cast<std::int64_t>(segment.total_bytes);
  counted.active += static_cast<std::int64_t>(active);
  counted.allocated += static_cast<std::int64_t>(allocated);
  counted.requested += static_cast<std::int64_t>(requested);
}

void check_cell(const Stat& stat) {
  REQUIRE(stat.current >= 0);
  REQUIRE(stat.peak >= stat.current);
  REQUIRE(stat.allocated - stat.freed == stat.current);
}

void check_statistics(const AllocatorStatistics& stats, const Counted& counted) {
  REQUIRE(stats.reserved_bytes.all.current == counted.reserved);
  REQUIRE(stats.active_bytes.all.current == counted.active);
  REQUIRE(stats.allocated_bytes.all.current == counted.allocated);
  REQUIRE(stats.requested_bytes.all.current == counted.requested);
  REQUIRE(stats.inactive_split_bytes.all.current == counted.inactive_split);
  REQUIRE(stats.inactive_split.all.current == counted.split_blocks);
  REQUIRE(stats.active.all.current == counted.active_blocks);
  REQUIRE(stats.allocation.all.current == counted.allocated_blocks);
  REQUIRE(stats.segment.all.current == counted.segments);
  for (const StatArray* array :
       {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split,
        &stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes,
        &stats.inactive_split_bytes, &stats.requested_bytes}) {
    check_cell(array->all);
    check_cell(array->small_pool);
    check_cell(array->large_pool);
    REQUIRE(array->all.current == array->small_pool.current + array->large_pool.current);
    REQUIRE(array->all.allocated == array->small_pool.allocated + array->large_pool.allocated);
  }
  check_cell(stats.oversize_allocations);
  check_cell(stats.oversize_segments);
}

void check(const CachingAllocator& allocator, const DeviceMemory& memory) {
  allocator.validate();
  Counted counted;
  std::uint64_t end = 0;
  for (const SegmentInfo& segment : allocator.segments()) {
    REQUIRE(segment.address >= end);  // ascending, no overlap
    end = segment.address + segment.total_bytes;
    count_segment(segment, counted);
  }
  check_statistics(allocator.statistics(), counted);
  const MemorySample sample = allocator.sample();
  REQUIRE(sample.reserved == static_cast<Bytes>(counted.reserved));
  REQUIRE(sample.active == static_cast<Bytes>(counted.active));
  REQUIRE(sample.allocated == static_cast<Bytes>(counted.allocated));
  REQUIRE(sample.requested == static_cast<Bytes>(counted.requested));
  REQUIRE(sample.inactive_split == static_cast<Bytes>(counted.inactive_split));
  REQUIRE(sample.largest_free == counted.largest_free);
  // A segment takes whole 2 MiB of the device, whatever large_segment_size_mb says.
  REQUIRE(memory.taken_bytes() >= sample.reserved);
}

}  // namespace

TEST_CASE("the books agree with the blocks after every step of a random trace") {
  const std::uint64_t first = first_seed(200001);
  for (std::uint64_t i = 0; i < seed_count(60); ++i) {
    const RandomTrace trace = random_trace(first + i, 400);
    INFO(trace.describe());
    DeviceMemory memory({trace.total_bytes, trace.context_bytes, 0, 0});
    TraceClock clock;
    CachingAllocator allocator(trace.settings, memory, clock);
    if (trace.memory_fraction) allocator.set_memory_fraction(*trace.memory_fraction);
    for (std::size_t step = 0; step < trace.instructions.size(); ++step) {
      INFO("after instruction " << step);
      allocator.execute(std::span(&trace.instructions[step], 1));
      check(allocator, memory);
    }
  }
}

TEST_CASE("samples are the amounts right after each event") {
  const std::uint64_t first = first_seed(300001);
  for (std::uint64_t i = 0; i < seed_count(60); ++i) {
    const RandomTrace trace = random_trace(first + i, 500);
    INFO(trace.describe());
    const auto play = [&trace](bool step_by_step, History& history) {
      DeviceMemory memory({trace.total_bytes, trace.context_bytes, 0, 0});
      TraceClock clock;
      CachingAllocator allocator(trace.settings, memory, clock);
      if (trace.memory_fraction) allocator.set_memory_fraction(*trace.memory_fraction);
      history.sampling = true;
      allocator.set_history(&history);
      std::span<const Instruction> rest(trace.instructions);
      while (!rest.empty()) {
        rest = rest.subspan(allocator.execute(step_by_step ? rest.first(1) : rest));
        if (!step_by_step) continue;
        allocator.finish_samples();
        if (!history.samples.empty()) REQUIRE(history.samples.back() == allocator.sample());
      }
      allocator.finish_samples();
      REQUIRE(history.samples.size() == history.events.size());
    };
    History history;
    History whole;
    play(true, history);
    play(false, whole);
    REQUIRE(history.events == whole.events);
    Bytes allocated = 0;  // requested bytes of what owners hold, by the events alone
    Bytes requested = 0;
    Bytes reserved = 0;
    for (std::size_t e = 0; e < history.events.size(); ++e) {
      const Event& event = history.events[e];
      const MemorySample& sample = history.samples[e];
      if (event.action == Action::kAlloc) requested += event.bytes;
      if (event.action == Action::kAlloc) allocated += event.bytes;
      if (event.action == Action::kFreeRequested) allocated -= event.bytes;
      if (event.action == Action::kFreeCompleted) requested -= event.bytes;
      if (event.action == Action::kSegmentAlloc || event.action == Action::kSegmentMap)
        reserved += event.bytes;
      if (event.action == Action::kSegmentFree || event.action == Action::kSegmentUnmap)
        reserved -= event.bytes;
      INFO("event " << e << " " << action_name(event.action));
      REQUIRE(sample == whole.samples[e]);
      REQUIRE(sample.requested == requested);
      REQUIRE(sample.reserved == reserved);
      REQUIRE(sample.allocated >= allocated);
      REQUIRE(sample.active >= sample.allocated);
      REQUIRE(sample.reserved >= sample.active);
    }
  }
}
