#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/program/instruction.h"

namespace tidemark {

/// A set of small numbers that is walked in the order of PyTorch's open-addressing hash table,
/// which decides the order of events: the streams recorded on a block, the streams that have events
/// outstanding, the private pools that may be freed. Source: docs/rules/allocator.md#18.3.
class WalkTable {
 public:
  using Key = std::uint32_t;

  /// The hash of a stream of device `device`; of a private pool, its number.
  static std::uint64_t hash_of_stream(StreamId stream, std::uint8_t device) {
    constexpr std::uint64_t kPool = 32;  // streams of each priority, one pool after another
    const std::uint64_t place = std::uint64_t{stream} - 1;
    const std::uint64_t id =
        stream == 0 ? 0 : kPool * (place % kPool) + 3 + 2 * (place / kPool % 4);
    return (std::uint64_t{1} << 56U) + (std::uint64_t{device} << 48U) + id;
  }

  /// Returns false when `key` is there already. Requires: equal keys have equal hashes.
  bool insert(std::uint64_t hash, Key key);
  /// Returns false when `key` is not there.
  bool erase(std::uint64_t hash, Key key);
  /// As new: no slots.
  void reset() {
    slots_ = size_ = 0;
    reach_ = 4;
    entries_.clear();
  }
  /// Empties the table but keeps its slots.
  void clear();
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The keys in walk order: for (slot = first(); slot != end(); slot = next(slot)) at(slot).
  [[nodiscard]] std::size_t first() const { return next_from(0); }
  [[nodiscard]] std::size_t next(std::size_t slot) const { return next_from(slot + 1); }
  [[nodiscard]] std::size_t end() const { return entries_.size(); }
  [[nodiscard]] Key at(std::size_t slot) const { return entries_[slot].key; }
  /// Erases the entry at `slot`; returns the slot to go on with: the entry that moved down is
  /// looked at next.
  std::size_t erase_at(std::size_t slot);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    Key key = 0;
    std::int32_t distance = -1;  ///< from its home slot; -1: unused
  };
  [[nodiscard]] std::size_t home(std::uint64_t hash) const {
    return (11400714819323198485U * hash) >>
           (64U - static_cast<unsigned>(std::bit_width(slots_) - 1));
  }
  [[nodiscard]] std::size_t next_from(std::size_t slot) const {
    while (slot < entries_.size() && entries_[slot].distance < 0) ++slot;
    return slot;
  }
  void grow();

  std::size_t slots_ = 0;
  std::int32_t reach_ = 4;  ///< entries beyond the last slot; no entry lies farther from home
  std::size_t size_ = 0;
  std::vector<Entry> entries_;
};

/// The streams recorded on a block, in walk order. Most blocks have one, for which no table is
/// built.
class StreamUses {
 public:
  void insert(StreamId stream, std::uint8_t device) {
    if (count_ == 0) {
      only_ = stream;
      count_ = 1;
    } else if (count_ > 1) {
      table_.insert(WalkTable::hash_of_stream(stream, device), stream);
    } else if (stream != only_) {
      table_.insert(WalkTable::hash_of_stream(only_, device), only_);
      table_.insert(WalkTable::hash_of_stream(stream, device), stream);
      count_ = 2;
    }
  }
  void erase(StreamId stream, std::uint8_t device) {
    if (count_ > 1) {
      table_.erase(WalkTable::hash_of_stream(stream, device), stream);
    } else if (stream == only_) {
      count_ = 0;
    }
  }
  [[nodiscard]] std::size_t size() const { return count_ > 1 ? table_.size() : count_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  void reset() {
    if (count_ > 1) table_.reset();
    count_ = 0;
  }
  template <class Function>
  void for_each(const Function& function) const {
    if (count_ == 1) function(only_);
    if (count_ <= 1) return;
    for (std::size_t slot = table_.first(); slot != table_.end(); slot = table_.next(slot)) {
      function(static_cast<StreamId>(table_.at(slot)));
    }
  }

 private:
  WalkTable table_;
  std::uint8_t count_ = 0;  ///< 0, 1, or 2: those in the table
  StreamId only_ = 0;
};

}  // namespace tidemark
