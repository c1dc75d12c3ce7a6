#include "sim/torch/tensors/grad_node.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/ops/op.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;

GradNodeObject::GradNodeObject(Session& session, Ref<ops::Node> shown)
    : HostObject(session.interp.heap(), session.node_class, kGradNodeKind),
      node(std::move(shown)),
      session_(session),
      objects_(session.node_objects) {
  objects_->emplace(node.get(), this);
}

GradNodeObject::~GradNodeObject() { objects_->erase(node.get()); }

std::string GradNodeObject::repr(Interp& /*interp*/) { return fmt::format("<{}>", node->name); }

Value wrap_node(Session& session, const Ref<ops::Node>& node) {
  if (!node) return Value::none();
  const auto at = session.node_objects->find(node.get());
  if (at != session.node_objects->end()) return Ref<lang::HostObject>(at->second);
  return make_ref<GradNodeObject>(session, node);
}

ops::Edge edge_of(Session& session, const Value& value) {
  if (const auto* tensor = value.as<TensorObject>())
    return ops::gradient_edge(session.c, tensor->tensor);
  const auto* tuple = value.as<lang::Tuple>();
  const auto* node =
      tuple != nullptr && tuple->items.size() == 2 ? tuple->items[0].as<GradNodeObject>() : nullptr;
  if (node == nullptr || !tuple->items[1].is_int())
    session.interp.type_error("expected a Tensor or a GradientEdge");
  return {node->node, static_cast<std::uint32_t>(tuple->items[1].as_int())};
}

BackwardStart start_at(Session& session, const std::vector<Value>& roots,
                       const ops::TensorList& gradients) {
  ops::TensorList tensors;
  BackwardStart start;
  for (const Value& root : roots) {
    if (const auto* tensor = root.as<TensorObject>()) tensors.push_back(tensor->tensor);
  }
  if (tensors.size() == roots.size()) return backward_start(session.c, tensors, gradients);
  start.gradients = gradients;
  for (const Value& root : roots) start.roots.push_back(edge_of(session, root));
  return start;
}

Value removable_handle(Session& session, const std::shared_ptr<Value>& hook) {
  Interp& interp = session.interp;
  const auto out = make_ref<lang::Instance>(interp.heap(), session.handle_class);
  out->set_own(interp.intern("remove"), interp.function("remove()", [hook](Interp&, Arguments&) {
    hook->reset();
    return Value::none();
  }));
  return out;
}

namespace {

GradNodeObject& self_of(Interp& interp, const Value& value) {
  const auto* node = value.as<GradNodeObject>();
  if (node == nullptr) interp.type_error("expected a Node, not " + interp.type_name(value));
  return const_cast<GradNodeObject&>(*node);
}

/// Source: torch's THPCppFunction_next_functions.
Value next_functions(Interp& interp, const Value& self) {
  const GradNodeObject& object = self_of(interp, self);
  std::vector<Value> out;
  out.reserve(object.node->next.size());
  for (const ops::Edge& edge : object.node->next) {
    out.push_back(interp.tuple({wrap_node(object.session(), edge.node),
                                Value::integer(static_cast<std::int64_t>(edge.input_nr))}));
  }
  return interp.tuple(std::move(out));
}

Value variable_of(Interp& interp, const Value& self) {
  const GradNodeObject& object = self_of(interp, self);
  if (!object.node->variable.defined())
    interp.raise(*interp.classes().attribute_error,
                 fmt::format("'{}' object has no attribute 'variable'", object.node->name));
  return object.session().wrap(object.node->variable);
}

constexpr lang::PropertyRow kProperties[] = {
    {"next_functions", next_functions, nullptr},
    {"variable", variable_of, nullptr},
};

/// What a hook gives, if it is not None, takes the gradients' place.
void replace(Session& session, const Value& result, ops::TensorList& gradients) {
  if (result.is_none()) return;
  const std::vector<Value> changed = session.interp.unpack(result);
  if (changed.size() != gradients.size())
    session.interp.runtime_error("hook has returned an incorrect number of values");
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const auto* tensor = changed[i].as<TensorObject>();
    gradients[i] = tensor != nullptr ? tensor->tensor : ops::Tensor();
  }
}

/// The hook gets a tuple of what came in, None where nothing did. Source: torch's
/// PyFunctionPreHook.
void run_prehook(Session& session, const Value& hook, ops::TensorList& gradients) {
  const Value given = session.tuple_of(gradients);
  replace(session, session.interp.call(Value(hook), {given}), gradients);
}

/// The hook gets what the node gives and what came in. Source: torch's PyFunctionPostHook.
void run_posthook(Session& session, const Value& hook, ops::TensorList& gives,
                  const ops::TensorList& came_in) {
  const Value given = session.tuple_of(gives);
  const Value taken = session.tuple_of(came_in);
  replace(session, session.interp.call(Value(hook), {given, taken}), gives);
}

}  // namespace

void add_grad_nodes(Session& session) {
  Session* s = &session;
  Interp& interp = session.interp;
  session.handle_class = interp.make_class("RemovableHandle", "torch.utils.hooks");
  session.node_class = interp.make_class("Node", "torch.autograd.graph");
  session.node_objects = std::make_shared<NodeObjects>();
  lang::add_properties(interp, *session.node_class, kProperties);
  const auto method = [&](std::string_view signature, lang::HostFunction body) {
    session.node_class->attrs.set(interp.intern(lang::function_name(signature)),
                                  interp.function(signature, std::move(body)));
  };
  method("name(self)", [](Interp& in, Arguments& a) {
    const ops::Node& node = *self_of(in, a[0]).node;
    // A name that is not one of a built-in operator is that of its C++ class.
    return in.str(
        fmt::format("{}{}", node.variable.defined() ? "torch::autograd::" : "", node.name));
  });
  method("register_prehook(self, fn)", [s](Interp& in, Arguments& a) {
    const auto hook = std::make_shared<Value>(a[1]);
    self_of(in, a[0]).node->pre_hooks.emplace_back([s, hook](ops::TensorList& gradients) {
      if (!hook->empty()) run_prehook(*s, *hook, gradients);
    });
    return removable_handle(*s, hook);
  });
  method("register_hook(self, fn)", [s](Interp& in, Arguments& a) {
    const auto hook = std::make_shared<Value>(a[1]);
    self_of(in, a[0]).node->post_hooks.emplace_back(
        [s, hook](ops::TensorList& gives, const ops::TensorList& came_in) {
          if (!hook->empty()) run_posthook(*s, *hook, gives, came_in);
        });
    return removable_handle(*s, hook);
  });
}

}  // namespace tidemark::torch
