#pragma once

#include <utility>
#include <vector>

#include "sim/graph/node_graph.h"
#include "sim/ops/context.h"

namespace tidemark::torch {

/// Runs nodes of a graph in order, one kernel after another; memory goes when the last name of it
/// is read for the last time, as in the Python code that torch.fx writes. Source: fx's
/// CodeGen::delete_unused_values.
class GraphRun {
 public:
  /// `results`: nodes whose memory stays. All are there as long as this lives.
  GraphRun(ops::Context& c, const graph::NodeGraph& graph, const std::vector<graph::NodeId>& order,
           const std::vector<graph::NodeId>& results);
  /// What is there before. Call it for every node that `order` reads and does not have.
  void give(graph::NodeId node, const ops::Tensor& tensor);
  void run();
  /// A tensor of its own for what a node made.
  [[nodiscard]] ops::Tensor take(graph::NodeId node) const;
  /// Only its memory.
  [[nodiscard]] const Ref<ops::Storage>& memory_of(graph::NodeId node) const;
  void drop(graph::NodeId node) { held_[node].clear(); }

 private:
  using Memory = std::pair<graph::StorageId, Ref<ops::Storage>>;
  void find_last_uses(const std::vector<graph::NodeId>& results);
  void execute(graph::NodeId id);
  void drop_unwanted(graph::NodeId id);
  std::vector<Memory> effects_of(const graph::GraphNode& node);

  ops::Context& c_;
  const graph::NodeGraph& graph_;
  const std::vector<graph::NodeId>& order_;
  std::vector<std::vector<Memory>> held_;              ///< by node: by the name of its result
  std::vector<std::vector<graph::NodeId>> last_uses_;  ///< by position: names that end there
};

}  // namespace tidemark::torch
