// Operators that inductor makes loops and reductions of. Source: docs/rules/compile.md#1.

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/graph/inductor/decomposer.h"
#include "sim/graph/inductor/fake_strides.h"
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
  } else if (name == "_fused_rms_norm") {
    rms_norm(id);
  } else if (name == "_fused_rms_norm_backward" || name == "fused_rms_norm_backward") {
    rms_norm_backward(id);
  } else if (name == "clamp" || name == "clamp_backward") {
    return clamp(id);
  } else if (name == "native_dropout") {
    dropout(id);
  } else if (name == "embedding") {
    embedding(id);
  } else if (name == "embedding_backward") {
    embedding_backward(id);
  } else if (name == "_softmax" || name == "softmax" || name == "_safe_softmax") {
    softmax(id, false);
  } else if (name == "_log_softmax" || name == "log_softmax") {
    softmax(id, true);
  } else if (name == "softmax_backward" || name == "safe_softmax_backward") {
    softmax_backward(id, false);
  } else if (name == "log_softmax_backward") {
    softmax_backward(id, true);
  } else if (name == "nll_loss_forward" || name == "nll_loss" || name == "nll_loss2d_forward") {
    nll_loss(id);
  } else if (name == "nll_loss_backward" || name == "nll_loss2d_backward") {
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
    max_pool(id, {});
  } else if (name == "adaptive_max_pool2d") {
    return adaptive_max_pool(id);
  } else if (name.starts_with("max_pool") && name.ends_with("backward")) {
    max_pool_backward(id);
  } else if (name == "as_strided_backward") {
    return as_strided_backward(id);
  } else {
    return false;
  }
  return true;
}

/// Joined along the dimension before which the new one is, and looked at anew; behind the last one
/// each gets a dimension of its own. Source: torch._refs.stack.
void Decomposer::stack(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  GraphNode joined = node;
  joined.name = "cat";
  joined.inputs = inputs_of(id);
  const Dims each = out_.nodes[joined.inputs.front()].sizes;
  const auto count = static_cast<std::int64_t>(joined.inputs.size());
  const auto fits = [&](std::size_t dim) {
    Dims sizes = each;
    sizes.insert(dim, count);
    return sizes == node.sizes;
  };
  // What the call says, else the first dimension that gives the sizes that are there.
  std::size_t dim = 0;
  const std::size_t comma = node.call.rfind(", ");
  if (comma != std::string_view::npos) {
    std::int64_t said = 0;
    const std::string_view word = node.call.substr(comma + 2);
    const auto read = std::from_chars(word.data(), word.data() + word.size(), said);
    if (said < 0) said += static_cast<std::int64_t>(node.sizes.size());
    if (read.ec == std::errc() && said >= 0 && said <= static_cast<std::int64_t>(each.size()))
      dim = static_cast<std::size_t>(said);
  }
  if (!fits(dim)) dim = 0;
  while (dim < each.size() && !fits(dim)) ++dim;
  if (dim == each.size()) {
    for (NodeId& input : joined.inputs) input = builder_.unsqueeze(input, dim);
    gives(id, builder_.add(std::move(joined)));
    return;
  }
  joined.sizes = each;
  joined.sizes[dim] *= count;
  const bool is_last =
      joined.sizes.size() == 4 &&
      lies_as(each, out_.nodes[joined.inputs.front()].strides, channels_last(each));
  joined.strides = is_last ? channels_last(joined.sizes) : dense_strides(joined.sizes);
  const NodeId whole = builder_.add(std::move(joined));
  gives(id, builder_.view("view", whole, node.sizes, node.strides, 0));
}

/// What lies otherwise than in rows is copied. Source: torch._refs.native_layer_norm.
NodeId Decomposer::in_rows(NodeId x) {
  const Dims dense = dense_strides(out_.nodes[x].sizes);
  if (lies_as(out_.nodes[x].sizes, out_.nodes[x].strides, dense)) return x;
  const NodeId copy = builder_.pointwise("clone", {x});
  GraphNode& made = out_.nodes[copy];
  made.kind = NodeKind::kCopy;
  made.strides = dense;
  made.dims = {1};
  made.settings = 1;
  return copy;
}

void Decomposer::layer_norm(NodeId id) {
  std::vector<NodeId> inputs = inputs_of(id);
  inputs[0] = in_rows(inputs[0]);
  const std::vector<NodeId> parts = parts_of(id);
  const ScalarType dtype = out_.nodes[inputs[0]].dtype;
  const ScalarType wide = computed_in(dtype);
  const NodeId x = builder_.convert(inputs[0], wide);
  // Without gradients the statistics are nobody's: the call says what they are of.
  const bool has_statistics = parts.size() >= 3;
  std::vector<std::int64_t> dims;
  if (has_statistics) {
    bool keeps_dims = false;
    dims = reduced_dims(out_.nodes[x], in_.nodes[parts[1]], keeps_dims);
  } else {
    const std::size_t count = numbers_in(in_.nodes[id].call).size();
    const std::size_t rank = out_.nodes[x].sizes.size();
    if (count == 0 || count > rank || !parts.empty()) refuse("native_layer_norm");
    for (std::size_t i = rank - count; i < rank; ++i) dims.push_back(static_cast<std::int64_t>(i));
  }
  const NodeId both = builder_.reduce("var_mean", x, dims, true, wide);
  out_.nodes[both].has_parts = true;
  const Dims sizes = out_.nodes[both].sizes;
  const Dims strides = out_.nodes[both].strides;
  const NodeId var = builder_.part(both, 0, sizes, strides, wide);
  const NodeId mean = builder_.part(both, 1, sizes, strides, wide);
  NodeId result = evaluate("a = add v #eps; rsqrt a", {{"v", var}});
  const NodeId scale = result;
  result = evaluate("a = sub x m; mul a r", {{"x", x}, {"m", mean}, {"r", scale}});
  if (inputs.size() > 1) result = builder_.pointwise("mul", {result, inputs[1]});
  if (inputs.size() > 2) result = builder_.pointwise("add", {result, inputs[2]});
  result = builder_.convert(result, dtype);
  if (!has_statistics) {
    gives(id, result);
    return;
  }
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
  const ScalarType wide = computed_in(dtype);
  const NodeId g = builder_.convert(inputs[0], wide);
  const NodeId x = builder_.convert(inputs[1], wide);
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
    return builder_.reduce("sum", of, dims, keeps, wide);
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

void Decomposer::rms_norm(NodeId id) {
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  const ScalarType dtype = out_.nodes[inputs[0]].dtype;
  const ScalarType wide = computed_in(dtype);
  const NodeId x = builder_.convert(inputs[0], wide);
  const std::size_t rank = out_.nodes[x].sizes.size();
  const std::size_t count = numbers_in(in_.nodes[id].call).size();
  if (count == 0 || count > rank) refuse("rms_norm");
  std::vector<std::int64_t> dims;
  for (std::size_t i = rank - count; i < rank; ++i) dims.push_back(static_cast<std::int64_t>(i));
  const NodeId squares = builder_.pointwise("pow", {x}, "#2");
  const NodeId mean = builder_.reduce("mean", squares, dims, true, wide);
  const NodeId scale = evaluate("a = add m #eps; rsqrt a", {{"m", mean}});
  NodeId result = builder_.pointwise("mul", {x, scale});
  if (inputs.size() > 1) result = builder_.pointwise("mul", {result, inputs[1]});
  result = builder_.convert(result, dtype);
  gives(parts.empty() ? id : parts[0], result);
  if (parts.size() > 1) gives(parts[1], scale);
}

void Decomposer::rms_norm_backward(NodeId id) {
  // The gradient, x, the weight if there is one, the scale.
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  if (inputs.size() < 3) refuse("rms_norm");
  const bool has_weight = inputs.size() > 3;
  const NodeId scale = inputs.back();
  const ScalarType wide = computed_in(out_.nodes[inputs[1]].dtype);
  const NodeId g = builder_.convert(inputs[0], wide);
  const NodeId x = builder_.convert(inputs[1], wide);
  bool keeps_dims = false;
  const std::vector<std::int64_t> inner =
      reduced_dims(out_.nodes[x], out_.nodes[scale], keeps_dims);
  std::vector<std::int64_t> outer;
  for (std::size_t i = 0; i < out_.nodes[x].sizes.size(); ++i) {
    if (std::find(inner.begin(), inner.end(), static_cast<std::int64_t>(i)) == inner.end())
      outer.push_back(static_cast<std::int64_t>(i));
  }
  NodeId gw = g;
  if (has_weight) {
    const NodeId weight = builder_.convert(inputs[2], wide);
    gw = builder_.pointwise("mul", {g, weight});
  }
  const NodeId hat = builder_.pointwise("mul", {x, scale});
  const NodeId product = builder_.pointwise("mul", {hat, gw});
  const NodeId total = builder_.reduce("sum", product, inner, true, wide);
  const NodeId result = evaluate("a = div h #n; b = mul a t; c = sub g b; mul c r",
                                 {{"h", hat}, {"t", total}, {"g", gw}, {"r", scale}});
  std::vector<NodeId> results{builder_.convert(result, out_.nodes[inputs[1]].dtype)};
  if (has_weight) {
    NodeId of_weight = builder_.pointwise("mul", {g, hat});
    if (!outer.empty()) of_weight = builder_.reduce("sum", of_weight, outer, false, wide);
    results.push_back(builder_.convert(of_weight, out_.nodes[inputs[2]].dtype));
  }
  std::size_t at = !parts.empty() && !(in_.nodes[parts[0]].sizes == out_.nodes[x].sizes) ? 1 : 0;
  for (const NodeId part : parts) {
    if (at >= results.size()) refuse("rms_norm");
    gives(part, results[at++]);
  }
  if (parts.empty()) gives(id, results[0]);
}

namespace {

/// The dimension that a softmax goes along, from the call's text. That of a loss goes along the
/// classes: the second one, where there are several.
std::size_t softmax_dim(std::string_view call, const std::vector<std::int64_t>& numbers,
                        std::size_t rank) {
  if (call.starts_with("cross_entropy")) return rank > 1 ? 1 : 0;
  const std::int64_t dim = numbers.empty() ? -1 : numbers.front();
  return static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim);
}

}  // namespace

void Decomposer::softmax(NodeId id, bool is_log) {
  const GraphNode& node = in_.nodes[id];
  const ScalarType wide = computed_in(out_.nodes[inputs_of(id).front()].dtype);
  const NodeId x = builder_.convert(inputs_of(id).front(), wide);
  const std::size_t rank = out_.nodes[x].sizes.size();
  // Of attention's: rows, those that are masked whole are zeros.
  const bool is_safe = node.name == "_safe_softmax";
  const std::vector<std::int64_t> dims{static_cast<std::int64_t>(
      is_safe ? rank - 1 : softmax_dim(node.call, numbers_in(node.call), rank))};
  const NodeId most = builder_.reduce("amax", x, dims, true, wide);
  const NodeId shifted = builder_.pointwise("sub", {x, most});
  const NodeId powers = builder_.pointwise("exp", {shifted});
  const NodeId total = builder_.reduce("sum", powers, dims, true, wide);
  NodeId result = is_log ? evaluate("l = log t; sub s l", {{"t", total}, {"s", shifted}})
                         : builder_.pointwise("div", {powers, total});
  if (is_safe) {
    const NodeId is_masked = builder_.pointwise("eq", {inputs_of(id).front()}, "#-inf");
    const NodeId is_left = builder_.pointwise("logical_not", {is_masked});
    const NodeId has_any = builder_.reduce("any", is_left, dims, true, ScalarType::kBool);
    const NodeId has_none = builder_.pointwise("logical_not", {has_any});
    const GraphNode shape = out_.nodes[result];
    const NodeId zeros = builder_.fill("full", shape.sizes, shape.dtype, "#0");
    result = builder_.pointwise("where", {has_none, zeros, result});
  }
  gives(id, builder_.convert(result, node.dtype));
}

void Decomposer::softmax_backward(NodeId id, bool is_log) {
  const GraphNode& node = in_.nodes[id];
  const std::vector<NodeId> inputs = inputs_of(id);
  const ScalarType wide = computed_in(out_.nodes[inputs[0]].dtype);
  const NodeId g = builder_.convert(inputs[0], wide);
  const NodeId y = builder_.convert(inputs[1], wide);
  const std::size_t rank = out_.nodes[y].sizes.size();
  const std::vector<std::int64_t> dims{static_cast<std::int64_t>(
      node.name.starts_with("safe") ? rank - 1
                                    : softmax_dim(node.call, numbers_in(node.call), rank))};
  NodeId result = kNoNode;
  if (is_log) {
    const NodeId powers = builder_.pointwise("exp", {y});
    const NodeId total = builder_.reduce("sum", g, dims, true, wide);
    result = evaluate("a = mul p t; sub g a", {{"p", powers}, {"t", total}, {"g", g}});
  } else {
    const NodeId scaled = builder_.pointwise("mul", {g, y});
    const NodeId total = builder_.reduce("sum", scaled, dims, true, wide);
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
  if (!is_select && dim == sizes.size()) {  // all of it: inductor's noop of slice_scatter
    at_[id] = g;
    return;
  }
  const NodeId made = builder_.opaque(is_select ? "select_scatter" : "slice_scatter", {zeros, g},
                                      node.sizes, node.dtype);
  out_.nodes[made].dims = {static_cast<std::int64_t>(dim)};
  gives(id, made);
}

void Decomposer::nll_loss(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const std::vector<NodeId> inputs = inputs_of(id);
  const std::vector<NodeId> parts = parts_of(id);
  const std::size_t rank = out_.nodes[inputs[0]].sizes.size();
  if (inputs.size() < 2 || parts.size() > 2) refuse("nll_loss");
  const std::size_t channels = rank < 2 ? 0 : 1;
  const NodeId target = inputs[1];
  const bool has_weights = inputs.size() > 2;
  NodeId x = inputs[0];
  NodeId weights = kNoNode;
  if (has_weights) {
    Dims row = Dims::filled(rank, 1);
    row[channels] = out_.nodes[x].sizes[channels];
    weights = builder_.view("view", inputs[2], row, dense_strides(row), 0);
    x = builder_.pointwise("mul", {x, weights});
  }
  const ScalarType dtype = out_.nodes[x].dtype;
  const bool is_none =
      node.call.find(", none") != std::string_view::npos && (rank > 1 || parts.empty());
  const NodeId is_counted = builder_.pointwise("ne", {target}, "#ignored");
  const NodeId zero = builder_.fill("full", {}, out_.nodes[target].dtype, "#0");
  const NodeId safe = builder_.pointwise("where", {is_counted, target, zero});
  const NodeId column = builder_.unsqueeze(safe, channels);
  const auto chosen = [&](NodeId from) {
    const NodeId gathered =
        builder_.opaque("gather", {from, column}, out_.nodes[column].sizes, dtype);
    out_.nodes[gathered].dims = {static_cast<std::int64_t>(channels)};
    return builder_.squeeze(gathered, {static_cast<std::int64_t>(channels)});
  };
  const NodeId losses = builder_.pointwise("neg", {chosen(x)});
  const NodeId nothing = builder_.fill("full", {}, dtype, "#0.0");
  const NodeId counted = builder_.pointwise("where", {is_counted, losses, nothing});
  const auto give_total = [&](NodeId total) {
    if (parts.size() > 1) gives(parts[1], total);
  };
  if (is_none) {
    give_total(builder_.fill("full", {}, dtype, "#0.0"));
    gives(parts.empty() ? id : parts[0], counted);
    return;
  }
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < out_.nodes[target].sizes.size(); ++i)
    all.push_back(static_cast<std::int64_t>(i));
  NodeId weight = kNoNode;
  if (has_weights) {
    const NodeId own = builder_.pointwise(
        "where", {is_counted, chosen(builder_.expand(weights, out_.nodes[x].sizes)), nothing});
    weight = builder_.reduce("sum", own, all, false, dtype);
  } else {
    const NodeId number = builder_.reduce("sum", is_counted, all, false, ScalarType::kInt64);
    weight = builder_.convert(number, dtype);
  }
  const NodeId total = builder_.reduce("sum", counted, all, false, dtype);
  const bool is_sum = node.call.find(", sum") != std::string_view::npos;
  gives(parts.empty() ? id : parts[0], is_sum ? total : builder_.pointwise("div", {total, weight}));
  give_total(weight);
}

void Decomposer::nll_loss_backward(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  // The gradient, x, targets, weights if there are any, the total weight.
  const std::vector<NodeId> inputs = inputs_of(id);
  if (inputs.size() < 4) refuse("nll_loss_backward");
  const std::size_t rank = node.sizes.size();
  const std::size_t channels = rank < 2 ? 0 : 1;
  const bool is_sum = node.call.find(", sum") != std::string_view::npos;
  const bool is_none = node.call.find(", none") != std::string_view::npos;
  NodeId g = inputs[0];
  if (!is_sum && !is_none) g = builder_.pointwise("div", {g, inputs.back()});
  const NodeId column = builder_.unsqueeze(inputs[2], channels);
  const NodeId is_counted = builder_.pointwise("ne", {column}, "#ignored");
  const NodeId zero = builder_.fill("full", {}, out_.nodes[column].dtype, "#0");
  const NodeId safe = builder_.pointwise("where", {is_counted, column, zero});
  const std::int64_t classes = node.sizes[channels];
  const NodeId numbers = builder_.fill("iota", {classes}, out_.nodes[column].dtype, "#iota");
  Dims row = Dims::filled(rank, 1);
  row[channels] = classes;
  const NodeId all = builder_.view("view", numbers, row, dense_strides(row), 0);
  const NodeId wide = builder_.expand(safe, node.sizes);
  const NodeId is_it = builder_.pointwise("eq", {wide, all});
  const NodeId one = builder_.fill("full", {}, node.dtype, "#-1.0");
  const NodeId none = builder_.fill("full", {}, node.dtype, "#0.0");
  const NodeId chosen = builder_.pointwise("where", {is_it, one, none});
  if (is_none && rank > out_.nodes[g].sizes.size() && !out_.nodes[g].sizes.empty())
    g = builder_.unsqueeze(g, channels);
  if (inputs.size() > 4) {
    const NodeId weights = builder_.view("view", inputs[3], row, dense_strides(row), 0);
    g = builder_.pointwise("mul", {g, weights});
  }
  const NodeId scale = builder_.pointwise("where", {is_counted, g, none});
  gives(id, builder_.pointwise("mul", {chosen, scale}));
}

/// Between two bounds, one of which may not be there: a loop each.
bool Decomposer::clamp(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const bool is_its_call = node.call.starts_with("clamp") || node.call.starts_with("clip");
  const bool is_backward = node.name == "clamp_backward";
  if (is_its_call && node.call.find("tensor", node.call.find("tensor") + 1) != node.call.npos)
    return false;  // bounds that are tensors
  const bool has_least = !is_its_call || node.call.find(", None, ") == node.call.npos;
  const bool has_most = is_its_call && !node.call.ends_with("None");
  const std::string_view text =
      is_backward
          ? (has_least && has_most ? "a = ge y #a; b = le y #b; c = logical_and a b; where c x #0"
             : has_most            ? "a = le y #b; where a x #0"
                                   : "a = ge y #a; where a x #0")
          : (has_least && has_most ? "a = clamp_min x #a; clamp_max a #b"
             : has_most            ? "clamp_max x #b"
                                   : "clamp_min x #a");
  const std::vector<NodeId> inputs = inputs_of(id);
  std::map<std::string_view, NodeId> names{{"x", inputs.front()}};
  if (is_backward) names["y"] = inputs.back();
  gives(id, evaluate(text, std::move(names)));
  return true;
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
  const ScalarType dtype = computed_in(node.dtype);
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
