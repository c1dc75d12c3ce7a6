// Batch norms, poolings and means as inductor has them. Source: docs/rules/compile.md#1.

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/graph/inductor/decomposer.h"
#include "sim/graph/inductor/index.h"

namespace tidemark::graph::inductor {

using ops::Dims;
using ops::ScalarType;

namespace {

std::vector<std::int64_t> all_but_channels(const GraphNode& node) {
  std::vector<std::int64_t> dims{0};
  for (std::size_t i = 2; i < node.sizes.size(); ++i) dims.push_back(static_cast<std::int64_t>(i));
  return dims;
}

}  // namespace

void Decomposer::mean_backward(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  NodeId g = inputs_of(id).front();
  GraphNode small = out_.nodes[g];
  small.call = node.call;
  bool keeps_dims = false;
  const std::vector<std::int64_t> dims = reduced_dims(node, small, keeps_dims);
  if (!keeps_dims) {
    for (const std::int64_t dim : dims) g = builder_.unsqueeze(g, static_cast<std::size_t>(dim));
  }
  const NodeId wide = builder_.expand(g, node.sizes);
  gives(id, builder_.pointwise("div", {wide}, "#n"));
}

void Decomposer::batch_norm(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  const std::size_t count = inputs.size();
  const bool is_training = node.call.find(", true, ") != std::string_view::npos;
  const bool has_statistics = count >= 5;
  if (!has_statistics) refuse("batch norm without weights or running statistics");
  const ScalarType dtype = out_.nodes[inputs[0]].dtype;
  const NodeId x = builder_.convert(inputs[0], ScalarType::kFloat32);
  const std::size_t rank = out_.nodes[x].sizes.size();
  const auto widened = [&](NodeId of) {
    for (std::size_t i = 2; i < rank; ++i) of = builder_.unsqueeze(of, out_.nodes[of].sizes.size());
    return of;
  };
  NodeId result = kNoNode;
  if (is_training) {
    const std::vector<std::int64_t> dims = all_but_channels(out_.nodes[x]);
    const NodeId both = builder_.reduce("var_mean", x, dims, true, ScalarType::kFloat32);
    out_.nodes[both].has_parts = true;
    const Dims sizes = out_.nodes[both].sizes;
    const Dims strides = out_.nodes[both].strides;
    const NodeId var = builder_.part(both, 0, sizes, strides, ScalarType::kFloat32);
    const NodeId mean = builder_.part(both, 1, sizes, strides, ScalarType::kFloat32);
    const NodeId scale = evaluate("a = add v #eps; rsqrt a", {{"v", var}});
    result = evaluate("a = sub x m; mul a r", {{"x", x}, {"m", mean}, {"r", scale}});
    const NodeId mean_row = builder_.squeeze(mean, dims);
    const NodeId scale_row = builder_.squeeze(scale, dims);
    const NodeId running_mean = evaluate("a = mul m #momentum; b = mul o #rest; add a b",
                                         {{"m", mean_row}, {"o", inputs[3]}});
    const NodeId var_row = builder_.squeeze(var, dims);
    const NodeId running_var =
        evaluate("a = mul v #correction; b = mul a #momentum; c = mul o #rest; add b c",
                 {{"v", var_row}, {"o", inputs[4]}});
    statistics_.emplace_back(inputs[3], running_mean);
    statistics_.emplace_back(inputs[4], running_var);
    std::size_t rows = 0;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (in_.nodes[parts[i]].sizes == out_.nodes[mean_row].sizes)
        gives(parts[i], rows++ == 0 ? mean_row : scale_row);
    }
  } else {
    const NodeId mean = builder_.convert(inputs[3], ScalarType::kFloat32);
    const NodeId var = builder_.convert(inputs[4], ScalarType::kFloat32);
    const NodeId scale =
        evaluate("a = add v #eps; b = sqrt a; c = reciprocal b; mul c #1", {{"v", var}});
    const NodeId mean_wide = widened(mean);
    const NodeId scale_wide = widened(scale);
    result = evaluate("a = sub x m; mul a r", {{"x", x}, {"m", mean_wide}, {"r", scale_wide}});
  }
  result = builder_.pointwise("mul", {result, widened(inputs[1])});
  result = builder_.pointwise("add", {result, widened(inputs[2])});
  result = builder_.convert(result, dtype);
  gives(parts.empty() ? id : parts[0], result);
  if (!parts.empty()) at_[id] = result;
}

void Decomposer::batch_norm_backward(NodeId id) {
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  // The gradient, x, the weight, statistics of before, and those of the batch.
  std::vector<NodeId> rows;
  for (std::size_t i = 2; i < inputs.size(); ++i) {
    if (inputs[i] != kNoNode && out_.nodes[inputs[i]].sizes.size() == 1 &&
        out_.nodes[inputs[i]].dtype != ScalarType::kUInt8)
      rows.push_back(inputs[i]);
  }
  if (rows.size() < 3) refuse("the backward pass of a batch norm in evaluation");
  const NodeId weight = rows.front();
  const NodeId mean = rows[rows.size() - 2];
  const NodeId scale = rows.back();
  const ScalarType dtype = out_.nodes[inputs[1]].dtype;
  const NodeId g = builder_.convert(inputs[0], ScalarType::kFloat32);
  const NodeId x = builder_.convert(inputs[1], ScalarType::kFloat32);
  const std::size_t rank = out_.nodes[x].sizes.size();
  const std::vector<std::int64_t> dims = all_but_channels(out_.nodes[x]);
  const auto widened = [&](NodeId of) {
    of = builder_.unsqueeze(of, 0);
    for (std::size_t i = 2; i < rank; ++i) of = builder_.unsqueeze(of, out_.nodes[of].sizes.size());
    return of;
  };
  const auto sum = [&](NodeId of) {
    return builder_.reduce("sum", of, dims, false, ScalarType::kFloat32);
  };
  const NodeId mean_wide = widened(mean);
  const NodeId total = sum(g);
  const NodeId apart = builder_.pointwise("sub", {x, mean_wide});
  const NodeId product = builder_.pointwise("mul", {g, apart});
  const NodeId moment = sum(product);
  const NodeId a = widened(builder_.pointwise("mul", {total}, "#n"));
  const NodeId b =
      widened(evaluate("a = mul m #n; b = mul r r; mul a b", {{"m", moment}, {"r", scale}}));
  const NodeId c = widened(builder_.pointwise("mul", {scale, weight}));
  const NodeId result =
      evaluate("d = sub x m; e = mul d b; f = sub g e; h = sub f a; mul h c",
               {{"x", x}, {"m", mean_wide}, {"b", b}, {"g", g}, {"a", a}, {"c", c}});
  const NodeId of_weight = builder_.pointwise("mul", {moment, scale});
  const std::vector<NodeId> results{builder_.convert(result, dtype),
                                    builder_.convert(of_weight, out_.nodes[weight].dtype),
                                    builder_.convert(total, out_.nodes[weight].dtype)};
  std::size_t at = !parts.empty() && !(in_.nodes[parts[0]].sizes == out_.nodes[x].sizes) ? 1 : 0;
  for (const NodeId part : parts) {
    if (at >= results.size()) refuse("a batch norm");
    gives(part, results[at++]);
  }
  if (parts.empty()) gives(id, results[0]);
}

void Decomposer::max_pool(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const std::vector<NodeId> parts = parts_of(id);
  const NodeId x = inputs_of(id).front();
  GraphNode pool;
  pool.name = "_low_memory_max_pool_with_offsets";
  pool.kind = NodeKind::kOpaque;
  pool.has_parts = true;
  pool.inputs = {x};
  pool.device = out_.nodes[x].device;
  pool.dims = numbers_in(node.call);
  const GraphNode& shape = parts.empty() ? node : in_.nodes[parts[0]];
  const Dims sizes = shape.sizes;
  const Dims strides = shape.strides;
  const ScalarType dtype = shape.dtype;
  const NodeId whole = builder_.add(std::move(pool));
  const NodeId result = builder_.part(whole, 0, sizes, strides, dtype);
  const NodeId offsets = builder_.part(whole, 1, sizes, strides, ScalarType::kInt8);
  const NodeId indices = builder_.pointwise("_low_memory_max_pool_offsets_to_indices", {offsets});
  out_.nodes[indices].dtype = ScalarType::kInt64;
  out_.nodes[indices].numbers = 6;
  gives(parts.empty() ? id : parts[0], result);
  if (parts.size() > 1) gives(parts[1], indices);
}

void Decomposer::max_pool_backward(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const std::vector<NodeId> inputs = inputs_of(id);  // the gradient, x, indices
  GraphNode made;
  made.name = "max_pool2d_with_indices_backward";
  made.kind = NodeKind::kOpaque;
  made.inputs = inputs;
  made.sizes = node.sizes;
  made.strides = node.strides;
  made.dtype = node.dtype;
  made.device = node.device;
  made.dims = numbers_in(node.call);
  made.storage = builder_.new_storage();
  gives(id, builder_.add(std::move(made)));
}

}  // namespace tidemark::graph::inductor
