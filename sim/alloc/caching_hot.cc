#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "sim/alloc/caching_allocator.h"
#include "sim/base/audit.h"

// What happens at almost every request: a hit in the cache, a free, a merge
// (docs/rules/allocator.md#5, #8, #9). Everything is inlined into the loop of execute(), once with
// and once without history; the rare cases are calls.
//
//     hand out, split   |....free......|    ->  |front|...free...|     the free record stays free
//     complete, merge   |.free.|own|.free.| ->  |......free......|     the first record stays free
//
// What the code rests on, beside the invariants of caching_allocator.h:
//
//  * Block kNoBlock is a wall before and behind every segment: busy for ever, so no question
//    whether there is a neighbour. Its prev and next are written and never read. A block is a whole
//    segment exactly when both its neighbours are the wall: (prev | next) == kNoBlock.
//  * A record that is in a set stays in it through a split or a merge, and is moved to its new
//    place (FreeSet::move). What PyTorch's surviving object would show (requested bytes, order,
//    age) is carried over to the record that stays.
//  * Events are noted before anything moves: the sample of the event before is taken there.
//  * inactive_split counts free parts of segments that are split, none of expandable ranges. Only
//    the net change of a split or a merge is booked, so that no peak between is seen that PyTorch
//    does not see.
//  * Each Way leaves out what cannot occur in it. kShort: oversize limits, creation orders, ages,
//    private pools, samples. kShortest, further: expandable blocks and orders, so that the flags of
//    every free block are kMapped and its set's, and every order is 0 (plain_, plainest_).
//  * blocks_ grows in create_raw() alone: references and blocks_.data() are taken anew after it.

namespace tidemark {
namespace {

/// inactive_split leaves expandable blocks out.
template <Way kWay>
constexpr bool counts_splits(Block::Flags flags) {
  return kWay == Way::kShortest || (flags & Block::kExpandable) == 0;
}

}  // namespace

/// Notes one event of a block of `taken` bytes for each of `actions`, alike in all else.
template <Way kWay, bool kHistory, class... Actions>
[[gnu::always_inline]] inline void CachingAllocator::note_inline(std::uint64_t address, Bytes bytes,
                                                                 Bytes taken, StreamId stream,
                                                                 RequestId id, Actions... actions) {
  if constexpr (kHistory && kWay != Way::kLong) {
    Event* event = recent_end_;
    for (const Action action : {actions...}) {
      event->address = address;
      event->bytes = bytes;
      event->id = id;
      event->instruction = instruction_;
      event->stream = stream;
      event->action = action;
      event->units = units_of(taken);
      ++event;
    }
    recent_end_ = event;
  } else if constexpr (kHistory) {
    (note(actions, address, bytes, stream, id, taken), ...);
  }
}

/// Makes a new record of the first `rounded` bytes of a free block, which keeps the rest and its
/// place in the set, or gets one. Returns the new one. `flags`: without those of a set.
template <Way kWay, bool kInSet>
[[gnu::always_inline]] inline BlockIndex CachingAllocator::split_inline(BlockIndex index,
                                                                        Lane& lane, Bytes rounded,
                                                                        Block::Flags flags) {
  const BlockIndex front_index = blocks_.create_raw();
  Block* const blocks = blocks_.data();
  Block& front = blocks[front_index];
  Block& remainder = blocks[index];
  const std::uint64_t address = remainder.address;
  const Bytes rest = remainder.bytes - rounded;
  const BlockIndex prev = remainder.prev;
  front.address = address;
  front.bytes = rounded;
  front.lane = &lane;
  front.prev = prev;
  front.next = index;
  if constexpr (kWay != Way::kShortest) front.order = remainder.order;
  front.flags = static_cast<Block::Flags>(flags | Block::kAllocated);
  remainder.address = address + rounded;
  remainder.bytes = rest;
  remainder.prev = front_index;
  blocks[prev].next = front_index;
  if constexpr (kWay == Way::kLong) {
    if (creation_orders_) front.order = next_order_++;
    remainder.age_base = lane.pool->search_count;
  }
  if constexpr (kInSet) {
    lane.free.move(blocks, index);
  } else {
    lane.free.insert(blocks, index);
  }
  if (counts_splits<kWay>(flags)) {
    if ((prev | remainder.next) != kNoBlock) {
      lane.own->decrease(Amount::kInactiveSplitBytes, as_signed(rounded));
    } else {
      books_.increase<Amount::kInactiveSplitBytes>(*lane.own, as_signed(rest));
      books_.increase<Amount::kInactiveSplits>(*lane.own, 1);
    }
  }
  return front_index;
}

/// Requires: blocks_[index] lies in `lane`; it is in the lane's set exactly with kInSet.
template <Way kWay, bool kHistory, bool kInSet>
[[gnu::always_inline]] inline void CachingAllocator::hand_out_inline(BlockIndex index, Lane& lane,
                                                                     const SplitRule& rule,
                                                                     Bytes rounded, Bytes bytes,
                                                                     RequestId id) {
  Tally& own = *lane.own;
  Block* block = &blocks_[index];
  Bytes taken = block->bytes;
  const bool splits = taken - rounded >= rule.from && (kWay != Way::kLong || rounded < rule.below);
  if (splits) taken = rounded;
  note_inline<kWay, kHistory>(block->address, bytes, taken, lane.stream, id, Action::kAlloc);
  const auto flags =
      kWay == Way::kShortest
          ? Block::Flags{Block::kMapped}
          : static_cast<Block::Flags>(block->flags & ~(Block::kFree | Block::kGroupLeader));
  if (splits) {
    index = split_inline<kWay, kInSet>(index, lane, rounded, flags);
    block = &blocks_[index];
  } else {
    if constexpr (kInSet) lane.free.erase(blocks_.data(), index);
    block->flags = static_cast<Block::Flags>(flags | Block::kAllocated);
    if (counts_splits<kWay>(flags) && block->is_split()) {
      own.decrease(Amount::kInactiveSplitBytes, as_signed(taken));
      own.decrease(Amount::kInactiveSplits, 1);
    }
  }
  block->requested_bytes = bytes;
  block->life.id = id;
  bind(id, index);
  books_.increase<Amount::kAllocations>(own, 1);
  books_.increase<Amount::kAllocatedBytes>(own, as_signed(taken));
  books_.increase<Amount::kRequestedBytes>(own, as_signed(bytes));
  if constexpr (kWay == Way::kLong) {
    if (has_oversize_ && taken >= knobs_.max_split_bytes) oversize_allocations_.increase(1);
  }
}

void CachingAllocator::hand_out(BlockIndex index, Lane& lane, const SplitRule& rule,
                                const Request& request) {
  if (history_ != nullptr) {
    hand_out_inline<Way::kLong, true, false>(index, lane, rule, request.rounded, request.bytes,
                                             request.id);
  } else {
    hand_out_inline<Way::kLong, false, false>(index, lane, rule, request.rounded, request.bytes,
                                              request.id);
  }
}

/// Books the net change of inactive_split when a block of `freed` bytes comes free: `merged` free
/// neighbours of `joined` bytes in all go, the result comes if it `is_split`.
template <Way kWay>
[[gnu::always_inline]] inline void CachingAllocator::count_merge(Tally& own, Block::Flags flags,
                                                                 Bytes freed, std::int64_t merged,
                                                                 Bytes joined, bool is_split) {
  if (!counts_splits<kWay>(flags)) return;
  if (!is_split) {
    own.decrease(Amount::kInactiveSplitBytes, as_signed(joined));
    own.decrease(Amount::kInactiveSplits, merged);
    return;
  }
  books_.increase<Amount::kInactiveSplitBytes>(own, as_signed(freed));
  if (merged == 0) books_.increase<Amount::kInactiveSplits>(own, 1);
  if (merged == 2) own.decrease(Amount::kInactiveSplits, 1);
}

/// The block returns to its pool (9.2). PyTorch's object of this block swallows its neighbours;
/// here a neighbour's record, which is in the set already, takes on what shows of that object.
/// Requires: it is mapped, not pending, without recorded streams, and its free is noted and
/// counted.
template <Way kWay>
[[gnu::always_inline]] inline void CachingAllocator::complete_inline(BlockIndex index) {
  Block* const blocks = blocks_.data();
  Block& block = blocks[index];
  Lane& lane = *block.lane;
  Tally& own = *lane.own;
  const Bytes requested = block.requested_bytes;
  own.decrease(Amount::kRequestedBytes, as_signed(requested));
  const Bytes freed = block.bytes;
  const Block::Flags flags = block.flags;
  const BlockIndex prev = block.prev;
  const BlockIndex next = block.next;
  const auto keep = [&](BlockIndex kept_index) -> Block& {
    Block& kept = blocks[kept_index];
    kept.requested_bytes = requested;
    if constexpr (kWay == Way::kLong) {
      if (creation_orders_) kept.order = block.order;
      kept.age_base = lane.pool->search_count;
    }
    return kept;
  };
  if (blocks[prev].is(Block::kFree)) {
    Block& kept = keep(prev);
    const Bytes before = kept.bytes;
    blocks_.recycle(index);
    if (blocks[next].is(Block::kFree)) {
      const Block& last = blocks[next];
      lane.free.erase(blocks, next);
      const Bytes joined = before + last.bytes;
      const BlockIndex outer = last.next;
      blocks_.recycle(next);
      kept.bytes = joined + freed;
      kept.next = outer;
      blocks[outer].prev = prev;
      lane.free.move(blocks, prev);
      count_merge<kWay>(own, flags, freed, 2, joined, (kept.prev | outer) != kNoBlock);
    } else {
      kept.bytes = before + freed;
      kept.next = next;
      blocks[next].prev = prev;
      lane.free.move(blocks, prev);
      count_merge<kWay>(own, flags, freed, 1, before, (kept.prev | next) != kNoBlock);
    }
  } else if (blocks[next].is(Block::kFree)) {
    Block& kept = keep(next);
    const Bytes after = kept.bytes;
    kept.bytes = after + freed;
    kept.address = block.address;
    kept.prev = prev;
    blocks[prev].next = next;
    blocks_.recycle(index);
    lane.free.move(blocks, next);
    count_merge<kWay>(own, flags, freed, 1, after, (prev | kept.next) != kNoBlock);
  } else {
    if constexpr (kWay == Way::kLong) block.age_base = lane.pool->search_count;
    block.flags = static_cast<Block::Flags>(flags & ~Block::kAllocated);
    lane.free.insert(blocks, index);
    count_merge<kWay>(own, flags, freed, 0, 0, (prev | next) != kNoBlock);
  }
}

void CachingAllocator::complete(BlockIndex index) {
  const Block& block = blocks_[index];
  note(Action::kFreeCompleted, block.address, block.requested_bytes, block.lane->stream,
       block.life.id, block.bytes);
  complete_inline<Way::kLong>(index);
}

template <Way kWay, bool kHistory>
[[gnu::always_inline]] inline bool CachingAllocator::allocate_inline(const Instruction& request) {
  // A stream and a pool of whom nothing is unusual, in one comparison.
  const std::uint32_t where = request.stream | (std::uint32_t{request.pool} << 16U);
  const Bytes bytes = request.bytes;
  if (kWay == Way::kLong || where >= BlockPool::kNear) [[unlikely]] {
    return allocate_generally(request);
  }
  // 0 for none and for those that overflow.
  const Bytes rounded = (bytes + kMinBlockBytes - 1) & ~(kMinBlockBytes - 1);
  const bool small = rounded <= kSmallMaxBytes;
  if (small ? rounded == 0 : rounded >= kHugeRequestBytes) [[unlikely]]
    return allocate_generally(request);
  if (awaits_events_ && clock_.progress() != seen_progress_) [[unlikely]]
    process_events();
  Lane* const near = (small ? small_ : large_).near[where];
  if (near == nullptr) [[unlikely]]
    return allocate_generally(request);
  Lane& lane = *near;
  Block* const blocks = blocks_.data();
  const BlockIndex index = lane.free.lower_bound(blocks, rounded);
  if (index == kNoBlock || (kWay != Way::kShortest && ends_range(blocks, index))) [[unlikely]] {
    return serve_generally(request.id, bytes, rounded, lane);
  }
  hand_out_inline<kWay, kHistory, true>(index, lane, lane.split, rounded, bytes, request.id);
  return true;
}

template <Way kWay, bool kHistory>
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
  const Block::Flags flags = block.flags;
  const auto count = [&] {
    lane.own->decrease(Amount::kAllocations, 1);
    lane.own->decrease(Amount::kAllocatedBytes, as_signed(block.bytes));
  };
  if (kWay != Way::kLong && (flags & Block::kUsed) == 0) [[likely]] {
    note_inline<kWay, kHistory>(block.address, block.requested_bytes, block.bytes, lane.stream, id,
                                Action::kFreeRequested, Action::kFreeCompleted);
    count();
    complete_inline<kWay>(index);
  } else {
    note_inline<kWay, kHistory>(block.address, block.requested_bytes, block.bytes, lane.stream, id,
                                Action::kFreeRequested);
    block.flags = static_cast<Block::Flags>(flags & ~Block::kAllocated);
    count();
    free_generally(index);
  }
}

/// Calls the version of `function` for what is in force now. Neither can change before it returns.
/// Samples are taken on the long way alone.
template <class Function>
auto CachingAllocator::specialised(const Function& function) {
  const auto with_history = [&](auto way) {
    if (history_ == nullptr) return function(way, std::false_type());
    gathers_ = way != Way::kLong;
    const auto result = function(way, std::true_type());
    keep_recent();
    gathers_ = false;
    return result;
  };
  if (!plain_ || (history_ != nullptr && history_->sampling))
    return with_history(std::integral_constant<Way, Way::kLong>());
  return plainest_ ? with_history(std::integral_constant<Way, Way::kShortest>())
                   : with_history(std::integral_constant<Way, Way::kShort>());
}

bool CachingAllocator::allocate(RequestId id, Bytes bytes, StreamId stream, PoolId pool) {
  const Instruction request{
      .bytes = bytes, .id = id, .stream = stream, .pool = pool, .verb = Verb::kAlloc};
  return specialised(
      [&](auto way, auto history) { return allocate_inline<way, history>(request); });
}

void CachingAllocator::free(RequestId id) {
  specialised([&](auto way, auto history) {
    free_inline<way, history>(id);
    return true;
  });
}

template <Way kWay, bool kHistory>
std::size_t CachingAllocator::run(std::span<const Instruction> chunk) {
  const std::uint32_t start = instruction_;
  if constexpr (kHistory) --instruction_;  // the loop counts before each
  const Instruction* const begin = chunk.data();
  const Instruction* const end = begin + chunk.size();
  const auto executed = [begin](const Instruction* at) {
    return static_cast<std::size_t>(at - begin);
  };
  for (const Instruction* at = begin; at != end;) {
    const Instruction* stop = end;
    if constexpr (kHistory && kWay != Way::kLong) {
      keep_recent();
      stop = at + std::min(end - at, std::ptrdiff_t{kRecent / kEventsEach});
    }
    for (; at != stop; ++at) {
      if constexpr (kHistory) {
        ++instruction_;
        if constexpr (kWay == Way::kLong) finish_samples();
      }
      if (at->verb == Verb::kAlloc) {
        if (allocate_inline<kWay, kHistory>(*at)) [[likely]]
          continue;
        refused_ = true;
      } else if (at->verb == Verb::kFree) {
        free_inline<kWay, kHistory>(at->id);
        continue;
      } else if (execute_other(*at, device_, clock_) && at->verb != Verb::kPool) {
        continue;
      }
      // A request was refused, or a pool changed what is in force: the rest may go another way.
      instruction_ = start + static_cast<std::uint32_t>(executed(at)) + 1;
      return executed(at) + 1;
    }
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
        specialised([&](auto way, auto history) { return run<way, history>(part); });
    done += executed;
    if (refused_) break;
  }
  if constexpr (kAudits) audit_after(done);
  return done;
}

}  // namespace tidemark
