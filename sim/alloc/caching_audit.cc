#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/alloc/caching_allocator.h"
#include "sim/base/check.h"

// The allocator checks itself: the invariants at the top of caching_allocator.h, counted anew from
// the blocks.

namespace tidemark {
namespace {

/// What the books must say of one kind of pool.
struct Counted {
  std::array<std::int64_t, 5> amounts{};  ///< by Amount
  std::int64_t mapped_bytes = 0;
  std::int64_t pending_bytes = 0;
  std::int64_t free_blocks = 0;
  void add(Amount which, std::int64_t by) { amounts[static_cast<std::size_t>(which)] += by; }
  void add(const Block& block) {
    if (!block.is(Block::kMapped)) return;
    mapped_bytes += as_signed(block.bytes);
    if (block.is(Block::kFree)) {
      ++free_blocks;
      if (!block.is_split() || block.is(Block::kExpandable)) return;
      add(Amount::kInactiveSplits, 1);
      add(Amount::kInactiveSplitBytes, as_signed(block.bytes));
      return;
    }
    add(Amount::kRequestedBytes, as_signed(block.requested_bytes));
    if (block.is(Block::kAllocated)) {
      add(Amount::kAllocations, 1);
      add(Amount::kAllocatedBytes, as_signed(block.bytes));
    } else {
      pending_bytes += as_signed(block.bytes);
    }
  }
};

std::string place(const Block& block) {
  return fmt::format("block of {} bytes at {}, flags {}", block.bytes, block.address, block.flags);
}

}  // namespace

void CachingAllocator::audit_after(std::size_t executed) {
  // A lane's bins are looked at even where they are empty: a long run waits longer and longer.
  constexpr std::size_t kLongest = 512;
  unaudited_ += executed;
  if (unaudited_ < blocks_.size() + std::min(audits_ * audits_, kLongest) * lanes_.size()) return;
  unaudited_ = 0;
  ++audits_;
  validate();
}

void CachingAllocator::validate() const {
  books_.validate();
  std::array<Counted, 2> counted{};
  for (const BlockIndex index : blocks_.in_use()) {
    validate_block(index);
    counted[static_cast<std::size_t>(blocks_[index].lane->kind)].add(blocks_[index]);
  }
  for (const PoolKind kind : {PoolKind::kSmall, PoolKind::kLarge}) {
    const Counted& sums = counted[static_cast<std::size_t>(kind)];
    for (std::size_t amount = 0; amount < sums.amounts.size(); ++amount) {
      const std::int64_t booked = books_.current(static_cast<Amount>(amount), kind);
      TIDEMARK_CHECK(booked == sums.amounts[amount],
                     fmt::format("amount {}: {} in the books, {} in the blocks", amount, booked,
                                 sums.amounts[amount]));
    }
  }
  TIDEMARK_CHECK(books_.pending_bytes() == counted[0].pending_bytes + counted[1].pending_bytes,
                 fmt::format("{} bytes pending", books_.pending_bytes()));
  TIDEMARK_CHECK(reserved_bytes_.all.current == counted[0].mapped_bytes + counted[1].mapped_bytes,
                 fmt::format("{} bytes reserved", reserved_bytes_.all.current));
  validate_lanes(counted[0].free_blocks + counted[1].free_blocks);
  validate_queues();
}

/// One block and its links to its neighbours.
void CachingAllocator::validate_block(BlockIndex index) const {
  const Block& block = blocks_[index];
  const Lane& lane = *block.lane;
  const bool is_mapped = block.is(Block::kMapped);
  TIDEMARK_CHECK(block.bytes > 0 && block.bytes % kMinBlockBytes == 0, place(block));
  TIDEMARK_CHECK(lane.pool != nullptr && lane.pool->kind == lane.kind, place(block));
  TIDEMARK_CHECK(is_mapped || block.flags == Block::kExpandable, place(block));
  TIDEMARK_CHECK(block.is(Block::kFree) == (is_mapped && block.is_idle()), place(block));
  TIDEMARK_CHECK(!(block.is(Block::kAllocated) && block.is(Block::kPending)), place(block));
  TIDEMARK_CHECK(!plainest_ || (!block.is(Block::kExpandable) && block.order == 0), place(block));
  if (block.is(Block::kAllocated)) {
    TIDEMARK_CHECK(binding(block.life.id) == index, place(block));
    TIDEMARK_CHECK(block.requested_bytes > 0 && block.requested_bytes <= block.bytes, place(block));
  }
  if (!is_mapped) {
    const auto found = lane.pool->unmapped.find({lane.stream, block.address});
    TIDEMARK_CHECK(found != lane.pool->unmapped.end() && found->second == index, place(block));
  }
  if (block.prev != kNoBlock) {
    TIDEMARK_CHECK(blocks_[block.prev].next == index, place(block));
  }
  if (block.next == kNoBlock) return;
  const Block& next = blocks_[block.next];
  TIDEMARK_CHECK(next.prev == index && next.address == block.address + block.bytes, place(block));
  TIDEMARK_CHECK(next.lane == block.lane, place(block));
  TIDEMARK_CHECK(!(block.is_idle() && next.is_idle() && next.is(Block::kMapped) == is_mapped),
                 place(block));
}

/// Requires: `free_blocks` blocks have Block::kFree.
void CachingAllocator::validate_lanes(std::int64_t free_blocks) const {
  std::vector<BlockIndex> in_sets;
  for (const auto& lane : lanes_) {
    if (lane->pool == nullptr) continue;
    lane->free.validate(blocks_.data());
    const std::size_t first = in_sets.size();
    lane->free.collect(blocks_.data(), in_sets);
    for (std::size_t i = first; i < in_sets.size(); ++i)
      TIDEMARK_CHECK(blocks_[in_sets[i]].lane == lane.get(), place(blocks_[in_sets[i]]));
    const SplitRule rule = split_rule(*lane->pool, may_expand(*lane->pool));
    TIDEMARK_CHECK(lane->split.from == rule.from && lane->split.below == rule.below,
                   fmt::format("stream {}", lane->stream));
    TIDEMARK_CHECK(find_lane(*lane->pool, lane->stream) == lane.get(),
                   fmt::format("stream {}", lane->stream));
  }
  TIDEMARK_CHECK(in_sets.size() == static_cast<std::size_t>(free_blocks),
                 fmt::format("{} blocks in sets, {} free", in_sets.size(), free_blocks));
}

/// Every pending block waits for as many events as are queued for it.
void CachingAllocator::validate_queues() const {
  std::map<BlockIndex, std::uint32_t> queued;
  for (const EventQueue& queue : queues_) {
    for (std::size_t i = queue.head; i < queue.items.size(); ++i) ++queued[queue.items[i].block];
  }
  for (const auto& [index, count] : queued) {
    TIDEMARK_CHECK(blocks_[index].is(Block::kPending) && blocks_[index].life.pending == count,
                   place(blocks_[index]));
  }
  TIDEMARK_CHECK(awaits_events_ || (queued.empty() && deferred_.empty()),
                 fmt::format("{} blocks wait for events", queued.size()));
}

}  // namespace tidemark
