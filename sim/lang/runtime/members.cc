#include <algorithm>

#include "sim/lang/runtime/annotations.h"
#include "sim/lang/runtime/docstring.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/function_body.h"
#include "sim/lang/runtime/importer.h"
#include "sim/lang/runtime/special_methods.h"

/// What containers, classes, modules and functions answer of their own: one file for each kind's
/// look-up by name.
namespace tidemark::lang {

namespace {

/// type.__subclasses__ and type.mro.
Value listing_of(Interp& in, ClassObject& type, std::string_view name) {
  const bool above = name == "mro";
  Value function = in.raw_function(name, [above, raw = &type](Interp& interp, CallArgs&) -> Value {
    std::vector<Value> types;
    const auto add = [&](ClassObject* each) { types.emplace_back(Ref<ClassObject>(each)); };
    above ? std::ranges::for_each(raw->mro(), add) : std::ranges::for_each(raw->subclasses(), add);
    return interp.list(std::move(types));
  });
  function.as<Builtin>()->owner = Ref<ClassObject>(&type);
  function.as<Builtin>()->binds_self = false;
  return function;
}

}  // namespace

Value attribute_table(Interp& in, Value owner) {
  const Value tables = in.import("_attribute_tables");
  const auto* instance = owner.as<Instance>();
  const Value* slots = instance == nullptr ? nullptr : instance->type().lookup(known(name::kSlots));
  const bool is_plain = owner.as<Function>() != nullptr ||
                        (instance != nullptr && (slots == nullptr || slots->is_none()));
  if (is_plain) {  // most are: of() of _attribute_tables.py, in short
    const Value type = in.get_attr(tables, in.intern("AttributeTable"));
    const Ref<Instance> table = make_ref<Instance>(in.heap(), type.ref<ClassObject>());
    table->set_own(in.intern("_owner"), std::move(owner));
    table->set_own(in.intern("_of"), in.str(""));
    table->set_own(in.intern("_access"), in.get_attr(tables, in.intern("_access")));
    return table;
  }
  const Value make = in.get_attr(tables, in.intern("of"));
  Value table = in.call(make, {std::move(owner)});  // NotImplemented: all has slots
  return table.tag() == Tag::kNotImplemented ? Value() : table;
}

/// An attribute of a container of a user's class: as of any object.
Value Interp::find_container_member(const Value& object, ClassObject& type, Name name) {
  const auto& container = *static_cast<Container*>(object.object());
  const Value keep = object;
  const Value* in_class = type.lookup(name);
  const bool data = in_class != nullptr && in_class->as<Property>() != nullptr;
  if (!data && container.attrs() != nullptr) {
    if (const Value* own = container.attrs()->find(name)) return *own;
    // self.__dict__ = self: its items are its attributes.
    if (const Value* items = container.attrs()->find(known(name::kDict))) {
      auto* dict = items->as<Dict>();
      const Value* own =
          dict == nullptr ? nullptr : dict->table.find(*this, str(std::string(text(name))));
      if (own != nullptr) return *own;
    }
  }
  if (in_class != nullptr) return bind(*in_class, keep, type);
  if (name == known(name::kClass)) return Ref<ClassObject>(&type);
  if (name == known(name::kDict)) return attribute_table(*this, keep);
  return ask_code(keep, known(name::kGetattr), {str(std::string(text(name)))});
}

Value Interp::find_class_member(ClassObject& type, Name name) {
  if (name == known(name::kAnnotations)) return annotations_of(*this, type);
  ClassObject* owner = nullptr;
  const Value* found = type.lookup(name, &owner);
  // Every class has these three of its own.
  const bool is_own =
      name == known(name::kModule) || name == known(name::kQualname) || name == known(name::kDoc);
  if (is_own && owner != &type) found = nullptr;
  if (found != nullptr) {
    if (const auto* wrapper = found->as<MethodWrapper>()) {
      if (wrapper->kind() == Kind::kStaticMethod) return wrapper->function;
      return make_ref<BoundMethod>(heap(), wrapper->function, Ref<ClassObject>(&type));
    }
    if (descriptor_hook(*this, *found, "__get__") != nullptr) {
      const Value descriptor = *found;
      return call_method(descriptor, intern("__get__"), {Value::none(), Ref<ClassObject>(&type)});
    }
    return *found;
  }
  if (type.metaclass && !is_own) {
    if (const Value* of_metaclass = type.metaclass->lookup(name))
      return bind(*of_metaclass, Ref<ClassObject>(&type), *type.metaclass);
  }
  switch (static_cast<std::uint32_t>(name)) {
    case name::kName:
      return str(std::string(text(type.name())));
    case name::kQualname:
      return str(type.qualname);
    case name::kModule:
      return str(type.module());
    case name::kClass:
      return type.metaclass ? type.metaclass : classes_->type;
    case name::kDict:
      return attribute_table(*this, Ref<ClassObject>(&type));
    case name::kDoc:
      return Value::none();
    case name::kBases: {
      std::vector<Value> bases;
      for (const Ref<ClassObject>& base : type.bases()) bases.emplace_back(base);
      return tuple(std::move(bases));
    }
    case name::kMro: {
      std::vector<Value> order;
      for (ClassObject* entry : type.mro()) order.emplace_back(Ref<ClassObject>(entry));
      return tuple(std::move(order));
    }
    default:
      break;
  }
  if (const std::string_view asked = text(name); asked == "__subclasses__" || asked == "mro")
    return listing_of(*this, type, asked);
  if (!type.metaclass) return {};
  return ask_code(Ref<ClassObject>(&type), known(name::kGetattr), {str(std::string(text(name)))});
}

Value Interp::find_module_member(Module& module, Name name) {
  if (const Value* found = module.find(name)) return *found;
  if (name == known(name::kDict)) return attribute_table(*this, Ref<Module>(&module));
  if (module.file == nullptr || module.file->find(name) == nullptr) {
    const std::string submodule = module.name + "." + std::string(text(name));
    if (importer_->is_own(submodule)) return importer_->import(submodule);
  }
  if (module.make_missing) {
    Value made = module.make_missing(*this, module, name);
    if (!made.empty()) {
      module.set(name, made);
      return made;
    }
  }
  if (module.origin == Module::Origin::kOwn) {
    Value fact = importer_->module_fact(module, name);
    const bool has_more =
        module.file != nullptr && module.file->find(known(name::kGetattr)) != nullptr;
    if (!fact.empty() || !has_more || text(name).starts_with("__")) return fact;
    module.make_missing(*this, module, known(name::kGetattr));
  }
  const Value* fallback = module.find(known(name::kGetattr));
  if (fallback == nullptr) return {};
  const Value function = *fallback;
  return call(function, {str(std::string(text(name)))});
}

Value Interp::find_function_member(Function& function, Name name) {
  if (const Value* found = function.attrs.find(name)) return *found;
  switch (static_cast<std::uint32_t>(name)) {
    case name::kName:
      return text_value(function.name);
    case name::kQualname:
      return text_value(function.qualname);
    case name::kModule:
      return str(function.globals->name);
    case name::kDoc:
      return docstring(*this, *function.code);
    case name::kDefaults:
      return function.defaults.empty() ? Value::none() : tuple(function.defaults);
    case name::kDict:
      return attribute_table(*this, Ref<Function>(&function));
    default:
      break;
  }
  const std::string_view wanted = text(name);
  if (!wanted.starts_with("__")) return {};
  if (wanted == "__globals__") return attribute_table(*this, function.globals);
  if (wanted == "__closure__") {
    if (function.closure.empty()) return Value::none();
    return tuple({function.closure.begin(), function.closure.end()});
  }
  // Made in the library: code, annotations, defaults by name.
  if (wanted != "__code__" && wanted != "__annotations__" && wanted != "__kwdefaults__") return {};
  const Value make = get_attr(import("_code"), intern("of_" + std::string(wanted.substr(2))));
  return call(make, {Value(Ref<Function>(&function))});
}

}  // namespace tidemark::lang
