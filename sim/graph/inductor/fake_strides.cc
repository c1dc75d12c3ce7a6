#include "sim/graph/inductor/fake_strides.h"

#include <algorithm>
#include <utility>

#include "sim/graph/inductor/graph_builder.h"
#include "sim/graph/inductor/index.h"
#include "sim/graph/inductor/loops.h"
#include "sim/ops/tensor.h"

namespace tidemark::graph::inductor {

using ops::Dims;
using ops::MemoryFormat;

namespace {

ops::Tensor tensor_of(const Dims& sizes, const Dims& strides) {
  Ref<ops::TensorImpl> impl = make_ref<ops::TensorImpl>();
  impl->sizes = sizes;
  impl->strides = strides;
  return ops::Tensor(std::move(impl));
}

}  // namespace

bool suggests_channels_last(const Dims& sizes, const Dims& strides) {
  return sizes.size() == 4 &&
         tensor_of(sizes, strides).suggest_memory_format() == MemoryFormat::kChannelsLast;
}

namespace {

/// A view of what has other strides now; a copy without gaps where there are none for it.
Dims view_strides(const GraphNode& view, const GraphNode& base, const Dims& base_strides) {
  const Indices at = counters_of(view.sizes, {});
  const Index place = flat(at, view.sizes, view.strides, view.offset - base.offset);
  const Index index = flat(unflat(place, base.sizes, base.strides), base.sizes, base_strides, 0);
  const bool is_strided =
      index.mark == 0 && std::all_of(index.digits.begin(), index.digits.end(), [&](const Digit& d) {
        return d.divisor == 1 && d.extent == view.sizes[static_cast<std::size_t>(d.loop)];
      });
  if (!is_strided) return dense_strides(view.sizes);
  Dims strides = view.strides;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (view.sizes[i] != 1 && strides[i] != 0) strides[i] = stride_of(index, static_cast<int>(i));
  }
  return strides;
}

class Propagation {
 public:
  explicit Propagation(const PassGraph& pass) : pass_(pass), nodes_(pass.graph.nodes) {
    for (const GraphNode& node : nodes_) strides_.push_back(node.strides);
    has_changed_.assign(nodes_.size(), false);
  }

  std::vector<Dims> run() {
    for (std::size_t i = 0; i < pass_.input_strides.size(); ++i)
      set(pass_.inputs[i], pass_.input_strides[i]);
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      const std::vector<NodeId>& inputs = nodes_[id].inputs;
      const bool is_behind = std::any_of(inputs.begin(), inputs.end(),
                                         [this](NodeId input) { return has_changed_[input]; });
      if (is_behind) visit(id);
    }
    return std::move(strides_);
  }

 private:
  void set(NodeId id, const Dims& strides) {
    has_changed_[id] = has_changed_[id] || !(strides_[id] == strides);
    strides_[id] = strides;
  }

  void visit(NodeId id) {
    const GraphNode& node = nodes_[id];
    switch (node.kind) {
      case NodeKind::kView:
        set(id, view_strides(node, nodes_[node.inputs[0]], strides_[node.inputs[0]]));
        return;
      case NodeKind::kPointwise:
      case NodeKind::kCast:
        set(id, of_operands(node));
        return;
      case NodeKind::kCopy:
        // As it was asked for, unless it was asked for as it is.
        if (node.strides == nodes_[node.inputs[0]].strides) set(id, of_operands(node));
        return;
      case NodeKind::kCat:
        if (all_suggest_channels_last(node)) set(id, channels_last(node.sizes));
        return;
      case NodeKind::kPart:
        part(id);
        return;
      case NodeKind::kOpaque:
        opaque(id);
        return;
      default:
        return;
    }
  }

  [[nodiscard]] Dims of_operands(const GraphNode& node) const {
    NodeGraph operands;
    std::vector<NodeId> ids;
    for (const NodeId input : node.inputs) {
      ids.push_back(static_cast<NodeId>(operands.nodes.size()));
      GraphNode& operand = operands.nodes.emplace_back();
      operand.sizes = nodes_[input].sizes;
      operand.strides = strides_[input];
      operand.dtype = nodes_[input].dtype;
    }
    return pointwise_strides(operands, ids, node.sizes);
  }

  [[nodiscard]] bool all_suggest_channels_last(const GraphNode& node) const {
    return std::all_of(node.inputs.begin(), node.inputs.end(), [this](NodeId input) {
      return suggests_channels_last(nodes_[input].sizes, strides_[input]);
    });
  }

  [[nodiscard]] bool convolves_last(const GraphNode& node, std::size_t x) const {
    const NodeId input = node.inputs[x];
    const NodeId weight = node.inputs[x + 1];
    return convolves_channels_last(nodes_[input], strides_[input], nodes_[weight],
                                   strides_[weight]);
  }

  void part(NodeId id) {
    const GraphNode& node = nodes_[id];
    const GraphNode& whole = nodes_[node.inputs[0]];
    if (whole.name.ends_with("convolution_backward") && node.sizes.size() == 4) {
      set(id, convolved_strides(node.sizes, convolves_last(whole, 1)));
    } else if (whole.has_parts && whole.effects.empty() && whole.kind == NodeKind::kView) {
      set(id, view_strides(node, nodes_[whole.inputs[0]], strides_[whole.inputs[0]]));
    }
  }

  void opaque(NodeId id) {
    const GraphNode& node = nodes_[id];
    has_changed_[id] = has_changed_[id] || node.has_parts;
    if (node.sizes.size() != 4) return;
    if (node.name.ends_with("convolution")) {
      set(id, convolved_strides(node.sizes, convolves_last(node, 0)));
    } else if (node.name == "max_pool2d_with_indices_backward") {
      const NodeId x = node.inputs[1];
      set(id, suggests_channels_last(nodes_[x].sizes, strides_[x]) ? channels_last(node.sizes)
                                                                   : dense_strides(node.sizes));
    }
  }

  const PassGraph& pass_;
  const std::vector<GraphNode>& nodes_;
  std::vector<Dims> strides_;
  std::vector<bool> has_changed_;  ///< other strides than were traced, or parts behind such
};

}  // namespace

bool convolves_channels_last(const GraphNode& x, const Dims& x_strides, const GraphNode& weight,
                             const Dims& weight_strides) {
  if (x.dtype == ops::ScalarType::kFloat64 || weight.dtype == ops::ScalarType::kFloat64)
    return false;
  return suggests_channels_last(x.sizes, x_strides) ||
         suggests_channels_last(weight.sizes, weight_strides);
}

Dims convolved_strides(const Dims& sizes, bool is_last) {
  return is_last ? channels_last(sizes) : dense_strides(sizes);
}

bool is_dense(const Dims& sizes, const Dims& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) dims.emplace_back(strides[i], sizes[i]);
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

bool lies_as(const Dims& sizes, const Dims& a, const Dims& b) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && a[i] != b[i]) return false;
  }
  return true;
}

Dims dense_in_order(const Dims& sizes, const Dims& strides) {
  std::vector<std::size_t> order;
  for (std::size_t i = sizes.size(); i-- > 0;) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  Dims dense = sizes;
  std::int64_t stride = 1;
  for (const std::size_t dim : order) {
    dense[dim] = stride;
    stride *= std::max<std::int64_t>(sizes[dim], 1);
  }
  return dense;
}

std::vector<Dims> fake_strides(const PassGraph& pass) { return Propagation(pass).run(); }

}  // namespace tidemark::graph::inductor
