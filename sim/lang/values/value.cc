#include "sim/lang/values/value.h"

#include <unordered_map>

namespace tidemark::lang {

Tracked::Tracked(Heap& heap, Kind kind, std::uint16_t host_kind)
    : Object(kind, host_kind), heap_(&heap), previous_(heap.last_) {
  (previous_ == nullptr ? heap.first_ : previous_->next_) = this;
  heap.last_ = this;
  ++heap.count_;
}

Tracked::~Tracked() {
  (previous_ == nullptr ? heap_->first_ : previous_->next_) = next_;
  (next_ == nullptr ? heap_->last_ : next_->previous_) = previous_;
  --heap_->count_;
}

void Tracked::traverse(Visitor& /*visitor*/) const {}
void Tracked::clear() {}

namespace {

bool is_tracked(const Object& object) {
  switch (object.kind()) {
    case Kind::kStr:
    case Kind::kRange:
    case Kind::kSlice:
      return false;
    default:
      return true;
  }
}

}  // namespace

std::size_t Heap::collect() {
  // References to each object that do not come from tracked objects.
  std::unordered_map<const Object*, std::uint32_t> outside;
  outside.reserve(count_);
  for (Tracked* object = first_; object != nullptr; object = object->next_) {
    outside.emplace(object, object->use_count());
  }
  class Subtract final : public Visitor {
   public:
    explicit Subtract(std::unordered_map<const Object*, std::uint32_t>& counts) : counts_(counts) {}
    void visit(Object* object) override {
      const auto found = counts_.find(object);
      if (found != counts_.end() && found->second > 0) --found->second;
    }

   private:
    std::unordered_map<const Object*, std::uint32_t>& counts_;
  } subtract(outside);
  for (Tracked* object = first_; object != nullptr; object = object->next_) {
    object->traverse(subtract);
  }

  // Whatever is reachable from one that has such a reference stays.
  class Mark final : public Visitor {
   public:
    explicit Mark(std::unordered_map<const Object*, std::uint32_t>& unreached)
        : unreached_(unreached) {}
    void visit(Object* object) override {
      if (is_tracked(*object) && unreached_.erase(object) > 0) {
        pending.push_back(static_cast<Tracked*>(object));
      }
    }
    std::vector<Tracked*> pending;

   private:
    std::unordered_map<const Object*, std::uint32_t>& unreached_;
  } mark(outside);
  for (Tracked* object = first_; object != nullptr; object = object->next_) {
    const auto found = outside.find(object);
    if (found == outside.end() || found->second == 0) continue;
    mark.visit(object);
    while (!mark.pending.empty()) {
      const Tracked* next = mark.pending.back();
      mark.pending.pop_back();
      next->traverse(mark);
    }
  }

  std::vector<Ref<Tracked>> garbage;
  garbage.reserve(outside.size());
  for (Tracked* object = first_; object != nullptr; object = object->next_) {
    if (outside.contains(object)) garbage.emplace_back(object);
  }
  for (Ref<Tracked>& object : garbage) {
    object->clear();
    object.reset();
  }
  return garbage.size();
}

void Heap::drop(Value value) {
  if (!value.is_object()) return;
  if (nested_drops_ >= kMaxNestedDrops) {
    deferred_.push_back(std::move(value));
    return;
  }
  ++nested_drops_;
  value.reset();
  --nested_drops_;
  while (nested_drops_ == 0 && !deferred_.empty()) {
    Value next = std::move(deferred_.back());
    deferred_.pop_back();
    ++nested_drops_;
    next.reset();
    --nested_drops_;
  }
}

void drop_forward(Heap& heap, std::vector<Value>& values) {
  const Ref<Heap> keep(&heap);
  std::vector<Value> taken = std::move(values);
  values.clear();
  for (Value& value : taken) heap.drop(std::move(value));
}

void drop_backward(Heap& heap, std::vector<Value>& values) {
  const Ref<Heap> keep(&heap);
  std::vector<Value> taken = std::move(values);
  values.clear();
  for (auto value = taken.rbegin(); value != taken.rend(); ++value) heap.drop(std::move(*value));
}

}  // namespace tidemark::lang
