#include <algorithm>
#include <memory>
#include <utility>

#include "sim/ops/op.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/saved_version.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/tracer.h"
#include "sim/torch/autograd/autograd.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/grad_node.h"
#include "sim/torch/tensors/run_notes.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

void add_checkpoint(Session& session, lang::Module& module);    // checkpoint.cc
void add_kept_results(Session& session, lang::Module& module);  // kept_results.cc

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

/// ctx._node: the way from a custom function's context to what its node saved.
class NodeObject final : public lang::HostObject {
 public:
  /// `given`: which of what was saved are tensors, not None.
  NodeObject(Session& session, Ref<lang::ClassObject> type, ops::Node* node,
             std::vector<bool> given)
      : HostObject(session.interp.heap(), std::move(type), kNodeKind),
        node_(node),
        given_(std::move(given)),
        session_(session) {}
  static bool is(const lang::Object& o) { return o.host_kind() == kNodeKind; }
  Value saved() {
    if (node_ == nullptr)
      session_.interp.runtime_error("Trying to backward through the graph a second time");
    std::vector<Value> values;
    values.reserve(given_.size());
    std::size_t next = 0;
    for (const bool is_tensor : given_) {
      if (!is_tensor) {
        values.push_back(Value::none());
        continue;
      }
      const std::size_t at = next++;
      ops::check_version(*node_, node_->saved[at]);
      if (at < unpacked_.size()) {
        values.push_back(session_.wrap(std::move(unpacked_[at])));
        continue;
      }
      const ops::SavedTensor& saved = node_->saved[at];
      values.push_back(session_.wrap(
          session_.c.grad_enabled() ? ops::unpack_for_graph(*node_, saved) : saved.unpack()));
    }
    unpacked_.clear();
    return session_.interp.tuple(std::move(values));
  }
  /// What was unpacked for the backward function under way: the first that asks for it has it.
  void hand_over(ops::TensorList tensors) { unpacked_ = std::move(tensors); }
  void detach() { node_ = nullptr; }

 private:
  ops::Node* node_;  ///< cleared when it releases what it saved
  std::vector<bool> given_;
  ops::TensorList unpacked_;
  Session& session_;
};

struct Custom {
  Session& session;
  Ref<lang::ClassObject> node_class;
};

/// Source: torch::autograd::PyNode::apply: gradients in, gradients out, one per argument of
/// forward.
void run_custom_backward(Session& session, const Value& cls, const Value& ctx,
                         const std::vector<bool>& is_tensor, ops::Backward& b) {
  Interp& interp = session.interp;
  ops::TensorList zeros;
  std::vector<Value> arguments{ctx};
  const bool materialize = interp.truth(interp.get_attr(ctx, interp.intern("_materialize")));
  for (std::size_t i = 0; i < b.incoming.size(); ++i) {
    if (!b.incoming[i].defined()) {
      if (!materialize) {
        arguments.push_back(Value::none());
        continue;
      }
      // Gradients that nothing reached come as zeros, which only the call's arguments hold.
      const ops::GradMetadata& m = b.node.metadata[i];
      zeros.push_back(b.c.empty(m.sizes, m.dtype, m.device));
      arguments.push_back(session.wrap(zeros.back()));
      continue;
    }
    arguments.push_back(session.wrap(b.incoming[i]));
  }
  const Value handle = interp.get_attr(ctx, interp.intern("_node"));
  // Kept as it was: what the function does to its context may not take it away.
  const auto* node = handle.as<NodeObject>();
  if (node == nullptr) interp.runtime_error("ctx._node was replaced");
  const Ref<NodeObject> kept(const_cast<NodeObject*>(node));
  kept->hand_over(std::move(b.saved));
  b.saved.clear();
  const Value out =
      interp.call(interp.get_attr(cls, interp.intern("backward")), std::move(arguments));
  kept->hand_over({});
  const std::vector<Value> grads =
      out.as<lang::Tuple>() != nullptr ? interp.unpack(out) : std::vector<Value>{out};
  if (grads.size() < is_tensor.size()) {
    interp.runtime_error("function returned an incorrect number of gradients (expected " +
                         std::to_string(is_tensor.size()) + ", got " +
                         std::to_string(grads.size()) + ")");
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < is_tensor.size(); ++i) {
    if (!is_tensor[i]) continue;
    if (const auto* tensor = grads[i].as<TensorObject>()) b.grads[next] = tensor->tensor;
    ++next;
  }
}

/// The tensors that the function named to its context.
ops::TensorList tensors_of(Interp& interp, const Value& ctx, std::string_view attribute) {
  ops::TensorList tensors;
  for (const Value& value : interp.unpack(interp.get_attr(ctx, interp.intern(attribute)))) {
    if (const auto* tensor = value.as<TensorObject>()) tensors.push_back(tensor->tensor);
  }
  return tensors;
}

/// Results of a function that makes no node: an input that is given back as it is becomes a view of
/// itself, one that requires gradients is detached. Source: torch's _process_backward_mode_ad.
Value without_node(Session& session, const Value& out, const ops::TensorList& inputs,
                   const ops::TensorList& dirty) {
  const auto own = [&](const Value& value) {
    const auto* made = value.as<TensorObject>();
    if (made == nullptr) return value;
    const Tensor& tensor = made->tensor;
    const auto is_it = [&tensor](const Tensor& other) { return other == tensor; };
    if (std::none_of(inputs.begin(), inputs.end(), is_it) ||
        std::any_of(dirty.begin(), dirty.end(), is_it))
      return value;
    if (tensor.requires_grad()) return session.wrap(ops::detach(session.c, tensor));
    return session.wrap(ops::as_view(tensor, ops::Context::shallow_copy(tensor)));
  };
  if (out.as<lang::Tuple>() == nullptr) return own(out);
  std::vector<Value> results = session.interp.unpack(out);
  for (Value& result : results) result = own(result);
  return session.interp.tuple(std::move(results));
}

/// Tells code that is being compiled of a function of the program's own while it lives.
class OwnFunction {
 public:
  explicit OwnFunction(ops::Tracer* tracer) : tracer_(tracer) {
    if (tracer_ != nullptr) tracer_->begin_call("torch.autograd.Function", {});
  }
  ~OwnFunction() {
    if (tracer_ != nullptr) tracer_->end_call();
  }
  OwnFunction(const OwnFunction&) = delete;
  OwnFunction& operator=(const OwnFunction&) = delete;

 private:
  ops::Tracer* tracer_;
};

Value apply_function(const std::shared_ptr<Custom>& custom, Arguments& a) {
  Session& session = custom->session;
  Interp& interp = session.interp;
  ops::Context& c = session.c;
  const Value cls = a[0];
  const Value ctx = a[1];
  std::vector<Value> given = interp.unpack(a[2]);
  std::vector<bool> is_tensor;
  ops::TensorList inputs;
  std::vector<Value> needs;
  for (const Value& value : given) {
    const auto* tensor = value.as<TensorObject>();
    is_tensor.push_back(tensor != nullptr);
    if (tensor != nullptr) inputs.push_back(tensor->tensor);
    needs.push_back(Value::boolean(tensor != nullptr && tensor->tensor.requires_grad()));
  }
  interp.set_attr(ctx, interp.intern("needs_input_grad"), interp.tuple(std::move(needs)));

  // Names of nodes live as long as the program: interned.
  const auto* class_object = cls.as<lang::ClassObject>();
  const std::string name =
      class_object == nullptr ? "Function" : std::string(interp.text(class_object->name()));
  // While code is compiled it is what runs within it.
  const OwnFunction call(c.tracer);
  ops::Op op(c, interp.text(interp.intern(name)), interp.text(interp.intern(name + "Backward")),
             inputs);
  const Value forward = interp.get_attr(cls, interp.intern("forward"));
  const Value setup = interp.find_attr(cls, interp.intern("setup_context"));
  Value out;
  {
    const ops::GradMode off(c, false);
    if (setup.empty()) {
      given.insert(given.begin(), ctx);
      out = interp.call(forward, std::move(given));
    } else {
      out = interp.call(forward, given);
      interp.call(setup, {ctx, interp.tuple(std::move(given)), out});
    }
  }
  const bool is_tuple = out.as<lang::Tuple>() != nullptr;
  std::vector<Value> results = is_tuple ? interp.unpack(out) : std::vector<Value>{out};
  ops::TensorList outputs;
  for (const Value& value : results) {
    if (const auto* tensor = value.as<TensorObject>()) outputs.push_back(tensor->tensor);
  }
  const ops::TensorList dirty = tensors_of(interp, ctx, "_dirty");
  if (!op.records()) return without_node(session, out, inputs, dirty);

  ops::TensorList constant = tensors_of(interp, ctx, "_non_differentiable");
  if (!dirty.empty() && (dirty.size() != 1 || outputs.size() != 1 || !(outputs[0] == dirty[0]))) {
    interp.refuse("ctx.mark_dirty of other than the one result is not modelled",
                  "write out of place");
  }
  // An input given back as it is becomes a view of itself, so that it has a history of its own.
  for (Tensor& output : outputs) {
    for (const Tensor& input : inputs) {
      if (output == input && dirty.empty()) {
        output = ops::Context::shallow_copy(output);
        std::replace(constant.begin(), constant.end(), input, output);
        break;
      }
    }
  }
  std::size_t slot = 0;
  std::vector<bool> saved_tensors;
  for (const Value& value : interp.unpack(interp.get_attr(ctx, interp.intern("_to_save")))) {
    const auto* tensor = value.as<TensorObject>();
    saved_tensors.push_back(tensor != nullptr);
    if (tensor != nullptr) op.save(slot++, tensor->tensor);
  }
  for (const std::string_view name_of_tensors : {"_to_save", "_dirty", "_non_differentiable"})
    interp.set_attr(ctx, interp.intern(name_of_tensors), interp.tuple({}));
  const Ref<NodeObject> handle =
      make_ref<NodeObject>(session, custom->node_class, op.node(), saved_tensors);
  interp.set_attr(ctx, interp.intern("_node"), Value(handle));
  op.node()->on_release = [handle] { handle->detach(); };
  const auto backward = [&session, cls, ctx, is_tensor](ops::Backward& b) {
    run_custom_backward(session, cls, ctx, is_tensor, b);
  };
  if (!dirty.empty()) return session.wrap(op.in_place(outputs[0], backward));
  op.results_of(outputs, backward);
  for (Tensor& output : outputs) {
    if (std::find(constant.begin(), constant.end(), output) != constant.end()) output->grad_fn = {};
  }
  std::size_t next = 0;
  for (Value& value : results) {
    if (value.as<TensorObject>() != nullptr) value = session.wrap(outputs[next++]);
  }
  return is_tuple ? interp.tuple(std::move(results)) : results.front();
}

Value gradients_of(Session& session, Arguments& a) {
  Interp& interp = session.interp;
  ops::Context& c = session.c;
  return session.guarded([&]() -> Value {
    ops::TensorList given;
    for (const Value& each : interp.unpack(a[1])) {
      const auto* start = each.as<TensorObject>();
      given.push_back(start != nullptr ? start->tensor : Tensor());
    }
    BackwardStart start = start_at(session, interp.unpack(a[0]), given);
    BackwardOptions options;
    options.retain_graph = a.boolean(3);
    options.create_graph = a.boolean(4);
    options.accumulate = false;
    options.rules = session.gradient_rules.get();
    for (const Value& input : interp.unpack(a[2])) {
      const auto* tensor = input.as<TensorObject>();
      if (tensor != nullptr && !tensor->tensor.requires_grad())
        throw ops::OpError("One of the differentiated Tensors does not require grad");
      options.inputs.push_back(edge_of(session, input));
    }
    RunNotes* const notes = run_notes(session);
    if (notes != nullptr) notes->late_gradients.end(session);
    const ops::TensorList gradients =
        run_backward(c, session.emitter.graph(), start.roots, std::move(start.gradients), options);
    if (notes != nullptr) notes->late_gradients.begin(session, gradients);
    return session.tuple_of(gradients);
  });
}

}  // namespace

void fill_autograd(Session& session, lang::Module& module) {
  Interp& interp = session.interp;
  add_checkpoint(session, module);
  add_kept_results(session, module);
  const auto custom =
      std::make_shared<Custom>(Custom{session, interp.make_class("Node", "torch._C")});
  custom->node_class->attrs.set(interp.intern("saved_tensors"),
                                interp.function("saved_tensors(self)", [](Interp&, Arguments& a) {
                                  return a.object<NodeObject>(0, "Node").saved();
                                }));
  module.set(interp.intern("apply_function"),
             interp.function("apply_function(cls, ctx, args)", [custom](Interp&, Arguments& a) {
               return apply_function(custom, a);
             }));
  module.set(interp.intern("gradient_edge"),
             interp.function("gradient_edge(tensor)", [s = &session](Interp& in, Arguments& a) {
               const ops::Edge edge = edge_of(*s, a[0]);
               return in.tuple({wrap_node(*s, edge.node),
                                Value::integer(static_cast<std::int64_t>(edge.input_nr))});
             }));
  module.set(
      interp.intern("gradients"),
      interp.function("gradients(outputs, grad_outputs, inputs, retain_graph, create_graph=False)",
                      [s = &session](Interp&, Arguments& a) { return gradients_of(*s, a); }));
}

}  // namespace tidemark::torch
