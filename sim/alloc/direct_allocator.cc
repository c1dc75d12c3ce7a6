#include "sim/alloc/direct_allocator.h"

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {

bool DirectAllocator::allocate(RequestId id, Bytes bytes, StreamId stream, PoolId /*pool*/) {
  refused_ = false;
  if (bytes == 0) return true;
  if (bytes >= kHugeRequestBytes) return refuse(OutOfMemory::Kind::kHuge, id, bytes, bytes, stream);
  const Bytes taken = round_up(bytes, DeviceMemory::kGranule);
  const auto held = static_cast<Bytes>(statistics_.reserved_bytes.all.current);
  const bool allowed = limit_bytes_ == kUnlimitedBytes || held + taken <= limit_bytes_;
  const std::optional<std::uint64_t> address = allowed ? device_.allocate(taken) : std::nullopt;
  if (!address) {
    if (allowed) clock_.device_call(EventClock::DeviceCall::kMallocFailed, taken, stream);
    ++statistics_.num_ooms;
    refuse(OutOfMemory::Kind::kDevice, id, bytes, taken, stream);
    failure_.limit_bytes = limit_bytes_;
    return false;
  }
  clock_.device_call(EventClock::DeviceCall::kMalloc, taken, stream);
  const DirectBlock block{*address, bytes, taken, stream};
  const bool added =
      live_.emplace(id, block).second && by_address_.emplace(block.address, id).second;
  TIDEMARK_CHECK(added, fmt::format("request {} is live", id));
  const auto size = static_cast<std::int64_t>(taken);
  note(Action::kSegmentAlloc, block.address, taken, stream, kNoRequest);
  ++statistics_.num_device_alloc;
  change(statistics_.segment, block, 1);
  change(statistics_.reserved_bytes, block, size);
  note(Action::kAlloc, block.address, bytes, stream, id);
  change(statistics_.allocation, block, 1);
  change(statistics_.allocated_bytes, block, size);
  change(statistics_.active, block, 1);
  change(statistics_.active_bytes, block, size);
  change(statistics_.requested_bytes, block, static_cast<std::int64_t>(bytes));
  return true;
}

void DirectAllocator::free(RequestId id) {
  const auto found = live_.find(id);
  if (found == live_.end()) return;
  const DirectBlock block = found->second;
  live_.erase(found);
  by_address_.erase(block.address);
  const auto size = static_cast<std::int64_t>(block.bytes);
  note(Action::kFreeRequested, block.address, block.requested, block.stream, id);
  change(statistics_.allocation, block, -1);
  change(statistics_.allocated_bytes, block, -size);
  note(Action::kFreeCompleted, block.address, block.requested, block.stream, id);
  change(statistics_.active, block, -1);
  change(statistics_.active_bytes, block, -size);
  change(statistics_.requested_bytes, block, -static_cast<std::int64_t>(block.requested));
  note(Action::kSegmentFree, block.address, block.bytes, block.stream, kNoRequest);
  clock_.device_call(EventClock::DeviceCall::kFree, block.bytes, block.stream);
  clock_.synchronize_device();
  device_.free(block.address, block.bytes);
  ++statistics_.num_device_free;
  change(statistics_.segment, block, -1);
  change(statistics_.reserved_bytes, block, -size);
}

void DirectAllocator::change(StatArray& array, const DirectBlock& block, std::int64_t amount) {
  const PoolKind kind = kind_of(block.requested);
  if (amount > 0) {
    array.increase(kind, amount);
  } else {
    array.decrease(kind, -amount);
  }
}

void DirectAllocator::reset_peak() {
  for (StatArray* array : {&statistics_.allocation, &statistics_.segment, &statistics_.active,
                           &statistics_.allocated_bytes, &statistics_.active_bytes,
                           &statistics_.reserved_bytes, &statistics_.requested_bytes}) {
    array->reset_peak();
  }
}

std::vector<SegmentInfo> DirectAllocator::segments() const {
  std::vector<SegmentInfo> segments;
  for (const auto& [address, id] : by_address_) {
    const DirectBlock& block = live_.at(id);
    SegmentInfo segment;
    segment.address = address;
    segment.total_bytes = segment.allocated_bytes = segment.active_bytes = block.bytes;
    segment.requested_bytes = block.requested;
    segment.stream = block.stream;
    segment.kind = kind_of(block.requested);
    segment.device = device_.config().device;
    segment.blocks = {{address, block.bytes, block.requested, id, BlockState::kActiveAllocated}};
    segments.push_back(std::move(segment));
  }
  return segments;
}

MemorySample DirectAllocator::sample() const {
  MemorySample sample;
  sample.reserved = static_cast<Bytes>(statistics_.reserved_bytes.all.current);
  sample.active = sample.allocated = sample.reserved;
  sample.requested = static_cast<Bytes>(statistics_.requested_bytes.all.current);
  return sample;
}

}  // namespace tidemark
