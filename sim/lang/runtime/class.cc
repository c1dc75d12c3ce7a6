#include "sim/lang/runtime/class.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "sim/lang/runtime/frame.h"

namespace tidemark::lang {

namespace {

constexpr std::size_t kLinear = 8;

std::size_t spread(Name name) {
  return static_cast<std::uint32_t>(name) * std::size_t{0x9e3779b1U};
}

}  // namespace

std::size_t AttrMap::index_of(Name name) const {
  if (slots_.empty()) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].name == name) return i;
    }
    return kNone;
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = spread(name) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (entries_[slots_[slot] - 1].name == name) return slots_[slot] - 1;
  }
  return kNone;
}

void AttrMap::rebuild() {
  if (removed_ > 0) {
    std::erase_if(entries_, [](const Entry& entry) { return entry.name == kRemoved; });
    removed_ = 0;
  }
  slots_.clear();
  if (entries_.size() <= kLinear) return;
  std::size_t size = 32;
  while (size < entries_.size() * 3) size *= 2;
  slots_.assign(size, 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = spread(entries_[i].name) & (size - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (size - 1);
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

void AttrMap::set_late(LateMembers& late, std::size_t count) {
  late_ = &late;
  before_late_ = entries_.size();
  entries_.reserve(entries_.size() + count);  // whoever found a member may look for another
}

Value* AttrMap::find_late(Name name) const { return late_->make(name); }

void AttrMap::make_late() const { late_->make_all(); }

void AttrMap::complete(std::vector<Entry> members) {
  late_ = nullptr;
  for (Entry& member : members) {
    ever_ |= bit(member.name);
    const std::size_t there = index_of(member.name);
    if (there == kNone) continue;
    member.value = std::move(entries_[there].value);
    entries_[there].name = kRemoved;
    ++removed_;
  }
  entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(before_late_),
                  std::make_move_iterator(members.begin()), std::make_move_iterator(members.end()));
  rebuild();
}

void AttrMap::set(Name name, Value value) {
  const std::size_t found = may_have(name) ? index_of(name) : kNone;
  if (found != kNone) {
    entries_[found].value = std::move(value);
    return;
  }
  ever_ |= bit(name);
  // Growing by one, two and four costs more than the room.
  if (entries_.capacity() == 0) entries_.reserve(4);
  entries_.push_back({name, std::move(value)});
  if (slots_.empty() ? entries_.size() > kLinear : entries_.size() * 2 > slots_.size()) {
    rebuild();
  } else if (!slots_.empty()) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = spread(name) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::uint32_t>(entries_.size());
  }
}

Value AttrMap::remove(Name name) {
  if (late_ != nullptr) make_late();
  const std::size_t found = index_of(name);
  if (found == kNone) return {};
  Value removed = std::move(entries_[found].value);
  if (slots_.empty()) {
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(found));
    return removed;
  }
  // Its slot stays, for those that lie behind it.
  entries_[found].name = kRemoved;
  ++removed_;
  if (removed_ > entries_.size() / 2) rebuild();
  return removed;
}

void AttrMap::clear(Heap& heap) {
  const Ref<Heap> keep(&heap);
  std::vector<Entry> taken = std::move(entries_);
  entries_.clear();
  slots_.clear();
  removed_ = 0;
  late_ = nullptr;
  for (Entry& entry : taken) heap.drop(std::move(entry.value));
}

void AttrMap::traverse(Visitor& visitor) const {
  for (const Entry& entry : Entries(entries_)) visitor.visit(entry.value);
}

const Value* DeepCopies::find(const Value& original) const {
  const auto found = places_.find(original.object());
  if (found != places_.end()) return &copies_[found->second].second;
  if (given_.empty()) return nullptr;
  const auto given = given_.find(original.object());
  return given == given_.end() ? nullptr : &given->second;
}

void DeepCopies::add(Value original, Value copy) {
  places_.emplace(original.object(), copies_.size());
  copies_.emplace_back(std::move(original), std::move(copy));
}

ClassObject::ClassObject(Heap& heap, Name name, std::string module,
                         std::vector<Ref<ClassObject>> bases,
                         const std::vector<ClassObject*>& mro_of_bases)
    : Tracked(heap, Kind::kClass),
      name_(name),
      module_(std::move(module)),
      bases_(std::move(bases)) {
  mro_.push_back(this);
  mro_.insert(mro_.end(), mro_of_bases.begin(), mro_of_bases.end());
  for (const Ref<ClassObject>& base : bases_) {
    if (allocate == nullptr) allocate = base->allocate;
    if (on_subclass == nullptr) on_subclass = base->on_subclass;
    if (!metaclass) metaclass = base->metaclass;
    if (base->user_defined) base->subclasses_.push_back(this);
  }
}

ClassObject::~ClassObject() {
  leave_bases();
  attrs.clear(heap());
  for (Ref<ClassObject>& base : bases_) heap().drop(Value(std::move(base)));
}

void ClassObject::leave_bases() {
  for (const Ref<ClassObject>& base : bases_) {
    std::vector<ClassObject*>& all = base->subclasses_;
    const auto found = std::find(all.rbegin(), all.rend(), this);
    if (found != all.rend()) all.erase(std::next(found).base());
  }
}

void ClassObject::traverse(Visitor& visitor) const {
  attrs.traverse(visitor);
  for (const Ref<ClassObject>& base : bases_) visitor.visit(base);
  visitor.visit(metaclass);
}

// The bases stay: the mro of a class that is still in use points to them.
void ClassObject::clear() {
  leave_bases();
  attrs.clear(heap());
}

bool ClassObject::derives_from(const ClassObject& other) const {
  return std::find(mro_.begin(), mro_.end(), &other) != mro_.end();
}

const ClassObject& ClassObject::builtin_base() const {
  const auto found =
      std::find_if(mro_.begin(), mro_.end(), [](const ClassObject* c) { return !c->user_defined; });
  return **found;
}

const Value* ClassObject::lookup(Name name, ClassObject** owner) const {
  for (ClassObject* type : mro_) {
    if (const Value* found = type->attrs.find(name)) {
      if (owner != nullptr) *owner = type;
      return found;
    }
  }
  return nullptr;
}

const Value* ClassObject::lookup_after(const ClassObject& after, Name name) const {
  auto type = std::find(mro_.begin(), mro_.end(), &after);
  if (type == mro_.end()) return nullptr;
  for (++type; type != mro_.end(); ++type) {
    if (const Value* found = (*type)->attrs.find(name)) return found;
  }
  return nullptr;
}

Instance::Instance(Heap& heap, Ref<ClassObject> type, Kind kind, std::uint16_t host_kind)
    : Tracked(heap, kind, host_kind), type_(std::move(type)) {}

Instance::~Instance() { drop_in_order(heap(), attrs_, *type_); }

void Instance::set_own(Name name, Value value) {
  set_in_order(attrs_, *type_, name, std::move(value));
}

void set_in_order(AttrMap& attrs, ClassObject& type, Name name, Value value) {
  constexpr std::size_t kMostShared = 30;  // CPython's SHARED_KEYS_MAX_SIZE
  const std::size_t before = attrs.size();
  attrs.set(name, std::move(value));
  if (attrs.size() == before) return;
  std::vector<Name>& order = type.instance_order;
  const bool in_order = before < order.size() && order[before] == name;
  if (in_order || order.size() >= kMostShared) return;
  if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
}

void drop_in_order(Heap& heap, AttrMap& attrs, const ClassObject& type) {
  const std::vector<Name>& order = type.instance_order;
  bool same = attrs.size() <= order.size();
  std::size_t i = 0;
  for (const AttrMap::Entry& entry : attrs.entries()) same = same && entry.name == order[i++];
  if (!same) {
    for (const Name name : order) {
      if (Value* value = attrs.find(name)) heap.drop(std::move(*value));
    }
  }
  attrs.clear(heap);
}

void Instance::traverse(Visitor& visitor) const {
  visitor.visit(type_);
  attrs_.traverse(visitor);
}

void Instance::clear() { drop_in_order(heap(), attrs_, *type_); }

bool is_instance_of(Interp& in, const ClassObject& type, const Value& object, const Value& wanted,
                    std::string_view function) {
  if (const auto* other = wanted.as<ClassObject>()) {
    if (type.derives_from(*other) || !other->metaclass) return type.derives_from(*other);
    const Name check = in.intern(object.empty() ? "__subclasscheck__" : "__instancecheck__");
    if (other->metaclass->lookup(check) == nullptr) return false;
    // Classes are counted, so a reference needs one that may be changed.
    Value asked =
        object.empty() ? Value(Ref<ClassObject>(const_cast<ClassObject*>(&type))) : object;
    return in.truth(in.call_method(wanted, check, {std::move(asked)}));
  }
  if (const Tuple* tuple = wanted.as<Tuple>()) {
    const NestedCall nested(in);
    for (const Value& one : tuple->items) {
      in.step();
      if (is_instance_of(in, type, object, one, function)) return true;
    }
    return false;
  }
  if (wanted.is_none()) return type.derives_from(*in.classes().none);
  if (const auto* instance = wanted.as<Instance>(); instance != nullptr) {
    const Name check = in.intern(object.empty() ? "__subclasscheck__" : "__instancecheck__");
    if (instance->type().lookup(check) != nullptr) {
      Value asked =
          object.empty() ? Value(Ref<ClassObject>(const_cast<ClassObject*>(&type))) : object;
      return in.truth(in.call_method(wanted, check, {std::move(asked)}));
    }
  }
  in.type_error(fmt::format("{}() arg 2 must be a type, a tuple of types, or a union", function));
}

}  // namespace tidemark::lang
