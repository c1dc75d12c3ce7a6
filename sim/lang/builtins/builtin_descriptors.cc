#include <fmt/format.h>

#include "sim/lang/builtins/library.h"

/// property, staticmethod and classmethod: their methods. An object of a subclass is an object with
/// __get__ (and a property's with __set__ and __delete__), which holds its functions as attributes.
namespace tidemark::lang {

namespace {

constexpr std::string_view kParts[] = {"fget", "fset", "fdel"};

Value part_of(Interp& in, const Value& self, std::size_t part) {
  if (const auto* plain = self.as<Property>())
    return part == 0 ? plain->get : part == 1 ? plain->set : plain->del;
  const auto* object = self.as<Instance>();
  if (object == nullptr) in.type_error("expected a property");
  const Value* found = object->attrs().find(in.intern(kParts[part]));
  return found == nullptr ? Value::none() : *found;
}

/// The property with another function in one of its places.
template <std::size_t kPart>
Value with_part(Interp& in, Arguments& args) {
  std::vector<Value> parts;
  for (std::size_t i = 0; i < 3; ++i)
    parts.push_back(i == kPart ? args[1] : part_of(in, args[0], i));
  if (args[0].as<Property>() != nullptr)
    return make_ref<Property>(in.heap(), parts[0], parts[1], parts[2]);
  return in.call(in.type_of(args[0]), std::move(parts));
}

/// What the part is called with.
Value ask(Interp& in, const Value& self, std::size_t part, std::string_view what,
          std::vector<Value> arguments) {
  const Value function = part_of(in, self, part);
  if (function.is_none())
    in.raise(*in.classes().attribute_error, fmt::format("property has no {}", what));
  return in.call(function, std::move(arguments));
}

Ref<Instance> make_instance(Interp& in, Ref<ClassObject> own) {
  return make_ref<Instance>(in.heap(), std::move(own));
}

/// The function in a staticmethod or classmethod.
Value wrapped_by(Interp& in, const Value& self) {
  if (const auto* plain = self.as<MethodWrapper>()) return plain->function;
  const auto* object = self.as<Instance>();
  const Value* found = object == nullptr ? nullptr : object->attrs().find(known(name::kFunc));
  if (found == nullptr) in.raise(*in.classes().runtime_error, "uninitialized method object");
  return *found;
}

void define_wrapper(Interp& in, ClassObject& type) {
  type.allocate = make_instance;
  define(in, type, "__init__(self, function, /)", [](Interp& interp, Arguments& args) {
    auto& self = args.object<Instance>(0, "method object");
    self.set_own(known(name::kFunc), args[1]);
    self.set_own(interp.intern("__wrapped__"), args[1]);
    return Value::none();
  });
}

void add_property(Interp& in) {
  const Ref<ClassObject>& type = in.classes().property;
  type->allocate = make_instance;
  define(in, *type, "getter(self, fget, /)", with_part<0>);
  define(in, *type, "setter(self, fset, /)", with_part<1>);
  define(in, *type, "deleter(self, fdel, /)", with_part<2>);
  define(in, *type, "__init__(self, fget=None, fset=None, fdel=None, doc=None)",
         [](Interp& interp, Arguments& args) {
           auto& self = args.object<Instance>(0, "property");
           for (std::size_t i = 0; i < 3; ++i) self.set_own(interp.intern(kParts[i]), args[i + 1]);
           return Value::none();
         });
  define(in, *type, "__get__(self, instance, owner=None, /)", [](Interp& interp, Arguments& args) {
    if (args[1].is_none()) return args[0];
    return ask(interp, args[0], 0, "getter", {args[1]});
  });
  define(in, *type, "__set__(self, instance, value, /)", [](Interp& interp, Arguments& args) {
    return ask(interp, args[0], 1, "setter", {args[1], args[2]});
  });
  define(in, *type, "__delete__(self, instance, /)", [](Interp& interp, Arguments& args) {
    return ask(interp, args[0], 2, "deleter", {args[1]});
  });
}

}  // namespace

void add_descriptors(Interp& in) {
  add_property(in);
  const BuiltinClasses& c = in.classes();
  define_wrapper(in, *c.static_method);
  define_wrapper(in, *c.class_method);
  define(in, *c.static_method, "__get__(self, instance, owner=None, /)",
         [](Interp& interp, Arguments& args) { return wrapped_by(interp, args[0]); });
  define(in, *c.static_method, "__call__(self, *args, **kwargs)",
         [](Interp& interp, Arguments& args) {
           return interp.call_with(wrapped_by(interp, args[0]), args[1].ref<Tuple>(),
                                   args[2].ref<Dict>());
         });
  define(in, *c.class_method, "__get__(self, instance, owner=None, /)",
         [](Interp& interp, Arguments& args) -> Value {
           Value owner = args[2].is_none() ? Value(interp.type_of(args[1])) : args[2];
           return make_ref<BoundMethod>(interp.heap(), wrapped_by(interp, args[0]),
                                        std::move(owner));
         });
}

}  // namespace tidemark::lang
