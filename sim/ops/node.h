#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/tensor.h"

namespace tidemark::ops {

class Context;
class Node;

/// What a saved tensor became under torch.autograd.graph.saved_tensors_hooks (checkpointing,
/// offloading): unpack() gives it back when its node runs.
class PackedTensor : public RefCounted<PackedTensor> {
 public:
  virtual ~PackedTensor() = default;
  virtual Tensor unpack() = 0;
};

struct Edge {
  Ref<Node> node;
  std::uint32_t input_nr = 0;
};

struct SavedTensor {
  Tensor tensor;
  Ref<PackedTensor> packed;
  Edge history;                 ///< of a tensor that a hook packed: stays until the node dies
  Ref<VersionCounter> version;  ///< of the tensor that was saved
  std::uint32_t written = 0;    ///< its value then: another one in backward is an error
  bool is_result = false;       ///< what was saved is a result of the node itself

  /// What was saved; of what a hook packed, a tensor of its own with the same history.
  /// Source: torch's SavedVariable::unpack.
  [[nodiscard]] Tensor unpack() const;
};

/// Shape, type and device of a node's incoming gradient: what validate_outputs brings gradients to.
struct GradMetadata {
  Dims sizes;
  ScalarType dtype = ScalarType::kFloat32;
  Device device = kHost;
  std::uint16_t stream = 0;  ///< the device's current one when the node was made
};

/// One call of a node's backward function: incoming gradients in, gradients of the inputs out.
struct Backward {
  Context& c;
  Node& node;
  TensorList& incoming;  ///< one per forward output; undefined where nothing arrived
  TensorList saved;      ///< unpacked, in the order of Node::saved
  TensorList grads;      ///< one per differentiable input, filled by the function

  const Tensor& grad(std::size_t i = 0) const { return incoming[i]; }
  bool needs(std::size_t i) const;
  /// After a kernel without an output mask filled every place of grads: frees what nobody wants,
  /// in order, as the tuple that it returned dies.
  void drop_unneeded();
};

using BackwardFunction = std::function<void(Backward&)>;

/// What autograd keeps of one operator call. Source: torch::autograd::Node;
/// docs/rules/autograd.md#3.1.
class Node final : public RefCounted<Node> {
 public:
  /// AccumulateGrad nodes run as soon as they are ready: the highest number.
  static constexpr std::uint64_t kFirst = std::numeric_limits<std::uint64_t>::max();

  Node() = default;
  ~Node();

  std::string_view name;  ///< static text: "AddmmBackward0"
  std::uint64_t sequence = 0;
  std::uint32_t vertex = 0;
  std::uint32_t label = 0;             ///< the module path it was made under
  std::vector<Edge> next;              ///< one per differentiable input, in argument order
  std::vector<SavedTensor> saved;      ///< in the order of release: inputs by name, then outputs
  std::vector<GradMetadata> metadata;  ///< one per forward output
  BackwardFunction backward;
  Tensor variable;  ///< AccumulateGrad: the leaf
  std::vector<std::function<void(TensorList&)>> pre_hooks;
  /// Keep the gradient of an output that retain_grad() was called on: run after pre_hooks.
  struct RetainedGradient {
    TensorImpl* tensor;  ///< not owned: takes its entry away when it dies
    std::uint32_t output_nr;
  };
  std::vector<RetainedGradient> retained;
  std::vector<std::function<void()>> accumulate_hooks;  ///< after .grad of the leaf has its value
  /// Run after the node, with what it gives and what came in. They may change what it gives.
  std::vector<std::function<void(TensorList& gives, const TensorList& came_in)>> post_hooks;
  std::function<void()>
      on_release;  ///< called after the saved tensors are gone; a custom function's context
  /// What the backward pass under way does here. A pass with inputs (torch.autograd.grad) leaves
  /// out what leads to none of them; kEnd: the gradient is only looked at. Source: torch's
  /// GraphTask::ExecInfo.
  enum class Part : std::uint8_t { kRun, kEnd, kNone };
  Part part = Part::kRun;
  bool released = false;  ///< its saved tensors are gone: a second backward is an error

  /// From here on (or no longer) the gradient of this output of the node stays in its .grad.
  void retain(TensorImpl& tensor);
  void forget_retained(const TensorImpl& tensor);

  /// Drops the saved tensors in order.
  void release_variables();
  /// PyTorch lets go of a graph nobody runs backward through from its last node, whose members die
  /// as C++ has it: what was saved last first. Else all nodes are released in order.
  bool dies_by_members = false;
};

/// "torch.cuda.FloatTensor", as PyTorch's messages name a tensor.
std::string class_name(const Tensor& tensor);

/// Runs a node's backward function on its incoming gradients, its saved tensors unpacked. Errors:
/// OpError with PyTorch's words when they are gone, or were written over since.
TensorList run_backward_function(Context& c, Node& node, TensorList& incoming);

inline bool Backward::needs(std::size_t i) const {
  return i < node.next.size() && node.next[i].node && node.next[i].node->part != Node::Part::kNone;
}
inline void Backward::drop_unneeded() {
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!needs(i)) grads[i].reset();
  }
}

}  // namespace tidemark::ops
