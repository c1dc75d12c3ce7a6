#include "sim/alloc/pinned_memory.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/base/check.h"

namespace tidemark {

void PinnedMemory::allocate(std::uint32_t id, Bytes bytes) {
  TIDEMARK_CHECK(id == bound_.size() && bytes > 0,
                 fmt::format("pinned request {} of {} bytes after {}", id, bytes, bound_.size()));
  process_events();
  const auto index = static_cast<std::uint8_t>(std::bit_width(bytes - 1));
  const Bytes size = Bytes{1} << index;
  std::vector<std::uint32_t>& kept = free_[index];
  if (kept.empty()) {
    bound_.push_back(static_cast<std::uint32_t>(blocks_.size()));
    blocks_.push_back({index, 0, {}});
    ++statistics_.made;
    statistics_.held += size;
    statistics_.peak_held = std::max(statistics_.peak_held, statistics_.held);
  } else {
    bound_.push_back(kept.back());
    kept.pop_back();
  }
  statistics_.in_use += size;
  statistics_.peak_in_use = std::max(statistics_.peak_in_use, statistics_.in_use);
}

void PinnedMemory::free(std::uint32_t id) {
  const std::uint32_t at = bound_[id];
  Block& block = blocks_[at];
  if (block.uses.empty()) {
    keep(at);
    return;
  }
  for (const auto& [device, stream] : block.uses) {
    pending_.push_back({device, stream, clocks_[device]->record(stream), at});
    ++block.events;
  }
  block.uses.clear();
}

void PinnedMemory::use(std::uint32_t id, std::uint8_t device, StreamId stream) {
  std::vector<Use>& uses = blocks_[bound_[id]].uses;
  const Use use{device, stream};
  if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
}

void PinnedMemory::keep(std::uint32_t block) {
  const std::uint8_t index = blocks_[block].index;
  free_[index].push_back(block);
  statistics_.in_use -= Bytes{1} << index;
}

void PinnedMemory::process_events() {
  while (!pending_.empty()) {
    const Pending event = pending_.front();
    if (!clocks_[event.device]->is_done(event.stream, event.ticket)) return;
    pending_.pop_front();
    if (--blocks_[event.block].events == 0) keep(event.block);
  }
}

void PinnedMemory::write_state(StateImage& image) const {
  Bytes waiting = 0;
  for (const Pending& event : pending_) {
    const Block& block = blocks_[event.block];
    image.put(block.index);
    image.put(block.events);
    image.put(event.device);
    clocks_[event.device]->write_ticket(image, event.ticket);
    const auto is_same = [&](const Pending& other) { return other.block == event.block; };
    if (&*std::find_if(pending_.begin(), pending_.end(), is_same) == &event)
      waiting += Bytes{1} << block.index;
  }
  if (waiting != statistics_.in_use) image.give_up("pinned host memory");
  for (const std::vector<std::uint32_t>& kept : free_) image.put(kept.size());
  for (const std::uint64_t figure : {statistics_.in_use, statistics_.peak_in_use, statistics_.held,
                                     statistics_.peak_held, statistics_.made, statistics_.given})
    image.put(figure);
}

void PinnedMemory::empty_cache() {
  process_events();
  for (std::vector<std::uint32_t>& kept : free_) {
    for (const std::uint32_t block : kept) {
      statistics_.held -= Bytes{1} << blocks_[block].index;
      ++statistics_.given;
    }
    kept.clear();
  }
}

}  // namespace tidemark
