#include "sim/lang/runtime/objects.h"

#include "sim/lang/runtime/class.h"
#include "sim/lang/runtime/interp.h"
#include "sim/lang/runtime/set_order.h"

namespace tidemark::lang {

Container::Container(Heap& heap, Kind kind) : Tracked(heap, kind) {}
Container::Container(Heap& heap, Kind kind, Ref<ClassObject> type)
    : Tracked(heap, kind), type_(std::move(type)) {}
Container::~Container() = default;

void Container::set_own(Name name, Value value) {
  if (attrs_ == nullptr) attrs_ = std::make_unique<AttrMap>();
  set_in_order(*attrs_, *type_, name, std::move(value));
}

bool Container::is_users() const { return type_->user_defined; }

void Container::drop_existing_attributes() { drop_in_order(heap(), *attrs_, *type_); }

void Container::traverse(Visitor& visitor) const {
  visitor.visit(type_);
  if (attrs_ != nullptr) attrs_->traverse(visitor);
}

List::List(Heap& heap, std::vector<Value> initial, Ref<ClassObject> type)
    : Container(heap, Kind::kList, std::move(type)), items(std::move(initial)) {}
void List::traverse(Visitor& visitor) const {
  Container::traverse(visitor);
  for (const Value& item : items.made()) visitor.visit(item);
}

Tuple::Tuple(Heap& heap, std::vector<Value> initial, Ref<ClassObject> type)
    : Container(heap, Kind::kTuple, std::move(type)), items(std::move(initial)) {}

namespace {

/// torch.return_types are CPython's structseqs, which drop their fields in order; tuples drop the
/// last first.
void drop_items(Heap& heap, std::vector<Value>& items, const ClassObject* type) {
  if (type != nullptr && type->module() == "torch.return_types") {
    drop_forward(heap, items);
  } else {
    drop_backward(heap, items);
  }
}

}  // namespace

Tuple::~Tuple() {
  drop_attributes();
  drop_items(heap(), items, type());
}
void Tuple::clear() {
  drop_attributes();
  drop_items(heap(), items, type());
}
void Tuple::traverse(Visitor& visitor) const {
  Container::traverse(visitor);
  for (const Value& item : items) visitor.visit(item);
}

Dict::Dict(Heap& heap, Ref<ClassObject> type) : Container(heap, Kind::kDict, std::move(type)) {}
Dict::~Dict() {
  drop_attributes();
  table.clear(heap());
}
void Dict::clear() {
  drop_attributes();
  default_factory.reset();
  table.clear(heap());
}
void Dict::traverse(Visitor& visitor) const {
  Container::traverse(visitor);
  for (const ValueTable::Entry& entry : table.entries()) {
    visitor.visit(entry.key);
    visitor.visit(entry.value);
  }
  visitor.visit(default_factory);
}

Set::Set(Heap& heap, bool is_frozen) : Container(heap, Kind::kSet), frozen(is_frozen) {}
Set::Set(Heap& heap, bool is_frozen, Ref<ClassObject> type)
    : Container(heap, Kind::kSet, std::move(type)), frozen(is_frozen) {}
Set::~Set() {
  drop_attributes();
  table.clear(heap());
}
void Set::clear() {
  drop_attributes();
  empty();
}
void Set::traverse(Visitor& visitor) const {
  Container::traverse(visitor);
  for (const ValueTable::Entry& entry : table.entries()) visitor.visit(entry.key);
}

namespace {

constexpr std::size_t kLinear = 8;

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
constexpr std::size_t kChangedMeanwhile = kAbsent - 1;

}  // namespace

ValueTable::Same ValueTable::same_key(Interp& interp, std::size_t i, const Value& key) const {
  const Value& own = entries_[i].key;
  if (own.same_as(key)) return Same::kYes;
  const Str* left = own.as<Str>();
  const Str* right = key.as<Str>();
  const auto known = [](bool same) { return same ? Same::kYes : Same::kNo; };
  if (left != nullptr && right != nullptr) return known(left->text() == right->text());
  // A string is equal to no other built-in value; an object may think otherwise.
  if (left != nullptr && key.as<Instance>() == nullptr) return Same::kNo;
  if (right != nullptr && own.as<Instance>() == nullptr) return Same::kNo;
  if (own.is_number() && key.is_number()) return known(interp.equal(own, key));
  const Value keep = own;
  const std::uint64_t before = changes_;
  const bool same = interp.equal(keep, key);
  if (changes_ != before) return Same::kChanged;
  return known(same);
}

std::size_t ValueTable::search(Interp& interp, const Value& key, std::uint64_t hash) const {
  if (slots_.empty()) {
    for (std::size_t i = first_; i < entries_.size(); ++i) {
      if (entries_[i].hash != hash || entries_[i].key.empty()) continue;
      const Same same = same_key(interp, i, key);
      if (same != Same::kNo) return same == Same::kYes ? i : kChangedMeanwhile;
    }
    return kAbsent;
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t i = slots_[slot] - 1;
    if (i >= entries_.size() || entries_[i].hash != hash || entries_[i].key.empty()) continue;
    const Same same = same_key(interp, i, key);
    if (same != Same::kNo) return same == Same::kYes ? i : kChangedMeanwhile;
  }
  return kAbsent;
}

std::size_t ValueTable::locate(Interp& interp, const Value& key, std::uint64_t hash) const {
  while (true) {
    const std::size_t found = search(interp, key, hash);
    if (found != kChangedMeanwhile) return found;
    interp.step();
  }
}

void ValueTable::rebuild() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].key.empty()) continue;
    if (kept != i) std::swap(entries_[kept], entries_[i]);
    ++kept;
  }
  entries_.resize(kept);
  first_ = 0;
  ++rebuilds_;
  slots_.clear();
  if (kept <= kLinear) return;
  std::size_t size = 32;
  while (size < kept * 3) size *= 2;
  slots_.assign(size, 0);
  used_ = kept;
  for (std::size_t i = 0; i < kept; ++i) {
    std::size_t slot = entries_[i].hash & (size - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (size - 1);
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

Value* ValueTable::find(Interp& interp, const Value& key) {
  const std::size_t i = locate(interp, key, interp.hash(key));
  return i < entries_.size() ? &entries_[i].value : nullptr;
}

inline void ValueTable::append(std::uint64_t hash, Value key, Value value) {
  // Growing by one, two and four costs more than the room.
  if (entries_.capacity() == 0) entries_.reserve(4);
  entries_.push_back({hash, std::move(key), std::move(value)});
  ++live_;
  ++changes_;
  if (slots_.empty() ? entries_.size() > kLinear : (used_ + 1) * 2 > slots_.size()) {
    rebuild();
  } else if (!slots_.empty()) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(entries_.size());
    ++used_;
  }
}

std::size_t ValueTable::insert(Interp& interp, Value key) {
  const std::uint64_t hash = interp.hash(key);
  if (locate(interp, key, hash) < entries_.size()) return kNowhere;
  append(hash, std::move(key), Value::none());
  return entries_.size() - 1;
}

std::size_t ValueTable::index_of(Interp& interp, const Value& key) const {
  const std::size_t i = locate(interp, key, interp.hash(key));
  return i < entries_.size() ? i : kNowhere;
}

void ValueTable::reorder(std::vector<Entry> entries) {
  entries_ = std::move(entries);
  rebuild();
}

bool ValueTable::set(Interp& interp, Value key, Value value) {
  const std::uint64_t hash = interp.hash(key);
  const std::size_t found = locate(interp, key, hash);
  if (found < entries_.size()) {
    entries_[found].value = std::move(value);
    return false;
  }
  append(hash, std::move(key), std::move(value));
  return true;
}

ValueTable::Entry ValueTable::remove(Interp& interp, const Value& key) {
  const std::size_t i = locate(interp, key, interp.hash(key));
  return i < entries_.size() ? remove_at(i) : Entry();
}

ValueTable::Entry ValueTable::remove_at(std::size_t i) {
  Entry removed = std::exchange(entries_[i], Entry{entries_[i].hash, {}, {}});
  --live_;
  ++changes_;
  if (i == first_) ++first_;
  if (live_ == 0) {
    entries_.clear();
    slots_.clear();
    first_ = 0;
  }
  return removed;
}

ValueTable::Entry ValueTable::remove_first() {
  if (live_ == 0) return {};
  while (entries_[first_].key.empty()) ++first_;
  return remove_at(first_);
}

ValueTable::Entry ValueTable::remove_last() {
  if (live_ == 0) return {};
  // A slot that points past the end is skipped by search() and goes at the next rebuild.
  while (entries_.back().key.empty()) entries_.pop_back();
  return remove_at(entries_.size() - 1);
}

void ValueTable::clear(Heap& heap) {
  const Ref<Heap> keep(&heap);
  std::vector<Entry> taken = std::move(entries_);
  entries_.clear();
  slots_.clear();
  live_ = 0;
  first_ = 0;
  ++changes_;
  for (Entry& entry : taken) {
    heap.drop(std::move(entry.key));
    heap.drop(std::move(entry.value));
  }
}

std::int64_t Range::length() const {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const auto low = static_cast<std::uint64_t>(step > 0 ? start : stop);
  const auto high = static_cast<std::uint64_t>(step > 0 ? stop : start);
  const std::uint64_t count = (high - low - 1) / width() + 1;
  return count > static_cast<std::uint64_t>(INT64_MAX) ? INT64_MAX
                                                       : static_cast<std::int64_t>(count);
}

Slice::~Slice() {
  for (Value* part : {&step, &start, &stop}) heap_->drop(std::move(*part));
}

std::optional<Slice::Indices> Slice::indices(std::int64_t length) const {
  const auto part = [](const Value& value, std::int64_t fallback) -> std::optional<std::int64_t> {
    if (value.is_none() || value.empty()) return fallback;
    if (!value.is_integral()) return std::nullopt;
    return value.as_int();
  };
  const auto by = part(step, 1);
  if (!by || *by == 0) return std::nullopt;
  const std::int64_t low = *by < 0 ? -1 : 0;
  const std::int64_t high = *by < 0 ? length - 1 : length;
  const auto clamp = [&](std::int64_t i) {
    if (i < 0) {
      i += length;
      return i < low ? low : i;
    }
    return i > high ? high : i;
  };
  const auto from = part(start, *by < 0 ? high : low);
  const auto to = part(stop, *by < 0 ? low : high);
  if (!from || !to) return std::nullopt;
  Indices out{};
  out.step = *by;
  out.start = start.is_none() || start.empty() ? *from : clamp(*from);
  out.stop = stop.is_none() || stop.empty() ? *to : clamp(*to);
  out.count = Range(out.start, out.stop, out.step).length();
  return out;
}

}  // namespace tidemark::lang
