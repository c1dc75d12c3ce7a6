#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/imports/library_index.h"
#include "sim/lang/runtime/docstring.h"
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

Value attribute_table(Interp& in, Value owner) {
  const Value make = in.get_attr(in.import("_attribute_tables"), in.intern("of"));
  Value table = in.call(make, {std::move(owner)});  // NotImplemented: all has slots
  return table.tag() == Tag::kNotImplemented ? Value() : table;
}

}  // namespace

ClassObject& Interp::class_of(const Value& value) const {
  const BuiltinClasses& c = *classes_;
  switch (value.tag()) {
    case Tag::kEmpty:
    case Tag::kNone:
      return *c.none;
    case Tag::kNotImplemented:
      return *c.not_implemented;
    case Tag::kEllipsis:
      return *c.ellipsis;
    case Tag::kBool:
      return *c.boolean;
    case Tag::kInt:
      return *c.integer;
    case Tag::kFloat:
      return *c.real;
    case Tag::kObject:
      break;
  }
  Object* object = value.object();
  switch (object->kind()) {
    case Kind::kStr:
      return *c.str;
    case Kind::kList: {
      ClassObject* type = static_cast<List*>(object)->type();
      return type != nullptr ? *type : *c.list;
    }
    case Kind::kTuple: {
      ClassObject* type = static_cast<Tuple*>(object)->type();
      return type != nullptr ? *type : *c.tuple;
    }
    case Kind::kDict: {
      ClassObject* type = static_cast<Dict*>(object)->type();
      return type != nullptr ? *type : *c.dict;
    }
    case Kind::kSet: {
      const auto& set = *static_cast<Set*>(object);
      if (set.type() != nullptr) return *set.type();
      return set.frozen ? *c.frozenset : *c.set;
    }
    case Kind::kRange:
      return *c.range;
    case Kind::kSlice:
      return *c.slice;
    case Kind::kFunction:
      return *c.function;
    case Kind::kBuiltin:
      return *c.builtin;
    case Kind::kBoundMethod:
      return *c.method;
    case Kind::kClass: {
      ClassObject* metaclass = static_cast<ClassObject*>(object)->metaclass.get();
      return metaclass != nullptr ? *metaclass : *c.type;
    }
    case Kind::kModule: {
      const Value* own = static_cast<Module*>(object)->find(known(name::kClass));
      return own == nullptr ? *c.module : *own->as<ClassObject>();
    }
    case Kind::kIterator:
      return static_cast<Iterator*>(object)->is_generator() ? *c.generator : *c.iterator;
    case Kind::kProperty:
      return *c.property;
    case Kind::kStaticMethod:
      return *c.static_method;
    case Kind::kClassMethod:
      return *c.class_method;
    case Kind::kSuper:
      return *c.super;
    case Kind::kCell:
      return *c.cell;
    case Kind::kFrame:
      return *c.frame;
    case Kind::kView:
      switch (static_cast<DictView*>(object)->part) {
        case DictPart::kKeys:
          return *c.dict_keys;
        case DictPart::kValues:
          return *c.dict_values;
        case DictPart::kItems:
          return *c.dict_items;
      }
      break;
    case Kind::kInstance:
    case Kind::kHost:
    case Kind::kException:
      return static_cast<Instance*>(object)->type();
  }
  return *c.object;
}

Ref<ClassObject> Interp::type_of(const Value& value) const {
  return Ref<ClassObject>(&class_of(value));
}

std::string Interp::type_name(const Value& value) const {
  if (const auto* iterator = value.as<Iterator>()) return std::string(iterator->type_name());
  return std::string(text(class_of(value).name()));
}

bool Interp::is_instance(const Value& value, const ClassObject& type) const {
  return class_of(value).derives_from(type);
}

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
  ClassObject* owner = nullptr;
  const Value* found = type.lookup(name, &owner);
  if (found != nullptr && name == known(name::kDoc) && owner != &type) found = nullptr;
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
  if (type.metaclass) {
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
