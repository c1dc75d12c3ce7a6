#include "sim/alloc/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <new>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {
namespace {

/// Ids below this are looked up in a vector, the others in a hash table: a hostile trace must not
/// cost 16 GiB.
constexpr RequestId kDenseIds = RequestId{1} << 26U;

}  // namespace

CachingAllocator::CachingAllocator(const AllocatorSettings& settings, DeviceMemory& device,
                                   EventClock& clock)
    : settings_(settings), knobs_(*settings.knobs), device_(device), clock_(clock) {
  TIDEMARK_CHECK(settings.backend == Backend::kNative, std::string("another backend's settings"));
  device_number_ = device.config().device;
  for (Event& event : recent_) event.device = device_number_;
  small_.kind = PoolKind::kSmall;
  large_.kind = PoolKind::kLarge;
  if (knobs_.max_split_bytes != kUnlimitedBytes)
    max_split_at_start_ = as_signed(knobs_.max_split_bytes);
  apply_settings();
  if (settings.version >= Version{2, 10}) set_memory_fraction(knobs_.per_process_memory_fraction);
}

CachingAllocator::~CachingAllocator() = default;

// ---- sizes: docs/rules/allocator.md#3

Bytes CachingAllocator::round(Bytes bytes) const {
  if (!has_divisions_ || bytes < kMinBlockBytes) return round_up(bytes, kMinBlockBytes);
  const int octave = static_cast<int>(std::bit_width(bytes)) - 1;
  const auto bucket = static_cast<std::size_t>(std::clamp(octave - 20, 0, 15));
  const Bytes divisions = knobs_.roundup_power2_divisions[bucket];
  if (divisions <= 1 || bytes <= kMinBlockBytes * divisions) return round_up(bytes, kMinBlockBytes);
  if (std::has_single_bit(bytes)) return bytes;
  const Bytes step = (Bytes{1} << static_cast<unsigned>(octave)) / divisions;
  return step == 0 ? Bytes{2} << static_cast<unsigned>(octave) : round_up(bytes, step);
}

Bytes CachingAllocator::segment_bytes(Bytes rounded) const {
  if (rounded <= kSmallMaxBytes) return kSmallSegmentBytes;
  if (rounded < kLargeMinBytes) return knobs_.large_segment_bytes;
  return round_up(rounded, kLargeRoundBytes);
}

// ---- request ids

void CachingAllocator::bind_new(RequestId id, BlockIndex index) {
  if (id < kDenseIds) {
    reserve_ids(std::max<std::size_t>(std::size_t{id} + 1, 4 * bound_ids_));
    bound_[id] = index;
  } else {
    far_bindings_.insert_or_assign(id, index);
  }
}

/// Requires: count > bound_ids_, or both are 0.
void CachingAllocator::reserve_ids(std::size_t count) {
  count = std::min<std::size_t>(count, kDenseIds);
  decltype(bindings_) grown(
      static_cast<BlockIndex*>(std::calloc(std::max<std::size_t>(count, 1), sizeof(BlockIndex))));
  if (grown == nullptr) throw std::bad_alloc();
  std::copy_n(bound_, bound_ids_, grown.get());
  bindings_ = std::move(grown);
  bound_ = bindings_.get();
  bound_ids_ = count;
}

BlockIndex CachingAllocator::far_binding(RequestId id) const {
  const auto found = far_bindings_.find(id);
  return found == far_bindings_.end() ? kNoBlock : found->second;
}

void CachingAllocator::free_far(RequestId id) {
  const auto found = far_bindings_.find(id);
  if (found == far_bindings_.end()) return;
  const BlockIndex index = found->second;
  far_bindings_.erase(found);
  Block& block = blocks_[index];
  note(Action::kFreeRequested, block.address, block.requested_bytes, block.lane->stream, id,
       block.bytes);
  block.flags = static_cast<Block::Flags>(block.flags & ~Block::kAllocated);
  block.lane->own->decrease(Amount::kAllocations, 1);
  block.lane->own->decrease(Amount::kAllocatedBytes, as_signed(block.bytes));
  free_generally(index);
}

/// The rest of a free, after the request was noted and counted.
void CachingAllocator::free_generally(BlockIndex index) {
  const Block& block = blocks_[index];
  if (has_oversize_ && block.bytes >= knobs_.max_split_bytes) oversize_allocations_.decrease(1);
  if (block.is(Block::kUsed)) {
    free_slowly(index);
  } else {
    completing_bytes_ = block.bytes;
    complete(index);
    completing_bytes_ = 0;
  }
}

// ---- malloc, the long way: docs/rules/allocator.md#5, #6

bool CachingAllocator::allocate_generally(const Instruction& asked) {
  const Bytes bytes = asked.bytes;
  const StreamId stream = asked.stream;
  const PoolId pool = asked.pool;
  if (bytes == 0) return true;
  Request request{.id = asked.id, .bytes = bytes};
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
  finish_samples();  // blocks of other streams may have come free just before
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
      // The block at the growing end of a range is the last choice: its reach includes the unmapped
      // rest.
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
    if (rounded < knobs_.max_split_bytes) {
      if (bytes >= knobs_.max_split_bytes) return kNoBlock;
    } else if (bytes >= rounded + knobs_.max_non_split_rounding_bytes) {
      return kNoBlock;
    }
  }
  return index;
}

// ---- resets

void CachingAllocator::reset_peak() {
  books_.reset_peak();
  segment_.reset_peak();
  reserved_bytes_.reset_peak();
  oversize_allocations_.reset_peak();
  oversize_segments_.reset_peak();
  for (auto& [key, pool] : private_pools_) pool->reserved_bytes.reset_peak();
}

}  // namespace tidemark
