#include "sim/torch/autograd/autograd.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_map>

#include "sim/base/check.h"
#include "sim/graph/backward_plan.h"
#include "sim/ops/complex_ops.h"
#include "sim/ops/kernel_shape.h"
#include "sim/ops/kernels.h"
#include "sim/ops/sparse.h"
#include "sim/torch/autograd/gradient_streams.h"

namespace tidemark::torch {

using ops::Context;
using ops::Edge;
using ops::LabelScope;
using ops::Node;
using ops::Tensor;
using ops::TensorList;

namespace {

/// A node and the gradients that have reached it.
struct Task {
  Ref<Node> node;
  TensorList inputs;
  GradientStreams streams;  ///< where streams are used at all
};

/// The ready queue's order: the highest sequence number first; equal ones (AccumulateGrad nodes) as
/// a binary heap leaves them, which is the order PyTorch's std::priority_queue gives.
struct Ready {
  std::uint64_t sequence = 0;
  std::unique_ptr<Task> task;
};
struct RunsLater {
  bool operator()(const Ready& a, const Ready& b) const { return a.sequence < b.sequence; }
};

bool owns_plain_memory(const Tensor& t) {
  return t->use_count() == 1 && t->storage && t->storage->use_count() == 1 &&
         t.is_non_overlapping_and_dense();
}

/// Two gradients meet at one input of a node. Dense incoming ones stay with the caller, who drops a
/// node's gradients when all are delivered. Source: torch's InputBuffer::accumulate;
/// training-semantics.md 1.5.
void accumulate(Context& c, Tensor& stored, Tensor&& incoming) {
  const LabelScope label(c, "sum of gradients");
  for (const Tensor* t : {&stored, &incoming})
    ops::check_takes_conjugates("a sum of gradients", *t);
  if (stored.is_sparse() || incoming.is_sparse()) {
    stored = ops::add_gradients_sparse(c, std::move(stored), std::move(incoming));
    return;
  }
  c.launch(stored.device(), 0, 3 * stored.bytes(), ops::KernelClass::kElementwise, stored.dtype());
  ops::works_on(c, {&stored, &incoming}, {&stored});
  if (!c.grad_enabled() && owns_plain_memory(stored)) return;
  stored = ops::pointwise(c, {&stored, &incoming});
}

/// Source: torch's obeys_layout_contract.
bool obeys_layout_contract(const Tensor& grad, const Tensor& variable) {
  if (!variable.is_non_overlapping_and_dense()) return grad.is_contiguous();
  for (std::size_t i = 0; i < grad.sizes().size(); ++i) {
    if (grad.sizes()[i] != 1) {
      if (grad.strides()[i] != variable.strides()[i]) return false;
    } else if (grad.strides()[i] == 0) {
      return false;
    }
  }
  return true;
}

/// Source: torch's AccumulateGrad::accumulateGrad; training-semantics.md 1.6.
void accumulate_grad(Context& c, Node& node, const Tensor& grad) {
  const Tensor& variable = node.variable;
  const LabelScope label(c, "AccumulateGrad", node.label);
  ops::check_takes_conjugates("a gradient", grad);
  const std::uint32_t expected = node.post_hooks.empty() ? 1 : 2;
  Tensor kept;
  if (!variable->grad) {
    if (grad.is_sparse()) {
      kept = ops::keep_sparse_gradient(c, grad, expected);
    } else if (!c.grad_enabled() && grad->use_count() <= expected &&
               obeys_layout_contract(grad, variable)) {
      kept = Context::shallow_copy(grad);
    } else {
      c.launch(grad.device(), 0, 2 * grad.bytes(), ops::KernelClass::kElementwise, grad.dtype());
      kept =
          variable.is_non_overlapping_and_dense()
              ? c.empty_strided(variable.sizes(), variable.strides(), grad.dtype(), grad.device())
              : ops::clone_in(c, grad, ops::MemoryFormat::kContiguous);
      ops::works_on(c, {&grad}, {&kept});
    }
  } else {
    const Tensor before(variable->grad);
    if (!before.is_sparse() && !grad.is_sparse()) {
      c.launch(grad.device(), 0, 3 * grad.bytes(), ops::KernelClass::kElementwise, grad.dtype());
      ops::works_on(c, {&before, &grad}, {&before});
    }
    if (before.is_sparse() || grad.is_sparse()) {
      kept = ops::accumulate_sparse_gradient(c, before, grad);
    } else if (c.grad_enabled()) {
      kept = ops::pointwise(c, {&before, &grad});
    }
  }
  if (!kept.defined()) return;
  if (kept->storage) kept->storage->set_role(ops::Role::kGradient);
  if (kept.is_sparse()) {
    kept->sparse->indices->storage->set_role(ops::Role::kGradient);
    kept->sparse->values->storage->set_role(ops::Role::kGradient);
  }
  variable->grad = kept.ref();
}

/// Source: torch's RetainsGradHook.
void retain_gradient(Context& c, ops::TensorImpl& tensor, const Tensor& grad) {
  if (!grad.defined()) return;
  const LabelScope label(c, "retain_grad");
  const Tensor before(tensor.grad);
  const Tensor kept = before.defined() ? ops::pointwise(c, {&before, &grad}) : ops::clone(c, grad);
  kept->storage->set_role(ops::Role::kGradient);
  tensor.grad = kept.ref();
}

/// Brings each gradient to the shape and type of the input it belongs to. Source: torch's
/// validate_outputs.
void validate_outputs(Context& c, const Node& node, TensorList& grads) {
  const LabelScope label(c, "validate outputs", node.label);
  for (std::size_t i = 0; i < grads.size() && i < node.next.size(); ++i) {
    Tensor& grad = grads[i];
    const Edge& edge = node.next[i];
    if (!grad.defined()) continue;
    if (!edge.node || edge.node->part == Node::Part::kNone) {
      // One's own function gives what it gives; the others compute only what is wanted.
      if (!node.on_release) grad.reset();
      continue;
    }
    const ops::GradMetadata& wanted = edge.node->metadata[edge.input_nr];
    if (grad.is_sparse()) continue;
    if (!(grad.sizes() == wanted.sizes)) grad = ops::sum_to(c, grad, wanted.sizes);
    if (grad.dtype() != wanted.dtype) grad = ops::to_dtype(c, grad, wanted.dtype);
  }
}

/// Runs one node: steps 1 to 5 of training-semantics.md 1.3. Returns the gradients for its edges.
TensorList call_function(Context& c, Node& node, TensorList inputs) {
  TensorList grads;
  // Where hooks follow, the engine holds what came in until they have run.
  const TensorList held = node.post_hooks.empty() ? TensorList() : inputs;
  if (node.variable.defined()) {
    if (inputs[0].defined()) {
      accumulate_grad(c, node, inputs[0]);
      for (const auto& hook : node.accumulate_hooks) hook();
      inputs[0].reset();
    }
  } else {
    const LabelScope label(c, node.name, node.label);
    grads = ops::run_backward_function(c, node, inputs);
  }
  validate_outputs(c, node, grads);
  for (const auto& hook : node.post_hooks) hook();
  return grads;
}

/// The engine's thread and its grad mode while backward runs; autocast is that of the caller.
class OnEngineThread {
 public:
  explicit OnEngineThread(Context& c) : c_(c), caller_(c.thread()), streams_(c, caller_.is_engine) {
    c_.set_thread(c_.engine_thread);
    autocast_ = c_.engine_thread.autocast;
    grad_ = c_.engine_thread.grad_enabled;
    c_.engine_thread.autocast = caller_.autocast;
    c_.engine_thread.grad_enabled = false;
  }
  ~OnEngineThread() {
    c_.engine_thread.autocast = autocast_;
    c_.engine_thread.grad_enabled = grad_;
    c_.set_thread(caller_);
  }
  OnEngineThread(const OnEngineThread&) = delete;
  OnEngineThread& operator=(const OnEngineThread&) = delete;
  [[nodiscard]] CallerStreams& streams() { return streams_; }

 private:
  Context& c_;
  ops::Thread& caller_;
  CallerStreams streams_;
  ops::Autocast autocast_;
  bool grad_ = true;
};

/// Marks the nodes that a pass with inputs leaves out, for as long as it runs.
/// Source: torch's GraphTask::init_to_execute.
class OnlyTowards {
 public:
  OnlyTowards(const std::vector<Edge>& roots, const BackwardOptions& options) {
    if (options.inputs.empty()) return;
    for (const Edge& root : roots) visit(root.node.get());
    const Node::Part at_input = options.accumulate ? Node::Part::kRun : Node::Part::kEnd;
    for (const Edge& input : options.inputs) {
      if (parents_.find(input.node.get()) == parents_.end()) continue;
      wake(*input.node);
      if (at_input == Node::Part::kEnd) ends_.push_back(input.node.get());
    }
    for (Node* end : ends_) {
      const bool goes_on = std::any_of(end->next.begin(), end->next.end(), [](const Edge& edge) {
        return edge.node && edge.node->part != Node::Part::kNone;
      });
      if (!goes_on) end->part = Node::Part::kEnd;
    }
  }
  ~OnlyTowards() {
    for (const auto& [node, parents] : parents_) node->part = Node::Part::kRun;
  }
  OnlyTowards(const OnlyTowards&) = delete;
  OnlyTowards& operator=(const OnlyTowards&) = delete;

 private:
  /// Puts everything behind `root` to sleep and notes who leads to whom.
  void visit(Node* root) {
    std::vector<Node*> stack;
    const auto reach = [&](Node* node) {
      const auto [at, is_new] = parents_.try_emplace(node);
      if (is_new) {
        node->part = Node::Part::kNone;
        stack.push_back(node);
      }
    };
    reach(root);
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Edge& edge : node->next) {
        if (!edge.node) continue;
        reach(edge.node.get());
        parents_[edge.node.get()].push_back(node);
      }
    }
  }
  void wake(Node& input) {
    std::vector<Node*> stack{&input};
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      if (node->part != Node::Part::kNone) continue;
      node->part = Node::Part::kRun;
      for (Node* parent : parents_[node]) stack.push_back(parent);
    }
  }

  std::unordered_map<Node*, std::vector<Node*>> parents_;
  std::vector<Node*> ends_;
};

/// What hooks ask to be run when this backward pass has ended; it may ask for more of the kind.
/// Source: torch's Engine::queue_callback.
class FinalCallbacks {
 public:
  explicit FinalCallbacks(ops::Thread& thread) : thread_(thread), outer_(thread.final_callbacks) {
    thread_.final_callbacks = &callbacks_;
  }
  ~FinalCallbacks() { thread_.final_callbacks = outer_; }
  FinalCallbacks(const FinalCallbacks&) = delete;
  FinalCallbacks& operator=(const FinalCallbacks&) = delete;
  void run() {
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      const std::function<void()> callback = std::move(callbacks_[i]);
      callback();
    }
  }

 private:
  ops::Thread& thread_;
  std::vector<std::function<void()>>* outer_;
  std::vector<std::function<void()>> callbacks_;
};

}  // namespace

TensorList run_backward(Context& c, const graph::OpGraph& graph, const std::vector<Edge>& roots,
                        TensorList gradients, const BackwardOptions& options) {
  OnEngineThread thread(c);
  FinalCallbacks callbacks(c.thread());
  std::vector<graph::VertexId> root_vertices;
  root_vertices.reserve(roots.size());
  for (const Edge& root : roots) root_vertices.push_back(root.node->vertex);
  graph::BackwardPlan plan(graph, root_vertices);
  const OnlyTowards towards(roots, options);

  TensorList captured(options.accumulate ? 0 : options.inputs.size());
  const auto capture = [&](const Node& node, TensorList& inputs) {
    if (options.accumulate) return;
    for (std::size_t i = 0; i < options.inputs.size(); ++i) {
      if (options.inputs[i].node.get() == &node) captured[i] = inputs[options.inputs[i].input_nr];
    }
  };

  std::vector<Ready> ready;
  std::unordered_map<const Node*, std::unique_ptr<Task>> waiting;
  const auto deliver = [&](const Edge& edge, Tensor&& gradient, bool is_ready,
                           const std::optional<StreamOf>& producer) {
    // Most have one gradient to wait for, and never wait.
    const auto at = waiting.empty() ? waiting.end() : waiting.find(edge.node.get());
    std::unique_ptr<Task> fresh;
    if (at == waiting.end()) {
      fresh = std::make_unique<Task>();
      fresh->node = edge.node;
      fresh->inputs.resize(edge.node->metadata.size());
    }
    Task& task = fresh ? *fresh : *at->second;
    Tensor& slot = task.inputs[edge.input_nr];
    if (gradient.defined()) {
      if (c.uses_streams()) {
        task.streams.store(c, edge.input_nr, slot, std::move(gradient), producer,
                           stream_of(*edge.node), [&c](Tensor& stored, Tensor&& incoming) {
                             accumulate(c, stored, std::move(incoming));
                           });
      } else if (slot.defined()) {
        accumulate(c, slot, std::move(gradient));
      } else {
        slot = std::move(gradient);
      }
    }
    if (!is_ready) {
      if (fresh) waiting.emplace(edge.node.get(), std::move(fresh));
      return;
    }
    if (fresh) {
      ready.push_back({edge.node->sequence, std::move(fresh)});
    } else {
      ready.push_back({edge.node->sequence, std::move(at->second)});
      waiting.erase(at);
    }
    std::push_heap(ready.begin(), ready.end(), RunsLater{});
  };
  // Several roots count as one node before them, as in PyTorch: each is ready once its other
  // dependencies are.
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (roots[i].node->part == Node::Part::kNone) continue;
    const bool last = std::none_of(roots.begin() + static_cast<std::ptrdiff_t>(i) + 1, roots.end(),
                                   [&](const Edge& e) { return e.node == roots[i].node; });
    const std::optional<StreamOf> producer = thread.streams().stream_for(gradients[i]);
    deliver(roots[i], std::move(gradients[i]),
            last && plan.dependencies(roots[i].node->vertex) == 0, producer);
  }
  gradients.clear();

  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), RunsLater{});
    const std::unique_ptr<Task> next = std::move(ready.back().task);
    ready.pop_back();
    Task& task = *next;
    Node& node = *task.node;
    std::optional<StreamOf> stream;
    if (c.uses_streams()) {
      stream = stream_of(node);
      task.streams.before_run(c, task.inputs, stream);
    }
    const StreamGuard on_stream(c, stream);
    {
      // What came in lives until the last hook has run.
      const TensorList held = node.pre_hooks.empty() ? TensorList() : task.inputs;
      for (const auto& hook : node.pre_hooks) hook(task.inputs);
    }
    for (const Node::RetainedGradient& r : node.retained) {
      retain_gradient(c, *r.tensor, task.inputs[r.output_nr]);
    }
    capture(node, task.inputs);
    if (node.part == Node::Part::kEnd) continue;
    if (graph.on_backward) graph.on_backward(node.vertex);
    TensorList grads = call_function(c, node, std::move(task.inputs));
    if (!options.retain_graph) {
      const LabelScope label(c, node.name, node.label);
      node.release_variables();
    }
    if (node.next.empty()) thread.streams().leaf(stream);
    for (std::size_t i = 0; i < node.next.size(); ++i) {
      const Edge& edge = node.next[i];
      if (!edge.node || edge.node->part == Node::Part::kNone) continue;
      Tensor none;
      deliver(edge, std::move(i < grads.size() ? grads[i] : none), plan.arrive(edge.node->vertex),
              stream);
    }
  }
  thread.streams().finish();
  callbacks.run();
  return captured;
}

void backward(Context& c, const graph::OpGraph& graph, const TensorList& tensors,
              const TensorList& gradients, bool retain_graph, const TensorList& inputs) {
  TensorList starts;
  std::vector<Edge> roots;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (!t.requires_grad()) {
      throw ops::OpError("element 0 of tensors does not require grad and does not have a grad_fn");
    }
    if (i < gradients.size() && gradients[i].defined()) {
      if (!(gradients[i].sizes() == t.sizes())) {
        throw ops::OpError("Mismatch in shape: grad_output[" + std::to_string(i) +
                           "] has a shape of " + to_string(gradients[i].sizes()) + " and output[" +
                           std::to_string(i) + "] has a shape of " + to_string(t.sizes()) + ".");
      }
      starts.push_back(gradients[i]);
    } else {
      if (t.numel() != 1)
        throw ops::OpError("grad can be implicitly created only for scalar outputs");
      const LabelScope label(c, "ones_like");
      starts.push_back(c.empty_like(t));
    }
    roots.push_back(ops::gradient_edge(c, t));
  }
  BackwardOptions options;
  options.retain_graph = retain_graph;
  for (const Tensor& input : inputs) {
    if (!input.is_leaf()) {
      throw ops::NotModelled("backward(inputs=...) with a tensor that is no leaf is not modelled");
    }
    options.inputs.push_back(ops::gradient_edge(c, input));
  }
  run_backward(c, graph, roots, starts, options);
}

}  // namespace tidemark::torch
