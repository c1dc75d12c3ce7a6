#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "sim/alloc/caching_allocator.h"

// What happens at almost every request: a hit in the cache, a free, a merge (caching-allocator.md,
// 5, 8, 9). Everything is inlined into the loop of execute(), once with and once without history;
// the rare cases are calls.

namespace tidemark {
namespace {

constexpr auto as_signed(Bytes bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

template <bool kPlain, bool kHistory>
[[gnu::always_inline]] inline void CachingAllocator::note(Action action, std::uint64_t address,
                                                          Bytes bytes, StreamId stream,
                                                          RequestId id) {
  if constexpr (kHistory && kPlain) {
    *recent_end_++ = {address, bytes, id, instruction_, stream, action, device_number_};
  } else if constexpr (kHistory) {
    note(action, address, bytes, stream, id);
  }
}

/// Requires: blocks_[index] is in no set; it lies in `lane`.
template <bool kPlain, bool kHistory>
[[gnu::always_inline]] inline void CachingAllocator::hand_out_inline(BlockIndex index, Lane& lane,
                                                                     const SplitRule& rule,
                                                                     Bytes rounded, Bytes bytes,
                                                                     RequestId id) {
  Tally& own = *lane.own;
  const Tally& other = *lane.other;
  Block* block = &blocks_[index];
  // Events are noted before anything moves: the sample of the event before is taken there.
  note<kPlain, kHistory>(Action::kAlloc, block->address, bytes, lane.stream, id);
  Bytes taken = block->bytes;
  const Bytes rest = taken - rounded;
  const std::uint8_t flags = block->flags;
  if (rest >= rule.from && (kPlain || rounded < rule.below)) {
    taken = rounded;
    const BlockIndex front_index = blocks_.create_raw();
    Block* const blocks = blocks_.data();
    Block& front = blocks[front_index];
    Block& remainder = blocks[index];
    const std::uint64_t address = remainder.address;
    const BlockIndex prev = remainder.prev;
    front.address = address;
    front.bytes = rounded;
    front.lane = &lane;
    front.prev = prev;
    front.next = index;
    front.order = remainder.order;
    front.flags = static_cast<std::uint8_t>(flags | Block::kAllocated);
    remainder.address = address + rounded;
    remainder.bytes = rest;
    remainder.prev = front_index;
    blocks[prev].next = front_index;
    if constexpr (!kPlain) {
      if (creation_orders_) front.order = next_order_++;
      remainder.age_base = lane.pool->search_count;
    }
    lane.free.insert(blocks, index);
    if ((flags & Block::kExpandable) == 0) {
      if ((prev | remainder.next) != kNoBlock) {
        own.decrease(Amount::kInactiveSplitBytes, as_signed(rounded));
      } else {
        books_.increase(Amount::kInactiveSplitBytes, own, other, as_signed(rest));
        books_.increase(Amount::kInactiveSplits, own, other, 1);
      }
    }
    index = front_index;
    block = &front;
  } else {
    block->flags = static_cast<std::uint8_t>(flags | Block::kAllocated);
    if ((flags & Block::kExpandable) == 0 && block->is_split()) {
      own.decrease(Amount::kInactiveSplitBytes, as_signed(taken));
      own.decrease(Amount::kInactiveSplits, 1);
    }
  }
  block->requested_bytes = bytes;
  block->life.id = id;
  bind(id, index);
  const Books::Levels count = books_.increase(Amount::kAllocations, own, other, 1);
  const Books::Levels held = books_.increase(Amount::kAllocatedBytes, own, other, as_signed(taken));
  books_.increase(Amount::kRequestedBytes, own, other, as_signed(bytes));
  if (awaits_events_) [[unlikely]]
    pending_.note_peak(lane.kind, count, held);
  if constexpr (!kPlain) {
    if (has_oversize_ && taken >= settings_.max_split_bytes) oversize_allocations_.increase(1);
  }
}

void CachingAllocator::hand_out(BlockIndex index, Lane& lane, const SplitRule& rule,
                                const Request& request) {
  if (history_ != nullptr) {
    hand_out_inline<false, true>(index, lane, rule, request.rounded, request.bytes, request.id);
  } else {
    hand_out_inline<false, false>(index, lane, rule, request.rounded, request.bytes, request.id);
  }
}

/// The block returns to its pool (9.2). Requires: it is mapped, not allocated, not pending, without
/// recorded streams.
template <bool kPlain, bool kHistory>
[[gnu::always_inline]] inline void CachingAllocator::complete_inline(BlockIndex index) {
  Block* const blocks = blocks_.data();
  Block& block = blocks[index];
  Lane& lane = *block.lane;
  Tally& own = *lane.own;
  const Tally& other = *lane.other;
  note<kPlain, kHistory>(Action::kFreeCompleted, block.address, block.requested_bytes, lane.stream,
                         block.life.id);
  own.decrease(Amount::kRequestedBytes, as_signed(block.requested_bytes));
  const Bytes freed = block.bytes;
  Bytes whole = freed;
  std::int64_t merged = 0;
  BlockIndex prev = block.prev;
  if (blocks[prev].is(Block::kFree)) {
    const Block& neighbour = blocks[prev];
    lane.free.erase(blocks, prev);
    whole += neighbour.bytes;
    block.address = neighbour.address;
    const BlockIndex outer = neighbour.prev;
    blocks_.recycle(prev);
    block.prev = prev = outer;
    blocks[outer].next = index;
    ++merged;
  }
  BlockIndex next = block.next;
  if (blocks[next].is(Block::kFree)) {
    const Block& neighbour = blocks[next];
    lane.free.erase(blocks, next);
    whole += neighbour.bytes;
    const BlockIndex outer = neighbour.next;
    blocks_.recycle(next);
    block.next = next = outer;
    blocks[outer].prev = index;
    ++merged;
  }
  block.bytes = whole;
  if constexpr (!kPlain) block.age_base = lane.pool->search_count;
  lane.free.insert(blocks, index);
  if (block.is(Block::kExpandable)) return;
  // The net change: the parts that were merged go, the result comes if it is split.
  if ((prev | next) != kNoBlock) {
    books_.increase(Amount::kInactiveSplitBytes, own, other, as_signed(freed));
    if (merged == 0) {
      books_.increase(Amount::kInactiveSplits, own, other, 1);
    } else {
      own.decrease(Amount::kInactiveSplits, merged - 1);
    }
  } else {
    own.decrease(Amount::kInactiveSplitBytes, as_signed(whole - freed));
    own.decrease(Amount::kInactiveSplits, merged);
  }
}

void CachingAllocator::complete(BlockIndex index) {
  if (history_ != nullptr) {
    complete_inline<false, true>(index);
  } else {
    complete_inline<false, false>(index);
  }
}

template <bool kPlain, bool kHistory>
[[gnu::always_inline]] inline bool CachingAllocator::allocate_inline(RequestId id, Bytes bytes,
                                                                     StreamId stream, PoolId pool) {
  // A stream and a pool of whom nothing is unusual, in one comparison.
  const std::uint32_t where = stream | (std::uint32_t{pool} << 16U);
  static_assert(kHugeRequestBytes > Bytes{1} << 59U);
  const bool none_or_huge = ((bytes - 1) >> 59U) != 0;
  if (!kPlain || where >= BlockPool::kNear || none_or_huge) [[unlikely]] {
    return allocate_generally(id, bytes, stream, pool);
  }
  if (awaits_events_ && clock_.progress() != seen_progress_) [[unlikely]]
    process_events();
  const Bytes rounded = (bytes + kMinBlockBytes - 1) & ~(kMinBlockBytes - 1);
  Lane* const near = (rounded <= kSmallMaxBytes ? small_ : large_).near[where];
  if (near == nullptr) [[unlikely]]
    return allocate_generally(id, bytes, stream, pool);
  Lane& lane = *near;
  Block* const blocks = blocks_.data();
  const BlockIndex index = lane.free.lower_bound(blocks, rounded);
  if (index == kNoBlock || ends_range(blocks, index)) [[unlikely]] {
    return serve_generally(id, bytes, rounded, lane);
  }
  lane.free.erase(blocks, index);
  hand_out_inline<true, kHistory>(index, lane, lane.split, rounded, bytes, id);
  return true;
}

template <bool kPlain, bool kHistory>
[[gnu::always_inline]] inline void CachingAllocator::free_inline(RequestId id) {
  if (id >= bound_ids_) [[unlikely]] {
    free_far(id);
    return;
  }
  const BlockIndex index = std::exchange(bound_[id], kNoBlock);
  if (index == kNoBlock) [[unlikely]]
    return;
  Block& block = blocks_[index];
  const Lane& lane = *block.lane;
  note<kPlain, kHistory>(Action::kFreeRequested, block.address, block.requested_bytes, lane.stream,
                         id);
  const std::uint8_t flags = block.flags;
  block.flags = static_cast<std::uint8_t>(flags & ~Block::kAllocated);
  lane.own->decrease(Amount::kAllocations, 1);
  lane.own->decrease(Amount::kAllocatedBytes, as_signed(block.bytes));
  if (kPlain && (flags & Block::kUsed) == 0) [[likely]] {
    complete_inline<true, kHistory>(index);
  } else {
    free_generally(index);
  }
}

/// Calls the version of `function` for what is in force now. Neither can change before it returns.
/// Samples are taken on the long way alone.
template <class Function>
auto CachingAllocator::specialised(const Function& function) {
  using Yes = std::true_type;
  using No = std::false_type;
  const bool plain = plain_ && (history_ == nullptr || !history_->sampling);
  if (history_ == nullptr) return plain ? function(Yes(), No()) : function(No(), No());
  const auto result = plain ? function(Yes(), Yes()) : function(No(), Yes());
  keep_recent();
  return result;
}

bool CachingAllocator::allocate(RequestId id, Bytes bytes, StreamId stream, PoolId pool) {
  return specialised([&](auto plain, auto history) {
    return allocate_inline<plain, history>(id, bytes, stream, pool);
  });
}

void CachingAllocator::free(RequestId id) {
  specialised([&](auto plain, auto history) {
    free_inline<plain, history>(id);
    return true;
  });
}

template <bool kPlain, bool kHistory>
std::size_t CachingAllocator::run(std::span<const Instruction> chunk) {
  const std::uint32_t start = instruction_;
  [[maybe_unused]] std::uint32_t next = start;
  const Instruction* const begin = chunk.data();
  const Instruction* const end = begin + chunk.size();
  const auto executed = [begin](const Instruction* at) {
    return static_cast<std::size_t>(at - begin);
  };
  for (const Instruction* at = begin; at != end; ++at) {
    if constexpr (kHistory) {
      if (recent_end_ > &recent_[kRecent - 2]) [[unlikely]]
        keep_recent();
      instruction_ = next++;
      if constexpr (!kPlain) finish_samples();
    }
    if (at->verb == Verb::kAlloc) {
      if (allocate_inline<kPlain, kHistory>(at->id, at->bytes, at->stream, at->pool)) [[likely]]
        continue;
      refused_ = true;
    } else if (at->verb == Verb::kFree) {
      free_inline<kPlain, kHistory>(at->id);
      continue;
    } else if (execute_rare(*at)) {
      continue;
    }
    instruction_ = start + static_cast<std::uint32_t>(executed(at)) + 1;
    return executed(at) + 1;
  }
  instruction_ = start + static_cast<std::uint32_t>(chunk.size());
  return chunk.size();
}

/// Asks for the memory that a few instructions ahead will need: the processor fetches it while the
/// others run. Nothing but time depends on it.
void CachingAllocator::prefetch(std::span<const Instruction> window) {
  const auto bound = [this](const Instruction& instruction) {
    return instruction.verb == Verb::kFree && instruction.id < bound_ids_ ? &bound_[instruction.id]
                                                                          : nullptr;
  };
  for (const Instruction& instruction : window) {
    if (const BlockIndex* const index = bound(instruction)) __builtin_prefetch(index);
  }
  Block* const blocks = blocks_.data();
  std::array<BlockIndex, kWindow> touched{};
  std::size_t count = 0;
  for (const Instruction& instruction : window) {
    BlockIndex index = kNoBlock;
    if (const BlockIndex* const from = bound(instruction)) {
      index = *from;
    } else if (instruction.verb == Verb::kAlloc && instruction.bytes < kSmallMaxBytes &&
               instruction.pool == 0) {
      Lane* const lane = find_lane(small_, instruction.stream);
      if (lane != nullptr)
        index = lane->free.lower_bound(blocks, round_up(instruction.bytes, kMinBlockBytes));
    }
    touched[count++] = index;
    __builtin_prefetch(&blocks[index], 1);
  }
  for (const BlockIndex index : std::span(touched).first(count)) {
    __builtin_prefetch(&blocks[blocks[index].prev], 1);
    __builtin_prefetch(&blocks[blocks[index].next], 1);
  }
}

std::size_t CachingAllocator::execute(std::span<const Instruction> chunk) {
  constexpr std::size_t kStretch = 4096;      ///< how often the number of blocks is looked at
  constexpr std::size_t kManyBlocks = 16384;  ///< more than the nearer caches hold
  refused_ = false;
  if (bound_ids_ == 0) reserve_ids(chunk.size() / 2 + chunk.size() / 16);
  std::size_t done = 0;
  while (done < chunk.size()) {
    const bool many = plain_ && blocks_.size() > kManyBlocks;
    const auto part = chunk.subspan(done, std::min(many ? kWindow : kStretch, chunk.size() - done));
    if (many) prefetch(part);
    const std::size_t executed =
        specialised([&](auto plain, auto history) { return run<plain, history>(part); });
    done += executed;
    if (refused_) break;
  }
  return done;
}

/// Returns false when it sets refused_.
bool CachingAllocator::execute_rare(const Instruction& instruction) {
  switch (instruction.verb) {
    case Verb::kUse:
      record_stream(instruction.id, instruction.stream);
      break;
    case Verb::kSync:
      clock_.synchronize(instruction.stream);
      break;
    case Verb::kSyncDevice:
      clock_.synchronize_device();
      break;
    case Verb::kEmptyCache:
      empty_cache();
      break;
    case Verb::kResetPeak:
      reset_peak();
      break;
    case Verb::kDeviceBytes:
      if (instruction.id == 0) {
        device_.give_back(instruction.bytes);
      } else if (!device_.take(instruction.bytes)) {
        // A library that gets no memory fails outside PyTorch's allocator.
        refused_ = true;
        failure_ = OutOfMemory{};
        failure_.requested_bytes = instruction.bytes;
        failure_.device_free_bytes = device_.free_bytes();
        return false;
      }
      break;
    case Verb::kAlloc:
    case Verb::kFree:
    case Verb::kLaunch:
    case Verb::kRecord:
    case Verb::kWait:
    case Verb::kMark:
    case Verb::kPoint:
      break;
  }
  return true;
}

}  // namespace tidemark
