#include <algorithm>

#include "sim/lang/builtins/library.h"

/// What functools, dataclasses and enum ask of objects for each of a program's functions, fields
/// and members.
namespace tidemark::lang {

namespace {

/// Whether a dataclass's field is what most are: kept in the object and given to its __init__.
bool is_plain(Interp& in, const Value& field) {
  const Value kind = in.get_attr(field, in.intern("_kind"));
  const Value is_given = in.get_attr(field, in.intern("init"));
  const Value name = in.get_attr(field, in.intern("name"));
  return kind.as<Str>() != nullptr && kind.as<Str>()->text() == "field" && is_given.is_bool() &&
         is_given.as_bool() && name.as<Str>() != nullptr;
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
    const std::vector<Value> fields =
        interp.unpack(interp.call_method(args[1], interp.intern("values")));
    const auto is_other = [&](const Value& field) { return !is_plain(interp, field); };
    if (std::any_of(fields.begin(), fields.end(), is_other)) return Value::boolean(false);
    for (const Value& field : fields) {
      const Value name = interp.get_attr(field, interp.intern("name"));
      const Str* text = name.as<Str>();
      if (text == nullptr) return Value::boolean(false);
      if (changes->table.find(interp, name) == nullptr)
        changes->table.set(interp, name, interp.get_attr(args[0], interp.intern(text->text())));
    }
    return Value::boolean(true);
  });
}

}  // namespace tidemark::lang
