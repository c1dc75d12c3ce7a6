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

Bytes CachingAllocator::round(Bytes bytes) const {
  if (!has_divisions_ || bytes < kMinBlockBytes) return round_up(bytes, kMinBlockBytes);
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

void CachingAllocator::bind_new(RequestId id, BlockIndex index) {
  if (id < kDenseIds) {
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

inline bool CachingAllocator::allocate_inline(RequestId id, Bytes bytes, StreamId stream, PoolId pool) {
  if (!plain_ || pool != 0 || bytes - 1 >= kHugeRequestBytes - 1) [[unlikely]] {
    return allocate_generally(id, bytes, stream, pool);
  }
  if (awaits_events_) [[unlikely]] process_events();
  const Bytes rounded = (bytes + kMinBlockBytes - 1) & ~(kMinBlockBytes - 1);
  Lane& lane = lane_of(rounded <= kSmallMaxBytes ? small_ : large_, stream);
  Block* const blocks = blocks_.data();
  const BlockIndex index = lane.free.lower_bound(blocks, rounded);
  if (index == kNoBlock || ends_range(blocks, index)) [[unlikely]] {
    return serve_generally(id, bytes, rounded, lane);
  }
  lane.free.erase_leader(blocks, index);
  hand_out_inline<true>(index, lane, lane.split, rounded, bytes, id);
  return true;
}

bool CachingAllocator::allocate(RequestId id, Bytes bytes, StreamId stream, PoolId pool) {
  return allocate_inline(id, bytes, stream, pool);
}

bool CachingAllocator::allocate_generally(RequestId id, Bytes bytes, StreamId stream, PoolId pool) {
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

bool CachingAllocator::serve_generally(RequestId id, Bytes bytes, Bytes rounded, Lane& lane) {
  Request request{.id = id, .bytes = bytes, .rounded = rounded, .lane = &lane};
  return serve(request);
}

bool CachingAllocator::serve(Request& request) {
  Lane& lane = *request.lane;
  const BlockIndex index = search(lane, request.rounded, may_expand(*lane.pool));
  if (index == kNoBlock) return serve_with_new_memory(request);
  lane.free.erase(blocks_.data(), index);
  hand_out(index, lane, lane.split, request);
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
template <bool kPlain>
inline void CachingAllocator::hand_out_inline(BlockIndex index, Lane& lane, const SplitRule& rule, Bytes rounded,
                                              Bytes bytes, RequestId id) {
  const PoolKind kind = lane.kind;
  Block* block = &blocks_[index];
  // Events are noted before anything moves: the sample of the event before is taken there.
  note(Action::kAlloc, block->address, bytes, lane.stream, id);
  const bool was_split = block->is_split();
  const bool counts = !block->is(Block::kExpandable);
  const Bytes whole = block->bytes;
  const Bytes rest = whole - rounded;
  Bytes taken = whole;
  if (rest >= rule.from && rounded < rule.below) {
    taken = rounded;
    const BlockIndex front_index = blocks_.create();
    Block* const blocks = blocks_.data();
    Block& front = blocks[front_index];
    Block& remainder = blocks[index];
    const std::uint64_t address = remainder.address;
    const BlockIndex prev = remainder.prev;
    front.address = address;
    front.bytes = rounded;
    front.prev = prev;
    front.next = index;
    front.order = remainder.order;
    front.lane = &lane;
    front.flags = static_cast<std::uint8_t>(remainder.flags | Block::kAllocated);
    remainder.address = address + rounded;
    remainder.bytes = rest;
    remainder.prev = front_index;
    if (prev != kNoBlock) blocks[prev].next = front_index;
    if constexpr (!kPlain) {
      if (creation_orders_) front.order = next_order_++;
      remainder.age_base = lane.pool->search_count;
    }
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
      inactive_split_bytes_.decrease(kind, as_signed(whole));
      inactive_split_.decrease(kind, 1);
    }
  }
  block->requested_bytes = bytes;
  block->life.id = id;
  bind(id, index);
  allocation_.increase(kind, 1);
  allocated_bytes_.increase(kind, as_signed(taken));
  requested_bytes_.increase(kind, as_signed(bytes));
  if (awaits_events_) [[unlikely]] pending_.note_peak(kind, allocation_, allocated_bytes_);
  if constexpr (!kPlain) {
    if (has_oversize_ && taken >= settings_.max_split_bytes) oversize_allocations_.increase(1);
  }
}

void CachingAllocator::hand_out(BlockIndex index, Lane& lane, const SplitRule& rule, const Request& request) {
  hand_out_inline<false>(index, lane, rule, request.rounded, request.bytes, request.id);
}

// ---------------------------------------------------------------- free (9)

inline void CachingAllocator::free_inline(RequestId id) {
  const BlockIndex index = take_binding(id);
  if (index == kNoBlock) [[unlikely]] return;
  Block& block = blocks_[index];
  const Lane& lane = *block.lane;
  note(Action::kFreeRequested, block.address, block.requested_bytes, lane.stream, id);
  const std::uint8_t flags = block.flags;
  block.flags = static_cast<std::uint8_t>(flags & ~Block::kAllocated);
  allocation_.decrease(lane.kind, 1);
  allocated_bytes_.decrease(lane.kind, as_signed(block.bytes));
  if (plain_ && (flags & Block::kUsed) == 0) [[likely]] {
    complete_inline<true>(index);
    return;
  }
  if (has_oversize_ && block.bytes >= settings_.max_split_bytes) oversize_allocations_.decrease(1);
  if ((flags & Block::kUsed) != 0) {
    free_slowly(index);
  } else {
    complete(index);
  }
}

void CachingAllocator::free(RequestId id) { free_inline(id); }

/// The block returns to its pool (9.2). Requires: it is mapped, not allocated, not pending, without recorded streams.
template <bool kPlain>
inline void CachingAllocator::complete_inline(BlockIndex index) {
  constexpr auto kBusy = Block::kAllocated | Block::kPending | Block::kUsed;
  Block* const blocks = blocks_.data();
  Block& block = blocks[index];
  Lane& lane = *block.lane;
  note(Action::kFreeCompleted, block.address, block.requested_bytes, lane.stream, block.life.id);
  requested_bytes_.decrease(lane.kind, as_signed(block.requested_bytes));
  const Bytes freed = block.bytes;
  Bytes whole = freed;
  std::int64_t count = 1;  // of the net change of split blocks
  BlockIndex prev = block.prev;
  if (prev != kNoBlock && (blocks[prev].flags & (kBusy | Block::kMapped)) == Block::kMapped) {
    const Block& other = blocks[prev];
    lane.free.erase(blocks, prev);
    whole += other.bytes;
    block.address = other.address;
    const BlockIndex before = other.prev;
    blocks_.recycle(prev);
    block.prev = prev = before;
    if (before != kNoBlock) blocks[before].next = index;
    --count;
  }
  BlockIndex next = block.next;
  if (next != kNoBlock && (blocks[next].flags & (kBusy | Block::kMapped)) == Block::kMapped) {
    const Block& other = blocks[next];
    lane.free.erase(blocks, next);
    whole += other.bytes;
    const BlockIndex after = other.next;
    blocks_.recycle(next);
    block.next = next = after;
    if (after != kNoBlock) blocks[after].prev = index;
    --count;
  }
  block.bytes = whole;
  if constexpr (!kPlain) block.age_base = lane.pool->search_count;
  lane.free.insert(blocks, index);
  if (block.is(Block::kExpandable)) return;
  if ((prev & next) != kNoBlock) {
    // Still split: its parts were counted, but for what was freed.
    inactive_split_bytes_.increase(lane.kind, as_signed(freed));
    if (count > 0) {
      inactive_split_.increase(lane.kind, 1);
    } else {
      inactive_split_.decrease(lane.kind, -count);
    }
  } else {
    inactive_split_bytes_.decrease(lane.kind, as_signed(whole - freed));
    inactive_split_.decrease(lane.kind, 1 - count);
  }
}

void CachingAllocator::complete(BlockIndex index) { complete_inline<false>(index); }

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
        if (!allocate_inline(instruction.id, instruction.bytes, instruction.stream, instruction.pool)) [[unlikely]] {
          refused_ = true;
          instruction_ = start + static_cast<std::uint32_t>(at) + 1;
          return at + 1;
        }
        break;
      case Verb::kFree: free_inline(instruction.id); break;
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
