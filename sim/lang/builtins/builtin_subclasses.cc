#include <fmt/format.h>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/special_methods.h"
#include "sim/lang/runtime/unknown.h"

/// What a subclass of a built-in type finds in it: __new__, __init__, and the operators as methods,
/// for super() and for classes that borrow them (__setattr__ = dict.__setitem__).
namespace tidemark::lang {

namespace {

/// T.__new__: its first argument is the class to make one of.
void define_new(Interp& in, ClassObject& type, RawFunction make) {
  const Value function =
      in.raw_function("__new__", [make = std::move(make)](Interp& interp, CallArgs& args) -> Value {
        if (args.positional == 0 || args.values[0].as<ClassObject>() == nullptr)
          interp.type_error("__new__(X): X is not a type object");
        return make(interp, args);
      });
  function.as<Builtin>()->binds_self = false;
  type.attrs.set(known(name::kNew), function);
}

Ref<ClassObject> class_given(const CallArgs& args) { return args.values[0].ref<ClassObject>(); }

/// The arguments after the first.
CallArgs rest_of(const CallArgs& args) {
  return {args.values + 1, args.positional - 1, args.keywords, args.keyword_count, false};
}

/// Of the plain type: nothing but what its call gives.
Ref<ClassObject> subclass_given(const CallArgs& args, const Ref<ClassObject>& plain_type) {
  Ref<ClassObject> type = class_given(args);
  return type == plain_type ? nullptr : type;
}

void define_values(Interp& in, const Ref<ClassObject>& type) {
  define_new(in, *type, [base = type.get()](Interp& interp, CallArgs& args) -> Value {
    CallArgs given = rest_of(args);
    Value plain_value = base->construct(interp, *base, given);
    const Ref<ClassObject> wanted = class_given(args);
    if (wanted.get() == base) return plain_value;
    return make_ref<BuiltinValue>(interp.heap(), wanted, plain_of(plain_value));
  });
  // Before those of a class that is named after it among the bases: class Mode(str, Enum).
  for (const Name name : {known(name::kHash), known(name::kEq)})
    type->attrs.set(name, special_method(in, *type, name));
}

void define_numbers(Interp& in) {
  const BuiltinClasses& c = in.classes();
  const auto itself = [](Interp& interp, Arguments& args) {
    return plain_of(pinned(interp, args[0]));
  };
  define(in, *c.integer, "__index__(self, /)", [](Interp& interp, Arguments& args) {
    if (const auto* unknown = args[0].as<Unknown>()) unknown->refuse(interp, "a size or an index");
    return plain_of(pinned(interp, args[0]));
  });
  define(in, *c.integer, "__int__(self, /)", itself);
  define(in, *c.real, "__float__(self, /)", itself);
  define(in, *c.integer, "__float__(self, /)", [](Interp& interp, Arguments& args) {
    if (const auto* unknown = args[0].as<Unknown>())
      return unknown->another(interp, Unknown::Type::kReal);
    return Value::real(plain_of(pinned(interp, args[0])).number());
  });
}

/// What list, tuple, dict and set have alike.
constexpr FunctionRow kContainerMethods[] = {
    {"__len__(self, /)",
     [](Interp& in, Arguments& args) { return Value::integer(in.builtin_length(args[0])); }},
    {"__iter__(self, /)",
     [](Interp& in, Arguments& args) -> Value { return in.builtin_iterate(args[0]); }},
    {"__contains__(self, key, /)",
     [](Interp& in, Arguments& args) {
       return Value::boolean(in.builtin_contains(args[0], args[1]));
     }},
    {"__repr__(self, /)",
     [](Interp& in, Arguments& args) { return in.str(in.builtin_repr(args[0])); }},
    {"__eq__(self, value, /)",
     [](Interp& in, Arguments& args) {
       Value out = in.builtin_compare(CompareOp::kEq, args[0], args[1]);
       return out.empty() ? Value::not_implemented() : out;
     }},
    {"__ne__(self, value, /)",
     [](Interp& in, Arguments& args) {
       Value out = in.builtin_compare(CompareOp::kNe, args[0], args[1]);
       return out.empty() ? Value::not_implemented() : out;
     }},
};

constexpr FunctionRow kGetItem[] = {
    {"__getitem__(self, key, /)",
     [](Interp& in, Arguments& args) { return in.builtin_get_item(args[0], args[1]); }},
};

constexpr FunctionRow kSetItem[] = {
    {"__setitem__(self, key, value, /)",
     [](Interp& in, Arguments& args) {
       in.builtin_set_item(args[0], args[1], args[2]);
       return Value::none();
     }},
    {"__delitem__(self, key, /)",
     [](Interp& in, Arguments& args) {
       in.builtin_del_item(args[0], args[1]);
       return Value::none();
     }},
};

void define_containers(Interp& in) {
  const BuiltinClasses& c = in.classes();
  for (const Ref<ClassObject>& type : {c.list, c.tuple, c.dict, c.set})
    add_methods(in, *type, kContainerMethods);
  for (const Ref<ClassObject>& type : {c.list, c.tuple, c.dict}) add_methods(in, *type, kGetItem);
  for (const Ref<ClassObject>& type : {c.list, c.dict}) add_methods(in, *type, kSetItem);
  define_new(in, *c.list, [](Interp& interp, CallArgs& args) -> Value {
    return make_ref<List>(interp.heap(), std::vector<Value>(),
                          subclass_given(args, interp.classes().list));
  });
  define(in, *c.list, "__init__(self, iterable=(), /)", [](Interp& interp, Arguments& args) {
    List& list = args.object<List>(0, "list");
    drop_backward(interp.heap(), list.items);
    extend(interp, list, args[1]);
    return Value::none();
  });
  define_new(in, *c.tuple, [](Interp& interp, CallArgs& args) -> Value {
    std::vector<Value> items;
    if (args.positional > 1) items = interp.unpack(args.values[1]);
    return make_ref<Tuple>(interp.heap(), std::move(items),
                           subclass_given(args, interp.classes().tuple));
  });
  define_new(in, *c.frozenset, [](Interp& interp, CallArgs& args) -> Value {
    const Ref<Set> set =
        make_ref<Set>(interp.heap(), true, subclass_given(args, interp.classes().frozenset));
    if (args.positional > 1) set->update(interp, args.values[1]);
    return set;
  });
  define_new(in, *c.dict, [](Interp& interp, CallArgs& args) -> Value {
    return make_ref<Dict>(interp.heap(), subclass_given(args, interp.classes().dict));
  });
  define(in, *c.dict, "__init__(self, items=(), /, **kwargs)", [](Interp& interp, Arguments& args) {
    Dict& dict = args.object<Dict>(0, "dict");
    update_dict(interp, dict, args[1]);
    update_dict(interp, dict, args[2]);
    return Value::none();
  });
  define_new(in, *c.set, [](Interp& interp, CallArgs& args) -> Value {
    return make_ref<Set>(interp.heap(), false, subclass_given(args, interp.classes().set));
  });
  define(in, *c.set, "__init__(self, iterable=(), /)", [](Interp& interp, Arguments& args) {
    Set& set = args.object<Set>(0, "set");
    set.empty();
    set.update(interp, args[1]);
    return Value::none();
  });
}

}  // namespace

void add_subclassing(Interp& in) {
  const BuiltinClasses& c = in.classes();
  for (const Ref<ClassObject>& type : {c.str, c.integer, c.real}) define_values(in, type);
  define_numbers(in);
  define_containers(in);
  define_new(in, *c.type, [](Interp& interp, CallArgs& args) {
    CallArgs given = rest_of(args);
    return make_type(interp, *args.values[0].as<ClassObject>(), given);
  });
  // A class's call, for a metaclass that does more: super().__call__(...).
  c.type->attrs.set(
      known(name::kCall), in.raw_function("__call__", [](Interp& interp, CallArgs& args) -> Value {
        auto* type = args.positional == 0 ? nullptr : args.values[0].as<ClassObject>();
        if (type == nullptr) interp.type_error("type.__call__() needs a class");
        CallArgs given = rest_of(args);
        return instantiate(interp, *type, given);
      }));
  const Value hook = in.raw_function("__init_subclass__", [](Interp& interp, CallArgs& args) {
    if (args.keyword_count > 0) {
      interp.type_error(fmt::format("{}.__init_subclass__() takes no keyword arguments",
                                    interp.text(args.values[0].as<ClassObject>()->name())));
    }
    return Value::none();
  });
  c.object->attrs.set(known(name::kInitSubclass),
                      make_ref<MethodWrapper>(in.heap(), Kind::kClassMethod, hook));
  const Value prepare = in.raw_function(
      "__prepare__", [](Interp& interp, CallArgs&) -> Value { return interp.dict(); });
  c.type->attrs.set(in.intern("__prepare__"),
                    make_ref<MethodWrapper>(in.heap(), Kind::kClassMethod, prepare));
}

}  // namespace tidemark::lang
