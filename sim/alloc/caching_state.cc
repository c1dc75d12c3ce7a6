#include <algorithm>

#include "sim/alloc/caching_allocator.h"

namespace tidemark {

void CachingAllocator::write_state(StateImage& image) const {
  if (!private_pools_.empty() || !gone_pools_.empty() || !routings_.empty()) {
    image.give_up("private memory pools");
    return;
  }
  if (!deferred_.empty() || !capture_uses_.empty()) {
    image.give_up("frees put off until a capture ends");
    return;
  }
  std::vector<BlockIndex> blocks = blocks_.in_use();
  std::sort(blocks.begin(), blocks.end(),
            [&](BlockIndex a, BlockIndex b) { return blocks_[a].address < blocks_[b].address; });
  // Block::order is only ever compared, and a new one is larger than all before.
  std::vector<std::uint32_t> orders;
  orders.reserve(blocks.size());
  for (const BlockIndex index : blocks) orders.push_back(blocks_[index].order);
  std::sort(orders.begin(), orders.end());
  image.put(blocks.size());
  for (const BlockIndex index : blocks) {
    const Block& block = blocks_[index];
    image.put(block.address);
    image.put(block.bytes);
    image.put(block.requested_bytes);
    image.put(std::uint64_t{block.lane->stream} << 9U |
              (block.lane->kind == PoolKind::kLarge ? 256U : 0U) |
              (block.flags & ~unsigned{Block::kGroupLeader}));
    image.put(static_cast<std::uint64_t>(
        std::lower_bound(orders.begin(), orders.end(), block.order) - orders.begin()));
    if (block.is_split())
      image.put((block.prev != kNoBlock ? 1U : 0U) | (block.next != kNoBlock ? 2U : 0U));
    if (has_counted_ && block.is(Block::kFree))
      image.put(block.lane->pool->search_count - block.age_base);
    if (block.is(Block::kAllocated)) image.put_request(block.life.id);
    if (block.is(Block::kPending)) image.put(block.life.pending);
    if (block.is(Block::kUsed))
      uses_[block.life.uses].for_each([&](StreamId stream) { image.put(stream); });
  }
  for (std::size_t stream = 0; stream < queues_.size(); ++stream) {
    const EventQueue& queue = queues_[stream];
    image.put(queue.items.size() - queue.head);
    for (std::size_t i = queue.head; i < queue.items.size(); ++i) {
      image.put(blocks_[queue.items[i].block].address);
      clock_.write_ticket(image, queue.items[i].ticket);
    }
  }
  for (std::size_t slot = queue_order_.first(); slot != queue_order_.end();
       slot = queue_order_.next(slot)) {
    image.put(slot);
    image.put(queue_order_.at(slot));
  }
  image.put(queue_order_.end());
  for (const auto& [begin, page] : ranges_) {
    image.put(begin);
    image.put(page);
  }
  image.put(limit_bytes_);
  image.put(current_stream_);
}

}  // namespace tidemark
