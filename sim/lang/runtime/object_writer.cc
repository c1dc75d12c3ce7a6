#include "sim/lang/runtime/object_writer.h"

#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/set_order.h"

namespace tidemark::lang {

void ObjectWriter::object(const Object* what) {
  if (what == nullptr) {
    image_.put(0);
  } else if (what->kind() == Kind::kStr) {
    image_.put_text(static_cast<const Str*>(what)->text());
  } else if (what == range_) {
    image_.put(1);
  } else if (image_.mention(what)) {
    pending_.emplace_back(what, kObject);
  }
}

void ObjectWriter::value(const Value& value) {
  if (&value == variable_) {
    image_.put(0);
    return;
  }
  image_.put(static_cast<std::uint64_t>(value.tag()));
  switch (value.tag()) {
    case Tag::kBool:
    case Tag::kInt:
      image_.put_signed(value.as_int());
      return;
    case Tag::kFloat:
      image_.put_real(value.as_float());
      return;
    case Tag::kObject:
      object(value.object());
      return;
    case Tag::kEmpty:
    case Tag::kNone:
    case Tag::kNotImplemented:
    case Tag::kEllipsis:
      return;
  }
}

void ObjectWriter::values(const std::vector<Value>& values) {
  image_.put(values.size());
  for (const Value& each : values) value(each);
}

void ObjectWriter::attributes(const AttrMap& map) {
  image_.put(map.size());
  for (const AttrMap::Entry& entry : map.entries()) {
    image_.put(static_cast<std::uint64_t>(entry.name));
    value(entry.value);
  }
}

void ObjectWriter::container(const Container& what) {
  object(what.type());
  if (what.attrs() != nullptr) attributes(*what.attrs());
}

void ObjectWriter::table(const ValueTable& table) {
  image_.put(table.size());
  for (const ValueTable::Entry& entry : table.entries()) {
    if (entry.key.empty()) continue;
    value(entry.key);
    value(entry.value);
  }
}

void ObjectWriter::iterator(const Iterator& iterator) {
  const bool is_plain = dynamic_cast<const RangeIterator*>(&iterator) != nullptr ||
                        dynamic_cast<const SequenceIterator*>(&iterator) != nullptr;
  if (!is_plain) {
    image_.give_up("an iterator that is kept");
    return;
  }
  image_.put_signed(iterator.length_hint().value_or(-1));
  class References final : public Visitor {
   public:
    explicit References(ObjectWriter& writer) : writer_(writer) {}
    void visit(Object* object) override { writer_.object(object); }

   private:
    ObjectWriter& writer_;
  } references(*this);
  iterator.traverse(references);
}

void ObjectWriter::contents(const Object& what) {
  image_.put(static_cast<std::uint64_t>(what.kind()) << 16U | what.host_kind());
  switch (what.kind()) {
    case Kind::kStr:
      return;
    case Kind::kList:
      values(static_cast<const List&>(what).items);
      container(static_cast<const List&>(what));
      return;
    case Kind::kTuple:
      values(static_cast<const Tuple&>(what).items);
      container(static_cast<const Tuple&>(what));
      return;
    case Kind::kDict: {
      const auto& dict = static_cast<const Dict&>(what);
      table(dict.table);
      value(dict.default_factory);
      container(dict);
      return;
    }
    case Kind::kSet:
      image_.put(static_cast<const Set&>(what).frozen ? 1 : 0);
      table(static_cast<const Set&>(what).table);  // each with its slot
      if (const SetOrder* order = static_cast<const Set&>(what).order(); order != nullptr) {
        image_.put_signed(static_cast<std::int64_t>(order->fill()));
        image_.put_signed(static_cast<std::int64_t>(order->finger()));
      }
      container(static_cast<const Set&>(what));
      return;
    case Kind::kRange: {
      const auto& range = static_cast<const Range&>(what);
      image_.put_signed(range.start);
      image_.put_signed(range.stop);
      image_.put_signed(range.step);
      return;
    }
    case Kind::kSlice: {
      const auto& slice = static_cast<const Slice&>(what);
      value(slice.start);
      value(slice.stop);
      value(slice.step);
      return;
    }
    case Kind::kFunction: {
      const auto& function = static_cast<const Function&>(what);
      functions_.push_back(&function);
      image_.put(reinterpret_cast<std::uintptr_t>(function.code.get()));
      object(function.globals.get());
      values(function.defaults);
      values(function.keyword_defaults);
      for (const Ref<Cell>& cell : function.closure) object(cell.get());
      attributes(function.attrs);
      return;
    }
    case Kind::kBuiltin:
      // Host functions keep no state of their own.
      image_.put(static_cast<std::uint64_t>(static_cast<const Builtin&>(what).name));
      value(static_cast<const Builtin&>(what).owner);
      return;
    case Kind::kBoundMethod:
      value(static_cast<const BoundMethod&>(what).function);
      value(static_cast<const BoundMethod&>(what).self);
      return;
    case Kind::kClass: {
      const auto& type = static_cast<const ClassObject&>(what);
      for (const Ref<ClassObject>& base : type.bases()) object(base.get());
      object(type.metaclass.get());
      image_.put(type.instance_order.size());
      attributes(type.attrs);
      return;
    }
    case Kind::kInstance:
    case Kind::kHost: {
      const auto& instance = static_cast<const Instance&>(what);
      object(&instance.type());
      attributes(instance.attrs());
      if (BuiltinValue::is(what)) value(static_cast<const BuiltinValue&>(what).plain);
      if (what.kind() == Kind::kHost) host_object(instance);
      return;
    }
    case Kind::kModule: {
      const auto& module = static_cast<const Module&>(what);
      image_.put(module.entries().size());
      for (const AttrMap::Entry& entry : module.entries()) {
        image_.put(static_cast<std::uint64_t>(entry.name));
        value(entry.value);
      }
      return;
    }
    case Kind::kIterator:
      iterator(static_cast<const Iterator&>(what));
      return;
    case Kind::kProperty: {
      const auto& property = static_cast<const Property&>(what);
      value(property.get);
      value(property.set);
      value(property.del);
      return;
    }
    case Kind::kStaticMethod:
    case Kind::kClassMethod:
      value(static_cast<const MethodWrapper&>(what).function);
      return;
    case Kind::kSuper:
      object(static_cast<const Super&>(what).after.get());
      value(static_cast<const Super&>(what).self);
      return;
    case Kind::kCell:
      value(static_cast<const Cell&>(what).value);
      return;
    case Kind::kView:
      image_.put(static_cast<std::uint64_t>(static_cast<const DictView&>(what).part));
      object(static_cast<const DictView&>(what).dict.get());
      return;
    case Kind::kException:
    case Kind::kFrame:
      image_.give_up("an exception that is kept");
      return;
  }
}

void ObjectWriter::write_program(const Iterator& range, const Value& variable) {
  range_ = &range;
  variable_ = &variable;
  const std::vector<Ref<Module>>& modules = interp_.importer().modules();
  image_.put(modules.size());
  for (const Ref<Module>& module : modules) object(module.get());
  object(interp_.importer().table().get());
  interp_.values_->for_each([this](const Value& each) { value(each); });
  for (const Frame* frame = interp_.frame_; frame != nullptr; frame = frame->back) {
    image_.put(reinterpret_cast<std::uintptr_t>(frame->code));
    object(frame->function);
    object(frame->globals);
  }
  if (interp_.handled_) image_.give_up("an exception that is being handled");
  image_.put(interp_.identities_.size());
}

void ObjectWriter::finish() {
  for (std::size_t at = 0; at < pending_.size(); ++at) {
    const auto [what, kind] = pending_[at];
    if (kind == kObject) {
      contents(*static_cast<const Object*>(what));
    } else {
      host_thing(what, kind);
    }
  }
  // Objects that nothing leads to (cycles, what host code holds) stay as they are, or the next
  // collection changes their number; memory of theirs is not mentioned, which the allocator finds.
  image_.put(interp_.heap().tracked());
}

}  // namespace tidemark::lang
