#include <string>
#include <utility>
#include <vector>

#include "sim/ops/op.h"
#include "sim/ops/tracer.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/call_scope.h"
#include "sim/torch/tensors/dtensor_plans.h"
#include "sim/torch/tensors/op_binding.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

void add_dtensor_ops(Session& session, lang::Module& module);

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

/// A kind of host objects behind those of HostKind.
constexpr std::uint16_t kKernelKind = kGradNodeKind + 1;

/// The backward function that an operator on parts made, to be run on other parts.
class KernelObject final : public lang::HostObject {
 public:
  KernelObject(Session& session, Ref<lang::ClassObject> type, Ref<ops::Node> made)
      : HostObject(session.interp.heap(), std::move(type), kKernelKind), node(std::move(made)) {}
  static bool is(const lang::Object& o) { return o.host_kind() == kKernelKind; }
  /// Its `saved` says how many tensors it reads beside the gradients, and which are results.
  const Ref<ops::Node> node;
};

/// Undefined: the value is no tensor.
Tensor tensor_or_none(const Value& value) {
  const auto* object = value.as<TensorObject>();
  return object == nullptr ? Tensor() : object->tensor;
}

Value wrap_or_none(Session& session, Tensor tensor) {
  return tensor.defined() ? session.wrap(std::move(tensor)) : Value::none();
}

ops::TensorList tensors_or_none(Interp& interp, const Value& values) {
  ops::TensorList found;
  for (const Value& value : interp.unpack(values)) found.push_back(tensor_or_none(value));
  return found;
}

/// Undefined ones become None.
Value tuple_of(Session& session, ops::TensorList tensors) {
  std::vector<Value> values;
  values.reserve(tensors.size());
  for (Tensor& tensor : tensors) values.push_back(wrap_or_none(session, std::move(tensor)));
  return session.interp.tuple(std::move(values));
}

/// A part as an operand of a kernel whose gradient is wanted: of a history that leads nowhere.
Value as_operand(Session& session, Arguments& a) {
  Tensor part = ops::Context::shallow_copy(a.object<TensorObject>(0, "Tensor").tensor);
  part->spread.reset();
  part->requires_grad = true;
  part->grad_fn = make_ref<ops::Node>();
  part->grad_fn->metadata.push_back(ops::metadata_of(session.c, part));
  return session.wrap(std::move(part));
}

/// By gradient of the node: the number of the operand that it is for, -1: it is not wanted. Empty:
/// other nodes lie between.
std::vector<Value> operands_of(const ops::Node& node, const ops::TensorList& operands) {
  std::vector<Value> found;
  for (const ops::Edge& edge : node.next) {
    std::int64_t at = -1;
    for (std::size_t i = 0; edge.node && i < operands.size(); ++i) {
      if (operands[i].defined() && operands[i]->grad_fn == edge.node)
        at = static_cast<std::int64_t>(i);
    }
    if (edge.node && at < 0) return {};
    found.push_back(Value::integer(at));
  }
  return found;
}

/// Takes the backward function away from what an operator gave. Of what it saved: the number of the
/// operand, -1 for the result, else the tensor itself. None: it is not one operator's.
Value take_kernel(Session& session, const Ref<lang::ClassObject>& type, Arguments& a) {
  const Tensor& made = a.object<TensorObject>(0, "Tensor").tensor;
  Interp& interp = session.interp;
  if (!made->grad_fn) return Value::none();
  const ops::TensorList operands = tensors_or_none(interp, a[1]);
  const Ref<ops::Node> node = made->grad_fn;
  std::vector<Value> wanted = operands_of(*node, operands);
  if (wanted.empty()) return Value::none();
  made->requires_grad = false;
  std::vector<Value> slots;
  for (ops::SavedTensor& saved : node->saved) {
    const Tensor kept = std::exchange(saved.tensor, {});
    Value slot = wrap_or_none(session, kept);
    if (kept.defined() && kept->storage == made->storage && kept.sizes() == made.sizes())
      slot = Value::integer(-1);
    for (std::size_t i = operands.size(); i > 0; --i) {
      const Tensor& operand = operands[i - 1];
      if (kept.defined() && operand.defined() && kept->storage == operand->storage &&
          kept.sizes() == operand.sizes() && !(saved.is_result))
        slot = Value::integer(static_cast<std::int64_t>(i - 1));
    }
    slots.push_back(std::move(slot));
  }
  made->grad_fn = {};
  const Value kernel(make_ref<KernelObject>(session, type, node));
  return interp.tuple({kernel, interp.tuple(std::move(slots)), interp.str(std::string(node->name)),
                       interp.tuple(std::move(wanted))});
}

/// Runs a backward function on other parts than those it was made for.
Value run_kernel(Session& session, Arguments& a) {
  const auto& kernel = a.object<KernelObject>(0, "kernel");
  ops::Node& node = *kernel.node;
  ops::TensorList incoming = tensors_or_none(session.interp, a[1]);
  ops::TensorList saved = tensors_or_none(session.interp, a[2]);
  if (incoming.size() > node.metadata.size() || saved.size() != node.saved.size())
    session.interp.runtime_error("a kernel gets other operands than it was made for");
  incoming.resize(node.metadata.size());  // nothing comes for the statistics that a norm keeps
  return session.guarded([&] {
    const ops::LabelScope label(session.c, node.name, node.label);
    ops::Backward call{session.c, node, incoming, std::move(saved), {}};
    call.grads.resize(node.next.size());
    ops::Tracer* const tracer = session.c.tracer;
    if (tracer != nullptr) tracer->begin_backward(node, incoming, call.saved);
    node.backward(call);
    if (tracer != nullptr) tracer->end_backward(call.grads);
    while (!call.saved.empty()) call.saved.pop_back();
    return tuple_of(session, std::move(call.grads));
  });
}

/// Hooks of saved tensors see what an operator on DTensors saves, not what one on parts does.
class WithoutPackHooks {
 public:
  explicit WithoutPackHooks(ops::Thread& thread)
      : thread_(thread), kept_(std::exchange(thread.pack_hooks, {})) {}
  ~WithoutPackHooks() { thread_.pack_hooks = std::move(kept_); }
  WithoutPackHooks(const WithoutPackHooks&) = delete;
  WithoutPackHooks& operator=(const WithoutPackHooks&) = delete;

 private:
  ops::Thread& thread_;
  std::vector<ops::PackHook> kept_;
};

/// Results of an operator that a watch sees as one get the memory that was kept of it.
void give_kept(Session& session, const Value& results) {
  if (results.is_none()) return;
  const bool is_one = results.as<TensorObject>() != nullptr;
  const ops::TensorList tensors =
      is_one ? ops::TensorList{tensor_or_none(results)} : tensors_or_none(session.interp, results);
  for (const Tensor& tensor : tensors) session.emitter.give_kept(tensor);
}

/// What the function makes of the gradients that arrive at a node of DTensors.
void run_gradients(Session& session, const Value& gradients, const Value& fit, ops::Backward& b) {
  Interp& interp = session.interp;
  std::vector<Value> needs;
  for (std::size_t i = 0; i < b.grads.size(); ++i) needs.push_back(Value::boolean(b.needs(i)));
  std::vector<Value> arguments{Value::none(), interp.tuple(std::move(needs))};
  for (const Tensor& grad : b.incoming) arguments.push_back(wrap_or_none(session, grad));
  arguments.front() = tuple_of(session, std::exchange(b.saved, {}));
  // The engine has what arrived until the gradients fit.
  const ops::TensorList incoming = std::exchange(b.incoming, {});
  Value out = interp.call(gradients, std::move(arguments));
  // Each goes when it has been summed up, before the next one is.
  std::vector<Value> whole;
  whole.push_back(std::exchange(out, Value::none()));
  out = interp.call(fit, std::move(whole));
  const std::vector<Value> made = interp.unpack(out);
  for (std::size_t i = 0; i < b.grads.size() && i < made.size(); ++i)
    b.grads[i] = tensor_or_none(made[i]);
}

/// Keeps a tensor for backward in the next slot; None keeps its place.
void save_next(ops::Op& op, const Value& kept) {
  std::vector<ops::SavedTensor>& saved = op.node()->saved;
  const Tensor tensor = tensor_or_none(kept);
  if (tensor.defined())
    op.save(saved.size(), tensor);
  else
    saved.emplace_back();
}

/// A collective of compiled code, and the wait for it, are two operators: the graph's, nobody sends
/// anything. None: nothing is compiled. Source: torch's _functional_collectives,
/// _maybe_wrap_tensor.
Value traced_collective(Session& session, Arguments& a) {
  Interp& interp = session.interp;
  ops::Context& c = session.c;
  if (c.tracer == nullptr) return Value::none();
  const Tensor& from = a.object<TensorObject>(1, "Tensor").tensor;
  ops::Dims sizes;
  for (const std::int64_t size : a.integers(2)) sizes.push_back(size);
  const std::string_view name = interp.text(interp.intern(a.text(0)));
  const ops::LabelScope label(c, name);
  const auto traced = [&](std::string_view op, std::string_view settings, const Tensor& read,
                          const auto& make) {
    const CallScope call(c.tracer, settings, {});
    c.tracer->begin_op(op, {&read});
    Tensor made = make();
    c.tracer->gives(made);
    c.tracer->end_op();
    return made;
  };
  return session.guarded([&] {
    const Tensor sent =
        traced(name, a.text(3), from, [&] { return c.empty(sizes, from.dtype(), from.device()); });
    // That of one dimension for another is there when it returns.
    if (name == "shard_dim_alltoall") return session.wrap(sent);
    return session.wrap(traced("wait_tensor", "wait_tensor", sent,
                               [&] { return ops::Context::shallow_copy(sent); }));
  });
}

/// One differentiable operator on DTensors. `kept`: operands that are kept, before it runs.
/// forward() -> (result or tuple of results, what else is kept, the node's name, None: no gradient
/// passes); gradients(kept, needs, *incoming) -> gradients; fit(gradients) brings them to the
/// shapes of the inputs. `is_kernel`: dispatch modes are told of the kernel that it runs, by that
/// one's own name; otherwise of this one alone.
Value spread_op(Session& session, Arguments& a) {
  Interp& interp = session.interp;
  const std::string_view name = interp.text(interp.intern(a.text(0)));
  const ops::TensorList inputs = tensors_or_none(interp, a[1]);
  const Value gradients = a[4];
  const Value fit = a[5];
  const bool is_kernel = a.boolean(6);
  // What lies between the last operator and the kernel is neither's.
  OperatorWatch* const watch = session.emitter.watched_by();
  if (watch != nullptr && is_kernel && session.emitter.unseen() == 0) watch->ends();
  std::optional<Unseen> unseen(std::in_place, session.emitter.unseen(), is_kernel);
  // What a compiler sees of it is what it does on parts.
  const CallScope function(session.c.tracer, "torch.autograd.Function", {});
  ops::Op op(session.c, name, name, inputs);
  unseen.emplace(session.emitter.unseen(), !is_kernel);
  if (op.records()) {
    for (const Value& kept : interp.unpack(a[2])) save_next(op, kept);
  }
  std::vector<Value> made;
  {
    const ops::GradMode off(session.c, false);
    const WithoutPackHooks hidden(session.c.thread());
    made = interp.unpack(interp.call(a[3], {}));
    for (std::size_t i = 0; !is_kernel && i < made.size() && i < 2; ++i)
      give_kept(session, made[i]);
  }
  unseen.reset();
  if (made.size() != 3) interp.type_error("a result, what it keeps and a name are wanted");
  Value result = made[0];
  if (!op.records() || made[2].is_none()) return result;
  op.node()->name = interp.text(interp.intern(interp.to_str(made[2])));
  std::vector<Value> kept_beside = interp.unpack(std::exchange(made[1], Value::none()));
  for (const Value& kept : kept_beside) save_next(op, kept);
  // Where hooks take what is saved, the results of the kernel go one after the other.
  for (Value& kept : kept_beside) kept = Value::none();
  const auto backward = [s = &session, gradients, fit](ops::Backward& b) {
    run_gradients(*s, gradients, fit, b);
  };
  const bool is_tuple = result.as<TensorObject>() == nullptr;
  ops::TensorList outputs =
      is_tuple ? tensors_or_none(interp, result) : ops::TensorList{tensor_or_none(result)};
  if (!inputs.empty() && outputs.size() == 1 && outputs[0] == inputs[0]) {
    op.in_place(outputs[0], backward);
    return result;
  }
  if (is_tuple)
    op.results_of(outputs, backward);
  else
    op.results({&outputs[0]}, backward);
  return result;
}

}  // namespace

void add_dtensor_ops(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  const Ref<lang::ClassObject> kernel = session.interp.make_class("Kernel", "torch._C");
  add("as_operand(part)", [s](Interp&, Arguments& a) { return as_operand(*s, a); });
  add("take_kernel(made, operands)",
      [s, kernel](Interp&, Arguments& a) { return take_kernel(*s, kernel, a); });
  add("run_kernel(kernel, incoming, saved)",
      [s](Interp&, Arguments& a) { return run_kernel(*s, a); });
  add("spread_op(name, inputs, kept, forward, gradients, fit, is_kernel)",
      [s](Interp&, Arguments& a) { return spread_op(*s, a); });
  add("traced_collective(name, tensor, sizes, settings)",
      [s](Interp&, Arguments& a) { return traced_collective(*s, a); });
  add("unseen(function)", [s](Interp& in, Arguments& a) {
    const Unseen unseen(s->emitter.unseen());
    return in.call(a[0], {});
  });
  add("one_operator(name, input, function)", [s](Interp& in, Arguments& a) {
    const Tensor& input = a.object<TensorObject>(1, "Tensor").tensor;
    OperatorWatch* watch = s->emitter.watched_by();
    if (watch != nullptr && s->emitter.unseen() == 0) watch->begins(a.text(0), {&input});
    const Unseen unseen(s->emitter.unseen());
    Value made = in.call(a[2], {});
    give_kept(*s, made);
    return made;
  });
  // What has been worked out of an operator on DTensors (tensors/dtensor_plans.h). `args`: tuples.
  const auto tuple = [](const Arguments& a, std::size_t i) -> const std::vector<Value>& {
    return a.object<lang::Tuple>(i, "tuple").items;
  };
  add("keep_view(op, args, result, label, node, is_reshaped, method, given)",
      [s, tuple](Interp& in, Arguments& a) {
        const auto text = [&](std::size_t i) { return in.text(in.intern(a.text(i))); };
        s->op_table().dtensor_plans().keep_view(a[0], tuple(a, 1), a[2], text(3), text(4),
                                                a.boolean(5), {in.intern(a.text(6)), tuple(a, 7)});
        return Value::none();
      });
  add("keep_product(op, args, result, is_left_by_column, is_right_by_column)",
      [s, tuple](Interp&, Arguments& a) {
        s->op_table().dtensor_plans().keep_product(a[0], tuple(a, 1), a[2], a.boolean(3),
                                                   a.boolean(4));
        return Value::none();
      });
  add("keep_elementwise(op, args, result)", [s, tuple](Interp&, Arguments& a) {
    s->op_table().dtensor_plans().keep_elementwise(a[0], tuple(a, 1), a[2]);
    return Value::none();
  });
  // What `op` gives for the arguments; None: it has not been worked out.
  add("known_op(op, args)", [s, tuple](Interp&, Arguments& a) {
    Value known = s->op_table().dtensor_plans().run(a[0], tuple(a, 1));
    return known.empty() ? Value::none() : known;
  });
  add("set_plan_helpers(arrived, sum_to)", [s](Interp&, Arguments& a) {
    s->op_table().dtensor_plans().set_helpers(a[0], a[1]);
    return Value::none();
  });
  add("is_traced()", [s](Interp&, Arguments&) { return Value::boolean(s->c.tracer != nullptr); });
  add("is_answered()", [s](Interp&, Arguments&) {
    const OperatorWatch* watch = s->emitter.watched_by();
    return Value::boolean(watch != nullptr && watch->is_answering());
  });
}

}  // namespace tidemark::torch
