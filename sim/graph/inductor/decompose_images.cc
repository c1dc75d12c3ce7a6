// Batch norms, poolings and means as inductor has them. Source: docs/rules/compile.md#1.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/graph/inductor/decomposer.h"
#include "sim/graph/inductor/index.h"

namespace tidemark::graph::inductor {

using ops::Dims;
using ops::ScalarType;

namespace {

/// A window's height and width, then how far it moves down and right, as a pooling's call says.
std::vector<std::int64_t> window_in(std::string_view call) {
  std::vector<std::vector<std::int64_t>> lists;
  std::size_t at = call.find("tensor, ");
  at = at == std::string_view::npos ? call.size() : at + 8;
  int depth = 0;
  lists.emplace_back();
  for (; at < call.size() && lists.size() < 3; ++at) {
    const char c = call[at];
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == ',' && depth == 0) lists.emplace_back();
    if (c < '0' || c > '9') continue;
    const bool goes_on = call[at - 1] >= '0' && call[at - 1] <= '9';
    if (goes_on) {
      lists.back().back() = lists.back().back() * 10 + (c - '0');
    } else {
      lists.back().push_back(c - '0');
    }
  }
  lists.resize(2);
  if (lists[1].empty()) lists[1] = lists[0];
  std::vector<std::int64_t> window;
  for (std::vector<std::int64_t>& list : lists) {
    if (list.empty()) list = {1};
    window.push_back(list.front());
    window.push_back(list.back());
  }
  return window;
}

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

namespace {

/// The call has them right behind the input.
bool has_running_statistics(std::string_view call) {
  const std::size_t input = call.find(", tensor, ");
  return input != std::string_view::npos && call.substr(input + 10).starts_with("tensor");
}

}  // namespace

void Decomposer::batch_norm(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  const std::size_t count = inputs.size();
  const bool is_training = node.call.find(", true, ") != std::string_view::npos;
  // The input, weight and bias if there are any, running statistics if there are any.
  const bool has_weights = count == 5 || (count == 3 && !has_running_statistics(node.call));
  const std::size_t statistics = has_weights ? 3 : 1;
  const bool has_statistics = count == statistics + 2;
  if (count != 1 && count != 3 && count != 5) refuse("batch norm with a weight or a bias alone");
  const ScalarType dtype = out_.nodes[inputs[0]].dtype;
  const ScalarType wide = computed_in(dtype);
  const NodeId x = builder_.convert(inputs[0], wide);
  const std::size_t rank = out_.nodes[x].sizes.size();
  const auto widened = [&](NodeId of) {
    for (std::size_t i = 2; i < rank; ++i) of = builder_.unsqueeze(of, out_.nodes[of].sizes.size());
    return of;
  };
  NodeId result = kNoNode;
  if (is_training) {
    const std::vector<std::int64_t> dims = all_but_channels(out_.nodes[x]);
    const NodeId both = builder_.reduce("var_mean", x, dims, true, wide);
    out_.nodes[both].has_parts = true;
    const Dims sizes = out_.nodes[both].sizes;
    const Dims strides = out_.nodes[both].strides;
    const NodeId var = builder_.part(both, 0, sizes, strides, wide);
    const NodeId mean = builder_.part(both, 1, sizes, strides, wide);
    const NodeId scale = evaluate("a = add v #eps; rsqrt a", {{"v", var}});
    result = evaluate("a = sub x m; mul a r", {{"x", x}, {"m", mean}, {"r", scale}});
    const NodeId mean_row = builder_.squeeze(mean, dims);
    const NodeId scale_row = builder_.squeeze(scale, dims);
    if (has_statistics) {
      const NodeId before = inputs[statistics];
      const NodeId running_mean = evaluate("a = mul m #momentum; b = mul o #rest; add a b",
                                           {{"m", mean_row}, {"o", before}});
      const NodeId var_row = builder_.squeeze(var, dims);
      const NodeId var_before = inputs[statistics + 1];
      const NodeId running_var =
          evaluate("a = mul v #correction; b = mul a #momentum; c = mul o #rest; add b c",
                   {{"v", var_row}, {"o", var_before}});
      statistics_.emplace_back(before, running_mean);
      statistics_.emplace_back(var_before, running_var);
    }
    std::size_t rows = 0;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (in_.nodes[parts[i]].sizes == out_.nodes[mean_row].sizes)
        gives(parts[i], rows++ == 0 ? mean_row : scale_row);
    }
  } else {
    if (!has_statistics) refuse("batch norm without running statistics in evaluation");
    const NodeId mean = builder_.convert(inputs[statistics], wide);
    const NodeId var = builder_.convert(inputs[statistics + 1], wide);
    const NodeId scale =
        evaluate("a = add v #eps; b = sqrt a; c = reciprocal b; mul c #1", {{"v", var}});
    const NodeId mean_wide = widened(mean);
    const NodeId scale_wide = widened(scale);
    result = evaluate("a = sub x m; mul a r", {{"x", x}, {"m", mean_wide}, {"r", scale_wide}});
  }
  if (has_weights) {
    result = builder_.pointwise("mul", {result, widened(inputs[1])});
    result = builder_.pointwise("add", {result, widened(inputs[2])});
  }
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
  // In evaluation there are none of the batch: the running ones count.
  const bool is_training = in_.nodes[id].call.find(", true, ") != std::string_view::npos;
  const bool has_running = has_running_statistics(in_.nodes[id].call);
  const bool has_weight = rows.size() % 2 == 1;
  if (rows.size() < 2 || (!is_training && !has_running))
    refuse("the backward pass of a batch norm");
  const NodeId weight = has_weight ? rows.front() : kNoNode;
  const std::size_t running = has_weight ? 1 : 0;
  const NodeId mean = is_training ? rows[rows.size() - 2] : rows[running];
  const NodeId scale =
      is_training ? rows.back() : evaluate("a = add v #eps; rsqrt a", {{"v", rows[running + 1]}});
  const ScalarType dtype = out_.nodes[inputs[1]].dtype;
  const ScalarType wide = computed_in(dtype);
  const NodeId g = builder_.convert(inputs[0], wide);
  const NodeId x = builder_.convert(inputs[1], wide);
  const std::size_t rank = out_.nodes[x].sizes.size();
  const std::vector<std::int64_t> dims = all_but_channels(out_.nodes[x]);
  const auto widened = [&](NodeId of) {
    of = builder_.unsqueeze(of, 0);
    for (std::size_t i = 2; i < rank; ++i) of = builder_.unsqueeze(of, out_.nodes[of].sizes.size());
    return of;
  };
  const auto sum = [&](NodeId of) { return builder_.reduce("sum", of, dims, false, wide); };
  const NodeId mean_wide = widened(mean);
  const NodeId total = sum(g);
  const NodeId apart = builder_.pointwise("sub", {x, mean_wide});
  const NodeId product = builder_.pointwise("mul", {g, apart});
  const NodeId moment = sum(product);
  const NodeId a = widened(builder_.pointwise("mul", {total}, "#n"));
  const NodeId b =
      widened(evaluate("a = mul m #n; b = mul r r; mul a b", {{"m", moment}, {"r", scale}}));
  const NodeId c = widened(has_weight ? builder_.pointwise("mul", {scale, weight}) : scale);
  const NodeId result =
      is_training ? evaluate("d = sub x m; e = mul d b; f = sub g e; h = sub f a; mul h c",
                             {{"x", x}, {"m", mean_wide}, {"b", b}, {"g", g}, {"a", a}, {"c", c}})
                  : builder_.pointwise("mul", {g, c});
  std::vector<NodeId> results{builder_.convert(result, dtype)};
  if (has_weight) {
    const NodeId of_weight = builder_.pointwise("mul", {moment, scale});
    results.push_back(builder_.convert(of_weight, out_.nodes[weight].dtype));
    results.push_back(builder_.convert(total, out_.nodes[weight].dtype));
  }
  std::size_t at = !parts.empty() && !(in_.nodes[parts[0]].sizes == out_.nodes[x].sizes) ? 1 : 0;
  for (const NodeId part : parts) {
    if (at >= results.size()) refuse("a batch norm");
    gives(part, results[at++]);
  }
  if (parts.empty()) gives(id, results[0]);
}

NodeId Decomposer::reshape(NodeId x, const Dims& sizes) {
  const Dims dense = dense_strides(out_.nodes[x].sizes);
  bool is_dense = true;
  for (std::size_t i = 0; i < dense.size(); ++i)
    is_dense = is_dense && (out_.nodes[x].sizes[i] == 1 || out_.nodes[x].strides[i] == dense[i]);
  if (!is_dense) {
    x = builder_.pointwise("clone", {x});
    out_.nodes[x].kind = NodeKind::kCopy;
    out_.nodes[x].dims = {1};
    out_.nodes[x].strides = dense;
  }
  return builder_.view("view", x, sizes, dense_strides(sizes), out_.nodes[x].offset);
}

void Decomposer::group_norm(NodeId id) {
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  // Without gradients the statistics are nobody's: the call says how many groups there are.
  const std::vector<std::int64_t> numbers = numbers_in(in_.nodes[id].call);
  if (parts.size() < 3 && (!parts.empty() || numbers.empty())) refuse("group norm");
  const ScalarType dtype = out_.nodes[inputs[0]].dtype;
  const ScalarType type = computed_in(dtype);
  const Dims sizes = out_.nodes[inputs[0]].sizes;
  const std::int64_t groups = parts.empty() ? numbers[0] : in_.nodes[parts[1]].sizes[1];
  const std::int64_t inner = product(sizes) / (sizes[0] * sizes[1]);
  const NodeId x =
      reshape(builder_.convert(inputs[0], type), {sizes[0], groups, sizes[1] / groups, inner});
  const NodeId both = builder_.reduce("var_mean", x, {2, 3}, true, type);
  out_.nodes[both].has_parts = true;
  const Dims wide = out_.nodes[both].sizes;
  const Dims strides = out_.nodes[both].strides;
  const NodeId var = builder_.part(both, 0, wide, strides, type);
  const NodeId mean = builder_.part(both, 1, wide, strides, type);
  const NodeId scale = evaluate("a = add v #eps; rsqrt a", {{"v", var}});
  NodeId result = evaluate("a = sub x m; mul a r", {{"x", x}, {"m", mean}, {"r", scale}});
  result = reshape(result, sizes);
  const auto widened = [&](NodeId of) {
    of = builder_.unsqueeze(of, 0);
    for (std::size_t i = 2; i < sizes.size(); ++i)
      of = builder_.unsqueeze(of, out_.nodes[of].sizes.size());
    return of;
  };
  if (inputs.size() > 1) result = builder_.pointwise("mul", {result, widened(inputs[1])});
  if (inputs.size() > 2) result = builder_.pointwise("add", {result, widened(inputs[2])});
  gives(parts.empty() ? id : parts[0], builder_.convert(result, dtype));
  if (parts.empty()) return;
  gives(parts[1], builder_.squeeze(builder_.convert(mean, in_.nodes[parts[1]].dtype), {2, 3}));
  gives(parts[2], builder_.squeeze(builder_.convert(scale, in_.nodes[parts[2]].dtype), {2, 3}));
}

void Decomposer::group_norm_backward(NodeId id) {
  // The gradient, x, the weight if there is one, mean and scale.
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  const std::size_t count = inputs.size();
  if (count < 4) refuse("group norm");
  const bool has_weight = count > 4;
  const NodeId g = inputs[0];
  const NodeId x = inputs[1];
  const NodeId mean = inputs[count - 2];
  const NodeId scale = inputs[count - 1];
  const Dims sizes = out_.nodes[x].sizes;
  const std::int64_t n = sizes[0];
  const std::int64_t channels = sizes[1];
  const std::int64_t groups = out_.nodes[mean].sizes[1];
  const std::int64_t each = channels / groups;
  const std::int64_t inner = product(sizes) / (n * channels);
  const auto sum = [&](NodeId of, std::int64_t dim) {
    return builder_.reduce("sum", of, {dim}, false, out_.nodes[of].dtype);
  };
  const NodeId ds = sum(reshape(builder_.pointwise("mul", {g, x}), {n, channels, inner}), 2);
  const NodeId db = sum(reshape(g, {n, channels, inner}), 2);
  NodeId ds_value = ds;
  NodeId db_value = db;
  if (has_weight) ds_value = builder_.pointwise("mul", {ds, builder_.unsqueeze(inputs[2], 0)});
  ds_value = sum(reshape(ds_value, {n, groups, each}), 2);
  if (has_weight) db_value = builder_.pointwise("mul", {db, builder_.unsqueeze(inputs[2], 0)});
  db_value = sum(reshape(db_value, {n, groups, each}), 2);
  const NodeId tall = builder_.unsqueeze(scale, 2);
  const NodeId factor =
      has_weight ? reshape(inputs[2], {1, groups, each})
                 : builder_.fill("full", {1, groups, each}, out_.nodes[scale].dtype, "#1");
  NodeId c1 = builder_.pointwise("mul", {tall, factor});
  NodeId c2 = evaluate("a = mul b m; s = sub a d; t = mul s r; u = mul t r; v = mul u r; mul v #s",
                       {{"b", db_value}, {"m", mean}, {"d", ds_value}, {"r", scale}});
  NodeId c3 = evaluate("a = neg c; s = mul a m; t = mul b r; u = mul t #s; sub s u",
                       {{"c", c2}, {"m", mean}, {"b", db_value}, {"r", scale}});
  c1 = builder_.unsqueeze(c1, 3);
  c2 = builder_.unsqueeze(builder_.unsqueeze(c2, 2), 3);
  c3 = builder_.unsqueeze(builder_.unsqueeze(c3, 2), 3);
  const NodeId from_g = builder_.pointwise("mul", {reshape(g, {n, groups, each, inner}), c1});
  const NodeId from_x = builder_.pointwise("mul", {reshape(x, {n, groups, each, inner}), c2});
  const NodeId whole = evaluate("a = add p q; add a c", {{"p", from_g}, {"q", from_x}, {"c", c3}});
  std::vector<NodeId> results{builder_.convert(reshape(whole, sizes), out_.nodes[x].dtype)};
  const ScalarType of_weight = has_weight ? out_.nodes[inputs[2]].dtype : out_.nodes[x].dtype;
  if (has_weight) {
    const NodeId seen = builder_.unsqueeze(mean, 2);
    const NodeId apart =
        evaluate("a = mul b m; s = sub d a; mul s r", {{"b", reshape(db, {n, groups, each})},
                                                       {"m", seen},
                                                       {"d", reshape(ds, {n, groups, each})},
                                                       {"r", builder_.unsqueeze(scale, 2)}});
    results.push_back(builder_.convert(reshape(sum(apart, 0), {channels}), of_weight));
    results.push_back(builder_.convert(sum(db, 0), of_weight));
  }
  std::size_t at = !parts.empty() && !(in_.nodes[parts[0]].sizes == sizes) ? 1 : 0;
  for (const NodeId part : parts) {
    if (at >= results.size()) refuse("group norm");
    gives(part, results[at++]);
  }
  if (parts.empty()) gives(id, results[0]);
}

/// The gradient of the bias is a sum of its own.
void Decomposer::convolution_backward(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  if (!node.has_parts) {
    keep_single_part(id);
    return;
  }
  NodeId bias = kNoNode;
  for (const NodeId part : parts_of(id)) {
    if (in_.nodes[part].sizes.size() == 1) bias = part;
  }
  NodeId sum = kNoNode;
  if (bias != kNoNode) {
    const NodeId g = inputs_of(id).front();
    // Below autocast, which widens other sums.
    sum = builder_.reduce("sum", g, all_but_channels(out_.nodes[g]), false, in_.nodes[bias].dtype);
  }
  keep(id);
  if (bias == kNoNode) return;
  // It asks for no memory of the kernel's own any more, nor for what comes with it.
  std::vector<Effect>& effects = out_.nodes[at_[id]].effects;
  const auto asked = std::find_if(effects.begin(), effects.end(), [&](const Effect& effect) {
    return effect.kind == Effect::Kind::kAllocate && effect.storage == in_.nodes[bias].storage;
  });
  std::vector<StorageId> gone;
  for (auto effect = asked; effect != effects.end(); ++effect) {
    if (effect->kind == Effect::Kind::kAllocate) gone.push_back(effect->storage);
  }
  std::erase_if(effects, [&](const Effect& effect) {
    const bool is_memory =
        effect.kind == Effect::Kind::kAllocate || effect.kind == Effect::Kind::kFree;
    return is_memory && std::find(gone.begin(), gone.end(), effect.storage) != gone.end();
  });
  gives(bias, sum);
}

/// A pooling to sizes that divide the image's, unless its windows are large. Source: torch's
/// should_fallback_max_pool_with_indices.
bool Decomposer::adaptive_max_pool(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const std::vector<NodeId> parts = parts_of(id);
  const Dims& from = out_.nodes[inputs_of(id).front()].sizes;
  const Dims& to = parts.empty() ? node.sizes : in_.nodes[parts[0]].sizes;
  std::vector<std::int64_t> window;
  for (std::size_t i = from.size() - 2; i < from.size(); ++i) {
    if (to[i] == 0 || from[i] % to[i] != 0) return false;
    window.push_back(from[i] / to[i]);
  }
  constexpr std::int64_t kLargest = 25;
  if (window[0] * window[1] > kLargest) return false;
  max_pool(id, {window[0], window[1], window[0], window[1]});
  return true;
}

void Decomposer::max_pool(NodeId id, std::vector<std::int64_t> window) {
  const GraphNode& node = in_.nodes[id];
  const std::vector<NodeId> parts = parts_of(id);
  const NodeId x = inputs_of(id).front();
  GraphNode pool;
  pool.name = "_low_memory_max_pool_with_offsets";
  pool.kind = NodeKind::kOpaque;
  pool.has_parts = true;
  pool.inputs = {x};
  pool.device = out_.nodes[x].device;
  pool.dims = window.empty() ? window_in(node.call) : std::move(window);
  const GraphNode& shape = parts.empty() ? node : in_.nodes[parts[0]];
  const Dims sizes = shape.sizes;
  const Dims strides = shape.strides;
  const ScalarType dtype = shape.dtype;
  const NodeId whole = builder_.add(std::move(pool));
  const NodeId result = builder_.part(whole, 0, sizes, strides, dtype);
  const NodeId offsets = builder_.part(whole, 1, sizes, strides, ScalarType::kInt8);
  const NodeId indices = builder_.pointwise("_low_memory_max_pool_offsets_to_indices", {offsets});
  out_.nodes[indices].dtype = ScalarType::kInt64;
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
  made.dims = window_in(node.call);
  made.storage = builder_.new_storage();
  gives(id, builder_.add(std::move(made)));
}

/// The gradient of as_strided: zeros for what it looked into, with what comes in written there.
/// False: not one that is modelled. Source: torch's as_strided_backward.
/// By dimension: which place of the input is read where. Source: torch's
/// _compute_upsample_nearest_indices.
std::vector<NodeId> Decomposer::nearest_places(const Dims& from, const Dims& to) {
  std::vector<NodeId>& places =
      nearest_places_[{{from.begin(), from.end()}, {to.begin(), to.end()}}];
  if (!places.empty()) return places;
  for (std::size_t dim = 2; dim < to.size(); ++dim) {
    const NodeId count = builder_.fill("iota", {to[dim]}, ScalarType::kInt64, "#count");
    const NodeId number =
        builder_.convert(evaluate("a = mul n #1; add a #0", {{"n", count}}), ScalarType::kFloat32);
    const std::string scale =
        fmt::format("#{}", static_cast<double>(from[dim]) / static_cast<double>(to[dim]));
    const NodeId shifted = builder_.pointwise("add", {number}, "#0.0");
    NodeId place =
        builder_.convert(builder_.pointwise("mul", {shifted}, scale), ScalarType::kInt64);
    for (std::size_t behind = dim + 1; behind < to.size(); ++behind)
      place = builder_.unsqueeze(place, out_.nodes[place].sizes.size());
    places.push_back(place);
  }
  return places;
}

bool Decomposer::nearest(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const bool is_forward = node.name.starts_with("upsample_nearest") && !node.has_parts &&
                          node.name.find("exact") == std::string_view::npos;
  if (!is_forward) return false;
  const NodeId x = inputs_of(id).front();
  if (node.name.ends_with("_backward")) {
    adds_where(id, 0, nearest_places(node.sizes, out_.nodes[x].sizes));
    return true;
  }
  std::vector<NodeId> reads{x};
  const std::vector<NodeId> places = nearest_places(out_.nodes[x].sizes, node.sizes);
  reads.insert(reads.end(), places.begin(), places.end());
  const NodeId made = builder_.opaque("_unsafe_index", std::move(reads), node.sizes, node.dtype);
  out_.nodes[made].dims = {1, 0};
  gives(id, made);
  return true;
}

/// Between which places of the input each number lies, and how near. Source: torch's
/// _upsample_linear.
Decomposer::Between& Decomposer::between(const Dims& from, const Dims& to, ScalarType dtype) {
  Between& made = between_[{{from.begin(), from.end()}, {to.begin(), to.end()}}];
  if (!made.low.empty()) return made;
  for (std::size_t dim = 2; dim < to.size(); ++dim) {
    const std::string scale =
        fmt::format("#{}", static_cast<double>(from[dim]) / static_cast<double>(to[dim]));
    const std::string last = fmt::format("#{}", from[dim] - 1);
    const NodeId count = builder_.fill("iota", {to[dim]}, ScalarType::kInt64, "#count");
    const NodeId number = builder_.convert(count, dtype);
    const NodeId shifted = builder_.pointwise("add", {number}, "#0.5");
    const NodeId scaled = builder_.pointwise("mul", {shifted}, scale);
    NodeId place = evaluate("a = sub s #0.5; clamp_min a #0.0", {{"s", scaled}});
    Dims sizes{to[dim]};
    for (std::size_t behind = dim + 1; behind < to.size(); ++behind) sizes.push_back(1);
    if (sizes.size() > 1) place = builder_.view("view", place, sizes, dense_strides(sizes), 0);
    const NodeId low = builder_.convert(place, ScalarType::kInt64);
    const NodeId next = builder_.pointwise("add", {low}, "#1");
    made.high.push_back(builder_.pointwise("clamp_max", {next}, last));
    made.low.push_back(low);
    made.place.push_back(place);
  }
  return made;
}

/// How near each number lies to the second place along a dimension.
NodeId Decomposer::nearness(Between& between, std::size_t dim, ScalarType dtype) {
  between.near.resize(between.low.size(), kNoNode);
  if (between.near[dim] != kNoNode) return between.near[dim];
  const NodeId rest = builder_.pointwise("sub", {between.place[dim], between.low[dim]});
  const NodeId bounded = evaluate("a = clamp_min r #0.0; clamp_max a #1.0", {{"r", rest}});
  return between.near[dim] = builder_.convert(bounded, dtype);
}

bool Decomposer::linear(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const bool is_gradient = node.name == "upsample_bilinear2d_backward";
  if ((!is_gradient && node.name != "upsample_bilinear2d") || node.has_parts) return false;
  const NodeId x = inputs_of(id).front();
  const Dims& given = out_.nodes[x].sizes;
  Between& places =
      is_gradient ? between(node.sizes, given, node.dtype) : between(given, node.sizes, node.dtype);
  const auto corner = [&](int number) {
    return std::vector<NodeId>{(number & 2) != 0 ? places.high[0] : places.low[0],
                               (number & 1) != 0 ? places.high[1] : places.low[1]};
  };
  if (is_gradient) {
    const NodeId down = nearness(places, 0, node.dtype);
    const NodeId across = nearness(places, 1, node.dtype);
    // Of what lies between two: the second's part, then the first's.
    const auto apart = [&](NodeId g, NodeId near) {
      const NodeId second = builder_.pointwise("mul", {g, near});
      const NodeId first = evaluate("n = neg m; add g n", {{"m", second}, {"g", g}});
      return std::pair{first, second};
    };
    const auto rows = apart(x, down);
    const auto lower = apart(rows.second, across);
    const auto upper = apart(rows.first, across);
    const NodeId parts[] = {upper.first, upper.second, lower.first, lower.second};
    const ScalarType wide = computed_in(node.dtype);
    NodeId sum = kNoNode;
    for (int number = 3; number >= 0; --number) {
      std::vector<NodeId> reads{builder_.fill("full", node.sizes, wide, "#0")};
      const std::vector<NodeId> at = corner(number);
      reads.insert(reads.end(), at.begin(), at.end());
      reads.push_back(builder_.convert(parts[number], wide));
      const NodeId put = builder_.opaque("index_put", std::move(reads), node.sizes, wide);
      const NodeId made = builder_.convert(put, node.dtype);
      sum = sum == kNoNode ? made : builder_.pointwise("add", {sum, made});
    }
    gives(id, sum);
    return true;
  }
  NodeId values[4] = {};
  for (int number = 0; number < 4; ++number) {
    std::vector<NodeId> reads{x};
    const std::vector<NodeId> at = corner(number);
    reads.insert(reads.end(), at.begin(), at.end());
    values[number] = builder_.opaque("_unsafe_index", std::move(reads), node.sizes, node.dtype);
    out_.nodes[values[number]].dims = {1, 0};
  }
  const auto mixed = [&](NodeId a, NodeId b, NodeId near) {
    return evaluate("d = sub b a; m = mul d n; add a m", {{"a", a}, {"b", b}, {"n", near}});
  };
  const NodeId across = nearness(places, 1, node.dtype);
  const NodeId upper = mixed(values[0], values[1], across);
  const NodeId lower = mixed(values[2], values[3], across);
  gives(id, mixed(upper, lower, nearness(places, 0, node.dtype)));
  return true;
}

bool Decomposer::as_strided_backward(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const NodeId gradient = inputs_of(id).front();
  const GraphNode from = out_.nodes[gradient];
  if (from.sizes != node.sizes || node.has_parts) return false;
  std::vector<std::int64_t> ones;
  for (std::size_t i = 0; i < node.sizes.size(); ++i) {
    if (node.sizes[i] == 1) ones.push_back(static_cast<std::int64_t>(i));
  }
  const Dims whole{product(node.sizes)};
  const NodeId zeros = builder_.fill("full", whole, node.dtype, "#0");
  const NodeId squeezed = ones.empty() ? gradient : builder_.squeeze(gradient, ones);
  const NodeId written = builder_.opaque("as_strided_scatter", {zeros, squeezed},
                                         out_.nodes[squeezed].sizes, node.dtype);
  at_[id] = builder_.view("as_strided", written, node.sizes, dense_strides(node.sizes), 0);
  return true;
}

}  // namespace tidemark::graph::inductor
