#include "sim/graph/backward_plan.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace tidemark::graph;

namespace {

VertexId add(OpGraph& graph, const std::vector<VertexId>& to, EdgeKind kind = EdgeKind::kGradient) {
  const VertexId v = graph.add_vertex({});
  std::uint32_t port = 0;
  for (const VertexId target : to) graph.add_edge(target, kind, port++);
  return v;
}

}  // namespace

TEST_CASE("A vertex is ready when the last of its gradients has come") {
  //      leaf <- square <- left  <- sum
  //                     <- right <-
  OpGraph graph;
  const VertexId leaf = add(graph, {});
  const VertexId square = add(graph, {leaf});
  const VertexId left = add(graph, {square});
  const VertexId right = add(graph, {square});
  const VertexId sum = add(graph, {left, right});
  BackwardPlan plan(graph, {sum});
  CHECK(plan.dependencies(sum) == 0);
  CHECK(plan.dependencies(left) == 1);
  CHECK(plan.dependencies(square) == 2);
  CHECK(plan.arrive(right));
  CHECK_FALSE(plan.arrive(square));
  CHECK(plan.arrive(square));
}

TEST_CASE("Two gradients of one call to one input count twice") {
  OpGraph graph;
  const VertexId leaf = add(graph, {});
  const VertexId product = add(graph, {leaf, leaf});  // x * x
  BackwardPlan plan(graph, {product});
  CHECK(plan.dependencies(leaf) == 2);
}

TEST_CASE("Only gradient edges count, and only those that the roots reach") {
  OpGraph graph;
  const VertexId leaf = add(graph, {});
  const VertexId kept = add(graph, {leaf});
  const VertexId other = add(graph, {kept});  // no root reaches it
  const VertexId view = add(graph, {kept}, EdgeKind::kAlias);
  const VertexId reader = add(graph, {view}, EdgeKind::kSaved);
  const VertexId root = add(graph, {kept});
  BackwardPlan plan(graph, {root});
  CHECK(plan.dependencies(kept) == 1);
  CHECK(plan.reaches(leaf));
  CHECK_FALSE(plan.reaches(other));
  CHECK_FALSE(plan.reaches(view));
  CHECK_FALSE(plan.reaches(reader));
  CHECK_FALSE(plan.reaches(root + 1));
}

TEST_CASE("A root that another root leads to waits for it") {
  OpGraph graph;
  const VertexId leaf = add(graph, {});
  const VertexId inner = add(graph, {leaf});
  const VertexId outer = add(graph, {inner});
  BackwardPlan plan(graph, {inner, outer});
  CHECK(plan.dependencies(inner) == 1);
  CHECK(plan.dependencies(outer) == 0);
  CHECK(plan.dependencies(leaf) == 1);
  CHECK_FALSE(BackwardPlan(graph, {}).reaches(leaf));
}
