#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/frame.h"

/// What functools, dataclasses and enum ask of objects for each of a program's functions, fields
/// and members.
namespace tidemark::lang {

namespace {

/// The names of a dataclass's fields. nullopt: one of them is not what most are, kept in the object
/// and given to its __init__.
std::optional<std::vector<Value>> names_of_plain(Interp& in, const Value& fields) {
  const Name kind = in.intern("_kind");
  const Name init = in.intern("init");
  const Name name = in.intern("name");
  std::vector<Value> names;
  for (const Value& each : in.unpack(in.call_method(fields, in.intern("values")))) {
    const auto* field = each.as<Instance>();
    if (field == nullptr) return std::nullopt;
    const Value* its_kind = field->attrs().find(kind);
    const Value* is_given = field->attrs().find(init);
    const Value* its_name = field->attrs().find(name);
    if (its_kind == nullptr || is_given == nullptr || its_name == nullptr) return std::nullopt;
    const Str* text = its_kind->as<Str>();
    if (text == nullptr || text->text() != "field" || !is_given->is_bool() ||
        !is_given->as_bool() || its_name->as<Str>() == nullptr)
      return std::nullopt;
    names.push_back(*its_name);
  }
  return names;
}

/// Whether an object is one of the language's own that keeps what it is given: no code of its class
/// is asked, but for properties and other descriptors.
bool keeps_attributes(const Value& value) {
  const auto* object = value.as<Instance>();
  if (object == nullptr || object->kind() != Kind::kInstance || object->host_kind() != 0)
    return false;
  const ClassObject& type = object->type();
  ClassObject* owner = nullptr;
  const Value* hook = type.lookup(known(name::kSetattr), &owner);
  return type.allocate == nullptr && (hook == nullptr || !owner->user_defined) &&
         type.lookup(known(name::kSlots)) == nullptr &&
         object->attrs().find(known(name::kDict)) == nullptr;
}

/// Whether the class says what setting a name of its objects does.
bool is_ruled(Interp& in, const ClassObject& type, Name name) {
  if (name == known(name::kClass) || name == known(name::kDict)) return true;
  const Value* found = type.lookup(name);
  return found != nullptr && found->is_object() &&
         (found->as<Property>() != nullptr || descriptor_hook(in, *found, "__set__") != nullptr);
}

/// What `object.name = value` does. Requires: `keeps` says what keeps_attributes() does.
void set_plainly(Interp& in, const Value& object, bool keeps, Name name, const Value& value) {
  if (!keeps || is_ruled(in, object.as<Instance>()->type(), name)) {
    in.set_attr(object, name, value);
  } else {
    object.as<Instance>()->set_own(name, value);
  }
}

std::vector<Name> names_in(Interp& in, const Value& texts) {
  std::vector<Name> names;
  for (const Value& text : in.unpack(texts)) names.push_back(in.intern(in.to_str(text)));
  return names;
}

/// A new object with these values in the place of the old one's. Empty: the old one has other
/// attributes than these names, or in another order, or its class rules how one of them is set.
Value copied(Interp& in, const std::vector<Name>& names, const Instance& object,
             std::vector<Value>& values) {
  std::size_t count = 0;
  for (const AttrMap::Entry& entry : object.attrs().entries()) {
    if (count == names.size() || entry.name != names[count]) return {};
    ++count;
  }
  ClassObject& type = object.type();
  const auto is_other = [&](Name name) { return is_ruled(in, type, name); };
  if (count != names.size() || std::any_of(names.begin(), names.end(), is_other)) return {};
  const Ref<Instance> made = allocate_instance(in, type);
  made->attrs() = object.attrs();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!values[i].empty()) *made->attrs().find(names[i]) = std::move(values[i]);
  }
  return made;
}

/// What dataclasses.replace() gives of an object whose __init__ sets these names and does no more.
/// None: its class makes objects in another way, or one of the changes is of another name.
Value replaced(Interp& in, const std::vector<Name>& names, const Value& object,
               const Dict& changes) {
  if (!keeps_attributes(object)) return Value::none();
  ClassObject& type = object.as<Instance>()->type();
  ClassObject* maker = nullptr;
  const Value* make = type.lookup(known(name::kNew), &maker);
  const bool has_own_new = make != nullptr && maker != in.classes().object.get();
  if (has_own_new || type.construct || type.metaclass ||
      type.lookup(known(name::kPostInit)) != nullptr)
    return Value::none();
  std::vector<Value> values(names.size());
  for (const ValueTable::Entry& entry : changes.table.entries()) {
    if (entry.key.empty()) continue;
    const auto* text = entry.key.as<Str>();
    const auto at = std::find_if(names.begin(), names.end(), [&](Name name) {
      return text != nullptr && in.text(name) == text->text();
    });
    if (at == names.end()) return Value::none();
    values[static_cast<std::size_t>(at - names.begin())] = entry.value;
  }
  in.charge(2 * names.size());
  if (Value copy = copied(in, names, *object.as<Instance>(), values); !copy.empty()) return copy;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (values[i].empty()) values[i] = in.get_attr(object, names[i]);
  }
  Value made = allocate_instance(in, type);
  for (std::size_t i = 0; i < names.size(); ++i) set_plainly(in, made, true, names[i], values[i]);
  drop_forward(in.heap(), values);
  return made;
}

}  // namespace

void add_object_functions(Interp& in, Module& module) {
  // What update_wrapper() does with the `__dict__` of two functions; False: they are others.
  define(in, module, "give_attributes(wrapped, wrapper)", [](Interp& interp, Arguments& args) {
    const auto* from = args[0].as<Function>();
    if (from == nullptr || args[1].as<Function>() == nullptr) return Value::boolean(false);
    const std::vector<AttrMap::Entry> own = from->attrs.listed();
    for (const AttrMap::Entry& entry : own) {
      if (!interp.text(entry.name).starts_with('<') && entry.name != known(name::kAnnotations))
        interp.set_attr(args[1], entry.name, entry.value);
    }
    return Value::boolean(true);
  });
  // What the classes above one have of their own under a name, the nearest first; None: nothing.
  define(in, module, "inherited_attribute(cls, name)", [](Interp& interp, Arguments& args) {
    const ClassObject& type = args.object<ClassObject>(0, "class");
    const Name name = interp.intern(args.text(1));
    for (const ClassObject* each : type.mro()) {
      const Value* own = each == &type ? nullptr : each->attrs.find(name);
      if (own != nullptr) return *own;
    }
    return Value::none();
  });
  // A function of an object and as many values as names: it sets each as an attribute.
  define(in, module, "attribute_filler(names)", [](Interp& interp, Arguments& args) {
    return interp.raw_function(
        "fill", [names = names_in(interp, args[0])](Interp& running, CallArgs& given) -> Value {
          if (given.positional != names.size() + 1 || given.keyword_count != 0)
            running.type_error("fill() takes an object and a value for each name");
          const Value object = given.values[0];
          const bool keeps = keeps_attributes(object);
          running.charge(names.size());
          for (std::size_t i = 0; i < names.size(); ++i)
            set_plainly(running, object, keeps, names[i], given.values[i + 1]);
          return Value::none();
        });
  });
  // What replace(object, changes) gives where __init__ sets these names and does no more; None: it
  // is to be asked.
  define(in, module, "attribute_replacer(names)", [](Interp& interp, Arguments& args) {
    return interp.raw_function(
        "replaced", [names = names_in(interp, args[0])](Interp& running, CallArgs& given) -> Value {
          if (given.positional != 2 || given.values[1].as<Dict>() == nullptr)
            running.type_error("replaced() takes an object and a dict");
          return replaced(running, names, given.values[0], *given.values[1].as<Dict>());
        });
  });
  // What dataclasses.replace() takes from the object; False: one of its fields is not plain, and
  // nothing is taken.
  define(in, module, "fill_fields(obj, fields, changes)", [](Interp& interp, Arguments& args) {
    const Ref<Dict> changes = args[2].ref<Dict>();
    if (changes == nullptr) return Value::boolean(false);
    const auto names = names_of_plain(interp, args[1]);
    if (!names) return Value::boolean(false);
    for (const Value& name : *names) {
      if (changes->table.find(interp, name) != nullptr) continue;
      Value kept = interp.get_attr(args[0], interp.intern(name.as<Str>()->text()));
      changes->table.set(interp, name, std::move(kept));
    }
    return Value::boolean(true);
  });
}

}  // namespace tidemark::lang
