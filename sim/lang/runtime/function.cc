#include "sim/lang/runtime/function.h"

namespace tidemark::lang {

Function::Function(Heap& heap, std::shared_ptr<const Code> compiled, Ref<Module> module)
    : Tracked(heap, Kind::kFunction), code(std::move(compiled)), globals(std::move(module)) {}

Function::~Function() { clear(); }

void Function::clear() {
  drop_backward(heap(), defaults);
  drop_backward(heap(), keyword_defaults);
  attrs.clear(heap());
  std::vector<Ref<Cell>> cells = std::move(closure);
  closure.clear();
  for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell)
    heap().drop(Value(std::move(*cell)));
}

void Function::traverse(Visitor& visitor) const {
  visitor.visit(globals);
  for (const Value& value : defaults) visitor.visit(value);
  for (const Value& value : keyword_defaults) visitor.visit(value);
  for (const Ref<Cell>& cell : closure) visitor.visit(cell);
  attrs.traverse(visitor);
}

BoundMethod::~BoundMethod() { clear(); }
void BoundMethod::clear() {
  heap().drop(std::move(function));
  heap().drop(std::move(self));
}
void BoundMethod::traverse(Visitor& visitor) const {
  visitor.visit(function);
  visitor.visit(self);
}

void Property::traverse(Visitor& visitor) const {
  visitor.visit(get);
  visitor.visit(set);
  visitor.visit(del);
}
void Property::clear() {
  get.reset();
  set.reset();
  del.reset();
}

void Super::traverse(Visitor& visitor) const {
  visitor.visit(after);
  visitor.visit(self);
}

Module::~Module() { clear(); }

void Module::clear() {
  // Entries stay, since functions know them by index.
  for (AttrMap::Entry& entry : slots_) heap().drop(std::move(entry.value));
}

void Module::traverse(Visitor& visitor) const {
  for (const AttrMap::Entry& entry : slots_) visitor.visit(entry.value);
}

Module::Module(Heap& heap, std::string own_name, const GlobalTable& globals)
    : Tracked(heap, Kind::kModule), name(std::move(own_name)), index_(globals.index) {
  slots_.reserve(globals.names.size + 8);
  for (const Name id : globals.names) slots_.push_back({id, {}});
}

std::size_t Module::slot(Name id) {
  const auto name_at = [this](std::size_t at) { return slots_[at].name; };
  const std::uint32_t found = index_.find(id, name_at);
  if (found != GlobalIndex::kNone) return found;
  index_.add(id, static_cast<std::uint32_t>(slots_.size()), name_at);
  slots_.push_back({id, {}});
  return slots_.size() - 1;
}

const Value* Module::find(Name id) const {
  const std::uint32_t at = index_.find(id, [this](std::size_t i) { return slots_[i].name; });
  return at == GlobalIndex::kNone || slots_[at].value.empty() ? nullptr : &slots_[at].value;
}

}  // namespace tidemark::lang
