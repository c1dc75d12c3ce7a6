// Operators that read or write at places which strides do not say, and reductions that are made of
// others. Source: docs/rules/compile.md#1.

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/graph/inductor/decomposer.h"
#include "sim/graph/inductor/index.h"

namespace tidemark::graph::inductor {

using ops::Dims;
using ops::ScalarType;

namespace {

/// A loop that reads its first operand at places of its own, so many times for each number.
struct Anywhere {
  std::string_view op;
  std::int64_t reads = 1;
  bool wants_memory = false;  ///< of what it reads
};

constexpr Anywhere kAnywhere[] = {{"index"},
                                  {"index_select"},
                                  {"take"},
                                  {"flip"},
                                  {"flip_backward"},
                                  {"constant_pad_nd"},
                                  {"repeat"},
                                  {"pixel_shuffle"},
                                  {"pixel_shuffle_backward"},
                                  {"pixel_unshuffle_backward"},
                                  {"channel_shuffle_backward"},
                                  {"pixel_unshuffle"},
                                  {"channel_shuffle"},
                                  {"im2col"},
                                  {"reflection_pad1d"},
                                  {"reflection_pad2d"},
                                  {"replication_pad2d"},
                                  {"glu", 2},
                                  {"avg_pool1d", 0, true},
                                  {"avg_pool2d", 0, true},
                                  {"avg_pool2d_backward", 0, true},
                                  {"_adaptive_avg_pool2d", 4, true},
                                  {"upsample_bilinear2d", 4}};

/// Gradients of reading anywhere: zeros that are added to.
constexpr std::string_view kAdding[] = {"index_backward",        "index_select_backward",
                                        "gather_backward",       "take_backward",
                                        "index_select_backward", "upsample_bilinear2d_backward"};

/// What is written into a copy of the first operand, where the second says.
constexpr std::string_view kScattering[] = {"scatter", "scatter_add", "index_add", "index_put",
                                            "index_copy"};

template <class List>
bool is_among(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

}  // namespace

/// What is read of a first operand anywhere, as zeros that are added to where `places` say.
void Decomposer::adds_where(NodeId id, std::size_t, std::vector<NodeId> places) {
  const GraphNode& node = in_.nodes[id];
  const NodeId g = inputs_of(id).front();
  const ScalarType dtype = computed_in(node.dtype);
  const NodeId zeros = builder_.fill("full", node.sizes, dtype, "#0");
  const NodeId values = builder_.convert(g, dtype);
  std::vector<NodeId> reads{zeros};
  reads.insert(reads.end(), places.begin(), places.end());
  if (places.empty()) reads.push_back(values);
  reads.push_back(values);
  const std::string_view as = node.name == "gather_backward" ? "scatter_add" : "index_put";
  const NodeId made = builder_.opaque(as, std::move(reads), node.sizes, dtype);
  gives(id, builder_.convert(made, node.dtype));
}

/// One dimension after the other is read at places that loops compute: the numbers of a row, moved
/// on and divided by the row's length with the rest kept. Source: torch._refs.roll.
bool Decomposer::roll(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const bool is_back = node.name == "roll_backward";
  const std::size_t list = node.call.find("tensor, ");
  if ((node.name != "roll" && !is_back) || list == std::string_view::npos) return false;
  // The shifts, then the dimensions, if it says any.
  std::vector<std::int64_t> numbers;
  const std::string_view text = node.call.substr(list + 8);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data() + i, text.data() + text.size(), number);
    if (read.ec != std::errc()) continue;
    numbers.push_back(number);
    i = static_cast<std::size_t>(read.ptr - text.data());
  }
  NodeId x = inputs_of(id).front();
  const bool is_flat = numbers.size() == 1;
  if (numbers.empty() || node.sizes.empty() || (!is_flat && numbers.size() % 2 != 0)) return false;
  if (is_flat) {
    numbers.push_back(0);
    std::int64_t count = 1;
    for (const std::int64_t size : node.sizes) count *= size;
    x = builder_.view("view", x, {count}, {1}, 0);
  }
  const std::size_t rolls = numbers.size() / 2;
  for (std::size_t i = 0; i < rolls; ++i) {
    const Dims sizes = out_.nodes[x].sizes;
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const std::int64_t said = numbers[rolls + i];
    const std::int64_t dim = said < 0 ? said + rank : said;
    if (dim < 0 || dim >= rank || sizes[static_cast<std::size_t>(dim)] == 0) return false;
    const std::int64_t size = sizes[static_cast<std::size_t>(dim)];
    const std::int64_t shift = is_back ? -numbers[i] : numbers[i];
    const std::int64_t start = ((size - shift) % size + size) % size;
    const NodeId row = builder_.fill("iota", {size}, ScalarType::kInt64, "#count");
    const NodeId moved = builder_.pointwise("add", {row}, fmt::format("#{}", start));
    const NodeId place = builder_.pointwise("fmod", {moved}, fmt::format("#{}", size));
    x = builder_.opaque("index", {x, place}, sizes, node.dtype);
    out_.nodes[x].settings = 2U * static_cast<std::uint64_t>(dim) + 1U;
    out_.nodes[x].dims = {1, 0};
  }
  if (is_flat) x = builder_.view("view", x, node.sizes, dense_strides(node.sizes), 0);
  gives(id, x);
  return true;
}

bool Decomposer::anywhere(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  if (node.has_parts || node.inputs.empty()) return false;
  if (roll(id)) return true;
  const std::vector<NodeId> inputs = inputs_of(id);
  if (node.name == "gather" && inputs.size() == 2) {
    const std::vector<std::int64_t> numbers = numbers_in(node.call);
    const auto rank = static_cast<std::int64_t>(node.sizes.size());
    const std::int64_t dim = numbers.empty() ? rank - 1 : numbers.front();
    const NodeId made = builder_.opaque("gather", inputs, node.sizes, node.dtype);
    out_.nodes[made].dims = {dim < 0 ? dim + rank : dim};
    gives(id, made);
    return true;
  }
  if (is_among(kAdding, node.name)) {
    std::vector<NodeId> places;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      if (!ops::is_floating(out_.nodes[inputs[i]].dtype)) places.push_back(inputs[i]);
    }
    adds_where(id, 0, std::move(places));
    return true;
  }
  if (node.name == "index_add_backward" || node.name == "scatter_add_backward") {
    // What was added is read for its sizes alone.
    const auto places = std::find_if(inputs.begin() + 1, inputs.end(), [&](NodeId input) {
      return !ops::is_floating(out_.nodes[input].dtype);
    });
    if (places == inputs.end()) return false;
    const bool is_gather = node.name == "scatter_add_backward";
    const NodeId made = builder_.opaque(is_gather ? "gather" : "index_select", {inputs[0], *places},
                                        node.sizes, node.dtype);
    const std::vector<std::int64_t> numbers = numbers_in(node.call);
    const auto rank = static_cast<std::int64_t>(node.sizes.size());
    const std::int64_t dim = numbers.empty() ? rank - 1 : numbers.front();
    if (is_gather) {
      out_.nodes[made].dims = {dim < 0 ? dim + rank : dim};
    } else {
      out_.nodes[made].dims = {1, 0};
    }
    gives(id, made);
    return true;
  }
  // Of what was written; what was written over asks for a copy first.
  if (node.name == "scatter_backward" && inputs.size() == 2 &&
      node.sizes == out_.nodes[inputs[1]].sizes && !ops::is_floating(out_.nodes[inputs[1]].dtype) &&
      node.effects.size() < 3) {
    const NodeId made = builder_.opaque("gather", inputs, node.sizes, node.dtype);
    const std::vector<std::int64_t> numbers = numbers_in(node.call);
    const auto rank = static_cast<std::int64_t>(node.sizes.size());
    const std::int64_t dim = numbers.empty() ? rank - 1 : numbers.front();
    out_.nodes[made].dims = {dim < 0 ? dim + rank : dim};
    gives(id, made);
    return true;
  }
  std::string_view name = node.name;
  if (name.ends_with('_')) name.remove_suffix(1);
  if (is_among(kScattering, name)) {
    // Of index_put the places, then the values; others take them in either order. Values that are
    // a number are not among them.
    std::vector<NodeId> places;
    NodeId values = kNoNode;
    const bool takes_several = name == "index_put" && inputs.size() > 2;
    const std::size_t last = inputs.size() - 1;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const ScalarType dtype = out_.nodes[inputs[i]].dtype;
      const bool is_value = ops::is_floating(dtype) ||
                            (takes_several ? i == last && dtype == node.dtype : !places.empty());
      if (!is_value) {
        places.push_back(inputs[i]);
      } else if (values == kNoNode) {
        values = inputs[i];
      }
    }
    if (places.empty()) return false;
    if (values == kNoNode)
      values = builder_.fill("full", out_.nodes[places.front()].sizes, node.dtype, "#value");
    const NodeId copy = builder_.pointwise("clone", {inputs[0]});
    out_.nodes[copy].kind = NodeKind::kCopy;
    out_.nodes[copy].dims = {1};
    std::vector<NodeId> reads{copy};
    reads.insert(reads.end(), places.begin(), places.end());
    reads.push_back(values);
    const std::string_view as = name.starts_with("scatter") ? name : "index_put";
    gives(id, builder_.opaque(as, std::move(reads), node.sizes, node.dtype));
    return true;
  }
  if (node.name.starts_with("tril") || node.name.starts_with("triu")) {
    gives(id, builder_.pointwise(node.name.substr(0, 4), {inputs[0]}, "#diagonal"));
    return true;
  }
  const auto* found = std::find_if(std::begin(kAnywhere), std::end(kAnywhere),
                                   [&](const Anywhere& each) { return each.op == node.name; });
  if (found == std::end(kAnywhere)) return false;
  std::int64_t reads = found->reads;
  if (reads == 0) {
    reads = 1;
    const std::vector<std::int64_t> window = numbers_in(node.call);
    for (std::size_t i = 0; i < 2; ++i)
      reads *= window.empty() ? 2 : window[std::min(i, window.size() - 1)];
  }
  const NodeId made = builder_.opaque(node.name, inputs, node.sizes, node.dtype);
  out_.nodes[made].settings = node.settings;
  out_.nodes[made].dims = {std::clamp<std::int64_t>(reads, 1, 64), found->wants_memory ? 1 : 0};
  gives(id, made);
  return true;
}

/// What was chosen of each row gets its gradient: all that are as great share it, or the places of
/// what was chosen say where. Source: torch's scale_grad_by_count,
/// value_selecting_reduction_backward.
bool Decomposer::chosen_backward(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  static constexpr std::string_view kByPlace[] = {
      "max_backward",  "min_backward",      "topk_backward",   "sort_backward",
      "mode_backward", "kthvalue_backward", "median_backward", "nanmedian_backward"};
  static constexpr std::string_view kByValue[] = {"amax_backward", "amin_backward"};
  if (node.has_parts) return false;
  const std::vector<NodeId> inputs = inputs_of(id);
  // The dimension that was dropped, if one was.
  const auto in_full = [&](NodeId x, const std::vector<std::int64_t>& dims) {
    for (const std::int64_t dim : dims) {
      if (out_.nodes[x].sizes.size() < node.sizes.size())
        x = builder_.unsqueeze(x, static_cast<std::size_t>(dim));
    }
    return x;
  };
  // Of all numbers: those that are it share the gradient. Source: torch's
  // evenly_distribute_backward.
  const bool is_of_all = node.name == "max_backward" || node.name == "min_backward";
  if (is_of_all && inputs.size() == 3 && out_.nodes[inputs[2]].sizes.empty()) {
    const NodeId is_it =
        evaluate("n = isnan x; m = isnan v; b = logical_and n m; e = eq x v; logical_or e b",
                 {{"x", inputs[1]}, {"v", inputs[2]}});
    std::vector<std::int64_t> dims;
    for (std::size_t i = 0; i < node.sizes.size(); ++i)
      dims.push_back(static_cast<std::int64_t>(i));
    const NodeId count = builder_.reduce("sum", is_it, dims, false, ScalarType::kInt64);
    const NodeId made =
        evaluate("d = div g c; mul e d", {{"g", inputs[0]}, {"c", count}, {"e", is_it}});
    out_.nodes[made].dtype = node.dtype;
    gives(id, made);
    return true;
  }
  if (is_among(kByPlace, node.name)) {
    if (inputs.size() != 2 || ops::is_floating(out_.nodes[inputs[1]].dtype)) return false;
    const Dims& chosen = out_.nodes[inputs[1]].sizes;
    std::size_t dim = 0;
    while (dim < chosen.size() && chosen[dim] == node.sizes[dim]) ++dim;
    const std::vector<std::int64_t> dims{static_cast<std::int64_t>(dim)};
    const NodeId zeros = builder_.fill("full", node.sizes, node.dtype, "#0");
    const NodeId places = in_full(inputs[1], dims);
    const NodeId g = in_full(inputs[0], dims);
    gives(id, builder_.opaque("scatter", {zeros, places, g}, node.sizes, node.dtype));
    return true;
  }
  if (!is_among(kByValue, node.name) || inputs.size() != 3) return false;
  bool keeps_dims = false;
  GraphNode shape = out_.nodes[inputs[2]];
  shape.call = node.call;
  const std::vector<std::int64_t> dims = reduced_dims(out_.nodes[inputs[1]], shape, keeps_dims);
  const NodeId g = in_full(inputs[0], dims);
  const NodeId is_it = builder_.pointwise("eq", {inputs[1], in_full(inputs[2], dims)});
  const NodeId shared = builder_.pointwise("mul", {g, is_it});
  const NodeId count = builder_.reduce("sum", is_it, dims, true, ScalarType::kInt64);
  gives(id, builder_.pointwise("div", {shared, count}));
  return true;
}

bool Decomposer::made_of_reductions(NodeId id) {
  if (chosen_backward(id)) return true;
  const GraphNode& node = in_.nodes[id];
  const std::string_view name = node.name;
  static constexpr std::string_view kNames[] = {
      "var", "std", "linalg_vector_norm", "norm", "logsumexp", "max", "min"};
  if (!is_among(kNames, name) || node.inputs.size() != 1) return false;
  const std::vector<NodeId> parts = parts_of(id);
  const GraphNode& result = parts.empty() ? node : in_.nodes[parts[0]];
  const NodeId x = inputs_of(id).front();
  GraphNode shape = result;
  // A norm says first which one it is.
  const bool is_norm = name == "linalg_vector_norm" || name == "norm";
  if (is_norm) {
    const std::size_t list = node.call.find('[');
    shape.call = list == std::string_view::npos ? std::string_view() : node.call.substr(list);
  }
  bool keeps_dims = false;
  std::vector<std::int64_t> dims;
  if (is_norm && !shape.call.empty() && result.sizes.size() != out_.nodes[x].sizes.size()) {
    const auto rank = static_cast<std::int64_t>(out_.nodes[x].sizes.size());
    std::int64_t number = 0;
    bool is_negative = false;
    bool has_digit = false;
    for (const char c : shape.call.substr(1)) {
      if (c == '-') is_negative = true;
      if (c >= '0' && c <= '9') {
        number = number * 10 + (c - '0');
        has_digit = true;
        continue;
      }
      if (c == '-') continue;
      if (has_digit) dims.push_back(is_negative ? rank - number : number);
      number = 0;
      is_negative = has_digit = false;
      if (c == ']') break;
    }
  }
  if (dims.empty() || dims.size() + result.sizes.size() != out_.nodes[x].sizes.size())
    dims = reduced_dims(out_.nodes[x], shape, keeps_dims);
  const ScalarType dtype = out_.nodes[x].dtype;
  const auto reduce = [&](std::string_view of, NodeId from, bool keeps, ScalarType as) {
    return builder_.reduce(of, from, dims, keeps, as);
  };
  if (name == "max" || name == "min") {
    const bool is_max = name == "max";
    if (parts.size() < 2) {
      const NodeId made = reduce(is_max ? "amax" : "amin", x, keeps_dims, dtype);
      if (parts.empty()) out_.nodes[made].name = name;  // of all numbers: an operator of its own
      gives(parts.empty() ? id : parts[0], made);
      return true;
    }
    const NodeId both = reduce(name, x, keeps_dims, dtype);
    out_.nodes[both].has_parts = true;
    for (int i = 0; i < 2; ++i) {
      const GraphNode& part = in_.nodes[parts[static_cast<std::size_t>(i)]];
      gives(parts[static_cast<std::size_t>(i)],
            builder_.part(both, i, part.sizes, part.strides, part.dtype));
    }
    return true;
  }
  if (!parts.empty()) return false;
  if (name == "logsumexp") {
    const NodeId most = reduce("amax", x, true, dtype);
    const NodeId finite = evaluate("a = abs m; b = eq a #inf; where b #0 m", {{"m", most}});
    const NodeId row = keeps_dims ? finite : builder_.squeeze(finite, dims);
    const NodeId powers = evaluate("a = sub x m; exp a", {{"x", x}, {"m", finite}});
    const NodeId total = reduce("sum", powers, keeps_dims, dtype);
    gives(id, evaluate("a = log t; add a r", {{"t", total}, {"r", row}}));
    return true;
  }
  const NodeId wide =
      builder_.convert(x, ops::element_bytes(dtype) < 4 ? ScalarType::kFloat32 : dtype);
  const ScalarType as = out_.nodes[wide].dtype;
  NodeId made = kNoNode;
  if (is_norm) {
    const NodeId squares = builder_.pointwise("pow", {wide}, "#2");
    made = builder_.pointwise("pow", {reduce("sum", squares, keeps_dims, as)}, "#0.5");
  } else {
    const NodeId both = reduce("var_mean", wide, keeps_dims, as);
    out_.nodes[both].has_parts = true;
    const Dims sizes = out_.nodes[both].sizes;
    made = builder_.part(both, 0, sizes, dense_strides(sizes), as);
    out_.nodes[made].name = "var";  // one operator there
    if (name == "std") made = builder_.pointwise("sqrt", {made});
  }
  gives(id, builder_.convert(made, node.dtype));
  return true;
}

}  // namespace tidemark::graph::inductor
