#include <algorithm>
#include <memory>
#include <vector>

#include "sim/ops/op.h"
#include "sim/torch/autograd/autograd.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/grad_node.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

/// Keeps the AccumulateGrad node of a leaf and calls `owner.autograd_hook(index)` each time it has
/// run. The owner, which holds this object, is not held by it: as in PyTorch, whose reducer hands
/// out its own address, it goes when its last user drops it.
class AccumulatorObject final : public lang::HostObject {
 public:
  AccumulatorObject(Session& session, Ref<lang::ClassObject> type, const Tensor& leaf,
                    lang::Object* owner, std::int64_t index)
      : HostObject(session.interp.heap(), std::move(type), kAccumulatorKind),
        node_(ops::gradient_edge(session.c, leaf).node),
        self_(std::make_shared<AccumulatorObject*>(this)) {
    node_->post_hooks.emplace_back(
        [&session, self = self_, owner, index](ops::TensorList&, const ops::TensorList&) {
          if (*self == nullptr) return;
          Interp& interp = session.interp;
          const Value hook =
              interp.get_attr(Value(Ref<lang::Object>(owner)), interp.intern("autograd_hook"));
          interp.call(hook, {Value::integer(index)});
        });
  }
  ~AccumulatorObject() override { *self_ = nullptr; }
  static bool is(const lang::Object& o) { return o.host_kind() == kAccumulatorKind; }
  void clear() override {
    *self_ = nullptr;
    HostObject::clear();
  }
  [[nodiscard]] const ops::Node* node() const { return node_.get(); }

 private:
  Ref<ops::Node> node_;
  std::shared_ptr<AccumulatorObject*> self_;  ///< null once nobody wants the hook any more
};

/// The nodes that gradients of `tensors` reach, sorted.
std::vector<const ops::Node*> reached_from(Interp& interp, const Value& tensors) {
  std::vector<const ops::Node*> stack;
  for (const Value& value : interp.unpack(tensors)) {
    const auto* tensor = value.as<TensorObject>();
    if (tensor != nullptr && tensor->tensor->grad_fn)
      stack.push_back(tensor->tensor->grad_fn.get());
  }
  std::vector<const ops::Node*> seen;
  while (!stack.empty()) {
    const ops::Node* node = stack.back();
    stack.pop_back();
    const auto at = std::lower_bound(seen.begin(), seen.end(), node);
    if (at != seen.end() && *at == node) continue;
    seen.insert(at, node);
    for (const ops::Edge& edge : node->next) {
      if (edge.node) stack.push_back(edge.node.get());
    }
  }
  return seen;
}

}  // namespace

void fill_reducer(Session& session, lang::Module& module) {
  Session* s = &session;
  Interp& interp = session.interp;
  const Ref<lang::ClassObject> type = interp.make_class("Accumulator", "torch._C");
  type->construct = [s](Interp& in, lang::ClassObject& made, lang::CallArgs& args) -> Value {
    const auto* leaf = args.positional == 3 ? args.values[0].as<TensorObject>() : nullptr;
    if (leaf == nullptr || args.values[1].as<lang::Instance>() == nullptr ||
        !args.values[2].is_int())
      in.type_error("Accumulator() expects a leaf, its owner and an index");
    return make_ref<AccumulatorObject>(*s, Ref<lang::ClassObject>(&made), leaf->tensor,
                                       args.values[1].object(), args.values[2].as_int());
  };
  module.set(interp.intern("Accumulator"), type);
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(interp.intern(lang::function_name(signature)),
               interp.function(signature, std::move(body)));
  };
  add("unreached(accumulators, tensors)", [](Interp& in, Arguments& a) {
    const std::vector<const ops::Node*> reached = reached_from(in, a[1]);
    std::vector<Value> out;
    std::int64_t index = 0;
    for (const Value& value : in.unpack(a[0])) {
      const auto* accumulator = value.as<AccumulatorObject>();
      if (accumulator == nullptr) in.type_error("unreached() expects accumulators");
      const ops::Node* node = accumulator->node();
      if (!std::binary_search(reached.begin(), reached.end(), node))
        out.push_back(Value::integer(index));
      ++index;
    }
    return in.list(std::move(out));
  });
  add("queue_callback(function)", [s](Interp& in, Arguments& a) {
    if (s->c.thread().final_callbacks == nullptr) {
      in.runtime_error("Final callbacks can only be installed during backward pass.");
    }
    s->c.thread().final_callbacks->emplace_back(
        [s, function = a[0]] { s->interp.call(Value(function), {}); });
    return Value::none();
  });
  // -1: no backward pass runs.
  add("_current_graph_task_id()", [s](Interp&, Arguments&) {
    RunningPass* pass = running_pass(s->c.thread());
    if (pass == nullptr) return Value::integer(-1);
    if (pass->number == 0) pass->number = ++s->numbered_passes;
    return Value::integer(pass->number);
  });
  add("_is_checkpoint_valid()", [s](Interp&, Arguments&) {
    RunningPass* pass = running_pass(s->c.thread());
    return Value::boolean(pass == nullptr || pass->reaches_all());
  });
  add("_will_engine_execute_node(node)", [s](Interp& in, Arguments& a) {
    const auto* node = a[0].as<GradNodeObject>();
    if (node == nullptr) in.type_error("_will_engine_execute_node expects an grad_fn");
    RunningPass* pass = running_pass(s->c.thread());
    if (pass == nullptr) {
      in.runtime_error("_get_should_execute_nodes should only be called during the backward pass");
    }
    return Value::boolean(pass->runs(*node->node));
  });
  // A host thread of the program's own runs from here to end_worker(); its settings are a new
  // thread's but for the gradient mode. Gives the device that was current.
  add("begin_worker(device, grad_enabled)", [s](Interp& in, Arguments& a) {
    auto worker = std::make_unique<ops::Thread>();
    worker->grad_enabled = a.boolean(1);
    s->c.set_thread(*worker);
    s->workers.push_back(std::move(worker));
    const ops::Device before = s->current_device;
    s->current_device = s->device_from(a[0]);
    (void)in;
    return s->wrap(before);
  });
  add("end_worker(device)", [s](Interp& in, Arguments& a) {
    if (s->workers.empty()) in.runtime_error("no thread of the program's own runs");
    s->c.end_thread(*s->workers.back());
    s->workers.pop_back();
    s->c.set_thread(s->workers.empty() ? s->c.main_thread : *s->workers.back());
    s->current_device = s->device_from(a[0]);
    return Value::none();
  });
  // The part of a flat buffer that stands for `like`, laid out as it is where it is dense.
  add("part_like(buffer, offset, like)", [s](Interp&, Arguments& a) {
    const Tensor& buffer = a.object<TensorObject>(0, "Tensor").tensor;
    const Tensor& like = a.object<TensorObject>(2, "Tensor").tensor;
    return s->wrap(ops::Context::alias(buffer, like.sizes(),
                                       like.is_non_overlapping_and_dense()
                                           ? like.strides()
                                           : ops::contiguous_strides(like.sizes()),
                                       a.integer(1)));
  });
}

}  // namespace tidemark::torch
