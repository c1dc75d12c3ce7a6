// Operators that write in place, as what they give, and others that copy. Source:
// docs/rules/compile.md#1.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/graph/inductor/decomposer.h"
#include "sim/graph/inductor/index.h"

namespace tidemark::graph::inductor {

using ops::Dims;

namespace {

/// The only dimension in which a part differs from its whole, or which it has not; the rank: there
/// is no such dimension.
std::size_t dim_of_part(const Dims& whole, const Dims& part) {
  const bool is_select = part.size() + 1 == whole.size();
  if (!is_select && part.size() != whole.size()) return whole.size();
  std::size_t dim = 0;
  while (dim < part.size() && part[dim] == whole[dim]) ++dim;
  if (!is_select && dim == part.size()) return whole.size();
  for (std::size_t i = dim + (is_select ? 0 : 1); i < part.size(); ++i) {
    if (part[i] != whole[i + (is_select ? 1 : 0)]) return whole.size();
  }
  return dim;
}

/// What a call of the program's puts where: "select_scatter, tensor, tensor, 1, 2".
struct Put {
  std::vector<std::int64_t> dims;  ///< as select_scatter and slice_scatter have them
  Dims part;                       ///< the sizes of what is put
};

Put put_as_called(const GraphNode& node, bool is_select) {
  constexpr std::string_view kTensor = "tensor, ";
  std::string_view rest = node.call;
  rest.remove_prefix(std::min(rest.size(), rest.rfind(kTensor) + kTensor.size()));
  std::vector<std::int64_t> numbers;
  while (!rest.empty()) {
    const std::size_t end = rest.find(", ");
    std::int64_t number = 0;
    std::from_chars(rest.data(), rest.data() + std::min(end, rest.size()), number);
    // What is not said is all of it.
    numbers.push_back(rest.starts_with("None") && numbers.size() == 2 ? INT64_MAX : number);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  }
  numbers.resize(4);
  const auto rank = static_cast<std::int64_t>(node.sizes.size());
  const std::int64_t dim = numbers[0] < 0 ? numbers[0] + rank : numbers[0];
  const auto at = static_cast<std::size_t>(std::clamp<std::int64_t>(dim, 0, rank - 1));
  const std::int64_t size = node.sizes[at];
  const auto place = [size](std::int64_t said) {
    return std::clamp<std::int64_t>(said < 0 ? said + size : said, 0, size);
  };
  const std::int64_t first = place(numbers[1]);
  const std::int64_t step = is_select ? 0 : std::max<std::int64_t>(numbers[3], 1);
  Put put{{static_cast<std::int64_t>(at), first * node.strides[at], step * node.strides[at]},
          node.sizes};
  if (is_select) {
    put.part.erase(at);
  } else {
    put.part[at] = (std::max(place(numbers[2]) - first, std::int64_t{0}) + step - 1) / step;
  }
  return put;
}

}  // namespace

bool Decomposer::is_repeated(const GraphNode& joined) {
  const std::vector<NodeId>& parts = joined.inputs;
  return std::all_of(parts.begin(), parts.end(), [&](NodeId id) { return id == parts.front(); });
}

/// A tensor that is joined with itself is repeated in a dimension of its own. Source: torch's
/// inductor/decomposition.py, cat.
void Decomposer::repeat(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const NodeId x = inputs_of(id).front();
  std::size_t dim = 0;
  while (out_.nodes[x].sizes[dim] == node.sizes[dim]) ++dim;
  const NodeId row = builder_.unsqueeze(x, dim);
  Dims sizes = out_.nodes[row].sizes;
  sizes[dim] = static_cast<std::int64_t>(node.inputs.size());
  const NodeId copy = builder_.pointwise("clone", {builder_.expand(row, sizes)});
  out_.nodes[copy].kind = NodeKind::kCopy;
  out_.nodes[copy].dims = {1};
  out_.nodes[copy].strides = dense_strides(sizes);
  at_[id] = builder_.view("view", copy, node.sizes, dense_strides(node.sizes), 0);
}

bool Decomposer::written(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  if (node.has_parts || node.inputs.empty()) return false;
  const std::vector<NodeId> inputs = inputs_of(id);
  std::string_view name = node.name;
  if (name.ends_with('_') && !name.ends_with("__")) name.remove_suffix(1);
  if (name == "select_scatter" || name == "slice_scatter") {
    const NodeId made = builder_.opaque(name, inputs, node.sizes, node.dtype);
    out_.nodes[made].dims =
        node.dims.empty() ? put_as_called(node, name == "select_scatter").dims : node.dims;
    gives(id, made);
    return true;
  }
  if ((name == "select_scatter_backward" || name == "slice_scatter_backward") &&
      inputs.size() == 1) {
    // What was written over has no gradient. Source: torch's derivatives.yaml.
    const bool is_select = name.starts_with("select");
    const Put put = put_as_called(node, is_select);
    const NodeId zeros = builder_.fill("full", put.part, node.dtype, "#0");
    const NodeId made = builder_.opaque(is_select ? "select_scatter" : "slice_scatter",
                                        {inputs[0], zeros}, node.sizes, node.dtype);
    out_.nodes[made].dims = put.dims;
    gives(id, made);
    return true;
  }
  if (name == "one_hot") {
    const NodeId column = builder_.unsqueeze(inputs[0], out_.nodes[inputs[0]].sizes.size());
    const NodeId classes =
        builder_.fill("iota", {node.sizes.back()}, ops::ScalarType::kInt64, "#classes");
    gives(id, builder_.convert(builder_.pointwise("eq", {column, classes}), node.dtype));
    return true;
  }
  if (name == "copy" && inputs.size() == 2) {
    NodeId x = builder_.convert(inputs[1], node.dtype);
    if (out_.nodes[x].sizes != node.sizes) x = builder_.expand(x, node.sizes);
    const NodeId made = builder_.pointwise("clone", {x});
    out_.nodes[made].kind = NodeKind::kCopy;
    gives(id, made);
    return true;
  }
  const bool is_number = (name == "fill" || name == "zero") && inputs.size() == 1;
  if (is_number || name == "copy_backwards" || name == "fill_backward") {
    gives(id, builder_.fill("full", node.sizes, node.dtype, is_number ? node.call : "#0"));
    return true;
  }
  if (name == "as_strided_backward") {
    // A view that was looked at anew behind a write: its gradient is that of the view.
    const std::size_t dim = dim_of_part(node.sizes, out_.nodes[inputs[0]].sizes);
    if (dim == node.sizes.size()) return false;
    const bool is_select = out_.nodes[inputs[0]].sizes.size() < node.sizes.size();
    const NodeId zeros = builder_.fill("full", node.sizes, node.dtype, "#0");
    const NodeId made = builder_.opaque(is_select ? "select_scatter" : "slice_scatter",
                                        {zeros, inputs[0]}, node.sizes, node.dtype);
    out_.nodes[made].dims = {static_cast<std::int64_t>(dim)};
    gives(id, made);
    return true;
  }
  return false;
}

/// Numbers that are written over others. Source: torch's decompositions_for_rng.py; prims,
/// _uniform_helper.
void Decomposer::drawn_in_place(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  if (node.call.starts_with("bernoulli_")) {
    bernoulli(id);
    return;
  }
  if (!node.call.starts_with("uniform_") && !node.call.starts_with("normal_")) remember(node.name);
  const NodeId drawn = builder_.convert(random(node.sizes, node.dtype), node.dtype);
  gives(id, evaluate("a = mul n #scale; add a #shift", {{"n", drawn}}));
}

}  // namespace tidemark::graph::inductor
