#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/lang/imports/library_index.h"
#include "sim/lang/runtime/frame.h"

/// Setting and removing attributes.
namespace tidemark::lang {

namespace {

/// x.__class__ = type, between classes whose objects are made by the same built-in class.
void set_class(Interp& interp, const Value& object, const Value& given) {
  auto* instance = object.as<Instance>();
  const Ref<ClassObject> type = given.ref<ClassObject>();
  if (!type) {
    interp.type_error(
        fmt::format("__class__ must be set to a class, not '{}' object", interp.type_name(given)));
  }
  const bool is_alike = instance != nullptr && instance->type().user_defined &&
                        type->user_defined &&
                        &instance->type().builtin_base() == &type->builtin_base();
  if (!is_alike) {
    interp.type_error(fmt::format("__class__ assignment: '{}' object layout differs from '{}'",
                                  interp.text(type->name()), interp.type_name(object)));
  }
  instance->set_type(type);
}

/// Whether __slots__ of a class, a text or several, names the attribute.
bool names_slot(Interp& interp, const Value& slots, const ClassObject& owner,
                std::string_view name) {
  // A private name stands there as it is written, and is set mangled.
  const std::string_view type = interp.text(owner.name());
  const std::string_view bare = type.substr(std::min(type.find_first_not_of('_'), type.size()));
  const auto is_it = [&](std::string_view slot) {
    if (slot == name) return true;
    return slot.starts_with("__") && !slot.ends_with("__") &&
           name == fmt::format("_{}{}", bare, slot);
  };
  if (const auto* one = slots.as<Str>()) return is_it(one->text());
  const auto* tuple = slots.as<Tuple>();
  const auto* list = slots.as<List>();
  if (tuple == nullptr && list == nullptr) return true;  // a dict or an iterator: all are let in
  for (const Value& slot : tuple != nullptr ? tuple->items : list->items.all()) {
    const auto* text = slot.as<Str>();
    if (text == nullptr || text->text() == "__dict__" || is_it(text->text())) return true;
  }
  return false;
}

/// Errors: AttributeError where all classes of the object have __slots__, and none has the name.
void check_slots(Interp& interp, const Instance& object, Name name) {
  const ClassObject& type = object.type();
  if (object.kind() != Kind::kInstance || type.lookup(known(name::kSlots)) == nullptr) return;
  for (const ClassObject* each : type.mro()) {
    if (each == interp.classes().object.get()) continue;
    const Value* slots = each->attrs.find(known(name::kSlots));
    if (slots == nullptr || names_slot(interp, *slots, *each, interp.text(name))) return;
  }
  const bool is_in_class = type.lookup(name) != nullptr;
  interp.raise(*interp.classes().attribute_error,
               is_in_class ? fmt::format("'{}' object attribute '{}' is read-only",
                                         interp.text(type.name()), interp.text(name))
                           : fmt::format("'{}' object has no attribute '{}'",
                                         interp.text(type.name()), interp.text(name)));
}

}  // namespace

void Interp::generic_set_attr(Instance& object, Name name, Value value) {
  store_attr(Ref<Instance>(&object), name, std::move(value));
}

void Interp::store_attr(const Value& object, Name name, Value value) {
  ClassObject& type = class_of(object);
  if (const Value* found = type.lookup(name)) {
    if (const auto* property = found->as<Property>()) {
      if (property->set.is_none()) {
        raise(*classes_->attribute_error, fmt::format("property '{}' of '{}' object has no setter",
                                                      text(name), text(type.name())));
      }
      const Value setter = property->set;
      std::array<Value, 2> arguments{object, std::move(value)};
      CallArgs args{arguments.data(), arguments.size(), nullptr, 0, false};
      call(setter, args);
      return;
    }
    if (descriptor_hook(*this, *found, "__set__") != nullptr) {
      const Value descriptor = *found;
      call_method(descriptor, intern("__set__"), {object, std::move(value)});
      return;
    }
  }
  if (name == known(name::kClass)) return set_class(*this, object, value);
  auto* container = object.as<Container>();
  if (name == known(name::kDict)) {
    const bool by_itself = object.as<Dict>() != nullptr && value.same_as(object);
    const bool is_plain = container == nullptr && object.object()->kind() == Kind::kInstance;
    if (value.as<Dict>() == nullptr || (!by_itself && !is_plain))
      refuse("assigning this as __dict__ is not supported", "fill it: x.__dict__.update(...)");
    if (is_plain) {
      auto* instance = object.as<Instance>();
      instance->attrs().clear(heap());
      instance->set_own(name, std::move(value));
      return;
    }
  }
  if (auto* module = object.as<Module>()) return module->set(name, std::move(value));
  if (container == nullptr && object.as<Instance>() == nullptr) no_attribute(object, name);
  const AttrMap* own = container == nullptr ? &object.as<Instance>()->attrs() : container->attrs();
  const Value* items = own == nullptr ? nullptr : own->find(known(name::kDict));
  if (items != nullptr && items->as<Dict>() != nullptr) {
    items->as<Dict>()->table.set(*this, str(std::string(text(name))), std::move(value));
  } else if (container != nullptr) {
    container->set_own(name, std::move(value));
  } else {
    check_slots(*this, *object.as<Instance>(), name);
    object.as<Instance>()->set_own(name, std::move(value));
  }
}

namespace {

/// Whether a program may set a class's attribute: of its own classes, of named tuples, and of a
/// host's that are Python classes where they come from ("(open)"). Operators of those are called
/// without a look at the class: replacing them is refused.
bool is_open(Interp& in, const ClassObject& type, Name name) {
  if (type.user_defined || type.attrs.find(in.intern("_fields")) != nullptr) return true;
  if (type.attrs.find(in.intern("(open)")) == nullptr) return false;
  const std::string_view wanted = in.text(name);
  const bool is_special = wanted.starts_with("__") && wanted.ends_with("__");
  if (is_special && name != known(name::kNew) && type.lookup(name) != nullptr) {
    in.refuse(fmt::format("replacing {}.{} is not supported", in.text(type.name()), wanted),
              "call a function of your own");
  }
  return true;
}

}  // namespace

void Interp::set_attr(const Value& object, Name name, Value value) {
  if (object.as<Instance>() != nullptr) {
    const Value keep = object;
    static_cast<Instance*>(keep.object())->set_attr(*this, name, std::move(value));
    return;
  }
  if (has_code(object)) {
    const Value keep = object;
    if (!ask_code(keep, known(name::kSetattr), {str(std::string(text(name))), value}).empty())
      return;
    if (keep.as<Container>() != nullptr) {
      store_attr(keep, name, std::move(value));
      return;
    }
  }
  if (auto* type = object.as<ClassObject>()) {
    if (!is_open(*this, *type, name)) {
      raise(*classes_->type_error, fmt::format("cannot set '{}' attribute of immutable type '{}'",
                                               text(name), text(type->name())));
    }
    type->attrs.set(name, std::move(value));
    return;
  }
  if (auto* module = object.as<Module>()) {
    const auto* type = value.as<ClassObject>();
    if (name == known(name::kClass) &&
        (type == nullptr || !type->derives_from(*classes_->module))) {
      type_error("__class__ assignment only supported for mutable types or ModuleType subclasses");
    }
    // What the library's file binds there is made first: it must not take the place of `value`
    // later.
    if (module->file != nullptr && module->file->find(name) != nullptr)
      find_module_member(*module, name);
    module->set(name, value);
    if (module->origin == Module::Origin::kOwn &&
        module->make_missing) {  // a host module may want to know what is set in it
      const Value hook = find_module_member(*module, intern("__tidemark_store__"));
      if (!hook.empty()) call(hook, {str(std::string(text(name))), value});
    }
    return;
  }
  if (auto* function = object.as<Function>()) {
    if (name == known(name::kName) && value.as<Str>() != nullptr) {
      function->name = intern(value.as<Str>()->text());
    } else if (name == known(name::kQualname) && value.as<Str>() != nullptr) {
      function->qualname = intern(value.as<Str>()->text());
    } else {
      function->attrs.set(name, std::move(value));
    }
    return;
  }
  // Point.__new__.__defaults__ = (0,) * 2, of a named tuple.
  if (const auto* builtin = object.as<Builtin>();
      builtin != nullptr && builtin->name == known(name::kNew) && text(name) == "__defaults__" &&
      builtin->owner.as<ClassObject>() != nullptr &&
      (value.is_none() || value.as<Tuple>() != nullptr)) {
    Value defaults = value.is_none() ? tuple({}) : std::move(value);
    builtin->owner.as<ClassObject>()->attrs.set(intern("_defaults"), std::move(defaults));
    return;
  }
  if (find_attr(object, name).empty()) no_attribute(object, name);
  raise(*classes_->attribute_error,
        fmt::format("'{}' object attribute '{}' is read-only", type_name(object), text(name)));
}

bool remove_attribute(Interp& interp, const Value& object, Name name) {
  const Ref<ClassObject> type = interp.type_of(object);
  const Value* found = type->lookup(name);
  const auto* property = found == nullptr ? nullptr : found->as<Property>();
  if (property == nullptr) {
    auto* instance = object.as<Instance>();
    auto* container = object.as<Container>();
    AttrMap* own = instance != nullptr    ? &instance->attrs()
                   : container != nullptr ? container->attrs()
                                          : nullptr;
    if (own == nullptr) return false;
    if (!own->remove(name).empty()) return true;
    const Value* items = own->find(known(name::kDict));
    return items != nullptr && items->as<Dict>() != nullptr &&
           !items->as<Dict>()
                ->table.remove(interp, interp.str(std::string(interp.text(name))))
                .key.empty();
  }
  if (property->del.is_none()) {
    interp.raise(*interp.classes().attribute_error,
                 fmt::format("property '{}' of '{}' object has no deleter", interp.text(name),
                             interp.text(type->name())));
  }
  const Value deleter = property->del;
  interp.call(deleter, {object});
  return true;
}

void Interp::del_attr(const Value& object, Name name) {
  bool removed = false;
  if (object.as<Instance>() != nullptr) {
    const Value keep = object;
    removed = static_cast<Instance*>(keep.object())->del_attr(*this, name);
  } else if (object.as<Container>() != nullptr && has_code(object)) {
    removed = !ask_code(object, known(name::kDelattr), {str(std::string(text(name)))}).empty() ||
              remove_attribute(*this, object, name);
  } else if (object.as<ClassObject>() != nullptr && has_code(object) &&
             !ask_code(object, known(name::kDelattr), {str(std::string(text(name)))}).empty()) {
    removed = true;
  } else if (auto* type = object.as<ClassObject>();
             type != nullptr && is_open(*this, *type, name)) {
    removed = !type->attrs.remove(name).empty();
  } else if (auto* module = object.as<Module>()) {
    removed = module->find(name) != nullptr;
    if (removed) module->set(name, {});
  } else if (auto* function = object.as<Function>()) {
    removed = !function->attrs.remove(name).empty();
  }
  if (!removed) no_attribute(object, name);
}

}  // namespace tidemark::lang
