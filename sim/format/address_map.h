#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark {

/// What is known of each address, by open addressing: the reader of a long recording looks up every
/// event once or twice. Requires: no key is ~0. Pointers to values last until the next insert or
/// erase.
template <class Value>
class AddressMap {
 public:
  AddressMap() : slots_(1024) {}

  [[nodiscard]] Value* find(std::uint64_t key) {
    for (std::size_t i = home(key);; i = next(i)) {
      if (slots_[i].key == key) return &slots_[i].value;
      if (slots_[i].key == kEmpty) return nullptr;
    }
  }
  /// The value of `key`, made when it is not there.
  Value& operator[](std::uint64_t key) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    std::size_t i = home(key);
    while (slots_[i].key != key && slots_[i].key != kEmpty) i = next(i);
    if (slots_[i].key == kEmpty) {
      slots_[i].key = key;
      slots_[i].value = Value{};
      ++size_;
    }
    return slots_[i].value;
  }
  void erase(std::uint64_t key) {
    std::size_t hole = home(key);
    while (slots_[hole].key != key) {
      if (slots_[hole].key == kEmpty) return;
      hole = next(hole);
    }
    for (std::size_t i = next(hole); slots_[i].key != kEmpty; i = next(i)) {
      // An entry may move up to the hole unless its home lies behind the hole.
      if (((i - home(slots_[i].key)) & mask()) >= ((i - hole) & mask())) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole].key = kEmpty;
    --size_;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Calls `visit(key, value)` for each entry, in no order that means anything: sort what comes
  /// out.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.key != kEmpty) visit(slot.key, slot.value);
    }
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kEmpty;
    Value value{};
  };
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & mask(); }
  [[nodiscard]] std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> 32U) & mask();
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key == kEmpty) continue;
      std::size_t i = home(slot.key);
      while (slots_[i].key != kEmpty) i = next(i);
      slots_[i] = slot;
    }
  }
  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace tidemark
