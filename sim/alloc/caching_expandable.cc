#include <algorithm>

#include <fmt/format.h>

#include "sim/alloc/caching_allocator.h"
#include "sim/base/check.h"
#include "sim/base/problem.h"

// Expandable segments: reserved ranges of addresses that get memory page by page
// (docs/rules/allocator.md#12).

namespace tidemark {

Bytes CachingAllocator::page_bytes(PoolKind kind) const {
  return kind == PoolKind::kSmall ? kSmallSegmentBytes : knobs_.large_segment_bytes;
}

void CachingAllocator::insert_unmapped(BlockIndex index) {
  const Lane& lane = *blocks_[index].lane;
  lane.pool->unmapped.emplace(std::pair(lane.stream, blocks_[index].address), index);
}

void CachingAllocator::erase_unmapped(BlockIndex index) {
  const Lane& lane = *blocks_[index].lane;
  lane.pool->unmapped.erase(std::pair(lane.stream, blocks_[index].address));
}

/// Returns a free block of at least `rounded` bytes that is in no set, or kNoBlock; what was mapped
/// before a failure stays.
BlockIndex CachingAllocator::grow_expandable(Lane& lane, Bytes rounded) {
  BlockIndex index = find_growth(lane, rounded);
  if (index == kNoBlock) index = reserve_range(lane, rounded);
  if (index == kNoBlock) return kNoBlock;
  if (!blocks_[index].is(Block::kMapped)) {
    if (!map(index, std::min(blocks_[index].bytes, rounded))) return kNoBlock;
  }
  while (blocks_[index].bytes < rounded) {
    const BlockIndex next = blocks_[index].next;
    if (next == kNoBlock) return kNoBlock;  // a range smaller than the request, mapped whole
    if (!map(next, std::min(rounded - blocks_[index].bytes, blocks_[next].bytes))) return kNoBlock;
    index = next;
  }
  lane.free.erase(blocks_.data(), index);
  return index;
}

BlockIndex CachingAllocator::find_growth(Lane& lane, Bytes rounded) {
  const auto& unmapped = lane.pool->unmapped;
  for (auto each = unmapped.lower_bound(std::pair(lane.stream, std::uint64_t{0}));
       each != unmapped.end() && each->first.first == lane.stream; ++each) {
    BlockIndex start = each->second;
    const BlockIndex before = blocks_[start].prev;
    if (before != kNoBlock && blocks_[before].is_idle()) start = before;
    Bytes room = 0;
    for (BlockIndex at = start; at != kNoBlock && blocks_[at].is_idle(); at = blocks_[at].next) {
      room += blocks_[at].bytes;
      if (room >= rounded) return start;
    }
  }
  return kNoBlock;
}

/// The address space of one expandable range, before whole pages are made of it.
Bytes CachingAllocator::expandable_reserve_bytes() const {
  const Bytes total = device_.total_bytes();
  const Bytes full = total + total / 8;
  const ExpandableReserve& reserve = knobs_.expandable_segments_reserve;
  switch (reserve.kind) {
    case ExpandableReserve::Kind::kFull:
      break;
    case ExpandableReserve::Kind::kFraction:
      return static_cast<Bytes>(
          std::min(reserve.fraction * static_cast<double>(total), static_cast<double>(full)));
    case ExpandableReserve::Kind::kBytes:
      return std::min(reserve.bytes, full);
  }
  return full;
}

BlockIndex CachingAllocator::reserve_range(Lane& lane, Bytes rounded) {
  const Bytes page = page_bytes(lane.kind);
  if (page % DeviceMemory::kGranule != 0) {
    throw InputError(Problem{.at = {},
                             .path = "",
                             .message = "CUDA driver error: invalid argument",
                             .hint = "expandable_segments needs an even large_segment_size_mb"});
  }
  const Bytes asked = round_up(expandable_reserve_bytes(), page);
  if (asked < rounded && settings_.version >= Version{2, 14}) return kNoBlock;
  const auto address = device_.reserve(asked);
  if (!address) return kNoBlock;
  const Bytes bytes = round_down(device_.reserved_room(*address, asked), page);
  if (bytes == 0) {
    device_.release(*address, asked);
    return kNoBlock;
  }
  ranges_.emplace(*address, page);
  const BlockIndex index = blocks_.create();
  Block& block = blocks_[index];
  block.address = *address;
  block.bytes = bytes;
  block.prev = block.next = kNoBlock;
  block.order = settings_.version >= Version{2, 12} ? next_order_++ : 0;
  block.lane = &lane;
  block.flags = Block::kExpandable;
  insert_unmapped(index);
  return index;
}

/// Maps the pages that hold the first `bytes` of an unmapped block; the block survives its merges
/// and is free then.
bool CachingAllocator::map(BlockIndex index, Bytes bytes) {
  Lane& lane = *blocks_[index].lane;
  const Bytes mapped = round_up(bytes, page_bytes(lane.kind));
  if (!device_.take(mapped)) {
    clock_.device_call(EventClock::DeviceCall::kMapFailed, mapped, lane.stream);
    return false;
  }
  clock_.device_call(EventClock::DeviceCall::kMap, mapped, lane.stream);
  // Before anything moves: the sample of the event before this one is taken here.
  note(Action::kSegmentMap, blocks_[index].address, mapped, lane.stream, kNoRequest);
  erase_unmapped(index);
  if (mapped < blocks_[index].bytes) {
    const BlockIndex tail_index = blocks_.create();
    Block& tail = blocks_[tail_index];
    Block& block = blocks_[index];
    tail.address = block.address + mapped;
    tail.bytes = block.bytes - mapped;
    tail.prev = index;
    tail.next = block.next;
    tail.order = creation_orders_ ? next_order_++ : block.order;
    tail.lane = block.lane;
    tail.flags = Block::kExpandable;
    if (tail.next != kNoBlock) blocks_[tail.next].prev = tail_index;
    block.next = tail_index;
    block.bytes = mapped;
    insert_unmapped(tail_index);
  }
  Block& block = blocks_[index];
  for (const BlockIndex neighbour : {block.prev, block.next}) {
    if (neighbour == kNoBlock || !blocks_[neighbour].is_idle() ||
        !blocks_[neighbour].is(Block::kMapped))
      continue;
    lane.free.erase(blocks_.data(), neighbour);
    absorb(blocks_.data(), index, neighbour);
  }
  block.flags = Block::kExpandable | Block::kMapped;
  block.age_base = lane.pool->search_count;
  lane.free.insert(blocks_.data(), index);
  change_reserved(lane, static_cast<std::int64_t>(mapped));
  ++num_device_alloc_;
  return true;
}

/// Takes the memory of the whole pages inside a free block, and gives up the range when nothing
/// else is in it.
void CachingAllocator::unmap(BlockIndex index) {
  const auto range = std::prev(ranges_.upper_bound(blocks_[index].address));
  const Bytes page = range->second;
  Lane& lane = *blocks_[index].lane;
  const Bytes from = round_up(blocks_[index].address - range->first, page);
  const Bytes to = round_down(blocks_[index].address + blocks_[index].bytes - range->first, page);
  if (from >= to) return;
  const std::uint64_t begin = range->first + from;
  const Bytes bytes = to - from;
  clock_.device_call(EventClock::DeviceCall::kUnmap, bytes, lane.stream);
  clock_.synchronize(lane.stream);
  note(Action::kSegmentUnmap, begin, bytes, lane.stream, kNoRequest);
  device_.give_back(bytes);
  lane.free.erase(blocks_.data(), index);
  const auto leave_free = [this, &lane, index](std::uint64_t address, Bytes size, bool before) {
    const BlockIndex rest_index = blocks_.create();
    Block& rest = blocks_[rest_index];
    Block& block = blocks_[index];
    rest.address = address;
    rest.bytes = size;
    rest.prev = before ? block.prev : index;
    rest.next = before ? index : block.next;
    rest.order = creation_orders_ ? next_order_++ : block.order;
    rest.age_base = lane.pool->search_count;
    rest.lane = block.lane;
    (before ? block.prev : block.next) = rest_index;
    const BlockIndex outer = before ? rest.prev : rest.next;
    if (outer != kNoBlock) (before ? blocks_[outer].next : blocks_[outer].prev) = rest_index;
    rest.flags = Block::kExpandable | Block::kMapped;
    lane.free.insert(blocks_.data(), rest_index);
  };
  const std::uint64_t block_begin = blocks_[index].address;
  const std::uint64_t block_end = block_begin + blocks_[index].bytes;
  if (begin > block_begin) leave_free(block_begin, begin - block_begin, true);
  if (begin + bytes < block_end) leave_free(begin + bytes, block_end - begin - bytes, false);
  Block& block = blocks_[index];
  block.address = begin;
  block.bytes = bytes;
  block.flags = Block::kExpandable;
  for (const BlockIndex neighbour : {block.prev, block.next}) {
    if (neighbour == kNoBlock || blocks_[neighbour].flags != Block::kExpandable) continue;
    erase_unmapped(neighbour);
    absorb(blocks_.data(), index, neighbour);
  }
  if (lane.pool->owner != nullptr) --lane.pool->owner->segment_count;
  change_reserved(lane, -static_cast<std::int64_t>(bytes));
  ++num_device_free_;
  if (block.is_split()) {
    insert_unmapped(index);
    return;
  }
  device_.release(block.address, block.bytes);
  ranges_.erase(range);
  blocks_.recycle(index);
}

}  // namespace tidemark
