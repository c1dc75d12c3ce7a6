#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/program/instruction.h"

namespace tidemark::naive {

/// The table of values by stream whose walk order decides the order of some events: open
/// addressing, Robin Hood insertion, no wrapping. Source: docs/rules/allocator.md#18.3.
template <class Value>
class StreamTable {
 public:
  struct Entry {
    StreamId stream = 0;
    Value value{};
    std::size_t distance = 0;  // from its home slot
  };

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  /// The entry in a slot, or nullptr. Requires: slot < size().
  Entry* at(std::size_t slot) { return slots_[slot] ? &*slots_[slot] : nullptr; }

  /// The value of a stream, made when missing. Valid until the next change.
  Value& operator[](StreamId stream) {
    for (auto& slot : slots_) {
      if (slot && slot->stream == stream) return slot->value;
    }
    insert(Entry{stream, Value{}, 0});
    return (*this)[stream];
  }

  void erase_slot(std::size_t slot) {
    slots_[slot].reset();
    --count_;
    for (std::size_t next = slot + 1; next < slots_.size(); ++next) {
      if (!slots_[next] || slots_[next]->distance == 0) return;
      slots_[next - 1] = std::move(slots_[next]);
      slots_[next].reset();
      --slots_[next - 1]->distance;
    }
  }

  /// Empties the table and keeps its slots.
  void clear() {
    for (auto& slot : slots_) slot.reset();
    count_ = 0;
  }

 private:
  [[nodiscard]] std::size_t home(StreamId stream) const {
    const std::uint64_t id = stream == 0 ? 0 : 32 * (std::uint64_t{stream} - 1) + 3;
    const std::uint64_t hash = (std::uint64_t{1} << 56U) + id;
    return static_cast<std::size_t>((11400714819323198485U * hash) >> (64 - log2_));
  }
  [[nodiscard]] std::size_t longest_distance() const { return std::max<std::size_t>(4, log2_); }

  void insert(Entry entry) {
    for (;;) {
      if (slots_.empty()) {
        grow();
        continue;
      }
      entry.distance = 0;
      std::size_t slot = home(entry.stream);
      while (slots_[slot] && slots_[slot]->distance >= entry.distance) {
        ++slot;
        ++entry.distance;
      }
      const std::size_t home_slots = std::size_t{1} << log2_;
      if (entry.distance == longest_distance() || (count_ + 1) * 2 > home_slots) {
        grow();
        continue;
      }
      if (place(slot, entry)) return;
      grow();
    }
  }

  /// Puts the entry into the slot and moves the displaced ones on. False: one went too far and is
  /// now in `entry`; the slot of the first has the last one displaced.
  bool place(std::size_t first, Entry& entry) {
    std::size_t slot = first;
    for (;;) {
      if (!slots_[slot]) {
        slots_[slot] = std::move(entry);
        ++count_;
        return true;
      }
      if (slot == first || slots_[slot]->distance < entry.distance) std::swap(*slots_[slot], entry);
      ++slot;
      ++entry.distance;
      if (entry.distance == longest_distance()) {
        std::swap(*slots_[first], entry);
        return false;
      }
    }
  }

  void grow() {
    std::vector<std::optional<Entry>> old = std::move(slots_);
    log2_ = old.empty() ? 2 : log2_ + 1;
    slots_.clear();
    slots_.resize((std::size_t{1} << log2_) + longest_distance());
    count_ = 0;
    for (auto& slot : old) {
      if (slot) insert(std::move(*slot));
    }
  }

  unsigned log2_ = 0;
  std::size_t count_ = 0;
  std::vector<std::optional<Entry>> slots_;
};

}  // namespace tidemark::naive
