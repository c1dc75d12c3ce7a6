// Operators that inductor makes loops and reductions of. Source: docs/rules/compile.md#1.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/inductor/decomposer.h"
#include "sim/graph/inductor/index.h"

namespace tidemark::graph::inductor {

using ops::Dims;
using ops::ScalarType;

bool Decomposer::composite(NodeId id) {
  const std::string_view name = in_.nodes[id].name;
  if (name == "native_layer_norm") {
    layer_norm(id);
  } else if (name == "native_layer_norm_backward") {
    layer_norm_backward(id);
  } else if (name == "native_dropout") {
    dropout(id);
  } else if (name == "embedding") {
    embedding(id);
  } else if (name == "embedding_backward") {
    embedding_backward(id);
  } else if (name == "_softmax" || name == "softmax") {
    softmax(id, false);
  } else if (name == "_log_softmax" || name == "log_softmax") {
    softmax(id, true);
  } else if (name == "softmax_backward") {
    softmax_backward(id, false);
  } else if (name == "log_softmax_backward") {
    softmax_backward(id, true);
  } else if (name == "nll_loss_forward" || name == "nll_loss") {
    nll_loss(id);
  } else if (name == "nll_loss_backward") {
    nll_loss_backward(id);
  } else if (name == "select_backward" || name == "slice_backward") {
    part_backward(id);
  } else if (name == "mean_backward") {
    mean_backward(id);
  } else if (name.ends_with("batch_norm")) {
    batch_norm(id);
  } else if (name.ends_with("batch_norm_backward")) {
    batch_norm_backward(id);
  } else if (name.ends_with("group_norm")) {
    group_norm(id);
  } else if (name.ends_with("group_norm_backward")) {
    group_norm_backward(id);
  } else if (name.ends_with("convolution_backward")) {
    convolution_backward(id);
  } else if (name == "max_pool2d_with_indices" || name == "max_pool2d") {
    max_pool(id);
  } else if (name.starts_with("max_pool") && name.ends_with("backward")) {
    max_pool_backward(id);
  } else {
    return false;
  }
  return true;
}

void Decomposer::layer_norm(NodeId id) {
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  if (parts.size() < 3) refuse("native_layer_norm");
  const GraphNode& mean_shape = in_.nodes[parts[1]];
  const ScalarType dtype = out_.nodes[inputs[0]].dtype;
  const NodeId x = builder_.convert(inputs[0], ScalarType::kFloat32);
  bool keeps_dims = false;
  const std::vector<std::int64_t> dims = reduced_dims(out_.nodes[x], mean_shape, keeps_dims);
  const NodeId both = builder_.reduce("var_mean", x, dims, true, ScalarType::kFloat32);
  out_.nodes[both].has_parts = true;
  const Dims sizes = out_.nodes[both].sizes;
  const Dims strides = out_.nodes[both].strides;
  const NodeId var = builder_.part(both, 0, sizes, strides, ScalarType::kFloat32);
  const NodeId mean = builder_.part(both, 1, sizes, strides, ScalarType::kFloat32);
  NodeId result = evaluate("a = add v #eps; rsqrt a", {{"v", var}});
  const NodeId scale = result;
  result = evaluate("a = sub x m; mul a r", {{"x", x}, {"m", mean}, {"r", scale}});
  if (inputs.size() > 1) result = builder_.pointwise("mul", {result, inputs[1]});
  if (inputs.size() > 2) result = builder_.pointwise("add", {result, inputs[2]});
  result = builder_.convert(result, dtype);
  gives(parts[0], result);
  gives(parts[1], mean);
  gives(parts[2], scale);
}

void Decomposer::layer_norm_backward(NodeId id) {
  // The gradient, x, weight and bias where there are any, mean and scale.
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  const std::size_t count = inputs.size();
  if (count < 4) refuse("native_layer_norm_backward");
  const ScalarType dtype = out_.nodes[inputs[1]].dtype;
  const NodeId g = builder_.convert(inputs[0], ScalarType::kFloat32);
  const NodeId x = builder_.convert(inputs[1], ScalarType::kFloat32);
  const NodeId mean = inputs[count - 2];
  const NodeId scale = inputs[count - 1];
  bool keeps_dims = false;
  const std::vector<std::int64_t> inner = reduced_dims(out_.nodes[x], out_.nodes[mean], keeps_dims);
  std::vector<std::int64_t> outer;
  for (std::size_t i = 0; i < out_.nodes[x].sizes.size(); ++i) {
    if (std::find(inner.begin(), inner.end(), static_cast<std::int64_t>(i)) == inner.end())
      outer.push_back(static_cast<std::int64_t>(i));
  }
  const NodeId hat = evaluate("a = sub x m; mul a r", {{"x", x}, {"m", mean}, {"r", scale}});
  const bool has_weight = count > 4;
  const NodeId gw = has_weight ? builder_.pointwise("mul", {g, inputs[2]}) : g;
  const auto sum = [&](NodeId of, const std::vector<std::int64_t>& dims, bool keeps) {
    return builder_.reduce("sum", of, dims, keeps, ScalarType::kFloat32);
  };
  const NodeId a = builder_.pointwise("mul", {gw}, "#n");
  const NodeId b = sum(gw, inner, true);
  const NodeId c1 = builder_.pointwise("mul", {gw, hat});
  const NodeId c2 = sum(c1, inner, true);
  const NodeId c3 = builder_.pointwise("mul", {hat, c2});
  NodeId result = evaluate("s = sub a b; t = sub s c; d = div r #n; mul d t",
                           {{"a", a}, {"b", b}, {"c", c3}, {"r", scale}});
  std::vector<NodeId> results{builder_.convert(result, dtype)};
  if (has_weight) {
    const ScalarType of_weight = out_.nodes[inputs[2]].dtype;
    result = builder_.pointwise("mul", {g, hat});
    if (!outer.empty()) result = sum(result, outer, false);
    results.push_back(builder_.convert(result, of_weight));
    if (count > 5) results.push_back(builder_.convert(sum(g, outer, false), of_weight));
  }
  // Results that nobody wants are left out: those that are there tell themselves apart by sizes.
  std::size_t at = !parts.empty() && !(in_.nodes[parts[0]].sizes == out_.nodes[x].sizes) ? 1 : 0;
  for (const NodeId part : parts) {
    if (at >= results.size()) refuse("native_layer_norm_backward");
    gives(part, results[at++]);
  }
  if (parts.empty()) gives(id, results[0]);
}

namespace {

/// The dimension that a softmax goes along, from the call's text.
std::size_t softmax_dim(const std::vector<std::int64_t>& numbers, std::size_t rank) {
  const std::int64_t dim = numbers.empty() ? -1 : numbers.front();
  return static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim);
}

}  // namespace

void Decomposer::softmax(NodeId id, bool is_log) {
  const GraphNode& node = in_.nodes[id];
  const NodeId x = builder_.convert(inputs_of(id).front(), ScalarType::kFloat32);
  const std::size_t rank = out_.nodes[x].sizes.size();
  const std::vector<std::int64_t> dims{
      static_cast<std::int64_t>(softmax_dim(numbers_in(node.call), rank))};
  const NodeId most = builder_.reduce("amax", x, dims, true, ScalarType::kFloat32);
  const NodeId shifted = builder_.pointwise("sub", {x, most});
  const NodeId powers = builder_.pointwise("exp", {shifted});
  const NodeId total = builder_.reduce("sum", powers, dims, true, ScalarType::kFloat32);
  const NodeId result = is_log ? evaluate("l = log t; sub s l", {{"t", total}, {"s", shifted}})
                               : builder_.pointwise("div", {powers, total});
  gives(id, builder_.convert(result, node.dtype));
}

void Decomposer::softmax_backward(NodeId id, bool is_log) {
  const GraphNode& node = in_.nodes[id];
  const std::vector<NodeId> inputs = inputs_of(id);
  const NodeId g = builder_.convert(inputs[0], ScalarType::kFloat32);
  const NodeId y = builder_.convert(inputs[1], ScalarType::kFloat32);
  const std::size_t rank = out_.nodes[y].sizes.size();
  const std::vector<std::int64_t> dims{
      static_cast<std::int64_t>(softmax_dim(numbers_in(node.call), rank))};
  NodeId result = kNoNode;
  if (is_log) {
    const NodeId powers = builder_.pointwise("exp", {y});
    const NodeId total = builder_.reduce("sum", g, dims, true, ScalarType::kFloat32);
    result = evaluate("a = mul p t; sub g a", {{"p", powers}, {"t", total}, {"g", g}});
  } else {
    const NodeId scaled = builder_.pointwise("mul", {g, y});
    const NodeId total = builder_.reduce("sum", scaled, dims, true, ScalarType::kFloat32);
    result = evaluate("n = neg y; fma n t s", {{"y", y}, {"t", total}, {"s", scaled}});
  }
  gives(id, builder_.convert(result, node.dtype));
}

/// The gradient of a part: zeros with the part's in its place.
void Decomposer::part_backward(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const NodeId g = inputs_of(id).front();
  const Dims sizes = out_.nodes[g].sizes;
  std::size_t dim = 0;
  while (dim < sizes.size() && sizes[dim] == node.sizes[dim]) ++dim;
  const NodeId zeros = builder_.fill("full", node.sizes, node.dtype, "#0");
  const bool is_select = sizes.size() != node.sizes.size();
  const NodeId made = builder_.opaque(is_select ? "select_scatter" : "slice_scatter", {zeros, g},
                                      node.sizes, node.dtype);
  out_.nodes[made].dims = {static_cast<std::int64_t>(dim)};
  gives(id, made);
}

void Decomposer::nll_loss(NodeId id) {
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  if (inputs.size() != 2 || parts.size() != 2 || out_.nodes[inputs[0]].sizes.size() != 2)
    refuse("nll_loss with weights or more than two dimensions");
  const NodeId x = inputs[0];
  const NodeId target = inputs[1];
  if (!in_.nodes[parts[0]].sizes.empty()) refuse("nll_loss without a reduction");
  const NodeId is_counted = builder_.pointwise("ne", {target}, "#ignored");
  const NodeId zero = builder_.fill("full", {}, out_.nodes[target].dtype, "#0");
  const NodeId safe = builder_.pointwise("where", {is_counted, target, zero});
  const NodeId column = builder_.unsqueeze(safe, 1);
  const NodeId gathered =
      builder_.opaque("gather", {x, column}, out_.nodes[column].sizes, out_.nodes[x].dtype);
  const NodeId row = builder_.squeeze(gathered, {1});
  const NodeId losses = builder_.pointwise("neg", {row});
  const NodeId nothing = builder_.fill("full", {}, out_.nodes[x].dtype, "#0.0");
  const NodeId counted = builder_.pointwise("where", {is_counted, losses, nothing});
  const NodeId number = builder_.reduce("sum", is_counted, {0}, false, ScalarType::kInt64);
  const NodeId weight = builder_.convert(number, out_.nodes[x].dtype);
  const NodeId total = builder_.reduce("sum", counted, {0}, false, out_.nodes[x].dtype);
  gives(parts[0], builder_.pointwise("div", {total, weight}));
  gives(parts[1], weight);
}

void Decomposer::nll_loss_backward(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  // The gradient, x, targets, the total weight.
  const std::vector<NodeId> inputs = inputs_of(id);
  if (inputs.size() != 4) refuse("nll_loss with weights");
  const NodeId g = builder_.pointwise("div", {inputs[0], inputs[3]});
  const NodeId column = builder_.unsqueeze(inputs[2], 1);
  const NodeId is_counted = builder_.pointwise("ne", {column}, "#ignored");
  const NodeId zero = builder_.fill("full", {}, out_.nodes[column].dtype, "#0");
  const NodeId safe = builder_.pointwise("where", {is_counted, column, zero});
  const NodeId numbers = builder_.fill("iota", {node.sizes[1]}, out_.nodes[column].dtype, "#iota");
  const NodeId row = builder_.view("view", numbers, {1, node.sizes[1]}, {node.sizes[1], 1}, 0);
  const NodeId wide = builder_.expand(safe, node.sizes);
  const NodeId is_it = builder_.pointwise("eq", {wide, row});
  const NodeId one = builder_.fill("full", {}, node.dtype, "#-1.0");
  const NodeId none = builder_.fill("full", {}, node.dtype, "#0.0");
  const NodeId chosen = builder_.pointwise("where", {is_it, one, none});
  const NodeId scale = builder_.pointwise("where", {is_counted, g, none});
  gives(id, builder_.pointwise("mul", {chosen, scale}));
}

void Decomposer::embedding(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const NodeId made = builder_.opaque("embedding", inputs_of(id), node.sizes, node.dtype);
  out_.nodes[made].settings = node.settings;
  gives(id, made);
}

void Decomposer::embedding_backward(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  // The gradient and the indices: zeros that are added to.
  const std::vector<NodeId> inputs = inputs_of(id);
  const bool is_narrow = ops::element_bytes(node.dtype) < 4;
  const ScalarType dtype = is_narrow ? ScalarType::kFloat32 : node.dtype;
  const NodeId g = builder_.convert(inputs[0], dtype);
  const NodeId is_padding = builder_.pointwise("eq", {inputs[1]}, "#padding");
  const NodeId wide = builder_.unsqueeze(is_padding, out_.nodes[is_padding].sizes.size());
  const NodeId nothing = builder_.fill("scalar_tensor", {}, dtype, "#0");
  const NodeId kept = builder_.pointwise("where", {wide, nothing, g});
  const NodeId zeros = builder_.fill("full", node.sizes, dtype, "#0");
  const NodeId made = builder_.opaque("index_put", {zeros, inputs[1], kept}, node.sizes, dtype);
  gives(id, builder_.convert(made, node.dtype));
}

}  // namespace tidemark::graph::inductor
