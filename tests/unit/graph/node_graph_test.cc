#include "sim/graph/node_graph.h"

#include <catch2/catch.hpp>

#include <string_view>
#include <vector>

#include "sim/graph/node_text.h"

using namespace tidemark;
using namespace tidemark::graph;

namespace {

NodeId add(NodeGraph& graph, std::string_view name, NodeKind kind, std::vector<NodeId> inputs,
           std::uint64_t settings = 0) {
  GraphNode node;
  node.name = name;
  node.kind = kind;
  node.inputs = std::move(inputs);
  node.settings = settings;
  node.sizes = {2, 3};
  node.storage = static_cast<StorageId>(graph.roles.size());
  graph.roles.push_back(ops::Role::kTemporary);
  graph.nodes.push_back(std::move(node));
  return static_cast<NodeId>(graph.nodes.size() - 1);
}

}  // namespace

TEST_CASE("What is needed comes in order, and nothing behind what is given") {
  NodeGraph graph;
  const NodeId x = add(graph, "input", NodeKind::kInput, {});
  const NodeId a = add(graph, "sin", NodeKind::kPointwise, {x});
  const NodeId unused = add(graph, "cos", NodeKind::kPointwise, {x});
  const NodeId b = add(graph, "mul", NodeKind::kPointwise, {a, a});
  CHECK(graph.needed_for({b}, {}) == std::vector<NodeId>{x, a, b});
  CHECK(graph.needed_for({b, kNoNode}, {a}) == std::vector<NodeId>{b});
  CHECK(graph.users()[x] == std::vector<NodeId>{a, unused});
  CHECK(graph.users()[a] == std::vector<NodeId>{b});
}

TEST_CASE("Operators of the same settings on the same tensors are one") {
  NodeGraph graph;
  const NodeId x = add(graph, "input", NodeKind::kInput, {});
  const NodeId first = add(graph, "mul", NodeKind::kPointwise, {x}, 7);
  const NodeId second = add(graph, "mul", NodeKind::kPointwise, {x}, 7);
  const NodeId other = add(graph, "mul", NodeKind::kPointwise, {x}, 9);
  const NodeId unknown = add(graph, "mul", NodeKind::kPointwise, {x});
  const NodeId sum = add(graph, "cat", NodeKind::kCat, {first, second, other, unknown, second}, 1);
  graph.outputs = {sum};
  graph.merge_equal();
  CHECK(graph.nodes[sum].inputs == std::vector<NodeId>{first, first, other, unknown, first});
}

TEST_CASE("What is merged leads to more that is, but results keep their own memory") {
  NodeGraph graph;
  const NodeId a = add(graph, "zeros", NodeKind::kFill, {}, 1);
  const NodeId b = add(graph, "zeros", NodeKind::kFill, {}, 1);
  const NodeId sin_a = add(graph, "sin", NodeKind::kPointwise, {a}, 1);
  const NodeId sin_b = add(graph, "sin", NodeKind::kPointwise, {b}, 1);
  const NodeId last = add(graph, "mul", NodeKind::kPointwise, {sin_a, sin_b});
  const NodeId result = add(graph, "sin", NodeKind::kPointwise, {a}, 1);
  graph.outputs = {last, result};
  graph.merge_equal();
  CHECK(graph.nodes[last].inputs == std::vector<NodeId>{sin_a, sin_a});
  CHECK(graph.outputs == std::vector<NodeId>{last, result});
}

TEST_CASE("Graphs print as torch.fx counts names") {
  NodeGraph graph;
  const NodeId x = add(graph, "input", NodeKind::kInput, {});
  const NodeId a = add(graph, "sin", NodeKind::kPointwise, {x});
  const NodeId b = add(graph, "sin", NodeKind::kPointwise, {a});
  graph.outputs = {b};
  CHECK(joint_text(graph) ==
        "joint graph\n"
        "    input_1: float32[2, 3]\n"
        "    sin: float32[2, 3] = sin(input_1)\n"
        "    sin_1: float32[2, 3] = sin(sin)\n"
        "    return sin_1\n");
}
