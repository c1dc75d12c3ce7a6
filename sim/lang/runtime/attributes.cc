#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/imports/library_index.h"
#include "sim/lang/runtime/annotations.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/function_body.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/special_methods.h"

namespace tidemark::lang {

const Value* descriptor_hook(Interp& in, const Value& found, std::string_view hook) {
  if (!found.is_object() || found.object()->kind() != Kind::kInstance) return nullptr;
  return static_cast<Instance*>(found.object())->type().lookup(in.intern(hook));
}

namespace {

void add_names(Interp& in, const AttrMap& attrs, std::vector<std::string_view>& out) {
  for (const AttrMap::Entry& entry : attrs.entries()) out.push_back(in.text(entry.name));
}

// Whether an attribute of a class becomes a method of its instances.
bool is_method(const Value& found) {
  if (found.as<Function>() != nullptr) return true;
  const auto* builtin = found.as<Builtin>();
  return builtin != nullptr && builtin->binds_self;
}

/// "__getattribute__", which is asked for at most calls of methods. Its id is that of the last time
/// where that still means it: interpreters with one library agree.
Name getattribute(Interp& in) {
  constexpr std::string_view kText = "__getattribute__";
  static thread_local Name last{};
  if (static_cast<std::size_t>(last) >= in.names().size() || in.text(last) != kText)
    last = in.intern(kText);
  return last;
}

/// Whether the class's own code answers for every attribute.
bool intercepts(Interp& in, const ClassObject& type) {
  if (!type.user_defined || (type.allocate == nullptr && !type.metaclass)) return false;
  ClassObject* owner = nullptr;
  return type.lookup(getattribute(in), &owner) != nullptr && owner->user_defined;
}

}  // namespace

Value Interp::bind(const Value& found, const Value& self, ClassObject& type) {
  if (!found.is_object()) return found;
  switch (found.object()->kind()) {
    case Kind::kBuiltin:
      if (!static_cast<Builtin*>(found.object())->binds_self) return found;
      [[fallthrough]];
    case Kind::kFunction:
      return make_ref<BoundMethod>(heap(), found, self);
    case Kind::kStaticMethod:
      return static_cast<MethodWrapper*>(found.object())->function;
    case Kind::kClassMethod:
      return make_ref<BoundMethod>(heap(), static_cast<MethodWrapper*>(found.object())->function,
                                   Ref<ClassObject>(&type));
    case Kind::kProperty: {
      const Value getter = static_cast<Property*>(found.object())->get;
      Value argument = self;
      CallArgs args{&argument, 1, nullptr, 0, false};
      return call(getter, args);
    }
    case Kind::kInstance: {
      if (descriptor_hook(*this, found, "__get__") == nullptr) return found;
      const Value descriptor = found;
      return call_method(descriptor, intern("__get__"), {self, Ref<ClassObject>(&type)});
    }
    case Kind::kDict:
      settle_annotations(*this, found);
      return found;
    default:
      return found;
  }
}

Value Interp::generic_get_attr(Instance& object, Name name) {
  ClassObject& type = object.type();
  const Value* in_class = type.lookup(name);
  const auto self = [&] { return Value(Ref<Instance>(&object)); };
  const bool from_class_first =
      in_class != nullptr && (in_class->as<Property>() != nullptr ||
                              descriptor_hook(*this, *in_class, "__set__") != nullptr);
  if (from_class_first) return bind(*in_class, self(), type);
  if (const Value* own = object.attrs().find(name)) return *own;
  // self.__dict__ = shared: its items are the object's attributes.
  if (const Value* items = object.attrs().find(known(name::kDict)); items != nullptr) {
    auto* dict = items->as<Dict>();
    const Value* shared =
        dict == nullptr ? nullptr : dict->table.find(*this, str(std::string(text(name))));
    if (shared != nullptr) return *shared;
  }
  if (in_class != nullptr) {
    // A class's text is not that of the classes derived from it.
    if (name == known(name::kDoc) && in_class != type.attrs.find(name)) return Value::none();
    return bind(*in_class, self(), type);
  }
  if (name == known(name::kClass)) return Ref<ClassObject>(&type);
  if (name == known(name::kDict)) return attribute_table(*this, self());
  Value missing = object.get_missing_attr(*this, name);
  if (!missing.empty()) return missing;
  ClassObject* owner = nullptr;
  const Value* fallback = type.lookup(known(name::kGetattr), &owner);
  if (name == known(name::kModule)) return str(type.module());
  if (name == known(name::kDoc)) return Value::none();
  if (fallback != nullptr && owner->user_defined) {
    const Value function = *fallback;
    Value special = special_attribute(*this, self(), name);  // __getattr__ is asked last
    return special.empty() ? call(function, {self(), str(std::string(text(name)))}) : special;
  }
  return {};
}

Value Interp::find_attr(const Value& object, Name name) {
  if (object.is_object()) {
    switch (object.object()->kind()) {
      case Kind::kInstance:
      case Kind::kHost:
      case Kind::kException: {
        const Value keep = object;
        return static_cast<Instance*>(keep.object())->get_attr(*this, name);
      }
      case Kind::kModule: {
        auto& module = *static_cast<Module*>(object.object());
        const Value* own_class =
            module.origin == Module::Origin::kOwn ? nullptr : module.find(known(name::kClass));
        if (own_class != nullptr && intercepts(*this, *own_class->as<ClassObject>())) {
          const Value keep = object;
          const Value function = *own_class->as<ClassObject>()->lookup(intern("__getattribute__"));
          return call(function, {keep, str(std::string(text(name)))});
        }
        Value found = find_module_member(module, name);
        if (!found.empty()) return found;
        break;
      }
      case Kind::kClass: {
        const Ref<ClassObject>& metaclass = static_cast<ClassObject*>(object.object())->metaclass;
        if (metaclass && intercepts(*this, *metaclass)) {
          const Value keep = object;
          const Value function = *metaclass->lookup(intern("__getattribute__"));
          return call(function, {keep, str(std::string(text(name)))});
        }
        Value found = find_class_member(*static_cast<ClassObject*>(object.object()), name);
        if (!found.empty()) return found;
        return {};
      }
      case Kind::kSuper: {
        const auto& super = *static_cast<Super*>(object.object());
        // In a method of a metaclass the object is a class of that metaclass.
        auto* as_type = super.self.as<ClassObject>();
        const bool on_class = as_type != nullptr && as_type->derives_from(*super.after);
        ClassObject& type = on_class ? *as_type : class_of(super.self);
        const Value* found = type.lookup_after(*super.after, name);
        if (found == nullptr) return {};
        if (on_class && is_method(*found)) return *found;
        return bind(*found, super.self, type);
      }
      case Kind::kFunction: {
        Value found = find_function_member(*static_cast<Function*>(object.object()), name);
        if (!found.empty()) return found;
        break;
      }
      case Kind::kBoundMethod: {
        const auto& method = *static_cast<BoundMethod*>(object.object());
        if (name == known(name::kSelf)) return method.self;
        if (name == known(name::kFunc)) return method.function;
        check_stack();
        return find_attr(method.function, name);
      }
      case Kind::kStaticMethod:
      case Kind::kClassMethod: {
        const auto& wrapper = *static_cast<MethodWrapper*>(object.object());
        if (name == known(name::kFunc) || name == known(name::kWrapped)) return wrapper.function;
        const bool is_copied = name == known(name::kName) || name == known(name::kQualname) ||
                               name == known(name::kDoc) || name == known(name::kModule);
        if (is_copied) return find_attr(wrapper.function, name);
        break;
      }
      case Kind::kBuiltin: {
        const auto& builtin = *static_cast<Builtin*>(object.object());
        if (name == known(name::kName) || name == known(name::kQualname)) {
          return str(std::string(text(builtin.name)));
        }
        if (name == known(name::kDoc)) return Value::none();
        break;
      }
      case Kind::kSlice: {
        const auto& slice = *static_cast<Slice*>(object.object());
        if (text(name) == "start") return slice.start;
        if (text(name) == "stop") return slice.stop;
        if (text(name) == "step") return slice.step;
        break;
      }
      case Kind::kRange: {
        const auto& range = *static_cast<Range*>(object.object());
        if (text(name) == "start") return Value::integer(range.start);
        if (text(name) == "stop") return Value::integer(range.stop);
        if (text(name) == "step") return Value::integer(range.step);
        break;
      }
      case Kind::kList:
      case Kind::kTuple:
      case Kind::kDict:
      case Kind::kSet:
        if (has_code(object)) return find_container_member(object, class_of(object), name);
        break;
      default:
        break;
    }
  }
  ClassObject& type = class_of(object);
  if (const Value* found = type.lookup(name)) return bind(*found, object, type);
  if (name == known(name::kClass)) return Ref<ClassObject>(&type);
  // The texts of C's types are not here; a property's is that of its getter.
  if (name == known(name::kDoc) && object.as<Property>() == nullptr) return Value::none();
  return {};
}

Value Interp::get_attr(const Value& object, Name name) {
  Value found = find_attr(object, name);
  if (found.empty()) found = special_attribute(*this, object, name);
  if (found.empty()) no_attribute(object, name);
  return found;
}

void Interp::no_attribute(const Value& object, Name name) {
  std::vector<std::string_view> candidates;
  std::string message;
  if (auto* module = object.as<Module>()) {
    message = fmt::format("module '{}' has no attribute '{}'", module->name, text(name));
    for (const AttrMap::Entry& entry : module->entries()) {
      if (!entry.value.empty()) candidates.push_back(text(entry.name));
    }
    if (module->list_missing) {
      for (const std::string_view known_name : module->list_missing())
        candidates.push_back(known_name);
    }
  } else if (auto* type = object.as<ClassObject>()) {
    message = fmt::format("type object '{}' has no attribute '{}'", text(type->name()), text(name));
    for (ClassObject* entry : type->mro()) add_names(*this, entry->attrs, candidates);
  } else {
    ClassObject* of = object.as<Super>() != nullptr ? classes_->super.get() : &class_of(object);
    message = fmt::format(
        "'{}' object has no attribute '{}'",
        object.as<Iterator>() != nullptr ? type_name(object) : std::string(text(of->name())),
        text(name));
    if (object.as<Instance>() != nullptr) {
      add_names(*this, static_cast<Instance*>(object.object())->attrs(), candidates);
    }
    for (ClassObject* entry : of->mro()) add_names(*this, entry->attrs, candidates);
  }
  std::erase_if(candidates,
                [&](std::string_view c) { return c.starts_with("__") || c == text(name); });
  std::string hint = did_you_mean(text(name), candidates);
  const std::string more = options_.missing_hint ? options_.missing_hint(object) : std::string();
  if (!more.empty()) hint += (hint.empty() ? "" : "; ") + more;
  const auto* module = object.as<Module>();
  if (hint.empty() && module != nullptr && module->origin == Module::Origin::kOwn)
    hint = fmt::format("the module is Tidemark's own, and has not every name of the true '{}'",
                       module->name);
  raise(*classes_->attribute_error, std::move(message), std::move(hint));
}

Value Interp::find_method(Value object, Name name, Value& self) {
  if (object.is_object()) {
    switch (object.object()->kind()) {
      case Kind::kModule:
      case Kind::kClass:
      case Kind::kFunction:
      case Kind::kBoundMethod:
      case Kind::kBuiltin:
        return get_attr(object, name);
      case Kind::kSuper: {
        // super() is not asked for methods in CPython's short way: the method is bound, super
        // dropped.
        Value bound = get_attr(object, name);
        if (auto* method = bound.as<BoundMethod>()) {
          self = method->self;
          return method->function;
        }
        return bound;
      }
      case Kind::kInstance:
      case Kind::kHost:
      case Kind::kException: {
        auto* instance = static_cast<Instance*>(object.object());
        const Value* found = instance->type().lookup(name);
        if (found != nullptr && is_method(*found) && instance->attrs().find(name) == nullptr &&
            !intercepts(*this, instance->type())) {
          Value method = *found;
          self = std::move(object);
          return method;
        }
        return get_attr(object, name);
      }
      default:
        if (has_code(object)) {
          const AttrMap* own = static_cast<Container*>(object.object())->attrs();
          if (own != nullptr && own->find(name) != nullptr) return get_attr(object, name);
        }
        break;
    }
  }
  const Value* found = class_of(object).lookup(name);
  if (found != nullptr && is_method(*found)) {
    Value method = *found;
    self = std::move(object);
    return method;
  }
  return get_attr(object, name);
}

Value Interp::find_special(const Value& object, Name name, Value& self) {
  ClassObject& type = class_of(object);
  const Value* found = type.lookup(name);
  if (found == nullptr || found->is_none()) return {};
  if (is_method(*found)) {
    Value method = *found;
    self = object;
    return method;
  }
  return bind(*found, object, type);
}

Value Interp::ask_code(const Value& object, Name name, std::vector<Value> positional) {
  ClassObject* owner = nullptr;
  const Value* method = class_of(object).lookup(name, &owner);
  if (method == nullptr || method->is_none() || !owner->user_defined) return {};
  Value out = call_special(object, name, std::move(positional));
  return out.tag() == Tag::kNotImplemented ? Value() : out;
}

void Interp::name_error(ClassObject& type, Name name, std::string message) {
  std::vector<std::string_view> candidates;
  if (frame_ != nullptr && frame_->code != nullptr) {
    for (const Name slot : frame_->code->slots) candidates.push_back(text(slot));
    for (const Name slot : frame_->code->frees) candidates.push_back(text(slot));
    for (const AttrMap::Entry& entry : frame_->globals->entries()) {
      if (!entry.value.empty()) candidates.push_back(text(entry.name));
    }
  }
  for (std::size_t i = 0; i < builtins_.size(); ++i) {
    if (!builtins_[i].empty()) candidates.push_back(text(static_cast<Name>(i)));
  }
  std::erase_if(candidates, [&](std::string_view c) { return c == text(name); });
  raise(type, std::move(message), did_you_mean(text(name), candidates));
}

}  // namespace tidemark::lang
