#include "sim/graph/node_graph.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace tidemark::graph {

bool is_collective(std::string_view name) {
  static constexpr std::string_view kNames[] = {"all_reduce",        "all_gather_into_tensor",
                                                "broadcast",         "reduce_scatter_tensor",
                                                "all_to_all_single", "shard_dim_alltoall"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

std::vector<std::vector<NodeId>> NodeGraph::users() const {
  std::vector<std::vector<NodeId>> users(nodes.size());
  for (NodeId id = 0; id < nodes.size(); ++id) {
    for (const NodeId input : nodes[id].inputs) {
      if (users[input].empty() || users[input].back() != id) users[input].push_back(id);
    }
  }
  return users;
}

std::vector<NodeId> NodeGraph::needed_for(const std::vector<NodeId>& wanted,
                                          const std::vector<NodeId>& given) const {
  std::vector<bool> is_given(nodes.size());
  for (const NodeId id : given) is_given[id] = true;
  std::vector<bool> is_needed(nodes.size());
  std::vector<NodeId> stack;
  const auto need = [&](NodeId id) {
    if (id == kNoNode || is_needed[id] || is_given[id]) return;
    is_needed[id] = true;
    stack.push_back(id);
  };
  for (const NodeId id : wanted) need(id);
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    for (const NodeId input : nodes[id].inputs) need(input);
  }
  std::vector<NodeId> order;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    if (is_needed[id]) order.push_back(id);
  }
  return order;
}

void NodeGraph::merge_equal(const std::vector<bool>& are_converted) {
  std::vector<bool> is_of_result(roles.size());
  const auto note = [&](NodeId id) {
    if (id != kNoNode && nodes[id].storage != kNoStorage) is_of_result[nodes[id].storage] = true;
  };
  for (const NodeId id : outputs) note(id);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (i >= are_converted.size() || !are_converted[i]) note(gradients[i]);
  }
  using Key = std::tuple<std::string_view, std::vector<NodeId>, std::uint64_t,
                         std::vector<std::int64_t>, ops::ScalarType>;
  std::map<Key, NodeId> seen;
  std::vector<NodeId> same(nodes.size());
  for (NodeId id = 0; id < nodes.size(); ++id) {
    GraphNode& node = nodes[id];
    same[id] = id;
    for (NodeId& input : node.inputs) input = same[input];
    // Of several results: reductions alone, whose parts are merged with them (var_mean).
    const bool is_part = node.kind == NodeKind::kPart;
    const GraphNode& whole = is_part ? nodes[node.inputs.front()] : node;
    const bool is_one = !node.has_parts && !is_part;
    if (!is_one && whole.kind != NodeKind::kReduction) continue;
    if (node.kind != NodeKind::kView && !is_part && node.settings == 0) continue;
    if (node.storage != kNoStorage && is_of_result[node.storage]) continue;
    std::vector<std::int64_t> place(node.sizes.begin(), node.sizes.end());
    place.insert(place.end(), node.strides.begin(), node.strides.end());
    place.push_back(node.offset);
    if (!is_one) place.insert(place.end(), node.dims.begin(), node.dims.end());
    const Key key{node.name, node.inputs, node.settings, std::move(place), node.dtype};
    const auto [at, is_new] = seen.try_emplace(key, id);
    if (is_new) continue;
    same[id] = at->second;
    // What looked into the other's memory looks into this one's.
    const StorageId old = node.storage;
    const StorageId kept = nodes[at->second].storage;
    if (old == kept || old == kNoStorage) continue;
    for (NodeId later = id; later < nodes.size(); ++later) {
      if (nodes[later].storage == old) nodes[later].storage = kept;
    }
  }
  for (auto* list : {&outputs, &gradients}) {
    for (NodeId& id : *list) {
      if (id != kNoNode) id = same[id];
    }
  }
}

Bytes bytes_of(const GraphNode& node) {
  if (node.has_parts) return 0;
  Bytes bytes = ops::element_bytes(node.dtype);
  for (const std::int64_t size : node.sizes) bytes *= static_cast<Bytes>(size);
  return bytes;
}

}  // namespace tidemark::graph
