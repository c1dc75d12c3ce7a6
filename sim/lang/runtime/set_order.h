#pragma once

#include <cstdint>
#include <vector>

#include "sim/lang/runtime/objects.h"
#include "sim/lang/syntax/operators.h"

namespace tidemark::lang {

/// CPython's table of a set whose elements have the same hash in every process: numbers, and tuples
/// and frozensets of them. A set is iterated in the order of its slots. Of a ValueTable that goes
/// with it each entry's value is the number of its slot. Source: CPython 3.11,
/// Objects/setobject.c: set_add_entry, set_insert_clean, set_table_resize, set_merge, set_pop.
class SetOrder {
 public:
  /// Makes room for `count` more, as a merge does before it begins.
  void expect(std::size_t count, ValueTable& table);
  /// An element that is new, the last entry of the table; it may make the slots grow.
  void add(std::int64_t hash, std::size_t entry, ValueTable& table);
  /// The same where no slot was freed and no growth follows.
  void add_clean(std::int64_t hash, std::size_t entry, ValueTable& table);
  /// The slots of another set, whose entries are those of the table in the order of the slots.
  /// Requires: can_copy().
  void copy(const SetOrder& other, ValueTable& table);
  [[nodiscard]] bool can_copy(const SetOrder& other) const {
    return fill_ == 0 && slots_.size() == other.slots_.size() && other.fill_ == other.used_;
  }
  void discard(std::size_t slot);
  void clear();
  /// Grows or shrinks where many slots were freed: what difference_update ends with.
  void tidy(ValueTable& table);
  /// The entry that pop() takes. Requires: there is one.
  std::size_t pop();
  /// The entries of the table moved together.
  void moved(const ValueTable& table);
  /// Puts the entries of the table into the order of the slots. Cost: nothing where they are.
  void settle(ValueTable& table);
  void swap_slots(SetOrder& other);

  [[nodiscard]] std::size_t fill() const { return fill_; }
  [[nodiscard]] std::size_t finger() const { return finger_; }

 private:
  struct Slot {
    std::int64_t hash = 0;
    std::uint32_t entry = 0;  // its index + 1; 0: free
  };
  static constexpr std::uint32_t kFreed = UINT32_MAX;
  static bool is_used(const Slot& slot) { return slot.entry != 0 && slot.entry != kFreed; }
  [[nodiscard]] std::size_t free_slot(std::int64_t hash, std::size_t* freed = nullptr) const;
  void put(std::size_t slot, std::int64_t hash, std::size_t entry, ValueTable& table);
  void resize(std::size_t least, ValueTable& table);
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }

  std::vector<Slot> slots_ = std::vector<Slot>(8);
  std::size_t fill_ = 0;  // slots that are used or were
  std::size_t used_ = 0;
  std::size_t finger_ = 0;  // where pop() looks first
  bool dirty_ = false;
};

/// Whether the hash of a value is the same in every process of CPython. Errors: RecursionError.
bool has_fixed_hash(Interp& interp, const Value& value);

/// left op right of sets and of views of dicts; Empty: not of such operands.
Value set_operation(Interp& interp, BinaryOp op, const Value& left, const Value& right);
/// left op= right. Requires: `left` is a set, `right` a set or frozenset.
void change_set(Interp& interp, BinaryOp op, Set& left, const Value& right);
/// The methods of their names, of any iterable.
Ref<Set> set_copy(Interp& interp, Set& set);
Ref<Set> set_intersection(Interp& interp, Set& set, const Value& other);
Ref<Set> set_difference(Interp& interp, Set& set, const Value& other);
Ref<Set> set_symmetric_difference(Interp& interp, Set& set, const Value& other);
void set_difference_update(Interp& interp, Set& set, const Value& other);
void set_symmetric_difference_update(Interp& interp, Set& set, const Value& other);

}  // namespace tidemark::lang
