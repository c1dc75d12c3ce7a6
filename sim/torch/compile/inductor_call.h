#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/graph/details.h"
#include "sim/graph/inductor/compiled_pass.h"
#include "sim/graph/partition.h"
#include "sim/ops/op.h"
#include "sim/torch/compile/capture.h"

namespace tidemark::torch {

/// A call of code that inductor compiled: its two passes.
struct InductorCode {
  graph::inductor::CompiledPass forward;
  graph::inductor::CompiledPass backward;
  bool has_backward = false;
  std::vector<graph::NodeId> saved;     ///< in the joint graph
  std::vector<graph::NodeId> inputs;    ///< in the joint graph, in the capture's order
  std::vector<graph::NodeId> tangents;  ///< by result of the code; kNoNode: it wants none
  std::vector<graph::NodeId> gradients;
  /// Of one number throughout, in the joint graph.
  struct Constant {
    ops::ScalarType dtype = ops::ScalarType::kFloat32;
    bool is_held = false;  ///< by a view of it that nobody reads, until all are folded
  };
  std::vector<Constant> constants;
  bool is_cached = true;    ///< PyTorch keeps the compiled code from one process to the next
  std::size_t outputs = 0;  ///< results of the forward pass before what is saved
  std::vector<std::string_view> unknown;  ///< operators whose decompositions are not known
  graph::CompiledCode text;
  /// Its passes run as CUDA graphs of functions of these numbers: the forward pass of this, the
  /// backward pass of the next. -1: they do not.
  std::int64_t graph_function = -1;
  std::vector<bool> is_fixed;  ///< by input: a parameter or the like, which stays where it lies
};

/// What PyTorch keeps of a compiled function from call to call.
struct KeptCode {
  graph::inductor::SizeHints forward;
  graph::inductor::SizeHints backward;
  bool is_dynamic = false;  ///< for other sizes as well
  /// By input: how many sizes that are open it is the first to have. Each is an input, too.
  std::vector<int> open_sizes;
  /// As PassGraph has them.
  std::vector<std::pair<std::int64_t, std::int64_t>> open_images;
  bool runs_as_graphs = false;
  /// By sizes of the inputs: the number of the function that CUDA graphs are recorded of.
  std::map<std::vector<std::vector<std::int64_t>>, std::int64_t> graph_functions;
};

/// The graph's inputs in order, and their nodes.
using InputTensors = std::vector<std::pair<ops::Tensor, graph::NodeId>>;

/// How the gradient of each input lies on the ranks; null: it is no DTensor.
using GradientSpreads = std::vector<Ref<ops::Spread>>;

/// Captured code, or a piece of it: what a compiler is given.
struct TracedCode {
  const graph::NodeGraph& graph;
  const InputTensors& inputs;
  const std::vector<graph::NodeId>& tangents;  ///< of its results, in the graph
  bool has_backward = false;
  bool under_autocast = false;
  bool is_cached = true;  ///< nothing in it that PyTorch's cache refuses
};

/// Compiles captured code. `kept`: of calls with dynamic sizes before; the first fills it. Errors:
/// ops::NotModelled.
std::shared_ptr<const InductorCode> compile_with_inductor(
    Session& session, const TracedCode& traced, const graph::inductor::DeviceShape& device,
    KeptCode& kept, bool wants_text);

/// What compiling asks for itself where no cache answers: the joint graph's pattern matcher traces
/// its attention patterns once a process, on tensors of one number; nodes of one number throughout
/// are folded. Source: torch's _get_sfdp_patterns, UniformValueConstantFolder; docs/compile.md.
void compile_anew(Session& session, const InductorCode& code);

/// Runs the forward pass: its results become the memory of `results`.
void run_inductor_forward(Session& session, const std::shared_ptr<const InductorCode>& code,
                          const InputTensors& inputs, const GradientSpreads& spreads,
                          ops::TensorList& results);

/// Gradients come as PyTorch traced them: laid out as the results are, zeros where none arrived.
ops::Tensor tangent_like(ops::Backward& b, const graph::GraphNode& node,
                         const ops::Tensor& incoming);

}  // namespace tidemark::torch
