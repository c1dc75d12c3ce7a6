#include <algorithm>

#include "sim/alloc/caching_allocator.h"

// What an allocator tells of itself (docs/rules/allocator.md#15, docs/rules/snapshots.md#3).

namespace tidemark {

AllocatorStatistics CachingAllocator::statistics() const {
  AllocatorStatistics statistics;
  statistics.allocation = books_.read(Amount::kAllocations);
  statistics.segment = segment_;
  statistics.active = books_.read_active(Amount::kAllocations);
  statistics.inactive_split = books_.read(Amount::kInactiveSplits);
  statistics.allocated_bytes = books_.read(Amount::kAllocatedBytes);
  statistics.reserved_bytes = reserved_bytes_;
  statistics.active_bytes = books_.read_active(Amount::kAllocatedBytes);
  statistics.inactive_split_bytes = books_.read(Amount::kInactiveSplitBytes);
  statistics.requested_bytes = books_.read(Amount::kRequestedBytes);
  statistics.oversize_allocations = oversize_allocations_;
  statistics.oversize_segments = oversize_segments_;
  statistics.num_alloc_retries = num_alloc_retries_;
  statistics.num_ooms = num_ooms_;
  statistics.num_oom_rejections = num_oom_rejections_;
  statistics.num_sync_all_streams = num_sync_all_streams_;
  statistics.num_device_alloc = num_device_alloc_;
  statistics.num_device_free = num_device_free_;
  statistics.max_split_size = max_split_at_start_;
  statistics.reserved_bytes_by_private_pools = gone_pools_;
  for (const auto& [key, pool] : private_pools_) {
    if (pool->reserved_ever) {
      statistics.reserved_bytes_by_private_pools.emplace_back(key, pool->reserved_bytes);
    }
  }
  std::sort(statistics.reserved_bytes_by_private_pools.begin(),
            statistics.reserved_bytes_by_private_pools.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return statistics;
}

MemorySample CachingAllocator::sample() const {
  MemorySample sample;
  sample.reserved = static_cast<Bytes>(reserved_bytes_.all.current);
  sample.allocated = static_cast<Bytes>(books_.current(Amount::kAllocatedBytes));
  sample.active = sample.allocated + static_cast<Bytes>(books_.pending_bytes()) + completing_bytes_;
  sample.requested = static_cast<Bytes>(books_.current(Amount::kRequestedBytes));
  sample.inactive_split = static_cast<Bytes>(books_.current(Amount::kInactiveSplitBytes));
  for (const auto& lane : lanes_) {
    sample.largest_free = std::max(sample.largest_free, lane->free.largest(blocks_.data()));
  }
  return sample;
}

std::vector<SegmentInfo> CachingAllocator::segments() const {
  std::vector<BlockIndex> heads;
  for (const BlockIndex index : blocks_.in_use()) {
    if (blocks_[index].prev == kNoBlock) heads.push_back(index);
  }
  std::sort(heads.begin(), heads.end(),
            [this](BlockIndex a, BlockIndex b) { return blocks_[a].address < blocks_[b].address; });
  std::vector<SegmentInfo> segments;
  for (const BlockIndex head : heads) {
    bool open = false;  // the last segment goes on
    for (BlockIndex index = head; index != kNoBlock; index = blocks_[index].next) {
      const Block& block = blocks_[index];
      if (!block.is(Block::kMapped)) {
        open = false;
        continue;
      }
      if (!open) {
        const Lane& lane = *block.lane;
        SegmentInfo& segment = segments.emplace_back();
        segment.address = block.address;
        segment.stream = lane.stream;
        segment.kind = lane.kind;
        segment.expandable = block.is(Block::kExpandable);
        segment.device = device_.config().device;
        if (lane.pool->owner != nullptr) segment.pool = lane.pool->owner->key;
        open = true;
      }
      SegmentInfo& segment = segments.back();
      BlockInfo& info = segment.blocks.emplace_back();
      info.address = block.address;
      info.bytes = block.bytes;
      info.requested_bytes = block.requested_bytes;
      segment.total_bytes += block.bytes;
      if (block.is_idle()) continue;
      info.id = block.life.id;
      info.state = block.is(Block::kAllocated) ? BlockState::kActiveAllocated
                                               : BlockState::kActivePendingFree;
      segment.active_bytes += block.bytes;
      segment.requested_bytes += block.requested_bytes;
      if (block.is(Block::kAllocated)) segment.allocated_bytes += block.bytes;
    }
  }
  return segments;
}

}  // namespace tidemark
