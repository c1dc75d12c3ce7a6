#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/graph/op_graph.h"
#include "sim/ops/op.h"

namespace tidemark::torch {

/// What becomes of gradients that are more than memory of this process: parts of what several ranks
/// have together (DTensors), results of collectives that are under way.
class GradientRules {
 public:
  GradientRules() = default;
  GradientRules(const GradientRules&) = delete;
  GradientRules& operator=(const GradientRules&) = delete;
  virtual ~GradientRules() = default;
  /// Called before kernels read one.
  virtual void read(const ops::Tensor& gradient) = 0;
  /// The sum of two that meet, one of them at least a DTensor.
  virtual ops::Tensor sum(const ops::Tensor& stored, const ops::Tensor& incoming) = 0;
  /// The same for what a leaf has already: it is written into.
  virtual void add(const ops::Tensor& stored, const ops::Tensor& incoming) = 0;
  /// A copy of a DTensor that something else holds, for a leaf.
  virtual ops::Tensor copy(const ops::Tensor& gradient) = 0;
};

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;  ///< the gradients get gradients of their own
  bool accumulate = true;  ///< into .grad of the leaves; false: torch.autograd.grad, see `inputs`
  /// Where gradients are wanted: all that is computed is on the way to them. Empty: everywhere.
  /// Their order is that of the result; with `accumulate` they belong to leaves, and nothing is
  /// returned.
  std::vector<ops::Edge> inputs;
  /// Compiled code is traced: who looks at the gradients of `inputs` looks when it runs.
  bool is_traced = false;
  /// Nothing behind `inputs` counts, though other inputs can be reached from there.
  bool ends_at_inputs = false;
  GradientRules* rules = nullptr;  ///< null: all gradients are plain
};

/// Runs backward from `roots` (edges of the tensors) with their incoming gradients, on the engine's
/// thread. Returns the gradients asked for in options.inputs. Source: torch::autograd::Engine;
/// docs/rules/autograd.md#3.1, #4, #5, #6. Requires: the context's recorder keeps `graph`. Errors:
/// OutOfMemory, OpError (a second backward through freed tensors).
ops::TensorList run_backward(ops::Context& c, const graph::OpGraph& graph,
                             const std::vector<ops::Edge>& roots, ops::TensorList gradients,
                             const BackwardOptions& options);

/// The backward pass that runs on a thread, as hooks ask for it.
class RunningPass {
 public:
  RunningPass() = default;
  RunningPass(const RunningPass&) = delete;
  RunningPass& operator=(const RunningPass&) = delete;
  /// Whether it runs this node, has run it, or takes a gradient there. Source: torch's
  /// _will_engine_execute_node. Cost: the first call looks at all nodes behind the roots.
  [[nodiscard]] virtual bool runs(const ops::Node& node) = 0;
  /// Whether all leaves are reached: nobody named the inputs whose gradients are wanted.
  [[nodiscard]] virtual bool reaches_all() const = 0;
  std::int64_t number = 0;  ///< given by whoever asks first

 protected:
  ~RunningPass() = default;
};
/// The innermost pass of the thread; null: none runs.
RunningPass* running_pass(const ops::Thread& thread);

/// Where a backward pass begins: edges of tensors, and the gradients that come in there.
struct BackwardStart {
  std::vector<ops::Edge> roots;
  ops::TensorList gradients;
};

/// The start at `tensors`; where `gradients` has none, ones are made for a scalar. Errors: OpError
/// with PyTorch's words for a tensor without history, for one with more than one element and no
/// gradient, and for a gradient of another shape.
BackwardStart backward_start(ops::Context& c, const ops::TensorList& tensors,
                             const ops::TensorList& gradients);

/// tensor.backward(gradient) from its start, whose gradients are dropped last. `options` has no
/// inputs yet. `inputs`: the only leaves whose .grad is wanted, if there are any. Errors:
/// NotModelled for an input that is no leaf.
void backward(ops::Context& c, const graph::OpGraph& graph, BackwardStart start,
              BackwardOptions options, const ops::TensorList& inputs = {});

}  // namespace tidemark::torch
