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

/// What `object.name = value` does. Requires: `keeps` says what keeps_attributes() does.
void set_plainly(Interp& in, const Value& object, bool keeps, Name name, const Value& value) {
  const auto is_ruled = [&] {
    const Value* found = object.as<Instance>()->type().lookup(name);
    return found != nullptr &&
           (found->as<Property>() != nullptr || descriptor_hook(in, *found, "__set__") != nullptr);
  };
  if (!keeps || name == known(name::kClass) || name == known(name::kDict) || is_ruled()) {
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
