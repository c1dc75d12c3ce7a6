#include "sim/torch/compile/graph_run.h"

#include <algorithm>
#include <string_view>

#include "sim/base/check.h"

namespace tidemark::torch {

using graph::Effect;
using graph::GraphNode;
using graph::NodeId;
using ops::Tensor;

GraphRun::GraphRun(ops::Context& c, const graph::NodeGraph& graph, const std::vector<NodeId>& order,
                   const std::vector<NodeId>& results)
    : c_(c), graph_(graph), order_(order), held_(graph.nodes.size()), last_uses_(order.size()) {
  find_last_uses(results);
}

namespace {

/// Whether an operator gives a tuple, whatever of it is wanted.
bool gives_several(const GraphNode& node) {
  static constexpr std::string_view kNames[] = {
      "native_batch_norm", "native_layer_norm",  "native_group_norm",      "native_dropout",
      "nll_loss_forward",  "nll_loss2d_forward", "max_pool2d_with_indices"};
  return node.name.find("attention") != std::string_view::npos ||
         std::find(std::begin(kNames), std::end(kNames), node.name) != std::end(kNames);
}

}  // namespace

void GraphRun::find_last_uses(const std::vector<NodeId>& results) {
  std::vector<bool> is_used(graph_.nodes.size());
  for (const NodeId id : results) {
    if (id != graph::kNoNode) is_used[id] = true;
  }
  for (std::size_t at = order_.size(); at-- > 0;) {
    for (const NodeId input : graph_.nodes[order_[at]].inputs) {
      if (is_used[input]) continue;
      is_used[input] = true;
      last_uses_[at].push_back(input);
    }
  }
}

void GraphRun::give(NodeId node, const Tensor& tensor) {
  held_[node] = {{graph_.nodes[node].storage, tensor->storage}};
}

std::vector<GraphRun::Memory> GraphRun::effects_of(const GraphNode& node) {
  std::vector<Memory> made;
  const bool is_taken_apart = !node.has_parts && node.results_from > 0 && gives_several(node);
  for (const Effect& effect : node.effects) {
    const auto at = static_cast<std::size_t>(&effect - node.effects.data());
    switch (effect.kind) {
      case Effect::Kind::kAllocate: {
        const Tensor memory = c_.scratch(effect.bytes, effect.device);
        memory->storage->set_role(graph_.roles[effect.storage]);
        made.emplace_back(effect.storage, memory->storage);
        break;
      }
      case Effect::Kind::kFree:
        if (is_taken_apart && at >= node.results_from) break;
        std::erase_if(made, [&](const Memory& memory) { return memory.first == effect.storage; });
        break;
      case Effect::Kind::kWorkspace:
        c_.cublas_workspace(effect.device, effect.calls);
        break;
      case Effect::Kind::kLtWorkspace:
        c_.cublaslt_workspace(effect.device);
        break;
      case Effect::Kind::kLaunch:
        c_.launch(effect.device, effect.flops, effect.bytes_moved, effect.kernel, effect.precision);
        break;
    }
  }
  // With drops it asks for the number that nobody uses before the state of its random numbers, and
  // gives it behind that. Source: at::native's _scaled_dot_product_flash_attention_cuda.
  constexpr std::size_t kResults = 4;
  if (node.name == "_scaled_dot_product_flash_attention" && made.size() == kResults &&
      made[2].second->bytes() < made[3].second->bytes())
    std::swap(made[2], made[3]);
  return made;
}

void GraphRun::execute(NodeId id) {
  const GraphNode& node = graph_.nodes[id];
  if (!node.effects.empty()) {
    const ops::LabelScope label(c_, node.name, node.module);
    held_[id] = effects_of(node);
    return;
  }
  for (const NodeId input : node.inputs) {
    for (const Memory& memory : held_[input]) {
      if (memory.first == node.storage || node.has_parts) held_[id].push_back(memory);
    }
    if (!held_[id].empty()) return;
  }
}

void GraphRun::run() {
  for (std::size_t at = 0; at < order_.size(); ++at) {
    execute(order_[at]);
    // As Python takes a tuple apart: from its end.
    for (const NodeId id : last_uses_[at]) {
      while (!held_[id].empty()) held_[id].pop_back();
    }
    drop_unwanted(order_[at]);
  }
}

/// The rest of a tuple goes when the one that is wanted has been taken out of it.
void GraphRun::drop_unwanted(NodeId id) {
  const GraphNode& node = graph_.nodes[id];
  if (node.has_parts || node.effects.empty()) return;
  std::vector<Memory>& held = held_[id];
  for (std::size_t i = held.size(); i-- > 0;) {
    if (held[i].first != node.storage) held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

const Ref<ops::Storage>& GraphRun::memory_of(NodeId node) const {
  TIDEMARK_CHECK(held_[node].size() == 1, "a result of compiled code has no memory");
  return held_[node].front().second;
}

Tensor GraphRun::take(NodeId node) const {
  const GraphNode& of = graph_.nodes[node];
  Ref<ops::TensorImpl> impl = make_ref<ops::TensorImpl>();
  impl->sizes = of.sizes;
  impl->strides = of.strides;
  impl->offset = of.offset;
  impl->dtype = of.dtype;
  impl->device = of.device;
  impl->storage = memory_of(node);
  return Tensor(std::move(impl));
}

}  // namespace tidemark::torch
