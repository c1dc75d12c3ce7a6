#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/node_graph.h"
#include "sim/graph/partition.h"

namespace tidemark::graph::inductor {

/// The forward or the backward pass of a joint graph, as a graph of its own.
struct PassGraph {
  NodeGraph graph;                  ///< its nodes: inputs first
  std::vector<std::string> labels;  ///< by node: as torch.fx names it
  std::vector<NodeId> inputs;
  std::vector<NodeId> outputs;   ///< kNoNode: None
  std::vector<NodeId> places;    ///< by node: which of the joint graph; kNoNode: none
  std::vector<bool> is_donated;  ///< by input: nothing else holds it
  /// By input: as the forward pass laid it out. Empty: all as they were traced.
  std::vector<ops::Dims> input_strides;
  std::size_t visible_outputs = 0;  ///< so many of the first the program sees
  bool is_inference = false;        ///< there is no backward pass
  bool is_dynamic = false;          ///< compiled for other sizes as well
  /// Height and width of the images that come in, where they are open.
  std::vector<std::pair<std::int64_t, std::int64_t>> open_images;
  /// By output, of a backward pass: it is a parameter's gradient. Empty: none is.
  std::vector<bool> is_as_parameter;
};

/// Whether an operator writes where numbers say, into a copy or in place.
bool puts_by_place(std::string_view name);

/// As torch.fx names the nodes of a joint graph: "mul", "mul_1", ...
std::vector<std::string> labels_of(const NodeGraph& joint, const std::map<NodeId, int>& open_sizes);

/// A product of batches of one becomes one without them. `places`: nodes of the joint graph.
/// Source: torch's bmm_to_mm.
void drop_batches_of_one(NodeGraph& joint, std::vector<std::string>& labels,
                         std::vector<NodeId>& places);

/// What inductor takes out of a joint graph before it is cut: operators that do nothing, pairs of
/// views that undo each other. Source: docs/rules/compile.md#2.
/// Gives, by gradient, whether a conversion that does nothing made it: it is one of its own when
/// equal nodes are merged, and goes later.
std::vector<bool> simplify_joint(NodeGraph& joint);

/// Nodes of a joint graph that run in this order, between these.
PassGraph pass_of(const NodeGraph& joint, const std::vector<std::string>& labels,
                  const std::vector<NodeId>& inputs, const std::vector<NodeId>& order,
                  const std::vector<NodeId>& outputs);

/// Writes into a pass's inputs, at its end, what the joint graph says, in the inputs' order.
void write_inputs(PassGraph& pass, const NodeGraph& joint, const std::vector<NodeId>& inputs);

/// What inductor changes in a pass before it makes loops of it: a product and its bias come apart
/// where loops take the bias in. Source: docs/rules/compile.md#3.
void rewrite_pass(PassGraph& pass);

}  // namespace tidemark::graph::inductor
