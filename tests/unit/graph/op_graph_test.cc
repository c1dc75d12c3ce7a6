#include "sim/graph/op_graph.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace tidemark::graph;

TEST_CASE("The edges of a vertex lie together and lead back") {
  OpGraph graph;
  const VertexId a = graph.add_vertex({.name = "a"});
  const VertexId b = graph.add_vertex({.name = "b"});
  graph.add_edge(a, EdgeKind::kData, 0);
  graph.add_edge(a, EdgeKind::kGradient, 1);
  const VertexId c = graph.add_vertex({.name = "c"});
  const VertexId d = graph.add_vertex({.name = "d"});
  graph.add_edge(b, EdgeKind::kData, 0);
  CHECK(graph.size() == 4);
  CHECK(graph.edge_count() == 3);
  CHECK(out_degree(a, graph) == 0);
  CHECK(out_degree(b, graph) == 2);
  CHECK(out_degree(c, graph) == 0);
  CHECK(out_degree(d, graph) == 1);
  CHECK(graph.edges_begin(b)[1].kind == EdgeKind::kGradient);
  CHECK(graph.edges_begin(b)[1].port == 1);
  CHECK(graph.edges_begin(d)->source == d);
  CHECK(graph.edges_begin(d)->target == b);
}

TEST_CASE("Every edge leads to a lower number, so that descending numbers are an order") {
  OpGraph graph;
  for (int i = 0; i < 50; ++i) {
    const VertexId v = graph.add_vertex({});
    for (VertexId target = v % 3; target < v; target += 7)
      graph.add_edge(target, EdgeKind::kData, 0);
  }
  const auto [first, last] = edges(graph);
  std::size_t count = 0;
  for (auto edge = first; edge != last; ++edge, ++count)
    CHECK(target(*edge, graph) < source(*edge, graph));
  CHECK(count == num_edges(graph));
}
