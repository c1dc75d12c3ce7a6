#include "sim/alloc/walk_table.h"

#include <algorithm>

namespace tidemark {

bool WalkTable::insert(std::uint64_t hash, Key key) {
  if (slots_ == 0) grow();
  std::size_t slot = home(hash);
  std::int32_t distance = 0;
  for (; entries_[slot].distance >= distance; ++slot, ++distance) {
    if (entries_[slot].key == key) return false;
  }
  if (distance == reach_ || 2 * (size_ + 1) > slots_) {
    grow();
    return insert(hash, key);
  }
  const std::size_t place = slot;
  Entry moving{hash, key, distance};
  std::swap(moving, entries_[place]);
  while (moving.distance >= 0) {
    ++slot;
    ++moving.distance;
    const std::int32_t there = entries_[slot].distance;
    const bool crowded = there >= moving.distance && moving.distance + 1 == reach_;
    if (crowded || slot + 1 == entries_.size()) {
      std::swap(moving,
                entries_[place]);  // the new key waits, what it displaced is back in the table
      grow();
      return insert(moving.hash, moving.key);
    }
    if (there < moving.distance) std::swap(moving, entries_[slot]);
  }
  ++size_;
  return true;
}

bool WalkTable::erase(std::uint64_t hash, Key key) {
  if (slots_ == 0) return false;
  std::size_t slot = home(hash);
  for (std::int32_t distance = 0; entries_[slot].distance >= distance; ++slot, ++distance) {
    if (entries_[slot].key == key) {
      erase_at(slot);
      return true;
    }
  }
  return false;
}

std::size_t WalkTable::erase_at(std::size_t slot) {
  std::size_t hole = slot;
  entries_[hole].distance = -1;
  for (std::size_t from = hole + 1; from < entries_.size() && entries_[from].distance > 0;
       ++from, ++hole) {
    entries_[hole] = entries_[from];
    --entries_[hole].distance;
    entries_[from].distance = -1;
  }
  --size_;
  return next_from(slot);
}

void WalkTable::clear() {
  for (Entry& entry : entries_) entry.distance = -1;
  size_ = 0;
}

void WalkTable::grow() {
  slots_ = std::max<std::size_t>(4, 2 * slots_);
  reach_ = std::max(4, static_cast<std::int32_t>(std::bit_width(slots_)) - 1);
  if (size_ == 0) {
    entries_.assign(slots_ + static_cast<std::size_t>(reach_), Entry{});
    return;
  }
  std::vector<Entry> old(slots_ + static_cast<std::size_t>(reach_));
  std::swap(old, entries_);
  size_ = 0;
  for (const Entry& entry : old) {
    if (entry.distance >= 0) insert(entry.hash, entry.key);
  }
}

}  // namespace tidemark
