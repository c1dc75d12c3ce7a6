#pragma once

#include <vector>

#include "sim/graph/op_graph.h"
#include "sim/ops/op.h"

namespace tidemark::torch {

struct BackwardOptions {
  bool retain_graph = false;
  bool accumulate = true;  ///< into .grad of the leaves; false: torch.autograd.grad, see `inputs`
  /// Gradients that the caller wants back (torch.autograd.grad); their order is that of the result.
  std::vector<ops::Edge> inputs;
};

/// Runs backward from `roots` (edges of the tensors) with their incoming gradients, on the engine's
/// thread. Returns the gradients asked for in options.inputs. Source: torch::autograd::Engine;
/// training-semantics.md 1.3-1.6. Requires: the context's recorder keeps `graph`. Errors:
/// OutOfMemory, OpError (a second backward through freed tensors).
ops::TensorList run_backward(ops::Context& c, const graph::OpGraph& graph,
                             const std::vector<ops::Edge>& roots, ops::TensorList gradients,
                             const BackwardOptions& options);

/// tensor.backward(gradient): the starting gradient is made first (ones, for a scalar) and dropped
/// last. Errors: OpError with PyTorch's words for a tensor without history or with more than one
/// element.
void backward(ops::Context& c, const graph::OpGraph& graph, const ops::TensorList& tensors,
              const ops::TensorList& gradients, bool retain_graph);

}  // namespace tidemark::torch
