#pragma once

#include <vector>

#include "sim/graph/node_graph.h"

namespace tidemark::graph {

/// A joint graph cut into a forward and a backward pass: which nodes each runs, in order, and what
/// the first keeps for the second. A node of both is computed again.
struct Partition {
  std::vector<NodeId> forward;
  std::vector<NodeId> backward;
  std::vector<NodeId> saved;  ///< inputs among them
};

/// Cuts as torch.compile does: what is kept costs its bytes, what is recomputed nothing, and what
/// must not be recomputed is told by PyTorch's heuristics. Requires: a gradient is wanted. Source:
/// torch's min_cut_rematerialization_partition; docs/compile.md. Errors: NotModelled where PyTorch
/// finds no cut.
Partition partition(const NodeGraph& joint);

}  // namespace tidemark::graph
