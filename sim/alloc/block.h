#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/program/instruction.h"

namespace tidemark {

struct Lane;

using BlockIndex = std::uint32_t;
/// No block: the index of a wall that stands before and behind every segment, busy for ever, so
/// that looking at a neighbour needs no question whether there is one.
inline constexpr BlockIndex kNoBlock = 0;

/// One block of a segment, a cache line. Which of PyTorch's objects survives a split or a merge
/// shows in snapshots (docs/rules/allocator.md#2.2): its fields stay, whatever record holds them.
struct alignas(64) Block {
  /// Two bytes: a store to one byte might, for the compiler, change anything.
  using Flags = std::uint16_t;
  enum Flag : Flags {
    kAllocated = 1,    ///< its request is live
    kMapped = 2,       ///< has memory behind it; always so outside expandable ranges
    kExpandable = 4,   ///< part of an expandable range
    kPending = 8,      ///< freed, waits for `life.pending` events
    kUsed = 16,        ///< other streams are recorded on it: `life.uses`
    kFree = 32,        ///< in a FreeSet: idle and mapped
    kGroupLeader = 64  ///< of FreeSet
  };
  /// Links of a free, mapped block in its FreeSet.
  struct Links {
    BlockIndex child;
    BlockIndex left;
    BlockIndex right;
  };
  /// What an allocated or pending block carries.
  struct Life {
    RequestId id;
    std::uint32_t uses;     ///< index of its set of streams; valid with kUsed
    std::uint32_t pending;  ///< events it waits for; not 0 exactly with kPending
  };

  std::uint64_t address;
  Bytes bytes;
  Bytes requested_bytes;  ///< of its last life; never reset
  Lane* lane;             ///< its pool and stream
  BlockIndex prev;        ///< neighbours inside the segment
  BlockIndex next;        ///< in an unused record: the next unused one
  union {
    Links links;
    Life life;
  };
  std::uint32_t order;  ///< what breaks ties of size before the address does; 0 up to PyTorch 2.11
  std::uint32_t age_base;  ///< its pool's search count when it became free
  std::uint16_t bin;       ///< of FreeSet
  Flags flags;

  [[nodiscard]] bool is(Flag flag) const { return (flags & flag) != 0; }
  [[nodiscard]] bool is_split() const { return (prev | next) != kNoBlock; }
  /// Free or unmapped: nobody holds it and nothing is awaited.
  [[nodiscard]] bool is_idle() const { return (flags & (kAllocated | kPending | kUsed)) == 0; }
};
static_assert(sizeof(Block) == 64);

/// All blocks of one allocator by index. References are good until the next create().
class BlockStore {
 public:
  BlockStore() {
    blocks_.emplace_back();
    blocks_[kNoBlock].flags = Block::kAllocated | Block::kMapped;
  }

  /// A record whose fields hold left-overs.
  BlockIndex create_raw() {
    if (unused_ == kNoBlock) [[unlikely]]
      return append();
    const BlockIndex index = unused_;
    unused_ = blocks_[index].next;
    return index;
  }
  /// The same with requested_bytes 0, as PyTorch's objects begin.
  BlockIndex create() {
    const BlockIndex index = create_raw();
    blocks_[index].requested_bytes = 0;
    return index;
  }
  void recycle(BlockIndex index) {
    blocks_[index].next = unused_;
    unused_ = index;
  }
  [[nodiscard]] Block& operator[](BlockIndex index) { return blocks_[index]; }
  [[nodiscard]] const Block& operator[](BlockIndex index) const { return blocks_[index]; }
  /// The indices of all records in use, ascending.
  [[nodiscard]] std::vector<BlockIndex> in_use() const {
    std::vector<bool> unused(blocks_.size());
    for (BlockIndex index = unused_; index != kNoBlock; index = blocks_[index].next)
      unused[index] = true;
    std::vector<BlockIndex> used;
    for (BlockIndex index = kNoBlock + 1; index < blocks_.size(); ++index) {
      if (!unused[index]) used.push_back(index);
    }
    return used;
  }
  /// Records in use and unused, and the wall.
  [[nodiscard]] std::size_t size() const { return blocks_.size(); }
  [[nodiscard]] Block* data() { return blocks_.data(); }
  [[nodiscard]] const Block* data() const { return blocks_.data(); }

 private:
  BlockIndex append() {
    blocks_.emplace_back();
    return static_cast<BlockIndex>(blocks_.size() - 1);
  }
  std::vector<Block> blocks_;
  BlockIndex unused_ = kNoBlock;
};

}  // namespace tidemark
