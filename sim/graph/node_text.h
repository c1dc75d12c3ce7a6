#pragma once

#include <string>

#include "sim/graph/node_graph.h"
#include "sim/graph/partition.h"

namespace tidemark::graph {

/// The joint graph as torch.fx prints one: a line a node.
std::string joint_text(const NodeGraph& graph);
std::string partitioned_text(const NodeGraph& graph, const Partition& parts);

}  // namespace tidemark::graph
