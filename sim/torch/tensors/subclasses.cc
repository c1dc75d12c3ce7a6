#include "sim/torch/tensors/subclasses.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sim/torch/tensors/op_binding.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::CallArgs;
using lang::ClassObject;
using lang::Interp;
using lang::Value;

namespace {

/// The tensor as one of the class. Requires: nothing else has its object.
Value in_class(Session& session, ops::Tensor tensor, ClassObject& type) {
  if (!type.derives_from(*session.tensor_class)) {
    session.interp.type_error(
        fmt::format("Creating a Tensor subclass from a class that does not inherit from Tensor is "
                    "not possible. Make sure your class inherits from Tensor."));
  }
  if (type.derives_from(*session.parameter_class)) {
    tensor->is_parameter = true;
    tensor->storage->set_role(ops::Role::kParameter);
  }
  Value object = session.wrap(std::move(tensor));
  object.as<TensorObject>()->set_type(Ref<ClassObject>(&type));
  const bool is_own = &type != session.tensor_class.get() && &type != session.parameter_class.get();
  if (is_own) session.op_table().watch_subclasses();
  return object;
}

/// Another object for the same memory, in the graph of gradients too.
ops::Tensor aliased(Session& session, const Value& tensor) {
  const OpTable::AsPlain plain(session.op_table());
  const Value made =
      session.interp.call(session.op_table().find("method", "view_as"), {tensor, tensor});
  return made.as<TensorObject>()->tensor;
}

Value as_subclass(Session& session, const Value& tensor, ClassObject& type) {
  return in_class(session, aliased(session, tensor), type);
}

/// A result, or what holds results, in the class.
Value handed_over(Session& session, Value result, ClassObject& type) {
  if (const auto* tensor = result.as<TensorObject>()) {
    if (tensor->type().derives_from(type)) return result;
    return as_subclass(session, result, type);
  }
  const auto* list = result.as<lang::List>();
  const auto* tuple = result.as<lang::Tuple>();
  if (list == nullptr && tuple == nullptr) return result;
  std::vector<Value> items = list != nullptr ? list->items.all() : tuple->items;
  bool is_other = false;
  for (Value& item : items) {
    Value made = handed_over(session, item, type);
    is_other = is_other || !made.same_as(item);
    item = std::move(made);
  }
  if (!is_other) return result;
  if (list != nullptr) return session.interp.list(std::move(items));
  return make_ref<lang::Tuple>(session.interp.heap(), std::move(items),
                               session.interp.type_of(result));
}

Value torch_function(Session& session, Arguments& args) {
  Interp& interp = session.interp;
  auto& type = args.object<ClassObject>(0, "class");
  for (const Value& each : interp.unpack(args[2])) {
    const auto* other = each.as<ClassObject>();
    if (other == nullptr || !type.derives_from(*other)) return Value::not_implemented();
  }
  const Ref<lang::Tuple> positional = make_ref<lang::Tuple>(
      interp.heap(), args[3].is_none() ? std::vector<Value>() : interp.unpack(args[3]));
  const Ref<lang::Dict> keywords = args[4].ref<lang::Dict>();
  Value result;
  {
    const OpTable::AsPlain plain(session.op_table());
    result = interp.call_with(args[1], positional, keywords);
  }
  if (&type == session.tensor_class.get() || &type == session.parameter_class.get()) return result;
  return handed_over(session, std::move(result), type);
}

}  // namespace

void add_subclasses(Session& session) {
  Interp& interp = session.interp;
  lang::AttrMap& attributes = session.tensor_class->attrs;
  Session* const s = &session;
  const Value make = interp.raw_function("__new__", [s](Interp& in, CallArgs& args) -> Value {
    auto* type = args.positional == 0 ? nullptr : args.values[0].as<ClassObject>();
    if (type == nullptr) in.type_error("Tensor.__new__(X): X is not a type object");
    CallArgs rest{args.values + 1, args.positional - 1, args.keywords, args.keyword_count, false};
    const bool is_given = rest.positional == 1 && rest.values[0].as<TensorObject>() != nullptr;
    Value made = is_given
                     ? s->wrap(aliased(*s, rest.values[0]))
                     : in.call(in.get_attr(in.import("torch"), in.intern("_legacy_tensor")), rest);
    return in_class(*s, made.as<TensorObject>()->tensor, *type);
  });
  make.as<lang::Builtin>()->binds_self = false;
  attributes.set(lang::known(lang::name::kNew), make);
  const Value make_parameter =
      interp.raw_function("__new__", [s](Interp& in, CallArgs& args) -> Value {
        auto* type = args.positional == 0 ? nullptr : args.values[0].as<ClassObject>();
        if (type == nullptr) in.type_error("Parameter.__new__(X): X is not a type object");
        CallArgs rest{args.values + 1, args.positional - 1, args.keywords, args.keyword_count,
                      false};
        const Value made = s->parameter_class->construct(in, *s->parameter_class, rest);
        return in_class(*s, made.as<TensorObject>()->tensor, *type);
      });
  make_parameter.as<lang::Builtin>()->binds_self = false;
  session.parameter_class->attrs.set(lang::known(lang::name::kNew), make_parameter);
  const auto wrapped = [&](lang::Kind kind, std::string_view signature, auto function) {
    const Value inner = interp.function(signature, function);
    attributes.set(interp.intern(lang::function_name(signature)),
                   make_ref<lang::MethodWrapper>(interp.heap(), kind, inner));
  };
  wrapped(lang::Kind::kStaticMethod, "_make_subclass(cls, data, require_grad=False, **options)",
          [s](Interp&, Arguments& args) -> Value {
            ops::Tensor plain =
                ops::Context::shallow_copy(args.object<TensorObject>(1, "Tensor").tensor);
            plain->requires_grad = s->interp.truth(args[2]);
            return in_class(*s, std::move(plain), args.object<ClassObject>(0, "class"));
          });
  wrapped(lang::Kind::kClassMethod, "__torch_function__(cls, func, types, args=(), kwargs=None)",
          [s](Interp&, Arguments& args) -> Value { return torch_function(*s, args); });
  attributes.set(interp.intern("as_subclass"),
                 interp.function("as_subclass(self, cls)", [s](Interp&, Arguments& args) -> Value {
                   // What is no tensor raises here.
                   static_cast<void>(args.object<TensorObject>(0, "Tensor"));
                   return as_subclass(*s, args[0], args.object<ClassObject>(1, "class"));
                 }));
}

}  // namespace tidemark::torch
