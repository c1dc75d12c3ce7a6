#pragma once

#include <cstdint>
#include <functional>
#include <limits>
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

struct SavedTensor {
  Tensor tensor;
  Ref<PackedTensor> packed;
};

struct Edge {
  Ref<Node> node;
  std::uint32_t input_nr = 0;
};

/// Shape, type and device of a node's incoming gradient: what validate_outputs brings gradients to.
struct GradMetadata {
  Dims sizes;
  ScalarType dtype = ScalarType::kFloat32;
  Device device = kHost;
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
};

using BackwardFunction = std::function<void(Backward&)>;

/// What autograd keeps of one operator call. Source: torch::autograd::Node;
/// training-semantics.md 1.3.
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
  std::vector<std::function<void()>> post_hooks;
  std::function<void()>
      on_release;         ///< called after the saved tensors are gone; a custom function's context
  bool released = false;  ///< its saved tensors are gone: a second backward is an error

  /// Drops the saved tensors in order.
  void release_variables();
};

inline bool Backward::needs(std::size_t i) const {
  return i < node.next.size() && static_cast<bool>(node.next[i].node);
}

}  // namespace tidemark::ops
