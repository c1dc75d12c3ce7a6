#include "sim/alloc/caching_allocator.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {
namespace {

/// Ids below this are looked up in a vector, the others in a hash table: a hostile trace must not cost 16 GiB.
constexpr RequestId kDenseIds = RequestId{1} << 26U;

constexpr auto as_signed(Bytes bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

CachingAllocator::CachingAllocator(const AllocatorSettings& settings, DeviceMemory& device, EventClock& clock)
    : settings_(settings), device_(device), clock_(clock) {
  TIDEMARK_CHECK(settings.backend == Backend::kNative, std::string("another backend's settings"));
  small_.kind = PoolKind::kSmall;
  large_.kind = PoolKind::kLarge;
  if (settings.max_split_bytes != kUnlimitedBytes) max_split_at_start_ = as_signed(settings.max_split_bytes);
  apply_settings();
  if (settings.version >= Version{2, 10}) set_memory_fraction(settings.per_process_memory_fraction);
}

CachingAllocator::~CachingAllocator() = default;

// ---------------------------------------------------------------- sizes (3)

inline Bytes CachingAllocator::round(Bytes bytes) const {
  if (has_divisions_) [[unlikely]] return round_to_division(bytes);
  return (bytes + kMinBlockBytes - 1) & ~(kMinBlockBytes - 1);
}

Bytes CachingAllocator::round_to_division(Bytes bytes) const {
  if (bytes < kMinBlockBytes) return kMinBlockBytes;
  const int octave = static_cast<int>(std::bit_width(bytes)) - 1;
  const auto bucket = static_cast<std::size_t>(std::clamp(octave - 20, 0, 15));
  const Bytes divisions = settings_.roundup_power2_divisions[bucket];
  if (divisions <= 1 || bytes <= kMinBlockBytes * divisions) return round_up(bytes, kMinBlockBytes);
  if (std::has_single_bit(bytes)) return bytes;
  const Bytes step = (Bytes{1} << static_cast<unsigned>(octave)) / divisions;
  return step == 0 ? Bytes{2} << static_cast<unsigned>(octave) : round_up(bytes, step);
}

Bytes CachingAllocator::segment_bytes(Bytes rounded) const {
  if (rounded <= kSmallMaxBytes) return kSmallSegmentBytes;
  if (rounded < kLargeMinBytes) return settings_.large_segment_bytes;
  return round_up(rounded, kLargeRoundBytes);
}

// ------------------------------------------------------------- request ids

void CachingAllocator::bind(RequestId id, BlockIndex index) {
  if (id < bindings_.size()) [[likely]] {
    bindings_[id] = index;
  } else if (id < kDenseIds) {
    bindings_.resize(std::max<std::size_t>(std::size_t{id} + 1, 2 * bindings_.size()), kNoBlock);
    bindings_[id] = index;
  } else {
    far_bindings_.insert_or_assign(id, index);
  }
}

BlockIndex CachingAllocator::binding(RequestId id) const {
  if (id < bindings_.size()) [[likely]] return bindings_[id];
  const auto found = far_bindings_.find(id);
  return found == far_bindings_.end() ? kNoBlock : found->second;
}

inline BlockIndex CachingAllocator::take_binding(RequestId id) {
  if (id < bindings_.size()) [[likely]] return std::exchange(bindings_[id], kNoBlock);
  const auto found = far_bindings_.find(id);
  if (found == far_bindings_.end()) return kNoBlock;
  const BlockIndex index = found->second;
  far_bindings_.erase(found);
  return index;
}

// ------------------------------------------------------------- malloc (5, 6, 8)

bool CachingAllocator::allocate(RequestId id, Bytes bytes, StreamId stream, PoolId pool) {
  if (bytes - 1 >= kHugeRequestBytes - 1 || pool != 0 || has_routing_) [[unlikely]] {
    return allocate_special(id, bytes, stream, pool);
  }
  if (awaits_events_) [[unlikely]] process_events();
  const Bytes rounded = round(bytes);
  BlockPool& of_kind = rounded <= kSmallMaxBytes ? small_ : large_;
  Lane& lane = lane_of(of_kind, stream);
  if (plain_search_) [[likely]] {
    const BlockIndex index = lane.free.lower_bound(blocks_.data(), rounded);
    if (index != kNoBlock) [[likely]] {
      lane.free.erase(blocks_.data(), index);
      hand_out(index, lane, lane.split, rounded, bytes, id);
      return true;
    }
  }
  Request request{.id = id, .bytes = bytes, .rounded = rounded, .lane = &lane};
  return serve(request);
}

bool CachingAllocator::allocate_special(RequestId id, Bytes bytes, StreamId stream, PoolId pool) {
  if (bytes == 0) return true;
  Request request{.id = id, .bytes = bytes};
  if (bytes >= kHugeRequestBytes) {
    request.rounded = bytes;
    return refuse(request, OutOfMemory::Kind::kHuge);
  }
  PrivatePool* const owner = route(stream, pool);
  request.routed = owner != nullptr;
  request.capturing = is_capturing(stream) || (pool != 0 && settings_.version < Version{2, 13});
  if (awaits_events_ && !request.capturing) process_events();
  request.rounded = round(bytes);
  const PoolKind kind = request.rounded <= kSmallMaxBytes ? PoolKind::kSmall : PoolKind::kLarge;
  request.lane = &lane_of(pool_of(owner, kind), stream);
  return serve(request);
}

bool CachingAllocator::serve(Request& request) {
  Lane& lane = *request.lane;
  const BlockIndex index = search(lane, request.rounded, may_expand(*lane.pool));
  if (index == kNoBlock) return serve_with_new_memory(request);
  lane.free.erase(blocks_.data(), index);
  hand_out(index, lane, lane.split, request.rounded, request.bytes, request.id);
  return true;
}

BlockIndex CachingAllocator::search(Lane& lane, Bytes rounded, bool expandable) {
  if (counts_searches_) ++lane.pool->search_count;
  const Block* const blocks = blocks_.data();
  BlockIndex index = lane.free.lower_bound(blocks, rounded);
  if (index == kNoBlock) return kNoBlock;
  if (blocks[index].is(Block::kExpandable)) {
    if (expandable) {
      // The block at the growing end of a range is the last choice: its reach includes the unmapped rest.
      const auto reach = [blocks](BlockIndex each) {
        const BlockIndex next = blocks[each].next;
        const bool grows = next != kNoBlock && !blocks[next].is(Block::kMapped);
        return blocks[each].bytes + (grows ? blocks[next].bytes : 0);
      };
      Bytes best = reach(index);
      while (blocks[index].is(Block::kExpandable) && best > blocks[index].bytes) {
        const BlockIndex following = lane.free.next(blocks, index);
        if (following == kNoBlock) break;
        const Bytes other = reach(following);
        if (other >= best) break;
        index = following;
        best = other;
      }
    } else {
      do {
        index = lane.free.next(blocks, index);
      } while (index != kNoBlock && blocks[index].is(Block::kExpandable));
      if (index == kNoBlock) return kNoBlock;
    }
  }
  if (has_oversize_) {
    const Bytes bytes = blocks[index].bytes;
    if (rounded < settings_.max_split_bytes) {
      if (bytes >= settings_.max_split_bytes) return kNoBlock;
    } else if (bytes >= rounded + settings_.max_non_split_rounding_bytes) {
      return kNoBlock;
    }
  }
  return index;
}

/// Requires: blocks_[index] is in no set; it lies in `lane`.
inline void CachingAllocator::hand_out(BlockIndex index, Lane& lane, const SplitRule& rule, Bytes rounded,
                                       Bytes bytes, RequestId id) {
  const PoolKind kind = lane.kind;
  Block* block = &blocks_[index];
  const bool was_split = block->is_split();
  const bool counts = !block->is(Block::kExpandable);
  const Bytes rest = block->bytes - rounded;
  // Events are noted before anything moves: the sample of the event before is taken there.
  note(Action::kAlloc, block->address, bytes, lane.stream, id);
  if (rest >= rule.from && rounded < rule.below) {
    const BlockIndex front_index = blocks_.create();
    Block* const blocks = blocks_.data();
    Block& front = blocks[front_index];
    Block& remainder = blocks[index];
    front.address = remainder.address;
    front.bytes = rounded;
    front.prev = remainder.prev;
    front.next = index;
    front.order = creation_orders_ ? next_order_++ : remainder.order;
    front.lane = lane.index;
    if (front.prev != kNoBlock) blocks[front.prev].next = front_index;
    front.flags = static_cast<std::uint8_t>(remainder.flags | Block::kAllocated);
    remainder.prev = front_index;
    remainder.address += rounded;
    remainder.bytes = rest;
    remainder.age_base = lane.pool->search_count;
    lane.free.insert(blocks, index);
    if (counts) {
      if (was_split) {
        inactive_split_bytes_.decrease(kind, as_signed(rounded));
      } else {
        inactive_split_bytes_.increase(kind, as_signed(rest));
        inactive_split_.increase(kind, 1);
      }
    }
    index = front_index;
    block = &front;
  } else {
    block->flags |= Block::kAllocated;
    if (was_split && counts) {
      inactive_split_bytes_.decrease(kind, as_signed(block->bytes));
      inactive_split_.decrease(kind, 1);
    }
  }
  block->requested_bytes = bytes;
  block->life.id = id;
  block->life.pending = 0;
  bind(id, index);
  allocation_.increase(kind, 1);
  allocated_bytes_.increase(kind, as_signed(block->bytes));
  requested_bytes_.increase(kind, as_signed(bytes));
  if (pending_.any()) [[unlikely]] pending_.note_peak(allocation_, allocated_bytes_);
  if (has_oversize_ && block->bytes >= settings_.max_split_bytes) oversize_allocations_.increase(1);
}

void CachingAllocator::hand_out(BlockIndex index, Lane& lane, const SplitRule& rule, const Request& request) {
  hand_out(index, lane, rule, request.rounded, request.bytes, request.id);
}

// ---------------------------------------------------------------- free (9)

void CachingAllocator::free(RequestId id) {
  const BlockIndex index = take_binding(id);
  if (index == kNoBlock) return;
  Block& block = blocks_[index];
  const Lane& lane = *lanes_[block.lane];
  block.flags = static_cast<std::uint8_t>(block.flags & ~Block::kAllocated);
  note(Action::kFreeRequested, block.address, block.requested_bytes, lane.stream, id);
  allocation_.decrease(lane.kind, 1);
  allocated_bytes_.decrease(lane.kind, as_signed(block.bytes));
  if (has_oversize_ && block.bytes >= settings_.max_split_bytes) oversize_allocations_.decrease(1);
  if (block.is(Block::kUsed)) [[unlikely]] {
    free_slowly(index);
  } else {
    complete(index);
  }
}

/// The block returns to its pool (9.2). Requires: it is mapped, not allocated, not pending, without recorded streams.
void CachingAllocator::complete(BlockIndex index) {
  constexpr auto kBusy = Block::kAllocated | Block::kPending | Block::kUsed;
  Block* const blocks = blocks_.data();
  Block& block = blocks[index];
  Lane& lane = *lanes_[block.lane];
  note(Action::kFreeCompleted, block.address, block.requested_bytes, lane.stream, block.life.id);
  const Bytes freed = block.bytes;
  std::int64_t merged = 0;
  for (const BlockIndex neighbour : {block.prev, block.next}) {
    if (neighbour == kNoBlock || (blocks[neighbour].flags & (kBusy | Block::kMapped)) != Block::kMapped) continue;
    lane.free.erase(blocks, neighbour);
    absorb(blocks, index, neighbour);
    ++merged;
  }
  block.age_base = lane.pool->search_count;
  lane.free.insert(blocks, index);
  requested_bytes_.decrease(lane.kind, as_signed(block.requested_bytes));
  if (block.is(Block::kExpandable)) return;
  std::int64_t count = -merged;
  std::int64_t bytes = as_signed(freed) - as_signed(block.bytes);
  if (block.is_split()) {
    ++count;
    bytes += as_signed(block.bytes);
  }
  if (count > 0) {
    inactive_split_.increase(lane.kind, count);
  } else if (count < 0) {
    inactive_split_.decrease(lane.kind, -count);
  }
  if (bytes > 0) {
    inactive_split_bytes_.increase(lane.kind, bytes);
  } else if (bytes < 0) {
    inactive_split_bytes_.decrease(lane.kind, -bytes);
  }
}

// ----------------------------------------------------------- instructions

std::size_t CachingAllocator::execute(std::span<const Instruction> chunk) {
  const std::uint32_t start = instruction_;
  refused_ = false;
  std::size_t at = 0;
  for (; at < chunk.size(); ++at) {
    const Instruction& instruction = chunk[at];
    if (history_ != nullptr) {
      instruction_ = start + static_cast<std::uint32_t>(at);
      if (history_->sampling) finish_samples();
    }
    switch (instruction.verb) {
      case Verb::kAlloc:
        if (!allocate(instruction.id, instruction.bytes, instruction.stream, instruction.pool)) [[unlikely]] {
          refused_ = true;
          instruction_ = start + static_cast<std::uint32_t>(at) + 1;
          return at + 1;
        }
        break;
      case Verb::kFree: free(instruction.id); break;
      case Verb::kUse: record_stream(instruction.id, instruction.stream); break;
      case Verb::kSync: clock_.synchronize(instruction.stream); break;
      case Verb::kSyncDevice: clock_.synchronize_device(); break;
      case Verb::kEmptyCache: empty_cache(); break;
      case Verb::kResetPeak: reset_peak(); break;
      case Verb::kDeviceBytes:
        if (instruction.id == 0) {
          device_.give_back(instruction.bytes);
        } else if (!device_.take(instruction.bytes)) {
          // A library that gets no memory fails outside PyTorch's allocator.
          refused_ = true;
          failure_ = OutOfMemory{};
          failure_.requested_bytes = instruction.bytes;
          failure_.device_free_bytes = device_.free_bytes();
          instruction_ = start + static_cast<std::uint32_t>(at) + 1;
          return at + 1;
        }
        break;
      case Verb::kLaunch:
      case Verb::kRecord:
      case Verb::kWait:
      case Verb::kMark: break;
    }
  }
  instruction_ = start + static_cast<std::uint32_t>(at);
  return at;
}

void CachingAllocator::reset_peak() {
  for (Gauge* gauge : {&allocation_, &allocated_bytes_, &requested_bytes_, &inactive_split_,
                       &inactive_split_bytes_, &segment_, &reserved_bytes_}) {
    gauge->reset_peak();
  }
  pending_.reset_peak(allocation_, allocated_bytes_);
  oversize_allocations_.reset_peak();
  oversize_segments_.reset_peak();
  for (auto& [key, pool] : private_pools_) pool->reserved_bytes.reset_peak();
}

void CachingAllocator::reset_accumulated() {
  for (Gauge* gauge : {&allocation_, &allocated_bytes_, &requested_bytes_, &inactive_split_,
                       &inactive_split_bytes_, &segment_, &reserved_bytes_}) {
    gauge->reset_accumulated();
  }
  pending_.reset_accumulated();
  oversize_allocations_.reset_accumulated();
  oversize_segments_.reset_accumulated();
  for (auto& [key, pool] : private_pools_) pool->reserved_bytes.reset_accumulated();
  num_alloc_retries_ = num_ooms_ = num_oom_rejections_ = 0;
  num_sync_all_streams_ = num_device_alloc_ = num_device_free_ = 0;
}

}  // namespace tidemark
