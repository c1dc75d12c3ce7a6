#include "sim/alloc/free_set.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {
namespace {

void add_child(Block* blocks, BlockIndex parent, BlockIndex child) {
  const BlockIndex sibling = blocks[parent].links.child;
  blocks[child].links.left = parent;
  blocks[child].links.right = sibling;
  if (sibling != kNoBlock) blocks[sibling].links.left = child;
  blocks[parent].links.child = child;
}

void collect_heap(const Block* blocks, BlockIndex first, std::vector<BlockIndex>& out) {
  std::vector<BlockIndex> pending{first};
  while (!pending.empty()) {
    BlockIndex index = pending.back();
    pending.pop_back();
    for (; index != kNoBlock; index = blocks[index].links.right) {
      out.push_back(index);
      if (blocks[index].links.child != kNoBlock) pending.push_back(blocks[index].links.child);
    }
  }
}

/// Requires: `leader` leads a group. Checks its heap, below it.
void validate_heap(const Block* blocks, BlockIndex leader) {
  const auto place = [blocks](BlockIndex index) {
    return fmt::format("free block at {}", blocks[index].address);
  };
  std::vector<BlockIndex> parents{leader};
  while (!parents.empty()) {
    const BlockIndex parent = parents.back();
    parents.pop_back();
    BlockIndex before = parent;
    for (BlockIndex index = blocks[parent].links.child; index != kNoBlock;
         index = blocks[index].links.right) {
      const Block& block = blocks[index];
      TIDEMARK_CHECK(block.is(Block::kFree) && !block.is(Block::kGroupLeader), place(index));
      TIDEMARK_CHECK(block.links.left == before, place(index));
      TIDEMARK_CHECK(block.bytes == blocks[leader].bytes && block.bin == blocks[leader].bin,
                     place(index));
      TIDEMARK_CHECK(!FreeSet::before(block, blocks[parent]), place(index));
      if (block.links.child != kNoBlock) parents.push_back(index);
      before = index;
    }
  }
}

}  // namespace

BlockIndex FreeSet::meld(Block* blocks, BlockIndex a, BlockIndex b) {
  if (before(blocks[b], blocks[a])) std::swap(a, b);
  add_child(blocks, a, b);
  return a;
}

BlockIndex FreeSet::meld_siblings(Block* blocks, BlockIndex first) {
  // Pairs from left to right, chained through links.right, then the pairs from right to left.
  BlockIndex pairs = kNoBlock;
  while (first != kNoBlock) {
    const BlockIndex second = blocks[first].links.right;
    if (second == kNoBlock) {
      blocks[first].links.right = pairs;
      pairs = first;
      break;
    }
    const BlockIndex rest = blocks[second].links.right;
    const BlockIndex pair = meld(blocks, first, second);
    blocks[pair].links.right = pairs;
    pairs = pair;
    first = rest;
  }
  BlockIndex root = pairs;
  BlockIndex rest = blocks[root].links.right;
  while (rest != kNoBlock) {
    const BlockIndex following = blocks[rest].links.right;
    root = meld(blocks, root, rest);
    rest = following;
  }
  return root;
}

void FreeSet::insert_beside(Block* blocks, BlockIndex index, BlockIndex head) {
  Block& block = blocks[index];
  const Bytes bytes = block.bytes;
  BlockIndex left = kNoBlock;
  BlockIndex leader = head;
  while (leader != kNoBlock && blocks[leader].bytes < bytes) {
    left = leader;
    leader = blocks[leader].links.right;
  }
  BlockIndex right = leader;
  block.links.child = kNoBlock;
  block.flags |= Block::kFree;
  if (leader != kNoBlock && blocks[leader].bytes == bytes) {
    if (before(blocks[leader], block)) {
      add_child(blocks, leader, index);
      return;
    }
    right = blocks[leader].links.right;
    blocks[leader].flags = static_cast<Block::Flags>(blocks[leader].flags & ~Block::kGroupLeader);
    add_child(blocks, index, leader);
  }
  block.flags |= Block::kGroupLeader;
  block.links.left = left;
  block.links.right = right;
  if (right != kNoBlock) blocks[right].links.left = index;
  if (left != kNoBlock) {
    blocks[left].links.right = index;
  } else {
    heads_[block.bin] = index;
  }
}

void FreeSet::erase_linked(Block* blocks, BlockIndex index) {
  Block& block = blocks[index];
  const Block::Links links = block.links;
  if (heads_[block.bin] != index || links.right != kNoBlock) {
    erase_from_group(blocks, index);
    return;
  }
  // The leader of its bin's only group.
  block.flags = static_cast<Block::Flags>(block.flags & ~(Block::kFree | Block::kGroupLeader));
  BlockIndex heir = links.child;
  if (blocks[heir].links.right != kNoBlock) heir = meld_siblings(blocks, heir);
  Block& leader = blocks[heir];
  leader.flags |= Block::kGroupLeader;
  leader.links.left = leader.links.right = kNoBlock;
  heads_[block.bin] = heir;
}

void FreeSet::erase_from_group(Block* blocks, BlockIndex index) {
  Block& block = blocks[index];
  const Block::Links links = block.links;
  const bool leads = block.is(Block::kGroupLeader);
  block.flags = static_cast<Block::Flags>(block.flags & ~(Block::kFree | Block::kGroupLeader));
  BlockIndex heir = links.right;
  if (links.child != kNoBlock) {
    heir = meld_siblings(blocks, links.child);
    if (leads) blocks[heir].flags |= Block::kGroupLeader;
    blocks[heir].links.right = links.right;
    if (links.right != kNoBlock) blocks[links.right].links.left = heir;
  }
  if (heir != kNoBlock) blocks[heir].links.left = links.left;
  if (leads) {
    (links.left != kNoBlock ? blocks[links.left].links.right : heads_[block.bin]) = heir;
  } else {
    Block::Links& from = blocks[links.left].links;
    (from.child == index ? from.child : from.right) = heir;
  }
}

void FreeSet::move_linked(Block* blocks, BlockIndex index, std::size_t bin) {
  Block& block = blocks[index];
  if (neighbours(block) == kNoBlock) {
    if (block.bin == bin) return;
    empty(block.bin);
    block.flags = static_cast<Block::Flags>(block.flags & ~Block::kGroupLeader);
  } else {
    erase_linked(blocks, index);
  }
  insert_at(blocks, index, bin);
}

BlockIndex FreeSet::next(const Block* blocks, BlockIndex index) {
  const Block& block = blocks[index];
  const std::size_t bin = bin_of(block.bytes);
  BlockIndex leader = heads_[bin];
  while (blocks[leader].bytes != block.bytes) leader = blocks[leader].links.right;
  BlockIndex best = kNoBlock;
  const auto consider = [&](BlockIndex each) {
    if (before(block, blocks[each]) && (best == kNoBlock || before(blocks[each], blocks[best]))) {
      best = each;
    }
  };
  if (index == leader) {
    for (BlockIndex each = block.links.child; each != kNoBlock; each = blocks[each].links.right) {
      consider(each);
    }
  } else {
    std::vector<BlockIndex> members;
    collect_heap(blocks, blocks[leader].links.child, members);
    for (const BlockIndex each : members) consider(each);
  }
  if (best != kNoBlock) return best;
  const BlockIndex larger = blocks[leader].links.right;
  return larger != kNoBlock ? larger : first_after(bin);
}

Bytes FreeSet::largest(const Block* blocks) const {
  while (summary_ != 0) {
    const auto word = static_cast<std::uint32_t>(63 - std::countl_zero(summary_));
    if (words_[word] == 0) {
      summary_ ^= std::uint64_t{1} << word;
      continue;
    }
    const auto bit = static_cast<std::uint32_t>(63 - std::countl_zero(words_[word]));
    BlockIndex leader = heads_[word * 64 + bit];
    while (blocks[leader].links.right != kNoBlock) leader = blocks[leader].links.right;
    return blocks[leader].bytes;
  }
  return 0;
}

void FreeSet::collect(const Block* blocks, std::vector<BlockIndex>& out) const {
  for (std::uint64_t summary = summary_; summary != 0; summary &= summary - 1) {
    const auto word = static_cast<std::uint32_t>(std::countr_zero(summary));
    for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
      BlockIndex leader = heads_[word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))];
      for (; leader != kNoBlock; leader = blocks[leader].links.right) {
        const std::size_t begin = out.size();
        out.push_back(leader);
        if (blocks[leader].links.child == kNoBlock) continue;
        collect_heap(blocks, blocks[leader].links.child, out);
        std::sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                  [blocks](BlockIndex a, BlockIndex b) { return before(blocks[a], blocks[b]); });
      }
    }
  }
}

void FreeSet::validate_bin(const Block* blocks, std::size_t bin) const {
  const bool is_used = (words_[bin / 64] >> (bin % 64) & 1U) != 0;
  const auto place = [bin] { return fmt::format("bin {} of a free set", bin); };
  TIDEMARK_CHECK((heads_[bin] != kNoBlock) == is_used, place());
  TIDEMARK_CHECK(!is_used || (bin < kBins - 1 && (summary_ >> (bin / 64) & 1U) != 0), place());
  BlockIndex before = kNoBlock;
  for (BlockIndex leader = heads_[bin]; leader != kNoBlock; leader = blocks[leader].links.right) {
    const Block& block = blocks[leader];
    TIDEMARK_CHECK(block.is(Block::kFree) && block.is(Block::kGroupLeader), place());
    TIDEMARK_CHECK(block.bin == bin && bin_of(block.bytes) == bin, place());
    TIDEMARK_CHECK(block.links.left == before, place());
    TIDEMARK_CHECK(before == kNoBlock || blocks[before].bytes < block.bytes, place());
    validate_heap(blocks, leader);
    before = leader;
  }
}

void FreeSet::validate(const Block* blocks) const {
  for (std::size_t bin = 0; bin < kBins; ++bin) validate_bin(blocks, bin);
}

}  // namespace tidemark
