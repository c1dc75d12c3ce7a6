#include "sim/lang/runtime/set_order.h"

#include <algorithm>
#include <utility>

#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/wide_integer.h"

namespace tidemark::lang {

namespace {

constexpr std::size_t kProbes = 9;     // LINEAR_PROBES
constexpr std::size_t kSmallest = 8;   // PySet_MINSIZE
constexpr std::size_t kLarge = 50000;  // from here on a set doubles
constexpr unsigned kPerturbShift = 5;

std::size_t size_to_grow_to(std::size_t used) { return used > kLarge ? used * 2 : used * 4; }

}  // namespace

std::size_t SetOrder::free_slot(std::int64_t hash, std::size_t* freed) const {
  auto perturb = static_cast<std::uint64_t>(hash);
  std::size_t i = perturb & mask();
  while (true) {
    const std::size_t more = i + kProbes <= mask() ? kProbes : 0;
    for (std::size_t k = 0; k <= more; ++k) {
      if (slots_[i + k].entry == 0) return i + k;
      if (slots_[i + k].entry == kFreed && freed != nullptr) *freed = i + k;
    }
    perturb >>= kPerturbShift;
    i = (i * 5 + 1 + perturb) & mask();
  }
}

void SetOrder::put(std::size_t slot, std::int64_t hash, std::size_t entry, ValueTable& table) {
  slots_[slot] = {hash, static_cast<std::uint32_t>(entry + 1)};
  table.entries()[entry].value = Value::integer(static_cast<std::int64_t>(slot));
  dirty_ = true;
}

void SetOrder::resize(std::size_t least, ValueTable& table) {
  std::size_t size = kSmallest;
  while (size <= least) size *= 2;
  if (size == kSmallest && slots_.size() == kSmallest && fill_ == used_) return;
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(size));
  fill_ = used_;
  for (const Slot& slot : before) {
    if (is_used(slot)) put(free_slot(slot.hash), slot.hash, slot.entry - 1, table);
  }
}

void SetOrder::expect(std::size_t count, ValueTable& table) {
  if ((fill_ + count) * 5 >= mask() * 3) resize((used_ + count) * 2, table);
}

void SetOrder::add(std::int64_t hash, std::size_t entry, ValueTable& table) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::size_t freed = kNone;
  const std::size_t slot = free_slot(hash, &freed);
  ++used_;
  if (freed != kNone) {  // the last that was freed on the way is used again
    put(freed, hash, entry, table);
    return;
  }
  put(slot, hash, entry, table);
  ++fill_;
  if (fill_ * 5 >= mask() * 3) resize(size_to_grow_to(used_), table);
}

void SetOrder::add_clean(std::int64_t hash, std::size_t entry, ValueTable& table) {
  put(free_slot(hash), hash, entry, table);
  ++fill_;
  ++used_;
}

void SetOrder::copy(const SetOrder& other, ValueTable& table) {
  std::size_t entry = 0;
  for (std::size_t i = 0; i < other.slots_.size(); ++i) {
    if (is_used(other.slots_[i])) put(i, other.slots_[i].hash, entry++, table);
  }
  fill_ = used_ = entry;
}

void SetOrder::discard(std::size_t slot) {
  slots_[slot] = {-1, kFreed};
  --used_;
}

void SetOrder::clear() {
  slots_.assign(kSmallest, {});
  fill_ = used_ = 0;
}

void SetOrder::tidy(ValueTable& table) {
  if (fill_ - used_ > mask() / 4) resize(size_to_grow_to(used_), table);
}

std::size_t SetOrder::pop() {
  std::size_t i = finger_ & mask();
  while (!is_used(slots_[i])) i = (i + 1) & mask();
  const std::size_t entry = slots_[i].entry - 1;
  discard(i);
  finger_ = i + 1;
  return entry;
}

void SetOrder::moved(const ValueTable& table) {
  const std::vector<ValueTable::Entry>& entries = table.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].key.empty() && entries[i].value.is_int())
      slots_[static_cast<std::size_t>(entries[i].value.as_int())].entry =
          static_cast<std::uint32_t>(i + 1);
  }
}

void SetOrder::settle(ValueTable& table) {
  if (!std::exchange(dirty_, false)) return;
  std::vector<ValueTable::Entry> ordered;
  ordered.reserve(used_);
  for (Slot& slot : slots_) {
    if (!is_used(slot)) continue;
    ordered.push_back(std::move(table.entries()[slot.entry - 1]));
    slot.entry = static_cast<std::uint32_t>(ordered.size());
  }
  table.reorder(std::move(ordered));
}

void SetOrder::swap_slots(SetOrder& other) {
  std::swap(slots_, other.slots_);
  std::swap(fill_, other.fill_);
  std::swap(used_, other.used_);
  std::swap(dirty_, other.dirty_);
}

bool has_fixed_hash(Interp& in, const Value& value) {
  switch (value.tag()) {
    case Tag::kBool:
    case Tag::kInt:
      return true;
    case Tag::kFloat:
      return value.as_float() == value.as_float();  // not a number: by its address
    case Tag::kObject:
      break;
    default:
      return false;
  }
  if (const Tuple* tuple = value.as<Tuple>()) {
    if (has_code(value)) return false;
    const NestedCall nested(in);
    for (const Value& item : tuple->items) {
      if (!has_fixed_hash(in, item)) return false;
    }
    return true;
  }
  if (const Set* set = value.as<Set>())
    return set->frozen && !has_code(value) && (set->table.size() == 0 || set->order() != nullptr);
  return value.as<WideInteger>() != nullptr;
}

bool are_numbers(const SequenceExpr& display) {
  return std::ranges::all_of(display.items, [](const Expr* node) {
    while (node->kind == ExprKind::kUnary) node = static_cast<const UnaryExpr*>(node)->operand;
    if (node->kind == ExprKind::kTuple) return are_numbers(static_cast<const SequenceExpr&>(*node));
    return node->kind == ExprKind::kConstant &&
           static_cast<const ConstantExpr*>(node)->literal.kind != Literal::Kind::kText;
  });
}

// Set

bool Set::add(Interp& in, Value key) {
  if (!in_any_order_ && order_ == nullptr) begin(in, key);
  if (in_any_order_) return table.insert(in, std::move(key)) != ValueTable::kNowhere;
  if (!has_fixed_hash(in, key)) {
    if (table.index_of(in, key) != ValueTable::kNowhere) return false;
    forget_order();
    return table.insert(in, std::move(key)) != ValueTable::kNowhere;
  }
  const std::size_t entry = insert(in, std::move(key));
  if (entry == ValueTable::kNowhere) return false;
  order_->add(python_hash(table.entries()[entry].hash), entry, table);
  return true;
}

void Set::begin(Interp& in, const Value& first) {
  if (has_fixed_hash(in, first)) {
    order_ = std::make_unique<SetOrder>();
  } else {
    in_any_order_ = true;
  }
}

std::size_t Set::insert(Interp& in, Value key) {
  const std::uint32_t before = table.rebuilds();
  const std::size_t entry = table.insert(in, std::move(key));
  if (entry != ValueTable::kNowhere && table.rebuilds() != before) {
    order_->moved(table);
    return table.entries().size() - 1;
  }
  return entry;
}

void Set::forget_order() {
  settle();
  order_.reset();
  in_any_order_ = true;
  for (ValueTable::Entry& entry : table.entries()) {
    if (!entry.key.empty()) entry.value = Value::none();
  }
}

bool Set::discard(Interp& in, const Value& key) {
  const std::size_t entry = table.index_of(in, key);
  if (entry == ValueTable::kNowhere) return false;
  if (order_ != nullptr)
    order_->discard(static_cast<std::size_t>(table.entries()[entry].value.as_int()));
  const ValueTable::Entry removed = table.take(entry);
  return true;
}

Value Set::pop() {
  if (table.size() == 0) return {};
  ValueTable::Entry entry = order_ == nullptr ? table.remove_first() : table.take(order_->pop());
  return std::move(entry.key);
}

void Set::empty() {
  table.clear(heap());
  if (order_ != nullptr) order_->clear();
  in_any_order_ = false;
}

void Set::settle() {
  if (order_ != nullptr) order_->settle(table);
}

void Set::merge(Interp& in, Set& from) {
  if (&from == this || from.table.size() == 0) return;
  from.settle();
  const Value keep = Ref<Set>(&from);
  const std::vector<ValueTable::Entry> entries = from.table.entries();
  if (!in_any_order_ && order_ == nullptr && from.order_ != nullptr)
    order_ = std::make_unique<SetOrder>();
  if (order_ == nullptr || from.order_ == nullptr) {
    for (const ValueTable::Entry& entry : entries) {
      if (!entry.key.empty()) add(in, entry.key);
    }
    return;
  }
  order_->expect(from.table.size(), table);
  const bool begins = order_->fill() == 0;
  const bool copies = begins && order_->can_copy(*from.order_);
  for (const ValueTable::Entry& entry : entries) {
    if (entry.key.empty()) continue;
    if (!begins) {
      add(in, entry.key);
      continue;
    }
    const std::size_t at = insert(in, entry.key);
    if (!copies) order_->add_clean(python_hash(entry.hash), at, table);
  }
  if (copies) order_->copy(*from.order_, table);
}

void Set::update(Interp& in, const Value& from) {
  if (Set* other = from.as<Set>()) {
    merge(in, *other);
    return;
  }
  if (const Dict* dict = from.as<Dict>(); dict != nullptr && dict->type() == nullptr) {
    const std::vector<ValueTable::Entry> entries = dict->table.entries();
    bool first = true;
    for (const ValueTable::Entry& entry : entries) {
      if (entry.key.empty()) continue;
      if (std::exchange(first, false)) {
        if (!in_any_order_ && order_ == nullptr) begin(in, entry.key);
        if (order_ != nullptr) order_->expect(dict->table.size(), table);
      }
      add(in, entry.key);
    }
    return;
  }
  for (Value& item : in.unpack(from)) add(in, std::move(item));
}

void Set::take_from(Set& other) {
  std::swap(table, other.table);
  if (order_ != nullptr && other.order_ != nullptr) {
    order_->swap_slots(*other.order_);  // pop() goes on where it was
    return;
  }
  std::swap(order_, other.order_);
  std::swap(in_any_order_, other.in_any_order_);
}

void Set::tidy() {
  if (order_ != nullptr) order_->tidy(table);
}

}  // namespace tidemark::lang
