#include "sim/torch/tensors/tensor_constructors.h"

#include <utility>
#include <vector>

#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Interp;
using lang::Value;

void add_constructors(Session& session) {
  Interp& interp = session.interp;
  session.tensor_class->attrs.set(interp.intern("(open)"), Value::boolean(true));
  session.tensor_class->construct = [](Interp& in, lang::ClassObject& type, lang::CallArgs& args) {
    // torch.Tensor.__new__ = function
    if (const Value* own = type.attrs.find(lang::known(lang::name::kNew));
        own != nullptr && own->as<lang::Function>() != nullptr) {
      std::vector<Value> values{Value(Ref<lang::ClassObject>(&type))};
      values.insert(values.end(), args.values, args.values + args.total());
      lang::CallArgs given = args;
      given.values = values.data();
      ++given.positional;
      return in.call(Value(*own), given);
    }
    return in.call(in.get_attr(in.import("torch"), in.intern("_legacy_tensor")), args);
  };
  session.parameter_class =
      interp.make_class("Parameter", "torch.nn.parameter", {session.tensor_class});
  session.parameter_class->construct = [&session](Interp& in, lang::ClassObject&,
                                                  lang::CallArgs& args) -> Value {
    const Value* data = args.positional > 0 ? &args.values[0] : args.keyword(in.intern("data"));
    const auto* tensor = data == nullptr ? nullptr : data->as<TensorObject>();
    if (tensor == nullptr) in.type_error("Parameter() expects a tensor");
    bool wanted = ops::is_differentiable(tensor->tensor.dtype());
    if (args.positional > 1) wanted = in.truth(args.values[1]);
    if (const Value* flag = args.keyword(in.intern("requires_grad"))) wanted = in.truth(*flag);
    ops::Tensor parameter = ops::Context::shallow_copy(tensor->tensor);
    parameter->is_parameter = true;
    parameter->requires_grad = wanted;
    parameter->storage->set_role(ops::Role::kParameter);
    return session.wrap(std::move(parameter));
  };
}

}  // namespace tidemark::torch
