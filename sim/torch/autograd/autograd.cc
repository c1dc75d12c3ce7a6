#include "sim/torch/autograd/autograd.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sim/base/check.h"
#include "sim/graph/backward_plan.h"
#include "sim/ops/complex_ops.h"
#include "sim/ops/copy_slices.h"
#include "sim/ops/device_check.h"
#include "sim/ops/kernel_shape.h"
#include "sim/ops/kernels.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/shape_ops.h"
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

/// Source: torch's can_accumulate_inplace.
bool owns_plain_memory(const Tensor& t) {
  return t->use_count() == 1 && !t->is_async && t->storage && t->storage->use_count() == 1 &&
         t.is_non_overlapping_and_dense();
}

/// Two gradients meet at one input of a node. Dense incoming ones stay with the caller, who drops a
/// node's gradients when all are delivered. Source: torch's InputBuffer::accumulate;
/// docs/rules/autograd.md#5.
void accumulate(Context& c, GradientRules* rules, Tensor& stored, Tensor&& incoming) {
  const LabelScope label(c, "sum of gradients");
  if (rules != nullptr) {
    if (stored->spread || incoming->spread) {
      stored = rules->sum(stored, incoming);
      return;
    }
    rules->read(stored);
    rules->read(incoming);
  }
  for (const Tensor* t : {&stored, &incoming}) {
    ops::check_takes_conjugates("a sum of gradients", *t);
    ops::check_is_there("a sum of gradients", *t);
  }
  if (stored.is_sparse() || incoming.is_sparse()) {
    stored = ops::add_gradients_sparse(c, std::move(stored), std::move(incoming));
    return;
  }
  c.launch(stored.device(), 0, 3 * stored.bytes(), ops::KernelClass::kElementwise, stored.dtype());
  ops::works_on(c, {&stored, &incoming}, {&stored});
  if (c.tracer == nullptr && !c.grad_enabled() && owns_plain_memory(stored)) return;
  stored =
      c.grad_enabled() ? ops::add(c, stored, incoming) : ops::pointwise(c, {&stored, &incoming});
}

/// Source: torch's obeys_layout_contract.
bool obeys_layout_contract(const Tensor& grad, const Tensor& variable) {
  // Of DTensors it is the whole that counts.
  if (grad->spread && variable->spread)
    return grad->spread->sizes == variable->spread->sizes &&
           grad->spread->strides == variable->spread->strides;
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

/// Source: torch's AccumulateGrad::accumulateGrad; docs/rules/autograd.md#6.
void accumulate_grad(Context& c, Node& node, const Tensor& grad, GradientRules* rules) {
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
    } else if (grad->spread && rules != nullptr) {
      kept = rules->copy(grad);
    } else {
      c.launch(grad.device(), 0, 2 * grad.bytes(), ops::KernelClass::kElementwise, grad.dtype());
      kept =
          variable.is_non_overlapping_and_dense()
              ? c.empty_strided(variable.sizes(), variable.strides(), grad.dtype(), grad.device())
              : ops::clone_in(c, grad, ops::MemoryFormat::kContiguous);
      if (c.grad_enabled()) ops::copy_(c, kept, grad);
      ops::works_on(c, {&grad}, {&kept});
    }
  } else {
    const Tensor before(variable->grad);
    ops::check_is_there("AccumulateGrad", before);
    if (before->spread && rules != nullptr && !c.grad_enabled()) {
      rules->add(before, grad);
      return;
    }
    if (!before.is_sparse() && !grad.is_sparse()) {
      c.launch(grad.device(), 0, 3 * grad.bytes(), ops::KernelClass::kElementwise, grad.dtype());
      ops::works_on(c, {&before, &grad}, {&before});
      if (!c.grad_enabled()) ops::count_write(before);
    }
    if (before.is_sparse() || grad.is_sparse()) {
      kept = ops::accumulate_sparse_gradient(c, before, grad);
    } else if (c.grad_enabled()) {
      kept = ops::add(c, before, grad);
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
    const bool records = c.grad_enabled();
    if (!grad->spread && !(grad.sizes() == wanted.sizes)) {
      grad = records ? ops::recorded_sum_to(c, grad, wanted.sizes)
                     : ops::sum_to(c, grad, wanted.sizes);
    }
    if (grad.dtype() != wanted.dtype) {
      const Ref<ops::Spread> spread = grad->spread;
      grad = records ? ops::to(c, grad, wanted.dtype) : ops::to_dtype(c, grad, wanted.dtype);
      grad->spread = spread;
    }
  }
}

/// Runs one node: steps 1 to 5 of docs/rules/autograd.md#3.1. Returns the gradients for its edges.
TensorList call_function(Context& c, Node& node, TensorList inputs, GradientRules* rules) {
  TensorList grads;
  // Where hooks follow, the engine holds what came in until they have run.
  const TensorList held = node.post_hooks.empty() ? TensorList() : inputs;
  if (node.variable.defined()) {
    if (inputs[0].defined()) {
      accumulate_grad(c, node, inputs[0], rules);
      inputs[0].reset();  // what hooks set to None is freed there
      for (const auto& hook : node.accumulate_hooks) hook();
    }
  } else {
    const LabelScope label(c, node.name, node.label);
    grads = ops::run_backward_function(c, node, inputs);
  }
  validate_outputs(c, node, grads);
  for (const auto& hook : node.post_hooks) hook(grads, held);
  return grads;
}

/// Nodes that hand a gradient on, or a view of it: no kernel reads it there.
bool only_passes(std::string_view node) {
  static constexpr std::array<std::string_view, 12> kNames{
      "AddBackward0",       "AliasBackward0",      "PermuteBackward0",   "ReshapeAliasBackward0",
      "SqueezeBackward0",   "SqueezeBackward1",    "SubBackward0",       "TBackward0",
      "TransposeBackward0", "UnsafeViewBackward0", "UnsqueezeBackward0", "ViewBackward0"};
  return std::find(kNames.begin(), kNames.end(), node) != kNames.end();
}

/// The engine's thread and its grad mode while backward runs; autocast is that of the caller.
class OnEngineThread {
 public:
  OnEngineThread(Context& c, const BackwardOptions& options)
      : c_(c), caller_(c.thread()), streams_(c, caller_.is_engine) {
    c_.set_thread(c_.engine_thread);
    autocast_ = c_.engine_thread.autocast;
    grad_ = c_.engine_thread.grad_enabled;
    c_.engine_thread.autocast = caller_.autocast;
    c_.engine_thread.grad_enabled = options.create_graph;
    retains_ = std::exchange(c_.engine_thread.retains_graph, options.retain_graph);
    if (!caller_.is_engine) c_.recorder().enter_thread(true);
  }
  ~OnEngineThread() {
    c_.engine_thread.autocast = autocast_;
    c_.engine_thread.grad_enabled = grad_;
    c_.engine_thread.retains_graph = retains_;
    if (!caller_.is_engine) c_.recorder().enter_thread(false);
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
  bool retains_ = false;
};

/// Marks the nodes that a pass with inputs leaves out, for as long as it runs.
/// Source: torch's GraphTask::init_to_execute.
class OnlyTowards {
 public:
  OnlyTowards(const std::vector<Edge>& roots, const BackwardOptions& options) {
    if (options.inputs.empty()) return;
    if (options.ends_at_inputs) {
      for (const Edge& input : options.inputs) {
        parents_.try_emplace(input.node.get());
        input.node->part = Node::Part::kNone;
      }
    }
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
      if (!goes_on || options.ends_at_inputs) end->part = Node::Part::kEnd;
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
  /// Their list, by which the pass itself is found.
  struct List : std::vector<std::function<void()>> {
    explicit List(RunningPass& whose) : pass(whose) {}
    RunningPass& pass;
  };
  FinalCallbacks(ops::Thread& thread, RunningPass& pass)
      : thread_(thread), outer_(thread.final_callbacks), callbacks_(pass) {
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
  List callbacks_;
};

/// One backward pass: nodes run from the roots on, each when all the gradients that will reach it
/// have, the highest sequence number first. Source: torch's Engine::execute and evaluate_function.
class BackwardPass final : public RunningPass {
 public:
  BackwardPass(Context& c, const graph::OpGraph& graph, const std::vector<Edge>& roots,
               const BackwardOptions& options)
      : c_(c),
        graph_(graph),
        options_(options),
        roots_(roots),
        thread_(c, options),
        callbacks_(c.thread(), *this),
        plan_(
            graph, vertices_of(roots),
            options.ends_at_inputs ? vertices_of(options.inputs) : std::vector<graph::VertexId>()),
        towards_(roots, options),
        captured_(options.accumulate ? 0 : options.inputs.size()) {}

  [[nodiscard]] bool runs(const Node& node) override {
    if (behind_.empty()) look_behind();
    return std::binary_search(behind_.begin(), behind_.end(), &node);
  }

  [[nodiscard]] bool reaches_all() const override { return options_.inputs.empty(); }

  TensorList run(TensorList gradients) {
    start(std::move(gradients));
    while (!ready_.empty()) run_task(*take_ready());
    thread_.streams().finish();
    callbacks_.run();
    return std::move(captured_);
  }

 private:
  static std::vector<graph::VertexId> vertices_of(const std::vector<Edge>& edges) {
    std::vector<graph::VertexId> vertices;
    vertices.reserve(edges.size());
    for (const Edge& edge : edges) vertices.push_back(edge.node->vertex);
    return vertices;
  }

  /// Fills behind_ with the nodes that lie behind the roots and are not asleep.
  void look_behind() {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> stack;
    const auto reach = [&](const Node* node) {
      if (node != nullptr && node->part != Node::Part::kNone && seen.insert(node).second)
        stack.push_back(node);
    };
    for (const Edge& root : roots_) reach(root.node.get());
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      for (const Edge& edge : node->next) reach(edge.node.get());
    }
    behind_.assign(seen.begin(), seen.end());
    std::sort(behind_.begin(), behind_.end());
  }

  /// Several roots count as one node before them, as in PyTorch: each is ready once its other
  /// dependencies are.
  void start(TensorList gradients) {
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      const Node& node = *roots_[i].node;
      if (node.part == Node::Part::kNone) continue;
      const bool last =
          std::none_of(roots_.begin() + static_cast<std::ptrdiff_t>(i) + 1, roots_.end(),
                       [&node](const Edge& edge) { return edge.node.get() == &node; });
      const std::optional<StreamOf> producer = thread_.streams().stream_for(gradients[i]);
      deliver(roots_[i], std::move(gradients[i]), last && plan_.dependencies(node.vertex) == 0,
              producer);
    }
  }

  /// Brings a gradient to the node that `edge` leads to. `is_ready`: no other will come.
  void deliver(const Edge& edge, Tensor&& gradient, bool is_ready,
               const std::optional<StreamOf>& producer) {
    // Most have one gradient to wait for, and never wait.
    const auto at = waiting_.empty() ? waiting_.end() : waiting_.find(edge.node.get());
    std::unique_ptr<Task> fresh;
    if (at == waiting_.end()) {
      fresh = std::make_unique<Task>();
      fresh->node = edge.node;
      fresh->inputs.resize(edge.node->metadata.size());
    }
    if (gradient.defined())
      store(fresh ? *fresh : *at->second, edge, std::move(gradient), producer);
    if (!is_ready) {
      if (fresh) waiting_.emplace(edge.node.get(), std::move(fresh));
      return;
    }
    ready_.push_back({edge.node->sequence, fresh ? std::move(fresh) : std::move(at->second)});
    if (at != waiting_.end()) waiting_.erase(at);
    std::push_heap(ready_.begin(), ready_.end(), RunsLater{});
  }

  void store(Task& task, const Edge& edge, Tensor&& gradient,
             const std::optional<StreamOf>& producer) {
    Tensor& slot = task.inputs[edge.input_nr];
    if (c_.uses_streams()) {
      task.streams.store(c_, edge.input_nr, slot, std::move(gradient), producer,
                         stream_of(*edge.node), [this](Tensor& stored, Tensor&& incoming) {
                           accumulate(c_, options_.rules, stored, std::move(incoming));
                         });
    } else if (slot.defined()) {
      accumulate(c_, options_.rules, slot, std::move(gradient));
    } else {
      slot = std::move(gradient);
    }
  }

  std::unique_ptr<Task> take_ready() {
    std::pop_heap(ready_.begin(), ready_.end(), RunsLater{});
    std::unique_ptr<Task> task = std::move(ready_.back().task);
    ready_.pop_back();
    return task;
  }

  void run_task(Task& task) {
    Node& node = *task.node;
    std::optional<StreamOf> stream;
    if (c_.uses_streams()) {
      stream = stream_of(node);
      task.streams.before_run(c_, task.inputs, stream);
    }
    const StreamGuard on_stream(c_, stream);
    show_inputs(node, task.inputs);
    if (node.part == Node::Part::kEnd) return;
    if (graph_.on_backward) graph_.on_backward(node.vertex);
    // A function of the program's own reads by operators, which see to it themselves.
    const bool has_kernels = !node.on_release && !node.variable.defined();
    if (options_.rules != nullptr && has_kernels && !only_passes(node.name)) {
      for (const Tensor& gradient : task.inputs) {
        if (gradient.defined()) options_.rules->read(gradient);
      }
    }
    TensorList grads = call_function(c_, node, std::move(task.inputs), options_.rules);
    if (!options_.retain_graph) {
      const LabelScope label(c_, node.name, node.label);
      node.release_variables();
    }
    if (node.next.empty()) thread_.streams().leaf(stream);
    for (std::size_t i = 0; i < node.next.size(); ++i) {
      const Edge& edge = node.next[i];
      if (!edge.node || edge.node->part == Node::Part::kNone) continue;
      Tensor none;
      deliver(edge, std::move(i < grads.size() ? grads[i] : none), plan_.arrive(edge.node->vertex),
              stream);
    }
  }

  /// To all that look at a node's gradients before it runs: hooks, retain_grad(), grad(inputs).
  void show_inputs(const Node& node, TensorList& inputs) {
    const bool is_traced_input =
        options_.is_traced &&
        std::any_of(options_.inputs.begin(), options_.inputs.end(),
                    [&node](const Edge& wanted) { return wanted.node.get() == &node; });
    if (!is_traced_input) show_to_hooks(node, inputs);
    for (std::size_t i = 0; i < captured_.size(); ++i) {
      const Edge& wanted = options_.inputs[i];
      if (wanted.node.get() == &node) captured_[i] = inputs[wanted.input_nr];
    }
  }

  void show_to_hooks(const Node& node, TensorList& inputs) {
    {
      // What came in lives until the last hook has run.
      const TensorList held = node.pre_hooks.empty() ? TensorList() : inputs;
      for (const auto& hook : node.pre_hooks) hook(inputs);
    }
    for (const Node::RetainedGradient& retained : node.retained)
      retain_gradient(c_, *retained.tensor, inputs[retained.output_nr]);
  }

  Context& c_;
  const graph::OpGraph& graph_;
  const BackwardOptions& options_;
  const std::vector<Edge>& roots_;
  OnEngineThread thread_;
  FinalCallbacks callbacks_;
  graph::BackwardPlan plan_;
  const OnlyTowards towards_;
  TensorList captured_;       ///< the gradients of options_.inputs, where they are not accumulated
  std::vector<Ready> ready_;  ///< a heap
  std::unordered_map<const Node*, std::unique_ptr<Task>> waiting_;
  std::vector<const Node*> behind_;  ///< what the pass runs, sorted; empty until somebody asks
};

}  // namespace

RunningPass* running_pass(const ops::Thread& thread) {
  auto* list = static_cast<FinalCallbacks::List*>(thread.final_callbacks);
  return list == nullptr ? nullptr : &list->pass;
}

TensorList run_backward(Context& c, const graph::OpGraph& graph, const std::vector<Edge>& roots,
                        TensorList gradients, const BackwardOptions& options) {
  return BackwardPass(c, graph, roots, options).run(std::move(gradients));
}

BackwardStart backward_start(Context& c, const TensorList& tensors, const TensorList& gradients) {
  BackwardStart start;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (!t.requires_grad()) {
      throw ops::OpError("element " + std::to_string(i) +
                         " of tensors does not require grad and does not have a grad_fn");
    }
    if (i < gradients.size() && gradients[i].defined()) {
      if (!(gradients[i].sizes() == t.sizes())) {
        throw ops::OpError("Mismatch in shape: grad_output[" + std::to_string(i) +
                           "] has a shape of torch.Size(" + to_string(gradients[i].sizes()) +
                           ") and output[" + std::to_string(i) + "] has a shape of torch.Size(" +
                           to_string(t.sizes()) + ").");
      }
      start.gradients.push_back(gradients[i]);
    } else {
      if (t.numel() != 1)
        throw ops::OpError("grad can be implicitly created only for scalar outputs");
      const LabelScope label(c, "ones_like");
      start.gradients.push_back(c.empty_like(t));
    }
    start.roots.push_back(ops::gradient_edge(c, t));
  }
  return start;
}

void backward(Context& c, const graph::OpGraph& graph, BackwardStart start, BackwardOptions options,
              const TensorList& inputs) {
  for (const Tensor& input : inputs) {
    if (!input.is_leaf()) {
      throw ops::NotModelled("backward(inputs=...) with a tensor that is no leaf is not modelled");
    }
    options.inputs.push_back(ops::gradient_edge(c, input));
  }
  run_backward(c, graph, start.roots, std::move(start.gradients), options);
}

}  // namespace tidemark::torch
