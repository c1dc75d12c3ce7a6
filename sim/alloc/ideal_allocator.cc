#include "sim/alloc/ideal_allocator.h"

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {

bool IdealAllocator::allocate(RequestId id, Bytes bytes, StreamId stream, PoolId /*pool*/) {
  refused_ = false;
  if (bytes == 0) return true;
  if (bytes >= kHugeRequestBytes) return refuse(OutOfMemory::Kind::kHuge, id, bytes, bytes, stream);
  const auto held = static_cast<Bytes>(statistics_.reserved_bytes.all.current);
  const bool allowed = limit_bytes_ == kUnlimitedBytes || held + bytes <= limit_bytes_;
  if (!allowed || !device_.take(bytes)) {
    ++statistics_.num_ooms;
    refuse(OutOfMemory::Kind::kDevice, id, bytes, bytes, stream);
    failure_.limit_bytes = limit_bytes_;
    return false;
  }
  const IdealBlock block{next_address_, bytes, stream};
  next_address_ += round_up(bytes, kMinBlockBytes);
  TIDEMARK_CHECK(live_.emplace(id, block).second, fmt::format("request {} is live", id));
  note(Action::kAlloc, block.address, bytes, stream, id);
  const PoolKind kind = kind_of(bytes);
  statistics_.allocation.increase(kind, 1);
  statistics_.active.increase(kind, 1);
  for (StatArray* array : {&statistics_.allocated_bytes, &statistics_.active_bytes,
                           &statistics_.requested_bytes, &statistics_.reserved_bytes}) {
    array->increase(kind, static_cast<std::int64_t>(bytes));
  }
  return true;
}

void IdealAllocator::free(RequestId id) {
  const auto found = live_.find(id);
  if (found == live_.end()) return;
  const IdealBlock block = found->second;
  live_.erase(found);
  const PoolKind kind = kind_of(block.bytes);
  const auto size = static_cast<std::int64_t>(block.bytes);
  note(Action::kFreeRequested, block.address, block.bytes, block.stream, id);
  statistics_.allocation.decrease(kind, 1);
  statistics_.allocated_bytes.decrease(kind, size);
  note(Action::kFreeCompleted, block.address, block.bytes, block.stream, id);
  device_.give_back(block.bytes);
  statistics_.active.decrease(kind, 1);
  for (StatArray* array :
       {&statistics_.active_bytes, &statistics_.requested_bytes, &statistics_.reserved_bytes}) {
    array->decrease(kind, size);
  }
}

void IdealAllocator::reset_peak() {
  for (StatArray* array :
       {&statistics_.allocation, &statistics_.active, &statistics_.allocated_bytes,
        &statistics_.active_bytes, &statistics_.requested_bytes, &statistics_.reserved_bytes}) {
    array->reset_peak();
  }
}

MemorySample IdealAllocator::sample() const {
  MemorySample sample;
  sample.requested = static_cast<Bytes>(statistics_.requested_bytes.all.current);
  sample.reserved = sample.active = sample.allocated = sample.requested;
  return sample;
}

}  // namespace tidemark
