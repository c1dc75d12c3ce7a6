#include <algorithm>

#include <fmt/format.h>

#include "sim/alloc/caching_allocator.h"
#include "sim/base/audit.h"
#include "sim/base/check.h"

// Memory from the driver and back: new segments, reclaiming, refusal (docs/rules/allocator.md#5,
// #7, #11, #14).

namespace tidemark {

bool CachingAllocator::serve_with_new_memory(Request& request) {
  if (counts_searches_) collect_garbage();
  const auto use_on_oom = [this, &request] {
    if (request.routed) return false;
    for (PrivatePool* const pool : use_on_oom_) {
      Lane& lane = lane_of(pool_of(pool, request.lane->kind), request.lane->stream);
      const BlockIndex index = search(lane, request.rounded, false);
      if (index == kNoBlock) continue;
      finish_samples();
      lane.free.erase(blocks_.data(), index);
      hand_out(index, lane, split_rule(*lane.pool, false), request);
      return true;
    }
    return false;
  };
  const bool pools_first = settings_.version >= Version{2, 11};
  BlockIndex index = grow(request, false);
  if (index == kNoBlock && !request.rejected) {
    if (pools_first && use_on_oom()) return true;
    if (release_available(request)) index = grow(request, false);
    if (index == kNoBlock && !request.capturing) {
      release_cached(PoolKey{}, false);
      index = grow(request, true);
    }
    if (index == kNoBlock && !pools_first && use_on_oom()) return true;
  }
  if (index == kNoBlock) {
    return refuse(request,
                  request.rejected ? OutOfMemory::Kind::kRejected : OutOfMemory::Kind::kDevice);
  }
  hand_out(index, *request.lane, request.lane->split, request);
  return true;
}

bool CachingAllocator::refuse(const Request& request, OutOfMemory::Kind kind) {
  failure_ = {
      .kind = kind,
      .id = request.id,
      .requested_bytes = request.bytes,
      .rounded_bytes = request.rounded,
      .segment_bytes = segment_bytes(request.rounded),
      .device_free_bytes = device_.free_bytes(),
      .device_total_bytes = device_.total_bytes(),
      .limit_bytes = limit_bytes_,
      .allocated_bytes = static_cast<Bytes>(books_.current(Amount::kAllocatedBytes)),
      .reserved_bytes = static_cast<Bytes>(reserved_bytes_.all.current),
      .private_free_bytes = 0,
      .process_bytes = device_.config().context_bytes + device_.taken_bytes(),
      .expandable_reserve_bytes = knobs_.expandable_segments ? expandable_reserve_bytes() : 0,
      .version = settings_.version,
      .device = device_.config().device};
  if (kind != OutOfMemory::Kind::kDevice) return false;
  for (const auto& [key, pool] : private_pools_) {
    scratch_.clear();
    for (const BlockPool* const each : {&pool->small, &pool->large}) {
      for (const Lane* const lane : each->lanes) {
        lane->free.collect(blocks_.data(), scratch_);
      }
    }
    for (const BlockIndex index : scratch_) failure_.private_free_bytes += blocks_[index].bytes;
  }
  note(Action::kOom, failure_.device_free_bytes, request.rounded, request.lane->stream, request.id);
  ++num_ooms_;
  return false;
}

BlockIndex CachingAllocator::grow(Request& request, bool retry) {
  if (retry) ++num_alloc_retries_;
  Lane& lane = *request.lane;
  const Bytes wanted = segment_bytes(request.rounded);
  const auto held = static_cast<Bytes>(reserved_bytes_.all.current);
  if (held + wanted > limit_bytes_) return kNoBlock;
  if (knobs_.throw_on_cudamalloc_oom) {
    const auto cap = static_cast<Bytes>(knobs_.per_process_memory_fraction *
                                        static_cast<double>(device_.total_bytes()));
    if (held + wanted > cap) {
      ++num_oom_rejections_;
      request.rejected = true;
      return kNoBlock;
    }
  }
  BlockIndex index = kNoBlock;
  if (may_expand(*lane.pool)) {
    index = grow_expandable(lane, request.rounded);
  } else {
    index = new_segment(lane, wanted);
  }
  if (index != kNoBlock && lane.pool->owner != nullptr) ++lane.pool->owner->segment_count;
  return index;
}

BlockIndex CachingAllocator::new_segment(Lane& lane, Bytes bytes) {
  const auto address = device_.allocate(bytes);
  if (!address) {
    clock_.device_call(EventClock::DeviceCall::kMallocFailed, bytes, lane.stream);
    return kNoBlock;
  }
  clock_.device_call(EventClock::DeviceCall::kMalloc, bytes, lane.stream);
  note(Action::kSegmentAlloc, *address, bytes, lane.stream, kNoRequest);
  const BlockIndex index = blocks_.create();
  Block& block = blocks_[index];
  block.address = *address;
  block.bytes = bytes;
  block.prev = block.next = kNoBlock;
  block.order = settings_.version >= Version{2, 12} ? next_order_++ : 0;
  block.lane = &lane;
  block.flags = Block::kMapped;
  segment_.increase(lane.kind, 1);
  change_reserved(lane, as_signed(bytes));
  if (bytes >= knobs_.max_split_bytes) oversize_segments_.increase(1);
  ++num_device_alloc_;
  return index;
}

void CachingAllocator::change_reserved(const Lane& lane, std::int64_t bytes) {
  const auto change = [&lane, bytes](StatArray& gauge) {
    if (bytes >= 0) {
      gauge.increase(lane.kind, bytes);
    } else {
      gauge.decrease(lane.kind, -bytes);
    }
  };
  change(reserved_bytes_);
  if (PrivatePool* const owner = lane.pool->owner) {
    change(owner->reserved_bytes);
    owner->reserved_ever = true;
  }
}

// ---- reclaiming

void CachingAllocator::collect_garbage() {
  const auto held = static_cast<Bytes>(reserved_bytes_.all.current);
  const auto allowed =
      static_cast<Bytes>(knobs_.garbage_collection_threshold * static_cast<double>(limit_bytes_));
  if (held <= allowed) return;
  const Bytes target = held - allowed;
  std::vector<BlockIndex> candidates;
  for (const Lane* const lane : large_.lanes) {
    lane->free.collect(blocks_.data(), candidates);
  }
  std::erase_if(candidates, [this](BlockIndex index) { return blocks_[index].is_split(); });
  const auto age = [this](BlockIndex index) {
    return static_cast<double>(large_.search_count - blocks_[index].age_base);
  };
  double ages = 0;
  for (const BlockIndex index : candidates) ages += age(index);
  std::size_t count = candidates.size();
  // Blocks of expandable ranges count but are never released here.
  std::erase_if(candidates,
                [this](BlockIndex index) { return blocks_[index].is(Block::kExpandable); });
  Bytes reclaimed = 0;
  bool released = true;
  while (reclaimed < target && released && count > 0) {
    const double threshold = ages / static_cast<double>(count);
    released = false;
    std::erase_if(candidates, [&](BlockIndex index) {
      const double own = age(index);
      if (own < threshold) return false;
      released = true;
      reclaimed += blocks_[index].bytes;
      ages -= own;
      --count;
      release_segment(index);
      return true;
    });
  }
}

bool CachingAllocator::release_available(const Request& request) {
  if (!has_oversize_) return false;
  Lane& lane = *request.lane;
  const Bytes wanted = std::max(request.rounded, knobs_.max_split_bytes);
  const BlockIndex bound = lane.free.lower_bound(blocks_.data(), wanted);
  if (bound != kNoBlock && !blocks_[bound].is(Block::kExpandable)) {
    release_segment(bound);
    return true;
  }
  std::vector<BlockIndex> smaller;
  lane.free.collect(blocks_.data(), smaller);
  if (bound != kNoBlock)
    smaller.erase(std::find(smaller.begin(), smaller.end(), bound), smaller.end());
  Bytes released = 0;
  while (!smaller.empty() && released < wanted) {
    const BlockIndex index = smaller.back();
    smaller.pop_back();
    if (blocks_[index].bytes < knobs_.max_split_bytes) break;
    if (blocks_[index].is(Block::kExpandable)) continue;
    released += blocks_[index].bytes;
    release_segment(index);
  }
  return released >= wanted;
}

void CachingAllocator::release_segment(BlockIndex index) {
  Block& block = blocks_[index];
  Lane& lane = *block.lane;
  TIDEMARK_CHECK(
      !block.is_split(),
      fmt::format("a part of a segment would be freed, at {}: max_split was lowered while blocks "
                  "between the old and the new value were split",
                  block.address));
  ++num_device_free_;
  note(Action::kSegmentFree, block.address, block.bytes, lane.stream, kNoRequest);
  clock_.device_call(EventClock::DeviceCall::kFree, block.bytes, lane.stream);
  clock_.synchronize_device();
  device_.free(block.address, block.bytes);
  if (lane.pool->owner != nullptr) --lane.pool->owner->segment_count;
  segment_.decrease(lane.kind, 1);
  change_reserved(lane, -as_signed(block.bytes));
  if (block.bytes >= knobs_.max_split_bytes) oversize_segments_.decrease(1);
  lane.free.erase(blocks_.data(), index);
  blocks_.recycle(index);
}

void CachingAllocator::release_pool_blocks(BlockPool& pool) {
  std::vector<BlockIndex> all;
  for (const Lane* const lane : pool.lanes) {
    lane->free.collect(blocks_.data(), all);
  }
  for (const BlockIndex index : all) {
    if (!blocks_[index].is(Block::kExpandable) && !blocks_[index].is_split())
      release_segment(index);
  }
  for (const BlockIndex index : all) {
    if (blocks_[index].is(Block::kExpandable)) unmap(index);
  }
}

void CachingAllocator::release_cached(PoolKey key, bool capturing) {
  if (key == PoolKey{}) {
    if (!capturing) {
      synchronize_and_free(nullptr);
      release_pool_blocks(large_);
      release_pool_blocks(small_);
    }
  } else {
    PrivatePool* const pool = find_private_pool(key);
    if (pool == nullptr || pool->use_count > 0) return;
    synchronize_and_free(pool);
  }
  std::size_t slot = freeable_.first();
  while (slot != freeable_.end()) {
    const WalkTable::Key name = freeable_.at(slot);
    const PoolKey found = name % 2 == 0 ? PoolKey{name / 2, 0} : PoolKey{0, name / 2};
    if (key != PoolKey{} && key != found) {
      slot = freeable_.next(slot);
      continue;
    }
    PrivatePool& pool = *find_private_pool(found);
    release_pool_blocks(pool.small);
    release_pool_blocks(pool.large);
    if (pool.segment_count > 0) {
      slot = freeable_.next(slot);
      continue;
    }
    slot = freeable_.erase_at(slot);
    delete_pool(pool);
  }
}

void CachingAllocator::empty_cache(PoolKey key) {
  release_cached(key, is_capturing(current_stream_));
  if constexpr (kAudits) validate();
}

}  // namespace tidemark
