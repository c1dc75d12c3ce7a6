#include <optional>
#include <utility>
#include <vector>

#include "sim/lang/builtins/library.h"

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
