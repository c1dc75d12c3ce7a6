#include <algorithm>

#include "sim/alloc/caching_allocator.h"

// Blocks that other streams use: record_stream, events, captures (docs/rules/allocator.md#10).

namespace tidemark {

void CachingAllocator::record_stream(RequestId id, StreamId stream) {
  const BlockIndex index = binding(id);
  if (index == kNoBlock) return;
  Block& block = blocks_[index];
  if (stream == block.lane->stream) return;
  if (!block.is(Block::kUsed)) {
    if (unused_uses_.empty()) {
      unused_uses_.push_back(static_cast<std::uint32_t>(uses_.size()));
      uses_.emplace_back();
    }
    block.life.uses = unused_uses_.back();
    unused_uses_.pop_back();
    block.flags |= Block::kUsed;
  }
  uses_[block.life.uses].insert(stream, device_.config().device);
  if (is_capturing(current_stream_)) capture_uses_[index].push_back(stream);
}

bool CachingAllocator::is_in_capture(StreamId stream) const {
  if (settings_.version < Version{2, 13}) return true;
  return std::any_of(routings_.begin(), routings_.end(),
                     [stream](const Routing& routing) { return routing.stream == stream; });
}

inline void CachingAllocator::drop_uses(BlockIndex index) {
  Block& block = blocks_[index];
  uses_[block.life.uses].reset();
  unused_uses_.push_back(block.life.uses);
  block.flags = static_cast<Block::Flags>(block.flags & ~Block::kUsed);
  if (!capture_uses_.empty()) capture_uses_.erase(index);
}

inline void CachingAllocator::record_events(BlockIndex index) {
  Block& block = blocks_[index];
  const StreamUses& uses = uses_[block.life.uses];
  block.life.pending = static_cast<std::uint32_t>(uses.size());
  uses.for_each([this, index](StreamId stream) {
    if (stream >= queues_.size()) queues_.resize(std::size_t{stream} + 1);
    EventQueue& queue = queues_[stream];
    if (queue.head >= 64 && 2 * queue.head >= queue.items.size()) {
      queue.items.erase(queue.items.begin(),
                        queue.items.begin() + static_cast<std::ptrdiff_t>(queue.head));
      queue.head = 0;
    }
    if (queue.items.empty())
      queue_order_.insert(WalkTable::hash_of_stream(stream, device_.config().device), stream);
    queue.items.push_back({clock_.record(stream), index});
  });
  drop_uses(index);
  block.flags |= Block::kPending;
  awaits_events_ = true;
}

void CachingAllocator::free_slowly(BlockIndex index) {
  const Block& block = blocks_[index];
  books_.add_pending(block.lane->kind, static_cast<std::int64_t>(block.bytes));
  if (is_capturing(current_stream_)) {
    deferred_.push_back(index);
    seen_progress_ = kNeverSeen;
    awaits_events_ = true;
  } else {
    record_events(index);
  }
}

inline void CachingAllocator::finish_event(BlockIndex index) {
  Block& block = blocks_[index];
  if (--block.life.pending > 0) return;
  block.flags = static_cast<Block::Flags>(block.flags & ~Block::kPending);
  const PoolKind kind = block.lane->kind;
  const Bytes bytes = block.bytes;
  complete(index);
  books_.remove_pending(kind, static_cast<std::int64_t>(bytes));
}

void CachingAllocator::process_deferred() {
  std::vector<BlockIndex> deferred;
  deferred.swap(deferred_);
  for (const BlockIndex index : deferred) {
    Block& block = blocks_[index];
    StreamUses& uses = uses_[block.life.uses];
    if (const auto found = capture_uses_.find(index); found != capture_uses_.end()) {
      for (const StreamId stream : found->second) {
        uses.erase(stream, device_.config().device);
      }
    }
    if (!uses.empty()) {
      record_events(index);
      continue;
    }
    drop_uses(index);
    const PoolKind kind = block.lane->kind;
    const Bytes bytes = block.bytes;
    complete(index);
    books_.remove_pending(kind, static_cast<std::int64_t>(bytes));
  }
}

void CachingAllocator::process_events() {
  if (!deferred_.empty()) process_deferred();
  seen_progress_ = clock_.progress() == 0 ? kNeverSeen : clock_.progress();
  std::size_t slot = queue_order_.first();
  while (slot != queue_order_.end()) {
    const auto stream = static_cast<StreamId>(queue_order_.at(slot));
    EventQueue& queue = queues_[stream];
    while (queue.head < queue.items.size()) {
      const PendingEvent event = queue.items[queue.head];
      if (!clock_.is_done(stream, event.ticket)) break;
      ++queue.head;
      finish_event(event.block);
    }
    if (queue.head == queue.items.size()) {
      queue.items.clear();
      queue.head = 0;
      slot = queue_order_.erase_at(slot);
    } else {
      slot = queue_order_.next(slot);
    }
  }
  awaits_events_ = !queue_order_.empty();
}

void CachingAllocator::synchronize_and_free(const PrivatePool* only) {
  ++num_sync_all_streams_;
  process_deferred();
  std::vector<StreamId> emptied;
  for (std::size_t slot = queue_order_.first(); slot != queue_order_.end();
       slot = queue_order_.next(slot)) {
    const auto stream = static_cast<StreamId>(queue_order_.at(slot));
    EventQueue& queue = queues_[stream];
    std::size_t kept = 0;
    for (std::size_t at = queue.head; at < queue.items.size(); ++at) {
      const PendingEvent event = queue.items[at];
      if (only != nullptr && blocks_[event.block].lane->pool->owner != only) {
        queue.items[kept++] = event;
        continue;
      }
      clock_.wait(stream, event.ticket);
      finish_event(event.block);
    }
    queue.items.resize(kept);
    queue.head = 0;
    if (kept == 0) emptied.push_back(stream);
  }
  if (only == nullptr) {
    queue_order_.clear();
  } else {
    for (const StreamId stream : emptied) {
      queue_order_.erase(WalkTable::hash_of_stream(stream, device_.config().device), stream);
    }
  }
  awaits_events_ = !queue_order_.empty() || !deferred_.empty();
}

}  // namespace tidemark
