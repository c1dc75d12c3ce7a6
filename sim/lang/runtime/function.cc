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

std::size_t Module::slot(Name id) {
  if (slots_.size() * 2 >= index_.size()) rebuild();
  const std::size_t mask = index_.size() - 1;
  std::size_t at = (static_cast<std::uint32_t>(id) * std::size_t{0x9e3779b1U}) & mask;
  for (; index_[at] != 0; at = (at + 1) & mask) {
    if (slots_[index_[at] - 1].name == id) return index_[at] - 1;
  }
  slots_.push_back({id, {}});
  index_[at] = static_cast<std::uint32_t>(slots_.size());
  return slots_.size() - 1;
}

const Value* Module::find(Name id) const {
  if (index_.empty()) return nullptr;
  const std::size_t mask = index_.size() - 1;
  std::size_t at = (static_cast<std::uint32_t>(id) * std::size_t{0x9e3779b1U}) & mask;
  for (; index_[at] != 0; at = (at + 1) & mask) {
    const AttrMap::Entry& entry = slots_[index_[at] - 1];
    if (entry.name == id) return entry.value.empty() ? nullptr : &entry.value;
  }
  return nullptr;
}

void Module::rebuild() {
  const std::size_t size = index_.empty() ? 64 : index_.size() * 2;
  index_.assign(size, 0);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    std::size_t at =
        (static_cast<std::uint32_t>(slots_[i].name) * std::size_t{0x9e3779b1U}) & (size - 1);
    while (index_[at] != 0) at = (at + 1) & (size - 1);
    index_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace tidemark::lang
