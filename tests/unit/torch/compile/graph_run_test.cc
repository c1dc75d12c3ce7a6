#include "sim/torch/compile/graph_run.h"

#include <catch2/catch.hpp>

#include <vector>

#include "tests/support/operator_rig.h"

using namespace tidemark;
using graph::Effect;
using graph::GraphNode;
using graph::NodeId;
using torch::GraphRun;

namespace {

constexpr ops::Device kGpu{0};

struct Rig {
  test::RecordingMemory memory;
  test::GraphRecorder recorder;
  DeviceSpec device = test::h100();
  ops::Context c{memory, recorder, device};
  graph::NodeGraph graph;

  NodeId input(std::int64_t numbers) {
    GraphNode node = named("input", graph::NodeKind::kInput);
    node.storage = name_memory();
    return add(std::move(node), numbers);
  }
  /// An operator that asks for its result, and for `scratch` bytes while it runs.
  NodeId op(std::vector<NodeId> inputs, std::int64_t numbers, Bytes scratch = 0) {
    GraphNode node = named("op", graph::NodeKind::kPointwise);
    node.inputs = std::move(inputs);
    node.storage = name_memory();
    node.effects.push_back({.kind = Effect::Kind::kAllocate,
                            .device = kGpu,
                            .storage = node.storage,
                            .bytes = static_cast<Bytes>(numbers) * 4});
    if (scratch > 0) {
      const graph::StorageId own = name_memory();
      node.effects.push_back(
          {.kind = Effect::Kind::kAllocate, .device = kGpu, .storage = own, .bytes = scratch});
      node.effects.push_back({.kind = Effect::Kind::kFree, .device = kGpu, .storage = own});
    }
    return add(std::move(node), numbers);
  }
  NodeId view(NodeId of) {
    GraphNode node = named("view", graph::NodeKind::kView);
    node.inputs = {of};
    node.storage = graph.nodes[of].storage;
    return add(std::move(node), graph.nodes[of].sizes[0]);
  }

 private:
  static GraphNode named(std::string_view name, graph::NodeKind kind) {
    GraphNode node;
    node.name = name;
    node.kind = kind;
    return node;
  }
  graph::StorageId name_memory() {
    graph.roles.push_back(ops::Role::kActivation);
    return static_cast<graph::StorageId>(graph.roles.size() - 1);
  }
  NodeId add(GraphNode node, std::int64_t numbers) {
    node.sizes = {numbers};
    node.strides = {1};
    node.device = kGpu;
    graph.nodes.push_back(std::move(node));
    return static_cast<NodeId>(graph.nodes.size() - 1);
  }
};

using Events = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("Memory goes when the last name of it is read for the last time") {
  Rig rig;
  const NodeId x = rig.input(8);
  const NodeId a = rig.op({x}, 100);
  const NodeId b = rig.op({a}, 200);
  const NodeId c = rig.op({a, b}, 300);
  const std::vector<NodeId> order = {a, b, c};
  GraphRun run(rig.c, rig.graph, order, {c});
  run.run();
  CHECK(rig.memory.take() == Events{400, 800, 1200, -400, -800});
  CHECK(run.take(c)->sizes == ops::Dims{300});
}

TEST_CASE("A view keeps the memory that it looks into") {
  Rig rig;
  const NodeId x = rig.input(8);
  const NodeId a = rig.op({x}, 100);
  const NodeId v = rig.view(a);
  const NodeId b = rig.op({x}, 200);
  const NodeId c = rig.op({v, b}, 300);
  const std::vector<NodeId> order = {a, v, b, c};
  GraphRun run(rig.c, rig.graph, order, {c});
  run.run();
  CHECK(rig.memory.take() == Events{400, 800, 1200, -400, -800});
}

TEST_CASE("A result stays, and drop() gives it up") {
  Rig rig;
  const NodeId x = rig.input(8);
  const NodeId a = rig.op({x}, 100);
  const NodeId b = rig.op({a}, 200);
  const std::vector<NodeId> order = {a, b};
  GraphRun run(rig.c, rig.graph, order, {a, b});
  run.run();
  CHECK(rig.memory.take() == Events{400, 800});
  run.drop(a);
  CHECK(rig.memory.take() == Events{-400});
}

TEST_CASE("What an operator needs for itself goes while it runs") {
  Rig rig;
  const NodeId x = rig.input(8);
  const NodeId a = rig.op({x}, 100, 4096);
  const std::vector<NodeId> order = {a};
  GraphRun run(rig.c, rig.graph, order, {a});
  run.run();
  CHECK(rig.memory.take() == Events{400, 4096, -4096});
}

TEST_CASE("What is given is read, and is gone for the run when its last reader is done") {
  Rig rig;
  const NodeId x = rig.input(8);
  const NodeId v = rig.view(x);
  const NodeId a = rig.op({v}, 100);
  const std::vector<NodeId> order = {v, a};
  ops::Tensor given = rig.c.empty({8}, ops::ScalarType::kFloat32, kGpu);
  GraphRun run(rig.c, rig.graph, order, {a});
  run.give(x, given);
  given = {};
  CHECK(rig.memory.take() == Events{32});
  run.run();
  CHECK(rig.memory.take() == Events{400, -32});
}
