#include "sim/ops/node.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/complex_ops.h"
#include "sim/ops/device_check.h"
#include "sim/ops/kernel_work.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/saved_version.h"
#include "sim/ops/tracer.h"
#include "sim/ops/type_view.h"

namespace tidemark::ops {

std::string class_name(const Tensor& tensor) {
  return fmt::format("torch.{}{}Tensor", tensor.is_cuda() ? "cuda." : "",
                     tensor_type_name(tensor.dtype()));
}

/// Source: torch's SavedVariable::unpack.
void check_version(const Node& node, const SavedTensor& saved) {
  if (saved.packed || !saved.version || saved.version->value == saved.written) return;
  std::string from;
  if (saved.is_result) {
    from = fmt::format(", which is output 0 of {},", node.name);
  } else if (saved.tensor.defined() && saved.tensor->grad_fn) {
    // (Asked for its history, a view of what was written over gets a new one.)
    const bool is_old =
        saved.tensor->view_base && saved.tensor->history_version != saved.version->value;
    from = fmt::format(", which is output {} of {},", saved.tensor->output_nr,
                       is_old ? "AsStridedBackward0" : saved.tensor->grad_fn->name);
  }
  throw OpError(fmt::format(
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: [{} {}]{} is at version {}; expected version {} instead. Hint: enable anomaly "
      "detection to find the operation that failed to compute its gradient, with "
      "torch.autograd.set_detect_anomaly(True, check_nan=False).",
      class_name(saved.tensor), to_string(saved.tensor.sizes()), from, saved.version->value,
      saved.written));
}

Tensor SavedTensor::unpack() const {
  if (!packed) return tensor;
  Tensor given = packed->unpack();
  if (!history.node) return given;
  Tensor copy = Context::shallow_copy(given);
  if (history.node->variable.defined()) {
    copy->requires_grad = true;
  } else {
    copy->grad_fn = history.node;
    copy->output_nr = history.input_nr;
  }
  return copy;
}

Tensor unpack_for_graph(Node& node, const SavedTensor& saved) {
  if (saved.packed || !saved.is_result) return saved.unpack();
  Tensor result = Context::shallow_copy(saved.tensor);
  result->version = saved.version;
  result->grad_fn = Ref<Node>(&node);
  result->output_nr = saved.tensor->output_nr;
  return result;
}

TensorList run_backward_function(Context& c, Node& node, TensorList& incoming) {
  if (node.released) {
    throw OpError(
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed "
        "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
        "backward through the graph a second time or if you need to access saved tensors after "
        "calling backward.");
  }
  if (node.vertex < c.early_vertex) ++c.early_backwards;
  const bool records = c.grad_enabled();
  if (records && !node.on_release) check_has_gradient(node.name);
  Backward call{c, node, incoming, {}, {}};
  call.saved.reserve(node.saved.size());
  for (const SavedTensor& s : node.saved) {
    if (!node.on_release) check_version(node, s);  // custom functions: where they ask for it
    call.saved.push_back(records ? unpack_for_graph(node, s) : s.unpack());
  }
  call.grads.resize(node.next.size());
  // Of no gradient comes none. A function of the program's own decides for itself.
  const auto is_defined = [](const Tensor& t) { return t.defined(); };
  if (!incoming.front().defined() && !node.on_release &&
      std::none_of(incoming.begin(), incoming.end(), is_defined))
    return std::move(call.grads);
  KernelWork work(c);
  for (const TensorList* list : {&incoming, &call.saved}) {
    for (const Tensor& t : *list) {
      if (t.defined()) {
        if (t->is_conj) check_takes_conjugates(node.name, t);
        check_is_there(node.name, t);
      }
      work.reads(t);
    }
  }
  if (c.tracer != nullptr) c.tracer->begin_backward(node, incoming, call.saved);
  node.backward(call);
  for (const Tensor& t : call.grads) work.gives(t);
  work.launch(c);
  if (c.tracer != nullptr) c.tracer->end_backward(call.grads);
  while (!call.saved.empty()) call.saved.pop_back();
  return std::move(call.grads);
}

void Node::retain(TensorImpl& tensor) { retained.push_back({&tensor, tensor.output_nr}); }

void Node::forget_retained(const TensorImpl& tensor) {
  std::erase_if(retained, [&](const RetainedGradient& r) { return r.tensor == &tensor; });
}

void Node::release_variables() {
  for (SavedTensor& s : saved) {
    s.tensor.reset();
    s.packed.reset();
    // Source: torch's SavedVariable::reset_data, which leaves a leaf's accumulator.
    if (s.history.node && !s.history.node->variable.defined()) s.history.node.reset();
  }
  if (on_release) on_release();
  if (!saved.empty()) released = true;
}

namespace {

/// Moves the edges of a dying node that own their target onto the stack. Source: torch's
/// deleteNode.
void gather(Node& node, std::vector<Ref<Node>>& stack) {
  node.release_variables();
  for (Edge& edge : node.next) {
    if (edge.node && edge.node->use_count() == 1) {
      stack.push_back(std::move(edge.node));
    } else {
      edge.node.reset();
    }
  }
  node.next.clear();
}

}  // namespace

Node::~Node() {
  std::vector<Ref<Node>> stack;
  if (dies_by_members && !released) {
    while (!saved.empty()) saved.pop_back();
  }
  gather(*this, stack);
  // The members of PyTorch's nodes: what was saved last dies first.
  while (!saved.empty()) saved.pop_back();
  // What else the node holds, a custom function's context, goes before the nodes behind it.
  backward = nullptr;
  while (!stack.empty()) {
    const Ref<Node> node = std::move(stack.back());
    stack.pop_back();
    gather(*node, stack);
  }
  if (variable.defined() && variable->grad_accumulator == this)
    variable->grad_accumulator = nullptr;
}

}  // namespace tidemark::ops
