// The naive allocator's dealings with the device, its bookkeeping and what it shows.
#include <algorithm>
#include <limits>

#include "sim/alloc/knob_values.h"
#include "sim/base/check.h"
#include "tests/support/naive_allocator.h"
#include "tests/support/naive_blocks.h"

namespace tidemark::naive {

// docs/rules/allocator.md#11.1.
void Allocator::collect_garbage() {
  const double threshold_bytes =
      options_.settings.knobs->garbage_collection_threshold * static_cast<double>(*limit_);
  const auto threshold = static_cast<Bytes>(threshold_bytes);
  if (held_ <= threshold) return;
  const Bytes target = held_ - threshold;
  const auto found = pools_.find({PoolId{0}, false});
  if (found == pools_.end()) return;
  Pool& pool = *found->second;
  const auto age = [&pool](const Block* block) { return pool.search_count - block->gc_base; };
  std::uint64_t ages = 0;
  std::uint64_t count = 0;
  for (const Block* block : pool.free) {
    if (block->is_split()) continue;
    ages += age(block);
    ++count;
  }
  Bytes reclaimed = 0;
  bool freed = true;
  while (reclaimed < target && freed && count > 0) {
    freed = false;
    const double oldest = static_cast<double>(ages) / static_cast<double>(count);
    for (auto it = pool.free.begin(); it != pool.free.end();) {
      Block* block = *it++;
      if (block->is_split() || block->range != nullptr) continue;
      if (static_cast<double>(age(block)) < oldest) continue;
      reclaimed += block->size;
      ages -= age(block);
      --count;
      freed = true;
      release_segment(block);
    }
  }
}

// docs/rules/allocator.md#11.2.
bool Allocator::release_available(Pool& pool, StreamId stream, Bytes wanted) {
  const Bytes max_split = options_.settings.knobs->max_split_bytes;
  if (max_split == std::numeric_limits<Bytes>::max()) return false;
  Block key;
  key.stream = stream;
  key.size = std::max(wanted, max_split);
  auto it = pool.free.lower_bound(&key);
  if (it != pool.free.end() && (*it)->stream == stream && (*it)->range == nullptr) {
    release_segment(*it);
    return true;
  }
  if (it == pool.free.begin()) return false;
  Bytes released = 0;
  --it;
  while (released < key.size && (*it)->size >= max_split && (*it)->stream == stream) {
    Block* block = *it;
    const bool first = it == pool.free.begin();
    if (!first) --it;
    if (block->range == nullptr) {
      released += block->size;
      release_segment(block);
    }
    if (first) break;
  }
  return released >= key.size;
}

// docs/rules/allocator.md#11.3.
void Allocator::release_all_cached() {
  synchronise_and_free();
  for (const bool small : {false, true}) {
    if (const auto found = pools_.find({PoolId{0}, small}); found != pools_.end())
      release_pool(*found->second);
  }
  for (const PoolId id : deleted_pools_) {
    for (const bool small : {true, false}) {
      if (const auto found = pools_.find({id, small}); found != pools_.end())
        release_pool(*found->second);
    }
  }
}

void Allocator::delete_pool(PoolId id) {
  deleted_pools_.insert(id);
  ++stats_.num_sync_all_streams;
  for (std::size_t slot = 0; slot < pending_.size(); ++slot) {
    auto* entry = pending_.at(slot);
    if (entry == nullptr) continue;
    std::deque<Pending> others;
    for (const Pending& pending : entry->value) {
      if (pending.block->pool->id != id) {
        others.push_back(pending);
        continue;
      }
      streams_.wait_for(entry->stream);
      if (--pending.block->open_events == 0) complete_free(pending.block);
    }
    entry->value = std::move(others);
  }
  for (const bool small : {true, false}) {
    if (const auto found = pools_.find({id, small}); found != pools_.end())
      release_pool(*found->second);
  }
}

// docs/rules/allocator.md#11.5.
void Allocator::release_pool(Pool& pool) {
  std::vector<Block*> expandable;
  for (auto it = pool.free.begin(); it != pool.free.end();) {
    Block* block = *it++;
    if (block->range != nullptr) {
      expandable.push_back(block);
    } else if (!block->is_split()) {
      release_segment(block);
    }
  }
  for (Block* block : expandable) {
    unmap(block);
    destroy_if_unmapped(block);
  }
}

// docs/rules/allocator.md#11.4. The driver's free waits for the device
// (docs/rules/allocator.md#10.4).
void Allocator::release_segment(Block* block) {
  Pool& pool = *block->pool;
  TIDEMARK_CHECK(!block->is_split() && block->is_free(), "only whole free segments are released");
  ++stats_.num_device_free;
  record(Action::kSegmentFree, block->address, block->size, block->stream, kNoRequest);
  device_.cuda_free(block->address, block->size);
  streams_.wait_for_all();
  held_ -= block->size;
  change(stats_.segment, pool, -1);
  change_reserved(pool, -static_cast<std::int64_t>(block->size));
  if (block->size >= options_.settings.knobs->max_split_bytes) stats_.oversize_segments.decrease(1);
  erase_free(block);
  delete_block(block);
}

// docs/rules/allocator.md#12.2.
Allocator::Block* Allocator::find_growth(Pool& pool, StreamId stream, Bytes wanted) {
  for (Block* unmapped : pool.unmapped) {
    if (unmapped->stream != stream) continue;
    Block* start = unmapped;
    if (start->prev != nullptr && start->prev->is_free()) start = start->prev;
    Bytes room = 0;
    for (const Block* block = start; block != nullptr && block->is_free() && room < wanted;
         block = block->next) {
      room += block->size;
    }
    if (room >= wanted) return start;
  }
  // docs/rules/allocator.md#12.1. Up to 2.13 a range smaller than the request is made all the same,
  // and no memory is found for it.
  const Bytes page = pool.small ? kMiB * 2 : options_.settings.knobs->large_segment_bytes;
  const Bytes total = device_.total_bytes();
  Bytes reserved = total + total / 8;
  const ExpandableReserve& reserve = options_.settings.knobs->expandable_segments_reserve;
  if (reserve.kind == ExpandableReserve::Kind::kBytes) reserved = std::min(reserved, reserve.bytes);
  if (reserve.kind == ExpandableReserve::Kind::kFraction) {
    const double fraction = std::min(reserve.fraction, 2.0);
    reserved = std::min(reserved, static_cast<Bytes>(fraction * static_cast<double>(total)));
  }
  const Bytes length = round_up(reserved, page);
  if (length < wanted && minor_ >= 14) return nullptr;
  const std::optional<std::uint64_t> address = device_.reserve(length);
  if (!address) return nullptr;
  auto range = std::make_unique<Range>(Range{*address, length, page});
  Block* block = new_block(pool, stream, *address, length);
  block->mapped = false;
  block->range = range.get();
  block->registration = next_registration_++;
  ranges_[*address] = std::move(range);
  pool.unmapped.insert(block);
  return block;
}

// docs/rules/allocator.md#12.3.
Allocator::Block* Allocator::grow(Pool& pool, StreamId stream, Bytes wanted) {
  Block* block = find_growth(pool, stream, wanted);
  if (block == nullptr) return nullptr;
  if (!block->mapped) {
    block = map(block, std::min(block->size, wanted));
    if (block == nullptr) return nullptr;
  }
  while (block->size < wanted) {
    TIDEMARK_CHECK(block->next != nullptr, "a whole range was mapped on a device smaller than it");
    block = map(block->next, std::min(wanted - block->size, block->next->size));
    if (block == nullptr) return nullptr;
  }
  erase_free(block);
  return block;
}

Allocator::Block* Allocator::map(Block* block, Bytes bytes) {
  Pool& pool = *block->pool;
  const Bytes page = block->range->page;
  const Bytes mapped = round_up(bytes, page);
  TIDEMARK_CHECK(!block->mapped && mapped <= block->size, "mapping what is unmapped");
  for (Bytes done = 0; done < mapped; done += page) {
    if (device_.create_page(page)) continue;
    device_.release_page(done);
    return nullptr;
  }
  pool.unmapped.erase(block);
  if (mapped < block->size) {
    Block* tail = new_block(pool, block->stream, block->address + mapped, block->size - mapped);
    tail->mapped = false;
    tail->range = block->range;
    tail->registration = block->registration;
    tail->prev = block;
    tail->next = block->next;
    if (tail->next != nullptr) tail->next->prev = tail;
    block->next = tail;
    block->size = mapped;
    pool.unmapped.insert(tail);
  }
  const std::uint64_t address = block->address;
  block->mapped = true;
  merge(block, block->prev);
  merge(block, block->next);
  insert_free(block);
  held_ += mapped;
  change_reserved(pool, static_cast<std::int64_t>(mapped));
  ++stats_.num_device_alloc;
  record(Action::kSegmentMap, address, mapped, block->stream, kNoRequest);
  return block;
}

// docs/rules/allocator.md#12.4. Unmapping waits for the segment's stream
// (docs/rules/allocator.md#10.4).
void Allocator::unmap(Block* block) {
  Pool& pool = *block->pool;
  const Range& range = *block->range;
  const std::uint64_t start = range.address + round_up(block->address - range.address, range.page);
  const std::uint64_t end =
      range.address + round_down(block->address + block->size - range.address, range.page);
  if (start >= end) return;
  const std::uint64_t block_end = block->address + block->size;
  erase_free(block);
  const auto leave = [&](std::uint64_t address, Bytes size) {
    Block* piece = new_block(pool, block->stream, address, size);
    piece->range = block->range;
    piece->registration = block->registration;
    return piece;
  };
  if (start > block->address) {
    Block* before = leave(block->address, start - block->address);
    before->prev = block->prev;
    if (before->prev != nullptr) before->prev->next = before;
    before->next = block;
    block->prev = before;
    insert_free(before);
  }
  if (end < block_end) {
    Block* after = leave(end, block_end - end);
    after->next = block->next;
    if (after->next != nullptr) after->next->prev = after;
    after->prev = block;
    block->next = after;
    insert_free(after);
  }
  block->address = start;
  block->size = end - start;
  block->mapped = false;
  const Bytes unmapped = block->size;
  device_.release_page(unmapped);
  streams_.wait_for(block->stream);
  merge(block, block->prev);
  merge(block, block->next);
  pool.unmapped.insert(block);
  held_ -= unmapped;
  change_reserved(pool, -static_cast<std::int64_t>(unmapped));
  ++stats_.num_device_free;
  record(Action::kSegmentUnmap, start, unmapped, block->stream, kNoRequest);
}

void Allocator::destroy_if_unmapped(Block* block) {
  if (block->mapped || block->is_split()) return;
  device_.unreserve(block->range->address, block->range->length);
  ranges_.erase(block->range->address);
  block->pool->unmapped.erase(block);
  delete_block(block);
}

Allocator::Block* Allocator::new_block(Pool& pool, StreamId stream, std::uint64_t address,
                                       Bytes size) {
  auto block = std::make_unique<Block>();
  block->stream = stream;
  block->address = address;
  block->size = size;
  block->pool = &pool;
  block->creation = next_block_++;
  Block* raw = block.get();
  blocks_[raw->creation] = std::move(block);
  return raw;
}

void Allocator::delete_block(Block* block) { blocks_.erase(block->creation); }

void Allocator::insert_free(Block* block) {
  block->gc_base = block->pool->search_count;
  block->pool->free.insert(block);
}
void Allocator::erase_free(Block* block) { block->pool->free.erase(block); }

// docs/rules/allocator.md#9.2, 2: the survivor swallows the neighbour.
bool Allocator::merge(Block* survivor, Block* neighbour) {
  if (neighbour == nullptr || !neighbour->is_free() || neighbour->mapped != survivor->mapped)
    return false;
  if (neighbour->mapped) {
    erase_free(neighbour);
  } else {
    neighbour->pool->unmapped.erase(neighbour);
  }
  if (survivor->prev == neighbour) {
    survivor->address = neighbour->address;
    survivor->prev = neighbour->prev;
    if (survivor->prev != nullptr) survivor->prev->next = survivor;
  } else {
    survivor->next = neighbour->next;
    if (survivor->next != nullptr) survivor->next->prev = survivor;
  }
  survivor->size += neighbour->size;
  delete_block(neighbour);
  return true;
}

void Allocator::change(StatKinds& stat, const Pool& pool, std::int64_t amount) {
  for (Stat* cell : {&stat.all, pool.small ? &stat.small_pool : &stat.large_pool}) {
    if (amount > 0) cell->increase(static_cast<Bytes>(amount));
    if (amount < 0) cell->decrease(static_cast<Bytes>(-amount));
  }
}

void Allocator::change_reserved(const Pool& pool, std::int64_t amount) {
  change(stats_.reserved_bytes, pool, amount);
  if (pool.id != 0) change(stats_.reserved_bytes_by_private_pools[pool.id], pool, amount);
}

void Allocator::record(Action action, std::uint64_t address, Bytes bytes, StreamId stream,
                       RequestId id) {
  events_.push_back(Event{address, bytes, id, instruction_, stream, action, 0});
}

// docs/rules/allocator.md#15.5.
std::vector<std::pair<std::string, std::int64_t>> Allocator::flat_statistics() const {
  std::map<std::string, std::int64_t> flat;
  const auto put = [&flat](const std::string& name, const Stat& stat) {
    flat[name + ".current"] = stat.current;
    flat[name + ".peak"] = stat.peak;
    flat[name + ".allocated"] = stat.allocated;
    flat[name + ".freed"] = stat.freed;
  };
  const auto put_kinds = [&put](const std::string& name, const StatKinds& kinds) {
    put(name + ".all", kinds.all);
    put(name + ".small_pool", kinds.small_pool);
    put(name + ".large_pool", kinds.large_pool);
  };
  put_kinds("allocation", stats_.allocation);
  put_kinds("segment", stats_.segment);
  put_kinds("active", stats_.active);
  put_kinds("inactive_split", stats_.inactive_split);
  put_kinds("allocated_bytes", stats_.allocated_bytes);
  put_kinds("reserved_bytes", stats_.reserved_bytes);
  put_kinds("active_bytes", stats_.active_bytes);
  put_kinds("inactive_split_bytes", stats_.inactive_split_bytes);
  put_kinds("requested_bytes", stats_.requested_bytes);
  put("oversize_allocations", stats_.oversize_allocations);
  put("oversize_segments", stats_.oversize_segments);
  flat["num_alloc_retries"] = stats_.num_alloc_retries;
  flat["num_ooms"] = stats_.num_ooms;
  flat["num_sync_all_streams"] = stats_.num_sync_all_streams;
  flat["num_device_alloc"] = stats_.num_device_alloc;
  flat["num_device_free"] = stats_.num_device_free;
  flat["max_split_size"] = stats_.max_split_size;
  if (minor_ >= 12) flat["num_oom_rejections"] = stats_.num_oom_rejections;
  if (minor_ >= 13) {
    for (const auto& [id, kinds] : stats_.reserved_bytes_by_private_pools) {
      put_kinds("reserved_bytes_by_private_pools.0_" + std::to_string(id), kinds);
    }
  }
  return {flat.begin(), flat.end()};
}

// docs/rules/snapshots.md#3.2: one entry a cudaMalloc, one a contiguous mapped stretch of an
// expandable range.
std::vector<SegmentInfo> Allocator::segments() const {
  std::map<std::uint64_t, SegmentInfo> by_address;
  for (const auto& [creation, head] : blocks_) {
    const bool starts = head->mapped && (head->prev == nullptr || !head->prev->mapped);
    if (!starts) continue;
    SegmentInfo& segment = by_address[head->address];
    segment.address = head->address;
    segment.stream = head->stream;
    segment.pool = {0, head->pool->id};
    segment.kind = head->pool->small ? PoolKind::kSmall : PoolKind::kLarge;
    segment.expandable = head->range != nullptr;
    for (const Block* block = head.get(); block != nullptr && block->mapped; block = block->next) {
      const bool active = !block->is_free();
      segment.total_bytes += block->size;
      if (block->allocated) segment.allocated_bytes += block->size;
      if (active) segment.active_bytes += block->size;
      if (active) segment.requested_bytes += block->requested_size;
      const BlockState state = block->allocated ? BlockState::kActiveAllocated
                               : active         ? BlockState::kActivePendingFree
                                                : BlockState::kInactive;
      segment.blocks.push_back({block->address, block->size, block->requested_size,
                                active ? block->id : kNoRequest, state});
    }
  }
  std::vector<SegmentInfo> out;
  for (auto& [address, segment] : by_address) out.push_back(std::move(segment));
  return out;
}

}  // namespace tidemark::naive
