#pragma once

#include <cstdint>
#include <vector>

#include "sim/graph/op_graph.h"

namespace tidemark::graph {

/// What the autograd engine needs to know before it starts: for every vertex that gradients reach
/// from the roots, how many gradient edges lead to it. Source: torch's
/// Engine::compute_dependencies; docs/rules/autograd.md#4.
class BackwardPlan {
 public:
  /// `ends`: what lies behind these does not count. Cost: O(edges reached), by Boost's
  /// breadth_first_visit over the gradient edges.
  BackwardPlan(const OpGraph& graph, const std::vector<VertexId>& roots,
               const std::vector<VertexId>& ends = {});

  /// One gradient edge of this vertex was followed. True when it was the last: the vertex is ready.
  bool arrive(VertexId vertex) { return --pending_[index(vertex)] == 0; }
  [[nodiscard]] std::uint32_t dependencies(VertexId vertex) const {
    return pending_[index(vertex)];
  }
  [[nodiscard]] bool reaches(VertexId vertex) const {
    return vertex >= lowest_ && vertex - lowest_ < pending_.size() && reached_[index(vertex)];
  }

 private:
  [[nodiscard]] std::size_t index(VertexId vertex) const { return vertex - lowest_; }

  VertexId lowest_ = 0;  ///< pending_[0] is this vertex
  std::vector<std::uint32_t> pending_;
  std::vector<bool> reached_;
};

}  // namespace tidemark::graph
