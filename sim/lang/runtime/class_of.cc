#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/iterators.h"

/// The class of any value, and whether it may be called.
namespace tidemark::lang {

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

std::string Interp::callable_name(const Value& callee) {
  if (const auto* function = callee.as<Function>()) return std::string(text(function->qualname));
  if (const auto* builtin = callee.as<Builtin>()) return std::string(text(builtin->name));
  if (const auto* method = callee.as<BoundMethod>()) {
    check_stack();
    return callable_name(method->function);
  }
  if (const auto* type = callee.as<ClassObject>()) return std::string(text(type->name()));
  return type_name(callee) + " object";
}

bool Interp::callable(const Value& value) const {
  if (!value.is_object()) return false;
  switch (value.object()->kind()) {
    case Kind::kFunction:
    case Kind::kBuiltin:
    case Kind::kClass:
    case Kind::kBoundMethod:
    case Kind::kStaticMethod:
      return true;
    case Kind::kInstance:
    case Kind::kHost:
    case Kind::kException:
      return static_cast<Instance*>(value.object())->type().lookup(known(name::kCall)) != nullptr;
    default:
      return has_code(value) && class_of(value).lookup(known(name::kCall)) != nullptr;
  }
}

}  // namespace tidemark::lang
