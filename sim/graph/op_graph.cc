#include "sim/graph/op_graph.h"

#include "sim/base/check.h"

namespace tidemark::graph {

VertexId OpGraph::add_vertex(OpVertex vertex) {
  vertex.first_edge = static_cast<std::uint32_t>(edges_.size());
  vertices_.push_back(vertex);
  return static_cast<VertexId>(vertices_.size() - 1);
}

void OpGraph::add_edge(VertexId target, EdgeKind kind, std::uint32_t port) {
  const auto source = static_cast<VertexId>(vertices_.size() - 1);
  TIDEMARK_CHECK(target < source, "an edge of the computation graph must lead back");
  edges_.push_back({source, target, kind, port});
}

}  // namespace tidemark::graph
