#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/runtime/copying.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/text.h"

/// repr, str, format, print, deepcopy.
namespace tidemark::lang {

namespace {

std::string list_repr(Interp& in, const std::vector<Value>& items, std::string_view open,
                      std::string_view close) {
  std::string out(open);
  for (std::size_t i = 0; i < items.size(); ++i) {
    in.step();
    if (i > 0) out += ", ";
    const Value item = items[i];
    out += in.repr(item);
    if (out.size() > in.limits().sequence) in.too_long();
  }
  out += close;
  return out;
}

std::string table_repr(Interp& in, const ValueTable& table, bool with_values, std::string_view open,
                       std::string_view close) {
  std::string out(open);
  bool first = true;
  // A dict is written as it changes, a set as it was.
  const std::vector<ValueTable::Entry> before =
      with_values ? std::vector<ValueTable::Entry>() : table.entries();
  const std::vector<ValueTable::Entry>& entries = with_values ? table.entries() : before;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ValueTable::Entry entry = entries[i];
    if (entry.key.empty()) continue;
    in.step();
    if (!std::exchange(first, false)) out += ", ";
    out += in.repr(entry.key);
    if (with_values) out += ": " + in.repr(entry.value);
    if (out.size() > in.limits().sequence) in.too_long();
  }
  out += close;
  return out;
}

std::string tuple_repr(Interp& in, const Tuple& tuple) {
  if (tuple.type() == nullptr || &tuple.type()->builtin_base() == in.classes().tuple.get()) {
    return list_repr(in, tuple.items, "(", tuple.items.size() == 1 ? ",)" : ")");
  }
  const std::string name(in.text(tuple.type()->name()));
  const Value* fields = tuple.type()->lookup(in.intern("_fields"));
  if (fields == nullptr) {
    // torch.Size([2, 3])
    const std::string prefix = tuple.type()->module().empty() ? "" : tuple.type()->module() + ".";
    return list_repr(in, tuple.items, prefix + name + "([", "])");
  }
  std::string out = name + "(";
  const std::vector<std::string> names = in.named_tuple_fields(*tuple.type());
  for (std::size_t i = 0; i < tuple.items.size() && i < names.size(); ++i) {
    if (i > 0) out += ", ";
    out += names[i] + "=" + in.repr(tuple.items[i]);
  }
  return out + ")";
}

std::string dict_repr(Interp& in, const Dict& dict) {
  std::string plain = table_repr(in, dict.table, true, "{", "}");
  if (dict.type() == nullptr || &dict.type()->builtin_base() == in.classes().dict.get())
    return plain;
  const std::string name(in.text(dict.type()->name()));
  const std::string_view kind = in.text(dict.type()->builtin_base().name());
  if (kind == "defaultdict") {
    return fmt::format("{}({}, {})", name,
                       in.repr(dict.default_factory.empty() ? Value::none() : dict.default_factory),
                       plain);
  }
  return fmt::format("{}({})", name, plain);
}

/// A container inside itself.
std::string within_itself(Kind kind) {
  if (kind == Kind::kTuple) return "(...)";
  return kind == Kind::kList ? "[...]" : "{...}";
}

bool is_in(const std::vector<const Object*>& objects, const Object* wanted) {
  return std::find(objects.begin(), objects.end(), wanted) != objects.end();
}

/// A container is being written for as long as this lives.
class Writing {
 public:
  Writing(std::vector<const Object*>& written, const Object* object)
      : written_(written), is_container_(Container::is(*object)) {
    if (is_container_) written_.push_back(object);
  }
  ~Writing() {
    if (is_container_) written_.pop_back();
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  std::vector<const Object*>& written_;
  bool is_container_;
};

}  // namespace

std::string Interp::repr(const Value& value) {
  if (has_code(value)) {
    const Value keep = value;
    const NestedCall nested(*this);
    const Value own = ask_code(keep, known(name::kRepr));
    if (const Str* text = own.as<Str>()) return text->text();
  }
  return builtin_repr(value);
}

std::string Interp::builtin_repr(const Value& value) {
  switch (value.tag()) {
    case Tag::kEmpty:
    case Tag::kNone:
      return "None";
    case Tag::kNotImplemented:
      return "NotImplemented";
    case Tag::kEllipsis:
      return "Ellipsis";
    case Tag::kBool:
      return value.as_bool() ? "True" : "False";
    case Tag::kInt:
      return fmt::format("{}", value.as_int());
    case Tag::kFloat:
      return real_repr(value.as_float());
    case Tag::kObject:
      break;
  }
  const Value keep = value;
  const NestedCall nested(*this);
  Object* object = value.object();
  if (Container::is(*object) && is_in(in_repr_, object)) return within_itself(object->kind());
  const Writing writing(in_repr_, object);
  switch (object->kind()) {
    case Kind::kStr:
      return text_repr(static_cast<Str*>(object)->text());
    case Kind::kList:
      return list_repr(*this, static_cast<List*>(object)->items, "[", "]");
    case Kind::kTuple:
      return tuple_repr(*this, *static_cast<Tuple*>(object));
    case Kind::kDict:
      return dict_repr(*this, *static_cast<Dict*>(object));
    case Kind::kSet: {
      auto& set = *static_cast<Set*>(object);
      set.settle();
      if (set.table.size() == 0) return set.frozen ? "frozenset()" : "set()";
      return set.frozen ? table_repr(*this, set.table, false, "frozenset({", "})")
                        : table_repr(*this, set.table, false, "{", "}");
    }
    case Kind::kRange: {
      const auto& range = *static_cast<Range*>(object);
      return range.step == 1
                 ? fmt::format("range({}, {})", range.start, range.stop)
                 : fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
    }
    case Kind::kSlice: {
      const auto& slice = *static_cast<Slice*>(object);
      return fmt::format("slice({}, {}, {})", repr(slice.start), repr(slice.stop),
                         repr(slice.step));
    }
    case Kind::kFunction:
      return fmt::format("<function {}>", text(static_cast<Function*>(object)->qualname));
    case Kind::kBuiltin:
      return fmt::format("<built-in function {}>", text(static_cast<Builtin*>(object)->name));
    case Kind::kBoundMethod:
      return fmt::format("<bound method {} of {}>", callable_name(value),
                         repr(static_cast<BoundMethod*>(object)->self));
    case Kind::kClass: {
      const auto& type = *static_cast<ClassObject*>(object);
      const Value* given = type.attrs.find(known(name::kModule));
      const Str* text = given == nullptr ? nullptr : given->as<Str>();
      const std::string module(text == nullptr ? std::string_view(type.module()) : text->text());
      return module.empty() || module == "builtins"
                 ? fmt::format("<class '{}'>", type.qualname)
                 : fmt::format("<class '{}.{}'>", module, type.qualname);
    }
    case Kind::kModule:
      return fmt::format("<module '{}'>", static_cast<Module*>(object)->name);
    case Kind::kView: {
      const auto& view = *static_cast<DictView*>(object);
      const Ref<Iterator> iterator = iterate(value);
      std::vector<Value> items;
      for (Value item = iterator->next(*this); !item.empty(); item = iterator->next(*this)) {
        items.push_back(view.part == DictPart::kItems
                            ? tuple(std::vector<Value>(static_cast<Tuple*>(item.object())->items))
                            : item);
      }
      return list_repr(*this, items, type_name(value) + "([", "])");
    }
    case Kind::kInstance:
    case Kind::kHost:
    case Kind::kException:
      return static_cast<Instance*>(object)->repr(*this);
    default:
      return fmt::format("<{} object>", type_name(value));
  }
}

std::string Interp::to_str(const Value& value) {
  if (const Str* plain = value.as<Str>()) return plain->text();
  if (auto* instance = value.as<Instance>()) {
    const Value keep = value;
    const NestedCall nested(*this);
    return instance->str(*this);
  }
  if (has_code(value)) {
    const Value own = ask_code(value, known(name::kStr));
    if (const Str* text = own.as<Str>()) return text->text();
  }
  return repr(value);
}

std::string Interp::format(const Value& value, std::string_view spec) {
  if (value.is_bool() && spec.empty()) return value.as_bool() ? "True" : "False";
  if (value.is_integral()) return format_integer(*this, value.as_int(), spec);
  if (value.is_float()) return format_real(*this, value.as_float(), spec);
  if (const Str* plain = value.as<Str>()) return format_text(*this, plain->text(), spec);
  if (auto* instance = value.as<Instance>()) {
    const Value keep = value;
    return instance->format(*this, spec);
  }
  if (spec.empty()) return to_str(value);
  type_error(fmt::format("unsupported format string passed to {}.__format__", type_name(value)));
}

void Interp::print(std::string_view output) {
  if (options_.print) options_.print(output);
}

Value Interp::deep_copy(const Value& value) {
  DeepCopies copies;
  return deep_copy(value, copies);
}

Value Interp::deep_copy(const Value& value, const Dict& memo) {
  DeepCopies copies;
  std::unordered_map<std::uint64_t, const Object*> numbered;
  for (const auto& [object, number] : identities_) numbered.emplace(number, object);
  for (const ValueTable::Entry& entry : memo.table.entries()) {
    if (!entry.key.is_int()) continue;
    const auto found = numbered.find(static_cast<std::uint64_t>(entry.key.as_int()));
    if (found != numbered.end()) copies.give(found->second, entry.value);
  }
  return deep_copy(value, copies);
}

Value Interp::deep_copy(const Value& value, DeepCopies& copies) {
  if (!value.is_object()) return value;
  if (const Value* done = copies.find(value)) return *done;
  const NestedCall nested(*this);
  step();
  const Value keep = value;
  const auto copied = [&](const std::vector<Value>& items) {
    std::vector<Value> out;
    out.reserve(items.size());
    for (const Value& item : items) out.push_back(deep_copy(item, copies));
    return out;
  };
  if (has_code(value)) {
    Value copy = ask_code(value, known(name::kDeepcopy), {Value(dict())});
    if (copy.empty()) copy = copied_by_reduce(*this, value, &copies);
    if (!copy.empty()) return copy;
  }
  const auto copy_attributes = [&](const Container& from, Container& to) {
    if (from.attrs() == nullptr) return;
    const std::vector<AttrMap::Entry> own = from.attrs()->listed();
    for (const AttrMap::Entry& entry : own) to.set_own(entry.name, deep_copy(entry.value, copies));
  };
  Object* object = value.object();
  switch (object->kind()) {
    case Kind::kList: {
      const Ref<List> copy = make_ref<List>(heap(), std::vector<Value>(),
                                            Ref<ClassObject>(static_cast<List*>(object)->type()));
      copies.add(value, copy);
      copy_attributes(*static_cast<List*>(object), *copy);
      const std::vector<Value> items = static_cast<List*>(object)->items;
      copy->items = copied(items);
      return copy;
    }
    case Kind::kTuple: {
      auto& from = *static_cast<Tuple*>(object);
      const Ref<Tuple> copy =
          make_ref<Tuple>(heap(), copied(from.items), Ref<ClassObject>(from.type()));
      copy_attributes(from, *copy);
      return copy;
    }
    case Kind::kDict: {
      auto& from = *static_cast<Dict*>(object);
      const Ref<Dict> copy = make_ref<Dict>(heap(), Ref<ClassObject>(from.type()));
      copy->default_factory = from.default_factory;
      copies.add(value, copy);
      copy_attributes(from, *copy);
      const std::vector<ValueTable::Entry> entries = from.table.entries();
      for (const ValueTable::Entry& entry : entries) {
        if (entry.key.empty()) continue;
        Value key = deep_copy(entry.key, copies);
        copy->table.set(*this, std::move(key), deep_copy(entry.value, copies));
      }
      return copy;
    }
    case Kind::kSet: {
      auto& from = *static_cast<Set*>(object);
      const Ref<Set> copy = make_ref<Set>(heap(), from.frozen, Ref<ClassObject>(from.type()));
      copy_attributes(from, *copy);
      from.settle();
      const std::vector<ValueTable::Entry> entries = from.table.entries();
      for (const ValueTable::Entry& entry : entries) {
        if (!entry.key.empty()) copy->add(*this, deep_copy(entry.key, copies));
      }
      return copy;
    }
    case Kind::kBoundMethod: {
      auto& from = *static_cast<BoundMethod*>(object);
      return make_ref<BoundMethod>(heap(), from.function, deep_copy(from.self, copies));
    }
    case Kind::kInstance:
    case Kind::kHost:
    case Kind::kException: {
      auto* instance = static_cast<Instance*>(object);
      Value copy;
      if (instance->type().lookup(known(name::kDeepcopy)) == nullptr)
        copy = copied_by_reduce(*this, value, &copies);
      if (copy.empty()) copy = instance->deep_copy(*this, copies);
      if (copies.find(keep) == nullptr) copies.add(keep, copy);
      return copy;
    }
    case Kind::kIterator: {
      Value copy =
          copied_iterator(*this, keep, [&](const Value& item) { return deep_copy(item, copies); });
      if (!copy.empty()) return copy;
      [[fallthrough]];
    }
    case Kind::kModule:
      type_error(fmt::format("cannot copy '{}' object", type_name(value)));
    default:
      return value;  // functions, classes and strings are shared
  }
}

}  // namespace tidemark::lang
