#include "sim/graph/partition.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

using namespace tidemark;
using namespace tidemark::graph;

namespace {

/// A joint graph under construction; every tensor is of floats.
struct Joint {
  NodeGraph graph;

  NodeId add(std::string_view name, NodeKind kind, ops::Dims sizes,
             std::vector<NodeId> inputs = {}) {
    GraphNode node;
    node.name = name;
    node.kind = kind;
    node.sizes = sizes;
    node.inputs = std::move(inputs);
    graph.nodes.push_back(std::move(node));
    return static_cast<NodeId>(graph.nodes.size() - 1);
  }
  NodeId input(ops::Dims sizes) { return add("input", NodeKind::kInput, sizes); }
  NodeId tangent(ops::Dims sizes) { return add("tangent", NodeKind::kTangent, sizes); }
  NodeId pointwise(std::string_view name, std::vector<NodeId> inputs) {
    return add(name, NodeKind::kPointwise, graph.nodes[inputs.front()].sizes, inputs);
  }
  NodeId opaque(std::string_view name, ops::Dims sizes, std::vector<NodeId> inputs) {
    return add(name, NodeKind::kOpaque, sizes, std::move(inputs));
  }
};

bool has(const std::vector<NodeId>& ids, NodeId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

TEST_CASE("A chain of loops is computed again from what it began with") {
  Joint j;
  const NodeId x = j.input({64, 64});
  const NodeId sine = j.pointwise("sin", {x});
  const NodeId result = j.pointwise("cos", {sine});
  const NodeId tangent = j.tangent({64, 64});
  const NodeId back = j.pointwise("mul", {tangent, sine});
  const NodeId gradient = j.pointwise("mul", {back, x});
  j.graph.outputs = {result};
  j.graph.gradients = {gradient};
  const Partition parts = partition(j.graph);
  CHECK(parts.saved == std::vector<NodeId>{x});
  CHECK(parts.forward == std::vector<NodeId>{sine, result});
  CHECK(parts.backward == std::vector<NodeId>{sine, back, gradient});
}

TEST_CASE("What an operator that is no loop gives is kept") {
  Joint j;
  const NodeId x = j.input({64, 64});
  const NodeId weight = j.input({64, 64});
  j.graph.nodes[weight].is_parameter = true;
  const NodeId product = j.opaque("mm", {64, 64}, {x, weight});
  const NodeId result = j.pointwise("relu", {product});
  const NodeId tangent = j.tangent({64, 64});
  const NodeId back = j.pointwise("mul", {tangent, result});
  const NodeId gradient = j.opaque("mm", {64, 64}, {back, weight});
  j.graph.outputs = {result};
  j.graph.gradients = {gradient, kNoNode};
  const Partition parts = partition(j.graph);
  CHECK(has(parts.saved, weight));
  CHECK((has(parts.saved, product) || has(parts.saved, result)));
  CHECK_FALSE(has(parts.backward, product));
}

TEST_CASE("A reduction to a quarter or less is kept, not computed again") {
  for (const std::int64_t width : {2, 8}) {
    Joint j;
    const NodeId x = j.input({64, width});
    const NodeId sum = j.add("sum", NodeKind::kReduction, {64, 1}, {x});
    const NodeId result = j.pointwise("mul", {x, sum});
    const NodeId tangent = j.tangent({64, width});
    // x is kept for another, so that the sum costs nothing to compute again.
    const NodeId of_sum = j.pointwise("mul", {tangent, sum});
    const NodeId of_x = j.pointwise("mul", {tangent, x});
    const NodeId gradient = j.pointwise("add", {of_sum, of_x});
    j.graph.outputs = {result};
    j.graph.gradients = {gradient};
    const Partition parts = partition(j.graph);
    CHECK(has(parts.backward, sum) == (width == 2));
  }
}

TEST_CASE("What is computed again is so when it is first needed, and parts follow their node") {
  Joint j;
  const NodeId x = j.input({64, 64});
  const NodeId early = j.pointwise("sin", {x});
  const NodeId result = j.pointwise("cos", {early});
  const NodeId tangent = j.tangent({64, 64});
  const NodeId first = j.pointwise("mul", {tangent, x});
  const NodeId both = j.opaque("pair_backward", {}, {first});
  j.graph.nodes[both].has_parts = true;
  const NodeId left = j.add("getitem", NodeKind::kPart, {64, 64}, {both});
  const NodeId middle = j.pointwise("mul", {left, early});
  const NodeId right = j.add("getitem", NodeKind::kPart, {64, 64}, {both});
  const NodeId last = j.pointwise("mul", {middle, right});
  j.graph.outputs = {result};
  j.graph.gradients = {last};
  const Partition parts = partition(j.graph);
  CHECK(parts.backward == std::vector<NodeId>{first, both, left, right, early, middle, last});
}
