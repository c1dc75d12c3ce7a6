#pragma once

#include <vector>

#include "sim/graph/op_graph.h"
#include "sim/ops/op.h"

namespace tidemark::torch {

struct BackwardOptions {
  bool retain_graph = false;
  bool accumulate = true;  ///< into .grad of the leaves; false: torch.autograd.grad, see `inputs`
  /// Where gradients are wanted: all that is computed is on the way to them. Empty: everywhere.
  /// Their order is that of the result; with `accumulate` they belong to leaves, and nothing is
  /// returned.
  std::vector<ops::Edge> inputs;
};

/// Runs backward from `roots` (edges of the tensors) with their incoming gradients, on the engine's
/// thread. Returns the gradients asked for in options.inputs. Source: torch::autograd::Engine;
/// docs/rules/autograd.md#3.1, #4, #5, #6. Requires: the context's recorder keeps `graph`. Errors:
/// OutOfMemory, OpError (a second backward through freed tensors).
ops::TensorList run_backward(ops::Context& c, const graph::OpGraph& graph,
                             const std::vector<ops::Edge>& roots, ops::TensorList gradients,
                             const BackwardOptions& options);

/// tensor.backward(gradient): the starting gradient is made first (ones, for a scalar) and dropped
/// last. `inputs`: the only leaves whose .grad is wanted, if there are any. Errors: OpError with
/// PyTorch's words for a tensor without history or with more than one element; NotModelled for an
/// input that is no leaf.
void backward(ops::Context& c, const graph::OpGraph& graph, const ops::TensorList& tensors,
              const ops::TensorList& gradients, bool retain_graph,
              const ops::TensorList& inputs = {});

}  // namespace tidemark::torch
