// Backward functions that are captured: as one operator, or as the kernels that they are made of.

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sim/torch/compile/capture.h"

namespace tidemark::torch {

using graph::Effect;
using graph::GraphNode;
using graph::kNoNode;
using graph::NodeId;
using graph::NodeKind;
using ops::Tensor;

namespace {

/// "NativeLayerNormBackward0" as ATen's operator: "native_layer_norm_backward";
/// "AvgPool2DBackward0": "avg_pool2d_backward"; "SmoothL1LossBackward0":
/// "smooth_l1_loss_backward".
std::string operator_name(std::string_view node) {
  while (!node.empty() && node.back() >= '0' && node.back() <= '9') node.remove_suffix(1);
  const auto is_among = [&](std::size_t i, char first, char last) {
    return i < node.size() && node[i] >= first && node[i] <= last;
  };
  std::string name;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const bool is_capital = is_among(i, 'A', 'Z');
    // The D of "2D" is no word of its own.
    const bool begins_word = i > 0 && (is_among(i + 1, 'a', 'z') || !is_among(i - 1, '0', '9'));
    if (is_capital && begins_word) name += '_';
    name += is_capital ? static_cast<char>(node[i] - 'A' + 'a') : node[i];
  }
  return name;
}

/// Kept for second derivatives alone: nobody reads it while gradients are not recorded. Source:
/// torch's derivatives.yaml, _thnn_fused_lstm_cell and _thnn_fused_gru_cell.
bool is_for_second_derivatives(std::string_view name, std::size_t saved) {
  constexpr std::size_t kState = 0;  // of the cell
  constexpr std::size_t kResults = 5;
  if (name == "thnn_fused_gru_cell_backward") return saved < kResults;
  if (name == "thnn_fused_lstm_cell_backward") return saved != kState && saved < kResults;
  return false;
}

}  // namespace

/// A result that was kept is seen without its history. Source: torch's SavedVariable.
NodeId Capture::detached(const Tensor& tensor) {
  const NodeId base = node_of(tensor);
  GraphNode node;
  node.name = "detach";
  node.kind = NodeKind::kView;
  node.inputs = {base};
  node.storage = graph.nodes[base].storage;
  describe(node, tensor);
  const NodeId id = add_node(std::move(node));
  mark(tensor, id);
  return id;
}

/// What a gradient reads conjugate: a view of it. Source: torch's handle_r_to_c and conj().
NodeId Capture::conjugate_of(const Tensor& tensor) {
  const NodeId base = node_of(tensor);
  if (graph.nodes[base].name == "_conj") return base;
  GraphNode node;
  node.name = "_conj";
  node.kind = NodeKind::kView;
  node.inputs = {base};
  node.storage = graph.nodes[base].storage;
  describe(node, tensor);
  return add_node(std::move(node));
}

void Capture::begin_backward(const ops::Node& node, const ops::TensorList& incoming,
                             const ops::TensorList& saved) {
  if (node.name == "CopySlices" || transparent_nodes_.count(node.vertex) > 0) {
    transparent_backwards_.push_back(scopes_.size());
    return;
  }
  std::vector<NodeId> gradients;
  for (const Tensor& tensor : incoming) {
    if (tensor.defined() && tensor.is_cuda()) gradients.push_back(node_of(tensor));
  }
  std::vector<NodeId> reads = gradients;
  const std::string name = operator_name(node.name);
  const auto place = [this](NodeId id) {
    return graph.nodes[id].name == "detach" ? graph.nodes[id].inputs.front() : id;
  };
  const std::vector<NodeId>& taken = reads_of_[node.vertex];
  const auto is_own_part = [&](NodeId id) {
    // What one layer norm gives to the next is an input there.
    const bool is_taken = std::find(taken.begin(), taken.end(), id) != taken.end();
    if (is_taken || graph.nodes[id].kind != NodeKind::kPart) return false;
    std::string_view maker = graph.nodes[graph.nodes[id].inputs.front()].name;
    if (maker.starts_with('_')) maker.remove_prefix(1);
    return name.starts_with(maker);
  };
  // Inputs in the order in which the operator took them, then results in that in which it gave
  // them.
  std::vector<NodeId> kept;
  std::vector<NodeId> results;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    if (!saved[i].defined() || !saved[i].is_cuda()) continue;
    if (saved[i].numel() == 0) continue;  // a kernel's own, of no bytes
    if (is_for_second_derivatives(name, i)) continue;
    const NodeId id = node.saved[i].is_result ? detached(saved[i]) : node_of(saved[i]);
    // Statistics that were given anew are inputs there.
    const bool is_result = is_made_here(saved[i]) && is_own_part(place(id));
    (is_result ? results : kept).push_back(id);
  }
  std::stable_sort(kept.begin(), kept.end(), [&](NodeId a, NodeId b) {
    return std::find(taken.begin(), taken.end(), a) < std::find(taken.begin(), taken.end(), b);
  });
  reads.insert(reads.end(), kept.begin(), kept.end());
  std::stable_sort(results.begin(), results.end(),
                   [&](NodeId a, NodeId b) { return place(a) < place(b); });
  reads.insert(reads.end(), results.begin(), results.end());
  push(Scope::Kind::kBackward, session_.interp.text(session_.interp.intern(name)),
       std::move(reads));
  scopes_.back().incoming = std::move(gradients);
  scopes_.back().call = calls_of_[node.vertex];
}

void Capture::end_backward(const ops::TensorList& grads) {
  if (!transparent_backwards_.empty() && transparent_backwards_.back() == scopes_.size()) {
    transparent_backwards_.pop_back();
    return;
  }
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  // A gradient that begins as zeros is written into by the rest of the function.
  const bool is_filled = std::any_of(grads.begin(), grads.end(), [&](const Tensor& grad) {
    if (!is_made_here(grad) || storage_of(grad) < scope.first_storage) return false;
    const NodeId maker = storages_[storage_of(grad)].maker;
    return maker != kNoNode && graph.nodes[maker].kind == NodeKind::kFill;
  });
  if (!scope.asks_itself && !is_filled && reads_all(scope)) {
    // Kernels and views, each an operator.
    for (const Tensor& grad : grads) {
      if (grad.defined() && grad.is_cuda()) mark(grad, node_of(grad));
    }
    name_single_kernel(scope);
    name_kernels(scope);
    keep_launches(scope);
    return;
  }
  graph.nodes.resize(scope.first_node);
  while (!made_views_.empty() && made_views_.back().second >= scope.first_node) {
    views_[made_views_.back().first].pop_back();
    made_views_.pop_back();
  }
  for (const Tensor& grad : grads) {
    if (is_made_here(grad) && storage_of(grad) >= scope.first_storage) add_result(scope, grad);
  }
  finish(std::move(scope));
}

GraphNode* Capture::single_kernel(const Scope& scope) {
  GraphNode* only = nullptr;
  for (NodeId id = scope.first_node; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].effects.empty()) continue;
    if (only != nullptr) return nullptr;
    only = &graph.nodes[id];
  }
  return only;
}

/// Whether all that was kept for a function is read by its kernels. What a single one leaves out
/// it is given: it says only what decides over its memory (masked_fill's does not name the mask).
bool Capture::reads_all(const Scope& scope) {
  std::unordered_set<NodeId> is_read;
  std::vector<NodeId> to_follow;
  const auto note = [&](const GraphNode& node) {
    for (const NodeId input : node.inputs) {
      if (is_read.insert(input).second) to_follow.push_back(input);
    }
  };
  for (NodeId id = scope.first_node; id < graph.nodes.size(); ++id) note(graph.nodes[id]);
  // A view that was made before counts for what it looks into.
  while (!to_follow.empty()) {
    const NodeId id = to_follow.back();
    to_follow.pop_back();
    if (id < scope.first_node && graph.nodes[id].effects.empty()) note(graph.nodes[id]);
  }
  std::vector<NodeId> unread;
  std::vector<NodeId> unread_gradients;
  for (const NodeId id : scope.reads) {
    const bool is_gradient =
        std::find(scope.incoming.begin(), scope.incoming.end(), id) != scope.incoming.end();
    if (is_read.count(id) == 0) (is_gradient ? unread_gradients : unread).push_back(id);
  }
  GraphNode* only = single_kernel(scope);
  const bool leaves_out = only != nullptr && only->kind == NodeKind::kPointwise;
  if (leaves_out)
    only->inputs.insert(only->inputs.begin(), unread_gradients.begin(), unread_gradients.end());
  if (unread.empty()) return true;
  if (only == nullptr) return false;
  only->inputs.insert(only->inputs.end(), unread.begin(), unread.end());
  if (only->kind == NodeKind::kCopy) only->kind = NodeKind::kPointwise;
  return true;
}

/// A function of one loop is one operator, which has the gradients before what was kept.
void Capture::name_single_kernel(const Scope& scope) {
  GraphNode* only = single_kernel(scope);
  if (only == nullptr || only->kind != NodeKind::kPointwise) return;
  only->name = scope.name;
  only->call = scope.call;
  std::stable_partition(only->inputs.begin(), only->inputs.end(), [&](NodeId input) {
    return std::find(scope.incoming.begin(), scope.incoming.end(), input) != scope.incoming.end();
  });
}

/// What the kernels of a gradient are called, in their order. Source: torch's derivatives.yaml.
void Capture::name_kernels(const Scope& scope) {
  if (scope.name == "prelu_kernel_backward" && graph.nodes.size() == scope.first_node + 2) {
    graph.nodes[scope.first_node].name = "prelu_input_backward";
    graph.nodes.back().name = "prelu_weight_backward";
  }
  if (scope.name != "div_backward") return;
  // Of the divisor: -grad * (self / other / other); then of what is divided.
  static constexpr std::array<std::string_view, 5> kOfDivision{"div", "div", "neg", "mul", "div"};
  std::vector<GraphNode*> kernels;
  for (NodeId id = scope.first_node; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].kind == NodeKind::kPointwise) kernels.push_back(&graph.nodes[id]);
  }
  if (kernels.size() == 1) kernels.front()->name = "div";
  if (kernels.size() < 4 || kernels.size() > kOfDivision.size()) return;
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i]->name = kOfDivision[i];
}

/// The work of the whole is its last kernel's, where the kernels told none.
void Capture::keep_launches(const Scope& scope) {
  const auto launches = [](const std::vector<Effect>& effects) {
    return std::any_of(effects.begin(), effects.end(),
                       [](const Effect& e) { return e.kind == Effect::Kind::kLaunch; });
  };
  GraphNode* last = nullptr;
  for (NodeId id = scope.first_node; id < graph.nodes.size(); ++id) {
    if (launches(graph.nodes[id].effects)) return;
    if (!graph.nodes[id].effects.empty()) last = &graph.nodes[id];
  }
  if (last == nullptr) return;
  for (const Effect& effect : scope.effects) {
    if (effect.kind == Effect::Kind::kLaunch) last->effects.push_back(effect);
  }
}

}  // namespace tidemark::torch
