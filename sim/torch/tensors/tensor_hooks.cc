#include <memory>
#include <utility>

#include "sim/ops/op.h"
#include "sim/torch/tensors/grad_node.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

ops::Node& node_of(Session& session, TensorObject& object, std::string_view what) {
  const Tensor& tensor = object.tensor;
  if (!tensor.requires_grad()) {
    session.interp.runtime_error("cannot register a " + std::string(what) +
                                 " on a tensor that doesn't require gradient");
  }
  Ref<ops::Node> node = ops::gradient_edge(session.c, tensor).node;
  if (!node) session.interp.runtime_error("cannot register a hook on a view made under no_grad");
  if (node->variable.defined()) object.accumulator = node;
  return *node;
}

/// Source: torch's PyFunctionTensorPreHook: what the hook gives replaces the gradient.
Value register_hook(Session& session, TensorObject& object, Value function) {
  ops::Node& node = node_of(session, object, "hook");
  const auto hook = std::make_shared<Value>(std::move(function));
  const std::uint32_t output = object.tensor->grad_fn ? object.tensor->output_nr : 0;
  node.pre_hooks.push_back([s = &session, hook, output](ops::TensorList& gradients) {
    if (hook->empty() || !gradients[output].defined()) return;
    const Value result = s->interp.call(Value(*hook), {s->wrap(gradients[output])});
    if (const auto* changed = result.as<TensorObject>()) gradients[output] = changed->tensor;
  });
  return removable_handle(session, hook);
}

Value register_accumulate_hook(Session& session, TensorObject& object, Value function) {
  ops::Node& node = node_of(session, object, "hook");
  if (!node.variable.defined()) {
    session.interp.runtime_error(
        "post accumulate grad hooks cannot be registered on non-leaf tensors");
  }
  const auto hook = std::make_shared<Value>(std::move(function));
  node.accumulate_hooks.emplace_back([s = &session, hook, leaf = object.tensor.impl()] {
    if (!hook->empty()) s->interp.call(Value(*hook), {s->wrap(Tensor(Ref(leaf)))});
  });
  return removable_handle(session, hook);
}

}  // namespace

void hand_on_hooks(TensorObject& leaf) {
  const Ref<ops::Node> before = std::exchange(leaf.accumulator, nullptr);
  if (!before || (before->pre_hooks.empty() && before->accumulate_hooks.empty())) return;
  const bool requires_grad = std::exchange(leaf.tensor->requires_grad, true);
  leaf.accumulator = ops::gradient_edge(leaf.session().c, leaf.tensor).node;
  leaf.tensor->requires_grad = requires_grad;
  leaf.accumulator->pre_hooks = before->pre_hooks;
  leaf.accumulator->accumulate_hooks = before->accumulate_hooks;
}

void add_tensor_hooks(Session& session) {
  Session* s = &session;
  Interp& interp = session.interp;
  const auto method = [&](std::string_view signature, lang::HostFunction body) {
    session.tensor_class->attrs.set(interp.intern(lang::function_name(signature)),
                                    interp.function(signature, std::move(body)));
  };
  method("register_hook(self, hook)", [s](Interp&, Arguments& a) {
    return register_hook(*s, a.object<TensorObject>(0, "Tensor"), a[1]);
  });
  method("register_post_accumulate_grad_hook(self, hook)", [s](Interp&, Arguments& a) {
    return register_accumulate_hook(*s, a.object<TensorObject>(0, "Tensor"), a[1]);
  });
  method("retain_grad(self)", [s](Interp&, Arguments& a) {
    auto& object = a.object<TensorObject>(0, "Tensor");
    const Tensor& tensor = object.tensor;
    if (tensor.is_leaf()) return Value::none();
    ops::Node& node = node_of(*s, object, "retain_grad");
    if (node.variable.defined() || tensor->retains_grad) return Value::none();
    tensor->retains_grad = true;
    node.retain(*tensor.impl());
    return Value::none();
  });
}

}  // namespace tidemark::torch
