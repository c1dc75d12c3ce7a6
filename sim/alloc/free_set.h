#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/alloc/block.h"
#include "sim/alloc/sizes.h"

namespace tidemark {

/// The free, mapped blocks of one pool and stream in PyTorch's order: size, then Block::order, then
/// address (docs/rules/allocator.md#4). Intrusive: the links are in the blocks.
///
/// Sizes fall into 4096 bins, each of one size up to 1 MiB and of 1/128 of an octave above; two
/// levels of bitmaps find the next bin in use. A bin holds groups of equal size, ascending in a
/// list; a group is a pairing heap of (order, address). Cost: insert and lower_bound O(1) but for
/// the few sizes that share a bin, erase O(1) or amortised O(log group).
///
///     words_   ...0 1 0 0 1...          a bit a bin
///     heads_       |     |
///               512 B   1.5 MiB -> 1.51 MiB      the leaders of the groups of a bin
///               /   \                               a leader's heap, all of its size
///            512 B  512 B
///
/// Invariants, which validate() checks:
///  * A block is in the set exactly while it has Block::kFree; its `bin` is that of its size.
///  * heads_[bin] is kNoBlock exactly where the bin's bit in words_ is 0. The last bin is empty.
///  * A word that is not 0 has its bit in summary_. The reverse need not hold.
///  * The groups of a bin ascend in size through links.right; links.left leads back, and is
///    kNoBlock in the first one. Their leaders alone have Block::kGroupLeader.
///  * All blocks of a group have one size, and none comes before its parent in the heap.
///  * A first child's links.left is its parent, another child's its sibling before it.
class FreeSet {
 public:
  /// Requires: blocks[index] is in no set.
  [[gnu::always_inline]] void insert(Block* blocks, BlockIndex index) {
    insert_at(blocks, index, bin_of(blocks[index].bytes));
  }

  /// Requires: blocks[index] is in this set.
  [[gnu::always_inline]] void erase(Block* blocks, BlockIndex index) {
    Block& block = blocks[index];
    if (neighbours(block) != kNoBlock) [[unlikely]] {
      erase_linked(blocks, index);
      return;
    }
    // Alone in its bin. The summary keeps its bit: the next search that comes by clears it.
    block.flags = static_cast<Block::Flags>(block.flags & ~(Block::kFree | Block::kGroupLeader));
    empty(block.bin);
  }

  /// Puts a block of this set, whose bytes and address were changed, where it belongs now.
  [[gnu::always_inline]] void move(Block* blocks, BlockIndex index) {
    Block& block = blocks[index];
    const std::size_t bin = bin_of(block.bytes);
    if ((neighbours(block) | heads_[bin]) != kNoBlock) [[unlikely]] {
      move_linked(blocks, index, bin);
      return;
    }
    empty(block.bin);
    block.bin = static_cast<std::uint16_t>(bin);
    fill(bin, index);
  }

  /// The first block in order with at least `bytes`, or kNoBlock.
  [[nodiscard, gnu::always_inline]] BlockIndex lower_bound(const Block* blocks, Bytes bytes) {
    const std::size_t bin = bin_of(bytes);
    for (BlockIndex leader = heads_[bin]; leader != kNoBlock; leader = blocks[leader].links.right) {
      if (blocks[leader].bytes >= bytes) return leader;
    }
    return first_after(bin);
  }

  /// The block that follows in order, or kNoBlock. Cost: linear in the blocks of equal size.
  [[nodiscard]] BlockIndex next(const Block* blocks, BlockIndex index);
  /// The size of the largest block; 0 when empty.
  [[nodiscard]] Bytes largest(const Block* blocks) const;
  /// Appends all blocks, in order.
  void collect(const Block* blocks, std::vector<BlockIndex>& out) const;
  /// The order among blocks of one size.
  static bool before(const Block& a, const Block& b) {
    return a.order != b.order ? a.order < b.order : a.address < b.address;
  }
  /// Checks the invariants above. Errors: InternalError. Cost: linear in the set and its bins.
  void validate(const Block* blocks) const;

 private:
  static constexpr std::size_t kBins = 4096;
  static constexpr std::size_t kExactBins = kSmallMaxBytes / 512 + 1;

  static std::size_t bin_of(Bytes bytes) {
    const std::uint64_t unit = bytes / 512;
    if (bytes <= kSmallMaxBytes) return unit;
    // The exponent and seven bits of the fraction of a double: 128 steps an octave, from octave 11
    // on.
    constexpr std::uint64_t kFirst = (std::uint64_t{1023} + 11) << 7U;
    const auto size = static_cast<double>(static_cast<std::int64_t>(unit));
    const std::uint64_t bin = kExactBins + (std::bit_cast<std::uint64_t>(size) >> 45U) - kFirst;
    return std::min<std::uint64_t>(bin, kBins - 2);
  }
  /// kNoBlock when it is the only block of its bin.
  static BlockIndex neighbours(const Block& block) {
    return block.links.child | block.links.left | block.links.right;
  }
  [[nodiscard, gnu::always_inline]] BlockIndex first_after(std::size_t bin) {
    const std::size_t from = bin + 1;  // below kBins: the last bin is never used
    std::size_t word = from / 64;
    const std::uint64_t bits = words_[word] >> (from % 64);
    if (bits != 0) return heads_[from + first_bit(bits)];
    for (std::uint64_t later = summary_ >> word >> 1U << 1U << word; later != 0;
         later &= later - 1) {
      word = first_bit(later);
      if (words_[word] != 0) [[likely]]
        return heads_[word * 64 + first_bit(words_[word])];
      summary_ &= ~(std::uint64_t{1} << word);
    }
    return kNoBlock;
  }
  static std::size_t first_bit(std::uint64_t bits) {
    return static_cast<std::size_t>(std::countr_zero(bits));
  }
  /// Joins two heaps whose roots are no group's leaders; returns the root, with links.child alone
  /// valid.
  static BlockIndex meld(Block* blocks, BlockIndex a, BlockIndex b);
  /// Joins a list of siblings into one heap.
  static BlockIndex meld_siblings(Block* blocks, BlockIndex first);
  [[gnu::always_inline]] void fill(std::size_t bin, BlockIndex index) {
    heads_[bin] = index;
    words_[bin / 64] |= std::uint64_t{1} << (bin % 64);
    summary_ |= std::uint64_t{1} << (bin / 64);
  }
  [[gnu::always_inline]] void insert_at(Block* blocks, BlockIndex index, std::size_t bin) {
    Block& block = blocks[index];
    const BlockIndex head = heads_[bin];
    block.bin = static_cast<std::uint16_t>(bin);
    if (head != kNoBlock) {
      insert_beside(blocks, index, head);
      return;
    }
    block.links = {kNoBlock, kNoBlock, kNoBlock};
    block.flags |= Block::kFree | Block::kGroupLeader;
    fill(bin, index);
  }
  /// Requires: `bin` is not empty.
  [[gnu::always_inline]] void empty(std::size_t bin) {
    heads_[bin] = kNoBlock;
    words_[bin / 64] ^= std::uint64_t{1} << (bin % 64);
  }
  void insert_beside(Block* blocks, BlockIndex index, BlockIndex head);
  void move_linked(Block* blocks, BlockIndex index, std::size_t bin);
  void erase_linked(Block* blocks, BlockIndex index);
  void erase_from_group(Block* blocks, BlockIndex index);
  void validate_bin(const Block* blocks, std::size_t bin) const;

  /// A bit a word; set where the word is not 0, and perhaps where it became so: whoever comes by
  /// clears it.
  mutable std::uint64_t summary_ = 0;
  std::array<std::uint64_t, kBins / 64> words_{};
  std::array<BlockIndex, kBins> heads_{};
};

}  // namespace tidemark
