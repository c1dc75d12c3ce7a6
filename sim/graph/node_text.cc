#include "sim/graph/node_text.h"

#include <map>
#include <vector>

#include <fmt/format.h>

namespace tidemark::graph {

namespace {

/// "mm", "mm_1", "mm_2", ... as torch.fx counts.
std::vector<std::string> names_of(const NodeGraph& graph) {
  std::map<std::string_view, int> counts;
  std::vector<std::string> names;
  for (const GraphNode& node : graph.nodes) {
    const int count = counts[node.name]++;
    const bool is_counted = node.kind == NodeKind::kInput || node.kind == NodeKind::kTangent;
    names.push_back(count == 0 && !is_counted
                        ? std::string(node.name)
                        : fmt::format("{}_{}", node.name, count + (is_counted ? 1 : 0)));
  }
  return names;
}

std::string type_of(const GraphNode& node) {
  return fmt::format("{}{}", ops::info(node.dtype).name, ops::to_string(node.sizes));
}

std::string line(const NodeGraph& graph, const std::vector<std::string>& names, NodeId id) {
  const GraphNode& node = graph.nodes[id];
  std::string inputs;
  for (const NodeId input : node.inputs) {
    if (!inputs.empty()) inputs += ", ";
    inputs += names[input];
  }
  return fmt::format("    {}{} = {}({})\n", names[id],
                     node.has_parts ? std::string() : ": " + type_of(node), node.name, inputs);
}

std::string list(const std::vector<std::string>& names, const std::vector<NodeId>& ids) {
  std::string text;
  for (const NodeId id : ids) {
    if (!text.empty()) text += ", ";
    text += id == kNoNode ? "None" : names[id];
  }
  return text;
}

std::string placeholders(const NodeGraph& graph, const std::vector<std::string>& names,
                         NodeKind kind) {
  std::string text;
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const GraphNode& node = graph.nodes[id];
    if (node.kind == kind) text += fmt::format("    {}: {}\n", names[id], type_of(node));
  }
  return text;
}

}  // namespace

std::string joint_text(const NodeGraph& graph) {
  const std::vector<std::string> names = names_of(graph);
  std::string text = "joint graph\n" + placeholders(graph, names, NodeKind::kInput);
  text += placeholders(graph, names, NodeKind::kTangent);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const NodeKind kind = graph.nodes[id].kind;
    if (kind != NodeKind::kInput && kind != NodeKind::kTangent) text += line(graph, names, id);
  }
  text += fmt::format("    return {}\n", list(names, graph.outputs));
  if (!graph.gradients.empty())
    text += fmt::format("    gradients {}\n", list(names, graph.gradients));
  return text;
}

std::string partitioned_text(const NodeGraph& graph, const Partition& parts) {
  const std::vector<std::string> names = names_of(graph);
  std::string text = "forward graph\n" + placeholders(graph, names, NodeKind::kInput);
  for (const NodeId id : parts.forward) text += line(graph, names, id);
  text += fmt::format("    return {}\n", list(names, graph.outputs));
  if (graph.gradients.empty()) return text;
  text += "saved for backward\n";
  for (const NodeId id : parts.saved)
    text += fmt::format("    {}: {}\n", names[id], type_of(graph.nodes[id]));
  text += "backward graph\n" + placeholders(graph, names, NodeKind::kTangent);
  for (const NodeId id : parts.backward) text += line(graph, names, id);
  text += fmt::format("    return {}\n", list(names, graph.gradients));
  return text;
}

}  // namespace tidemark::graph
