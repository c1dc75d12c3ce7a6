#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/interp.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/set_order.h"

/// What sets make of each other. Which operand is walked through, and so the order and which of two
/// equal elements stays, is CPython's, but for elements whose order it draws anew in each process:
/// those keep the left operand's. Source: CPython 3.11, Objects/setobject.c, and dictobject.c for
/// views.
namespace tidemark::lang {

namespace {

using Entries = std::vector<ValueTable::Entry>;

/// The elements, in order; code may change the set meanwhile.
Entries elements_of(Set& set) {
  set.settle();
  return set.table.entries();
}

template <class Use>
void each(const Entries& entries, const Use& use) {
  for (const ValueTable::Entry& entry : entries) {
    if (!entry.key.empty()) use(entry.key);
  }
}

bool in_any_order(Interp& in, const Value& operand) {
  if (const Set* set = operand.as<Set>()) return set->order() == nullptr && set->table.size() > 0;
  const auto* view = operand.as<DictView>();
  if (view == nullptr) return false;
  for (const ValueTable::Entry& entry : view->dict->table.entries()) {
    if (!entry.key.empty()) return !has_fixed_hash(in, entry.key);
  }
  return false;
}

Ref<Set> new_set(Interp& in, bool frozen) { return make_ref<Set>(in.heap(), frozen); }

Ref<Set> set_of(Interp& in, const Value& from, bool frozen = false) {
  Ref<Set> out = new_set(in, frozen);
  out->update(in, from);
  return out;
}

/// Elements of one table that another has, or has not.
Ref<Set> chosen(Interp& in, const Entries& from, ValueTable& other, bool wanted, bool frozen) {
  Ref<Set> out = new_set(in, frozen);
  each(from, [&](const Value& key) {
    if ((other.find(in, key) != nullptr) == wanted) out->add(in, key);
  });
  return out;
}

/// Of operands of which one is in no order of CPython's: the left one's elements go first.
Value in_order_of_left(Interp& in, BinaryOp op, ValueTable& left, ValueTable& right, bool frozen) {
  const Entries first = left.entries();
  const Entries second = right.entries();
  if (op == BinaryOp::kAnd) return chosen(in, first, right, true, frozen);
  if (op == BinaryOp::kSub) return chosen(in, first, right, false, frozen);
  const Ref<Set> out = new_set(in, frozen);
  if (op == BinaryOp::kOr) {
    each(first, [&](const Value& key) { out->add(in, key); });
    each(second, [&](const Value& key) { out->add(in, key); });
    return out;
  }
  if (op != BinaryOp::kXor) return {};
  each(first, [&](const Value& key) {
    if (right.find(in, key) == nullptr) out->add(in, key);
  });
  each(second, [&](const Value& key) {
    if (left.find(in, key) == nullptr) out->add(in, key);
  });
  return out;
}

Value of_views(Interp& in, BinaryOp op, const Value& left, const Value& right) {
  if (op == BinaryOp::kAnd) {
    // The view is the left operand, and the larger of two.
    const bool swapped = left.as<DictView>() == nullptr;
    Value self = swapped ? right : left;
    Value other = swapped ? left : right;
    const auto* other_view = other.as<DictView>();
    const std::size_t size = self.as<DictView>()->dict->table.size();
    if (Set* set = other.as<Set>(); set != nullptr && !set->frozen && size <= set->table.size())
      return set_intersection(in, *set, self);
    if (other_view != nullptr && other_view->dict->table.size() > size) std::swap(self, other);
    const Ref<Set> out = new_set(in, false);
    for (Value& item : in.unpack(other)) {
      if (in.contains(self, item)) out->add(in, std::move(item));
    }
    return out;
  }
  const auto* view = left.as<DictView>();
  const bool is_keys = view != nullptr && view->part == DictPart::kKeys;
  const Ref<Set> out = set_of(in, is_keys ? Value(view->dict) : left);
  if (op == BinaryOp::kOr) {
    out->update(in, right);
  } else if (op == BinaryOp::kSub) {
    set_difference_update(in, *out, right);
  } else {
    set_symmetric_difference_update(in, *out, right);
  }
  return out;
}

}  // namespace

Ref<Set> set_copy(Interp& in, Set& set) {
  Ref<Set> out = new_set(in, set.frozen);
  out->merge(in, set);
  return out;
}

Ref<Set> set_intersection(Interp& in, Set& set, const Value& other) {
  Set* second = other.as<Set>();
  if (second == &set) return set_copy(in, set);
  if (second == nullptr) {
    Ref<Set> out = new_set(in, set.frozen);
    for (Value& item : in.unpack(other)) {
      if (set.table.find(in, item) != nullptr) out->add(in, std::move(item));
    }
    return out;
  }
  const bool left_first = in_any_order(in, Ref<Set>(&set)) || in_any_order(in, other) ||
                          second->table.size() > set.table.size();
  return left_first ? chosen(in, elements_of(set), second->table, true, set.frozen)
                    : chosen(in, elements_of(*second), set.table, true, set.frozen);
}

void set_difference_update(Interp& in, Set& set, const Value& other) {
  Set* second = other.as<Set>();
  if (second == &set) {
    set.empty();
    return;
  }
  if (second == nullptr) {
    for (const Value& item : in.unpack(other)) set.discard(in, item);
  } else {
    Ref<Set> common(second);
    if (second->table.size() / 8 > set.table.size()) common = set_intersection(in, set, other);
    each(elements_of(*common), [&](const Value& key) { set.discard(in, key); });
  }
  set.tidy();
}

Ref<Set> set_difference(Interp& in, Set& set, const Value& other) {
  Set* second = other.as<Set>();
  const Dict* dict = other.as<Dict>();
  if (dict != nullptr && dict->type() != nullptr) dict = nullptr;
  ValueTable* table = second != nullptr ? &second->table
                      : dict != nullptr ? &other.as<Dict>()->table
                                        : nullptr;
  if (table == nullptr || set.table.size() / 4 > table->size()) {
    Ref<Set> out = set_copy(in, set);
    set_difference_update(in, *out, other);
    return out;
  }
  return chosen(in, elements_of(set), *table, false, set.frozen);
}

void set_symmetric_difference_update(Interp& in, Set& set, const Value& other) {
  if (other.as<Set>() == &set) {
    set.empty();
    return;
  }
  const bool is_dict = other.as<Dict>() != nullptr && other.as<Dict>()->type() == nullptr;
  Entries entries;
  if (is_dict) {
    entries = other.as<Dict>()->table.entries();
  } else {
    entries = elements_of(other.as<Set>() != nullptr ? *other.as<Set>() : *set_of(in, other));
  }
  each(entries, [&](const Value& key) {
    if (!set.discard(in, key)) set.add(in, key);
  });
}

Ref<Set> set_symmetric_difference(Interp& in, Set& set, const Value& other) {
  Ref<Set> second = set_of(in, other, set.frozen);
  if (in_any_order(in, Ref<Set>(&set)) || in_any_order(in, Value(second))) {
    set.settle();
    second->settle();
    return in_order_of_left(in, BinaryOp::kXor, set.table, second->table, set.frozen).ref<Set>();
  }
  set_symmetric_difference_update(in, *second, Ref<Set>(&set));
  return second;
}

Value set_operation(Interp& in, BinaryOp op, const Value& left, const Value& right) {
  if (op != BinaryOp::kOr && op != BinaryOp::kAnd && op != BinaryOp::kXor && op != BinaryOp::kSub)
    return {};
  Set* first = left.as<Set>();
  Set* second = right.as<Set>();
  if (first != nullptr && second != nullptr) {
    if (op == BinaryOp::kAnd) return set_intersection(in, *first, right);
    if (op == BinaryOp::kSub) return set_difference(in, *first, right);
    if (op == BinaryOp::kXor) return set_symmetric_difference(in, *first, right);
    const Ref<Set> out = set_copy(in, *first);
    out->merge(in, *second);
    return out;
  }
  // Views of a dict take any iterable: d.keys() | e.values().
  const auto* view = left.as<DictView>() != nullptr ? left.as<DictView>() : right.as<DictView>();
  if (view == nullptr || view->part == DictPart::kValues) return {};
  if (in_any_order(in, left) || in_any_order(in, right)) {
    const auto as_table = [&](const Value& side) {
      return set_table(side) != nullptr ? side : Value(set_of(in, side));
    };
    const Value a = as_table(left);
    const Value b = as_table(right);
    return in_order_of_left(in, op, *set_table(a), *set_table(b), false);
  }
  return of_views(in, op, left, right);
}

void change_set(Interp& in, BinaryOp op, Set& left, const Value& right) {
  if (op == BinaryOp::kOr) {
    left.update(in, right);
  } else if (op == BinaryOp::kAnd) {
    left.take_from(*set_intersection(in, left, right));
  } else if (op == BinaryOp::kSub) {
    set_difference_update(in, left, right);
  } else {
    set_symmetric_difference_update(in, left, right);
  }
}

}  // namespace tidemark::lang
