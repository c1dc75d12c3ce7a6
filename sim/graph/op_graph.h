#pragma once

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::graph {

using VertexId = std::uint32_t;
inline constexpr VertexId kNoVertex = 0xffffffffU;

enum class EdgeKind : std::uint8_t {
  kData,      ///< reads what the target made
  kAlias,     ///< is a view of what the target made
  kGradient,  ///< its gradient flows on to the target, in argument order
  kSaved,     ///< keeps memory of the target alive for backward
  kControl,   ///< runs after the target for another reason (overwrites it)
};

/// One operator call.
struct OpVertex {
  std::string_view name;          ///< operator, as ATen calls it; static text
  std::uint32_t module = 0;       ///< label of the module path it ran under
  std::uint32_t instruction = 0;  ///< how many instructions the program had given when it began
  void* payload = nullptr;        ///< the autograd node while it lives; owned elsewhere
  std::uint32_t first_edge = 0;   ///< its edges are [first_edge, first_edge of the next vertex)
};

struct OpEdge {
  VertexId source = kNoVertex;
  VertexId target = kNoVertex;
  EdgeKind kind = EdgeKind::kData;
  std::uint32_t port = 0;  ///< kGradient: which input of the target; else which argument
};

/// The computation graph that running a program records: a vertex an operator call, edges from each
/// call back to those it depends on. Calls come in order and their edges with them, so the edges of
/// a vertex lie together: the graph is a growing compressed sparse row, and is itself a model of
/// Boost.Graph's VertexListGraph, EdgeListGraph and IncidenceGraph: Boost's algorithms run on it as
/// it is.
///
/// Vertex numbers are sequence numbers: every edge leads to a lower number, so that descending
/// numbers are a topological order. Cost: 32 bytes a vertex, 16 an edge.
class OpGraph {
 public:
  /// Starts a vertex; edges added until the next call are its own.
  VertexId add_vertex(OpVertex vertex);
  /// Adds an edge of the newest vertex. Requires: target older than it.
  void add_edge(VertexId target, EdgeKind kind, std::uint32_t port);

  [[nodiscard]] VertexId size() const { return static_cast<VertexId>(vertices_.size()); }
  [[nodiscard]] std::size_t edge_count() const { return edges_.size(); }
  [[nodiscard]] const OpVertex& operator[](VertexId v) const { return vertices_[v]; }
  [[nodiscard]] OpVertex& operator[](VertexId v) { return vertices_[v]; }
  [[nodiscard]] const OpEdge* edges_begin(VertexId v) const {
    return edges_.data() + vertices_[v].first_edge;
  }
  [[nodiscard]] const OpEdge* edges_end(VertexId v) const {
    return edges_.data() + (v + 1 < vertices_.size() ? vertices_[v + 1].first_edge : edges_.size());
  }
  [[nodiscard]] const std::vector<OpEdge>& edges() const { return edges_; }

  /// Told of every vertex whose node the backward pass runs; null: nobody asks.
  std::function<void(VertexId)> on_backward;

 private:
  std::vector<OpVertex> vertices_;
  std::vector<OpEdge> edges_;
};

}  // namespace tidemark::graph

namespace boost {

template <>
struct graph_traits<tidemark::graph::OpGraph> {
  using vertex_descriptor = tidemark::graph::VertexId;
  using edge_descriptor = const tidemark::graph::OpEdge*;
  using directed_category = directed_tag;
  using edge_parallel_category = allow_parallel_edge_tag;
  struct traversal_category : virtual vertex_list_graph_tag,
                              virtual edge_list_graph_tag,
                              virtual incidence_graph_tag {};
  using vertex_iterator = counting_iterator<vertex_descriptor>;
  using out_edge_iterator = counting_iterator<edge_descriptor>;
  using edge_iterator = out_edge_iterator;
  using in_edge_iterator = void;  // edges lead back only
  using adjacency_iterator = void;
  using vertices_size_type = std::uint32_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  static vertex_descriptor null_vertex() { return tidemark::graph::kNoVertex; }
};

}  // namespace boost

namespace tidemark::graph {

using Traits = boost::graph_traits<OpGraph>;

inline std::pair<Traits::vertex_iterator, Traits::vertex_iterator> vertices(const OpGraph& g) {
  return {Traits::vertex_iterator(0), Traits::vertex_iterator(g.size())};
}
inline Traits::vertices_size_type num_vertices(const OpGraph& g) { return g.size(); }
inline std::pair<Traits::out_edge_iterator, Traits::out_edge_iterator> out_edges(VertexId v,
                                                                                 const OpGraph& g) {
  return {Traits::out_edge_iterator(g.edges_begin(v)), Traits::out_edge_iterator(g.edges_end(v))};
}
inline Traits::degree_size_type out_degree(VertexId v, const OpGraph& g) {
  return static_cast<Traits::degree_size_type>(g.edges_end(v) - g.edges_begin(v));
}
inline std::pair<Traits::edge_iterator, Traits::edge_iterator> edges(const OpGraph& g) {
  const OpEdge* begin = g.edges().data();
  return {Traits::edge_iterator(begin), Traits::edge_iterator(begin + g.edge_count())};
}
inline Traits::edges_size_type num_edges(const OpGraph& g) { return g.edge_count(); }
inline VertexId source(Traits::edge_descriptor e, const OpGraph& /*g*/) { return e->source; }
inline VertexId target(Traits::edge_descriptor e, const OpGraph& /*g*/) { return e->target; }

}  // namespace tidemark::graph
