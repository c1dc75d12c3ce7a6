#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "sim/graph/node_graph.h"
#include "sim/ops/tensor.h"

namespace tidemark::torch {

class Capture;

/// A piece of captured code: what it reads and gives, as nodes of the whole, in order.
struct Piece {
  graph::NodeId first = 0;  ///< its nodes are [first, last)
  graph::NodeId last = 0;
  std::vector<graph::NodeId> inputs;
  std::vector<graph::NodeId> outputs;  ///< what later pieces read, then what the program gets
};

/// Where PyTorch splits code that is compiled under DistributedDataParallel. One piece: nowhere.
/// `results`: nodes that the program gets. `cap`: bytes of parameters in a bucket of gradients.
/// Source: torch's DDPOptimizer; fx's split_module; docs/rules/compile.md#12.
std::vector<Piece> pieces_of(const Capture& capture, const std::vector<graph::NodeId>& results,
                             Bytes cap);

/// A piece as a graph of its own. `gradients`: nodes that its backward pass makes, [first, last) of
/// the whole.
class PieceGraph {
 public:
  PieceGraph(const Capture& capture, const Piece& piece,
             std::pair<graph::NodeId, graph::NodeId> gradients);
  /// The node of the piece that a node of the whole is; an input, if it is none of the piece's.
  graph::NodeId place(graph::NodeId id);
  graph::NodeGraph graph;
  std::vector<graph::NodeId> inputs;  ///< as nodes of the whole, in the order of the graph's

 private:
  graph::NodeId add(graph::NodeId id);
  graph::NodeId add_input(graph::NodeId id);
  graph::StorageId memory(graph::StorageId id);

  const Capture& capture_;
  std::vector<bool> are_looks_;
  std::vector<graph::NodeId> places_;
  std::vector<graph::StorageId> memories_;
};

}  // namespace tidemark::torch
