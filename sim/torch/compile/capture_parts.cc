// What is written into parts, or beside a result, is given anew: the whole with the part put into
// it, running statistics.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sim/torch/compile/capture.h"

namespace tidemark::torch {

using graph::GraphNode;
using graph::kNoNode;
using graph::NodeId;
using graph::NodeKind;
using ops::Tensor;

namespace {

/// One of the views that lead from a whole to a part.
struct PartStep {
  std::size_t dim = 0;  ///< of what it looks into
  bool is_select = false;
  ops::Dims sizes;
  ops::Dims strides;
  std::int64_t offset = 0;
};

/// The selections and slices that lead from a whole to a part, as an index names them: dimension
/// by dimension. None: other views lead there.
std::optional<std::vector<PartStep>> steps_to(const GraphNode& whole, const Tensor& part) {
  const std::size_t rank = whole.sizes.size();
  std::vector<std::size_t> kept(rank, part.sizes().size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank && next < part.sizes().size(); ++i) {
    const std::int64_t stride = whole.strides[i];
    const std::int64_t size = part.sizes()[next];
    const std::int64_t own = part.strides()[next];
    const bool is_one = size == 1 && (whole.sizes[i] == 1 || own == stride);
    const bool is_along =
        stride > 0 && own > 0 && own % stride == 0 && (size - 1) * (own / stride) < whole.sizes[i];
    if (is_one || is_along) kept[i] = next++;
  }
  if (next != part.sizes().size()) return std::nullopt;
  // Where it begins: the widest strides first.
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return whole.strides[a] > whole.strides[b];
  });
  std::int64_t rest = part->offset - whole.offset;
  std::vector<std::int64_t> begins(rank, 0);
  for (const std::size_t i : order) {
    if (whole.strides[i] <= 0) continue;
    begins[i] = std::min(rest / whole.strides[i], whole.sizes[i] - 1);
    rest -= begins[i] * whole.strides[i];
  }
  if (rest != 0) return std::nullopt;
  std::vector<PartStep> steps;
  ops::Dims sizes = whole.sizes;
  ops::Dims strides = whole.strides;
  std::int64_t offset = whole.offset;
  std::size_t at = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool is_select = kept[i] == part.sizes().size();
    const std::int64_t size = is_select ? 1 : part.sizes()[kept[i]];
    const bool is_all = !is_select && size == whole.sizes[i];
    if (!is_all) {
      offset += begins[i] * whole.strides[i];
      if (is_select) {
        sizes.erase(at);
        strides.erase(at);
      } else {
        sizes[at] = size;
        if (size > 1) strides[at] = part.strides()[kept[i]];
      }
      steps.push_back({at, is_select, sizes, strides, offset});
    }
    if (!is_select) ++at;
  }
  return steps;
}

/// The call has them right behind the input, and says that it is in training.
bool writes_statistics(std::string_view call) {
  constexpr std::string_view kInput = "batch_norm, tensor, ";
  return call.starts_with(kInput) && call.substr(kInput.size()).starts_with("tensor, tensor") &&
         call.find(", true, ") != std::string_view::npos;
}

}  // namespace

/// Without decompositions a batch norm copies its running statistics and gives the copies anew.
/// Source: torch's _native_batch_norm_legit_functional.
void Capture::note_statistics(Scope& scope, const std::vector<const Tensor*>& reads) const {
  if (decomposes_ || in_backward_ || scope.name != "native_batch_norm") return;
  if (!writes_statistics(scope.call) || reads.size() < 3) return;
  scope.given_anew = {*reads[reads.size() - 2], *reads.back()};
}

/// The copies come before all else.
void Capture::ask_for_statistics(const Scope& scope, GraphNode& node) {
  std::vector<graph::Effect> asks;
  for (const Tensor& tensor : scope.given_anew) {
    graph::Effect ask;
    ask.device = tensor.device();
    ask.storage = static_cast<graph::StorageId>(storages_.size());
    ask.bytes = tensor.bytes();
    storages_.push_back({ask.bytes, kNoNode, false});
    graph.roles.push_back(ops::Role::kTemporary);
    asks.push_back(ask);
  }
  node.effects.insert(node.effects.begin(), asks.begin(), asks.end());
}

void Capture::give_statistics(const Scope& scope, NodeId whole) {
  for (std::size_t i = 0; i < scope.given_anew.size(); ++i) {
    const Tensor& tensor = scope.given_anew[i];
    GraphNode part;
    part.name = "getitem";
    part.kind = NodeKind::kPart;
    part.inputs = {whole};
    describe(part, tensor);
    part.storage = graph.nodes[whole].effects[i].storage;
    const graph::StorageId storage = part.storage;
    const NodeId id = add_node(std::move(part));
    storages_[storage].maker = id;
    note_written(tensor, id);
  }
}

bool Capture::is_part_of(const GraphNode& whole, const Tensor& part) {
  return steps_to(whole, part).has_value();
}

/// The node of the memory that a tensor looks into, as it is now.
NodeId Capture::whole_of(const Tensor& part) {
  const auto written = written_.find(memory_of(part));
  if (written != written_.end()) return written->second;
  if (is_made_here(part)) {
    const NodeId maker = storages_[storage_of(part)].maker;
    if (maker != kNoNode && graph.nodes[maker].dtype != ops::ScalarType::kUInt8) return maker;
    return node_of(part);
  }
  const auto known = input_storages_.find(part->storage.get());
  return known != input_storages_.end() ? known->second : node_of(part);
}

/// The whole with other numbers in one part of it. Source: torch's functionalization, which undoes
/// view by view.
NodeId Capture::put_into(NodeId whole, const Tensor& part, NodeId values) {
  const std::vector<PartStep> steps = *steps_to(graph.nodes[whole], part);
  std::vector<NodeId> chain{whole};
  for (const PartStep& step : steps) {
    GraphNode look;
    look.name = step.is_select ? "select" : "slice";
    look.kind = NodeKind::kView;
    look.inputs = {chain.back()};
    look.storage = graph.nodes[whole].storage;
    look.sizes = step.sizes;
    look.strides = step.strides;
    look.offset = step.offset;
    look.dtype = graph.nodes[whole].dtype;
    look.device = graph.nodes[whole].device;
    const bool is_last = &step == &steps.back();
    chain.push_back(is_last ? kNoNode : add_node(std::move(look)));
  }
  for (std::size_t i = steps.size(); i-- > 0;) {
    GraphNode put;
    put.name = steps[i].is_select ? "select_scatter" : "slice_scatter";
    put.kind = NodeKind::kPointwise;
    put.inputs = {chain[i], values};
    // The dimension, where the part begins, and its stride along the dimension.
    const std::size_t dim = steps[i].dim;
    const std::int64_t stride =
        steps[i].is_select ? 0 : static_cast<std::int64_t>(steps[i].strides[dim]);
    put.dims = {static_cast<std::int64_t>(dim), steps[i].offset, stride};
    put.sizes = graph.nodes[chain[i]].sizes;
    put.dtype = graph.nodes[whole].dtype;
    values = add_scattered(std::move(put), chain[i]);
  }
  return values;
}

/// What is made of a tensor lies as it does.
NodeId Capture::add_scattered(GraphNode node, NodeId like) {
  node.sizes = graph.nodes[like].sizes;
  node.strides = graph.nodes[like].strides;
  node.offset = 0;
  node.device = graph.nodes[like].device;
  graph::Effect ask;
  ask.device = node.device;
  ask.storage = node.storage = static_cast<graph::StorageId>(storages_.size());
  ask.bytes = graph::bytes_of(node);
  storages_.push_back({ask.bytes, kNoNode, false});
  graph.roles.push_back(ops::Role::kTemporary);
  node.effects.push_back(ask);
  const NodeId id = add_node(std::move(node));
  storages_.back().maker = id;
  return id;
}

/// What an operator reads of an input that is still under way is the wait for it; gradients read
/// the input. Views do not wait. Source: torch's AsyncCollectiveTensor, trigger_wait.
std::vector<NodeId> Capture::waited_for(std::string_view op, const std::vector<NodeId>& nodes,
                                        const std::vector<const Tensor*>& tensors) {
  static constexpr std::string_view kViews[] = {"view",    "view_as", "t",      "transpose",
                                                "permute", "detach",  "expand", "unsqueeze",
                                                "squeeze", "slice",   "select", "split"};
  const bool is_view = std::find(std::begin(kViews), std::end(kViews), op) != std::end(kViews);
  if (is_view || in_backward_ || session_.unwaited.empty()) return nodes;
  std::vector<NodeId> read;
  for (const Tensor* tensor : tensors) {
    if (!tensor->defined() || !tensor->is_cuda()) continue;
    const NodeId id = nodes[read.size()];
    read.push_back(id);
    const auto is_sent = [&](const auto& sent) {
      return sent.result == (*tensor)->storage->request();
    };
    if (is_made_here(*tensor) ||
        std::none_of(session_.unwaited.begin(), session_.unwaited.end(), is_sent))
      continue;
    const auto [wait, is_new] = waits_.try_emplace(id, static_cast<NodeId>(graph.nodes.size()));
    read.back() = wait->second;
    if (!is_new) continue;
    GraphNode node = graph.nodes[id];
    node.name = "wait_tensor";
    node.kind = NodeKind::kView;
    node.is_parameter = false;
    node.settings = 1;
    node.inputs = {id};
    node.effects.clear();
    add_node(std::move(node));
  }
  return read;
}

void Capture::puts(const Tensor& part, const Tensor& values) {
  const NodeId whole = whole_of(part);
  if (!is_part_of(graph.nodes[whole], part)) refuse("a gradient of a view that is written into");
  const NodeId put = put_into(whole, part, node_of(values));
  written_[memory_of(part)] = put;
}

}  // namespace tidemark::torch
