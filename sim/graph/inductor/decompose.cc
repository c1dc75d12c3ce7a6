#include "sim/graph/inductor/decompose.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/graph/inductor/decomposer.h"
#include "sim/graph/inductor/index.h"
#include "sim/ops/context.h"

namespace tidemark::graph::inductor {

using ops::ScalarType;

namespace {

/// As torch.fx and inductor's decompositions call a view.
std::string_view view_name(std::string_view name) {
  if (name == "t" || name == "transpose" || name == "permute") return "permute";
  if (name == "detach") return "alias";
  if (name == "_unsafe_view" || name == "reshape" || name == "flatten" || name == "unflatten")
    return "view";
  if (name == "narrow") return "slice";
  if (name == "chunk") return "split";
  return name;
}

/// A view that is only known by its layout.
std::string_view view_by_layout(const GraphNode& node, const GraphNode& base) {
  if (node.sizes.size() != base.sizes.size()) return "view";
  std::vector<std::pair<std::int64_t, std::int64_t>> of_node;
  std::vector<std::pair<std::int64_t, std::int64_t>> of_base;
  for (std::size_t i = 0; i < node.sizes.size(); ++i) {
    of_node.emplace_back(node.sizes[i], node.strides[i]);
    of_base.emplace_back(base.sizes[i], base.strides[i]);
  }
  if (of_node == of_base) return node.offset == base.offset ? "view" : "slice";
  std::sort(of_node.begin(), of_node.end());
  std::sort(of_base.begin(), of_base.end());
  return of_node == of_base ? "permute" : "view";
}

}  // namespace

std::vector<NodeId> Decomposer::inputs_of(NodeId id) const {
  std::vector<NodeId> inputs;
  for (const NodeId input : in_.nodes[id].inputs) {
    if (at_[input] == kNoNode) refuse(in_.nodes[input].name);
    inputs.push_back(at_[input]);
  }
  return inputs;
}

void Decomposer::refuse(std::string_view name) {
  throw ops::NotModelled(fmt::format("{} in code compiled by inductor is not modelled", name));
}

void Decomposer::gives(NodeId captured, NodeId id) {
  at_[captured] = id;
  GraphNode& node = out_.nodes[id];
  const GraphNode& from = in_.nodes[captured];
  if (from.has_parts || node.kind == NodeKind::kView) return;
  if (node.sizes == from.sizes) node.strides = from.strides;
}

/// Which dimensions of the first are gone from the second, or 1 in it.
std::vector<std::int64_t> Decomposer::reduced_dims(const GraphNode& from, const GraphNode& to,
                                                   bool& keeps_dims) {
  std::vector<std::int64_t> dims;
  keeps_dims = from.sizes.size() == to.sizes.size();
  if (keeps_dims) {
    for (std::size_t i = 0; i < from.sizes.size(); ++i) {
      if (from.sizes[i] != to.sizes[i] || (to.sizes[i] == 1 && from.sizes.size() == 1))
        dims.push_back(static_cast<std::int64_t>(i));
    }
    return dims;
  }
  if (to.sizes.empty()) {
    for (std::size_t i = 0; i < from.sizes.size(); ++i)
      dims.push_back(static_cast<std::int64_t>(i));
    return dims;
  }
  // What the call says, else the first that leave the sizes that are there.
  const auto rank = static_cast<std::int64_t>(from.sizes.size());
  for (const std::int64_t dim : numbers_in(to.call)) dims.push_back(dim < 0 ? dim + rank : dim);
  if (from.sizes.size() == to.sizes.size() + dims.size() && !dims.empty()) return dims;
  dims.clear();
  std::size_t at = 0;
  for (std::size_t i = 0; i < from.sizes.size(); ++i) {
    const bool stays = at < to.sizes.size() && from.sizes[i] == to.sizes[at] &&
                       from.sizes.size() - i > to.sizes.size() - at - 1;
    if (stays) {
      ++at;
    } else {
      dims.push_back(static_cast<std::int64_t>(i));
    }
  }
  return dims;
}

/// The numbers behind "tensor, ": a list in brackets, or one.
std::vector<std::int64_t> Decomposer::numbers_in(std::string_view call) {
  std::vector<std::int64_t> numbers;
  std::size_t at = call.find("tensor, ");
  if (at == std::string_view::npos) return numbers;
  at += 8;
  const bool is_list = at < call.size() && call[at] == '[';
  const std::size_t end = is_list ? call.find(']', at) : call.find(',', at);
  const std::string text(call.substr(at, end == std::string_view::npos ? end : end - at));
  std::size_t from = 0;
  while (from < text.size()) {
    if ((text[from] >= '0' && text[from] <= '9') || text[from] == '-') {
      std::size_t used = 1;
      try {
        numbers.push_back(std::stoll(text.substr(from), &used));
      } catch (const std::exception&) {
      }
      from += used;
    } else {
      ++from;
    }
  }
  return numbers;
}

void Decomposer::reduction(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  static constexpr std::string_view kKnown[] = {"sum", "mean", "amax",   "amin",   "max", "min",
                                                "any", "all",  "argmax", "argmin", "prod"};
  if (std::find(std::begin(kKnown), std::end(kKnown), node.name) == std::end(kKnown))
    remember(node.name);
  const NodeId x = inputs_of(id).front();
  bool keeps_dims = false;
  GraphNode from = in_.nodes[node.inputs.front()];
  const std::vector<std::int64_t> dims = reduced_dims(from, node, keeps_dims);
  const bool is_narrow = ops::is_floating(node.dtype) && ops::element_bytes(node.dtype) < 4;
  const bool widens = under_autocast_ && is_narrow && node.name == "sum";
  const NodeId made =
      builder_.reduce(node.name, x, dims, keeps_dims, widens ? ScalarType::kFloat32 : node.dtype);
  // What a bias gets is seen without the dimension of one element at once.
  for (NodeId other = id + 1; other < in_.nodes.size() && node.call.empty(); ++other) {
    const GraphNode& view = in_.nodes[other];
    if (view.kind != NodeKind::kView || view.inputs.front() != id || at_[other] != kNoNode)
      continue;
    if (product(view.sizes) != product(node.sizes)) continue;  // a gradient that is repeated
    const NodeId seen = builder_.view("view", made, view.sizes, view.strides, view.offset);
    at_[other] = widens ? builder_.convert(seen, node.dtype) : seen;
    at_[id] = made;
    return;
  }
  gives(id, widens ? builder_.convert(made, node.dtype) : made);
}

/// Random numbers of a seed of their own; all seeds are made at once. Source: torch's
/// fx_passes/replace_random.py.
NodeId Decomposer::random(const ops::Dims& sizes, ScalarType dtype) {
  if (seeds_ == kNoNode) {
    seeds_ = builder_.opaque("inductor_seeds", {}, {1}, ScalarType::kInt64);
  } else {
    ++out_.nodes[seeds_].sizes[0];
  }
  const NodeId seed = builder_.opaque("inductor_lookup_seed", {seeds_}, {}, ScalarType::kInt64);
  return builder_.opaque("inductor_random", {seed}, sizes,
                         ops::is_floating(dtype) ? ScalarType::kFloat32 : dtype);
}

/// Ones where a number that is drawn is below another. Source: torch's inductor/decomposition.py.
void Decomposer::bernoulli(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const NodeId drawn = random(node.sizes, ScalarType::kFloat32);
  const NodeId chosen = builder_.pointwise("lt", {drawn}, node.call, 1);
  gives(id, builder_.convert(chosen, node.dtype));
}

void Decomposer::fill(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  static constexpr std::string_view kDrawn[] = {
      "rand",    "rand_like", "randn",    "randn_like", "randint",      "randint_like",
      "uniform", "normal",    "uniform_", "normal_",    "exponential_", "bernoulli_"};
  if (std::find(std::begin(kDrawn), std::end(kDrawn), node.name) != std::end(kDrawn)) {
    const NodeId drawn = random(node.sizes, node.dtype);
    gives(id, out_.nodes[drawn].dtype == node.dtype ? drawn : builder_.convert(drawn, node.dtype));
    return;
  }
  // Zeros are the same whoever asks for them.
  const bool are_zeros = node.name.find("zeros") != std::string_view::npos;
  const NodeId made = builder_.fill(node.name == "arange" ? "iota" : "full", node.sizes, node.dtype,
                                    are_zeros ? "#0" : node.call);
  if (!are_zeros) out_.nodes[made].settings = node.settings;
  gives(id, made);
}

void Decomposer::dropout(NodeId id) {
  const std::vector<NodeId> parts = parts_of(id);
  const NodeId x = inputs_of(id).front();
  const GraphNode shape = out_.nodes[x];
  const NodeId drawn = random(shape.sizes, shape.dtype);
  const NodeId mask = builder_.pointwise("gt", {drawn}, in_.nodes[id].call, 1);
  const NodeId kept = builder_.pointwise("mul", {mask, x});
  const NodeId result = builder_.pointwise("mul", {kept}, "#scale");
  // Without a gradient nobody wants the mask: the result is no part then.
  gives(parts.empty() ? id : parts[0], result);
  if (parts.size() > 1) gives(parts[1], mask);
}

std::vector<NodeId> Decomposer::parts_of(NodeId id) const {
  std::vector<NodeId> parts;
  for (NodeId other = id + 1; other < in_.nodes.size(); ++other) {
    const GraphNode& node = in_.nodes[other];
    if (node.kind == NodeKind::kPart && node.inputs.front() == id) parts.push_back(other);
  }
  return parts;
}

/// As it is: what runs by a kernel of a library, inputs, and what has no numbers.
void Decomposer::keep(NodeId id) {
  GraphNode node = in_.nodes[id];
  node.inputs = inputs_of(id);
  if (node.kind == NodeKind::kPart) node.dims = {part_number_[node.inputs.front()]++};
  if (node.kind == NodeKind::kView) {
    node.name = view_name(node.name);
    if (node.name == "view" && node.call.empty()) {
      node.name = view_by_layout(node, in_.nodes[in_.nodes[id].inputs.front()]);
      node.inputs = {with_expanded_dims(node, node.inputs.front())};
    }
  }
  if (node.has_parts && node.name == "chunk") node.name = "split";
  const auto seeds = attention_seeds_.find(node.inputs.empty() ? kNoNode : node.inputs.back());
  const bool is_backward = node.name.ends_with("attention_backward");
  if (is_backward && seeds != attention_seeds_.end())
    node.inputs.insert(node.inputs.end(), seeds->second.begin(), seeds->second.end());
  const NodeId made = builder_.add(std::move(node));
  at_[id] = made;
  if (in_.nodes[id].kind == NodeKind::kPart) add_seeds(id);
}

/// A view that repeats what it looks at in new dimensions gets them one by one before.
NodeId Decomposer::with_expanded_dims(const GraphNode& view, NodeId base) {
  std::vector<std::size_t> dims;
  for (std::size_t i = 0; i < view.sizes.size(); ++i) {
    if (view.strides[i] == 0 && view.sizes[i] > 1) dims.push_back(i);
  }
  if (dims.empty() || view.sizes.size() != out_.nodes[base].sizes.size() + dims.size()) return base;
  for (const std::size_t dim : dims) base = builder_.unsqueeze(base, dim);
  return base;
}

/// The gradient of a weight is seen transposed as soon as it is there.
void Decomposer::keep_transposed(NodeId product) {
  for (NodeId other = product + 1; other < in_.nodes.size(); ++other) {
    const GraphNode& node = in_.nodes[other];
    const bool is_view = node.kind == NodeKind::kView && node.inputs.front() == product;
    if (!is_view || at_[other] != kNoNode) continue;
    if (view_by_layout(node, in_.nodes[product]) == "permute") keep(other);
    return;
  }
}

/// Attention gives the state of its random numbers too, which lies on the host: parts that the
/// captured graph leaves out. Its backward function takes them.
void Decomposer::add_seeds(NodeId last_part) {
  const NodeId whole = in_.nodes[last_part].inputs.front();
  const std::string_view name = in_.nodes[whole].name;
  const bool is_efficient = name == "_scaled_dot_product_efficient_attention";
  if (!is_efficient || parts_of(whole).back() != last_part) return;
  std::vector<NodeId>& seeds = attention_seeds_[at_[last_part]];
  for (const int number : {2, 3}) {
    const NodeId seed = builder_.part(at_[whole], number, {}, {}, ScalarType::kInt64);
    out_.nodes[seed].device = ops::kHost;
    seeds.push_back(seed);
  }
}

void Decomposer::convert(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  if (at_[id] != kNoNode) return;
  builder_.follow(node);
  if (node.device.is_cuda()) builder_.device = node.device;
  switch (node.kind) {
    case NodeKind::kInput:
    case NodeKind::kTangent:
      keep(id);
      return;
    case NodeKind::kView:
      keep(id);
      // No look: a kernel that writes what it waits for.
      if (node.name == "wait_tensor") out_.nodes[at_[id]].kind = NodeKind::kOpaque;
      // What autograd repeats says no name of its own.
      if (out_.nodes[at_[id]].name == "view" &&
          product(node.sizes) > product(out_.nodes[out_.nodes[at_[id]].inputs.front()].sizes))
        out_.nodes[at_[id]].name = "expand";
      return;
    case NodeKind::kPart:
      if (at_[node.inputs.front()] == kNoNode) refuse(in_.nodes[node.inputs.front()].name);
      keep(id);
      return;
    case NodeKind::kProduct:
      keep(id);
      if (node.name == "mm" && node.sizes.size() == 3) out_.nodes[at_[id]].name = "bmm";
      keep_transposed(id);
      return;
    case NodeKind::kCat:
      // The gradient of an unbind is a stack.
      if (node.name == "stack" || in_.nodes[node.inputs.front()].sizes.size() < node.sizes.size()) {
        stack(id);
      } else if (node.inputs.size() == 1) {
        copy(id);
      } else if (is_repeated(node)) {
        repeat(id);
      } else {
        keep(id);
      }
      return;
    default:
      break;
  }
  if (node.has_parts && node.effects.empty()) {
    keep(id);  // split: views
    return;
  }
  if (without_underscore(node.name) == "masked_fill") {
    element_wise(id);
    return;
  }
  if (node.name == "random" && node.kind == NodeKind::kPointwise) {
    bernoulli(id);
    return;
  }
  if (node.name == "random_") {
    drawn_in_place(id);
    return;
  }
  if (written(id) || nearest(id) || linear(id)) return;
  if (by_formula(id) || composite(id) || loss(id) || made_of_reductions(id) || anywhere(id)) return;
  if (node.name == "sum" || node.name == "mean" || node.name == "amax") {
    reduction(id);
    return;
  }
  if (node.name == "to" || node.name == "_to_copy" || node.name == "contiguous" ||
      node.name == "clone" || node.name == "to_copy_backward") {
    copy(id);
    return;
  }
  switch (node.kind) {
    case NodeKind::kPointwise:
      element_wise(id);
      return;
    case NodeKind::kCopy:
    case NodeKind::kCast:
      copy(id);
      return;
    case NodeKind::kReduction:
      reduction(id);
      return;
    case NodeKind::kFill:
      fill(id);
      return;
    default:
      keep_unknown(id);
  }
}

bool Decomposer::library_kernel(std::string_view name) {
  if (name.ends_with("convolution") || name.ends_with("convolution_backward")) return true;
  static constexpr std::string_view kNames[] = {"_scaled_dot_product_efficient_attention",
                                                "scaled_dot_product_efficient_attention_backward",
                                                "_scaled_dot_product_flash_attention",
                                                "scaled_dot_product_flash_attention_backward",
                                                "convolution",
                                                "convolution_backward",
                                                "addmm",
                                                "mm",
                                                "bmm",
                                                "baddbmm"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void Decomposer::remember(std::string_view name) {
  if (std::find(unknown_.begin(), unknown_.end(), name) == unknown_.end()) unknown_.push_back(name);
}

/// A kernel of its own, as eager has it: what inductor falls back to, and what is not known here.
void Decomposer::keep_unknown(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  static constexpr std::string_view kFallbacks[] = {"topk",           "sort",
                                                    "kthvalue",       "median",
                                                    "mode",           "randperm",
                                                    "_cdist_forward", "_cdist_backward",
                                                    "masked_scatter", "view_as_complex",
                                                    "_embedding_bag", "embedding_bag_backward"};
  const bool is_known =
      library_kernel(node.name) || is_collective(node.name) ||
      std::find(std::begin(kFallbacks), std::end(kFallbacks), node.name) != std::end(kFallbacks);
  if (!is_known) remember(node.name);
  // Attention gives several results, though without gradients only one of them is wanted.
  if (node.name.starts_with("_scaled_dot_product") && !node.has_parts) {
    keep_single_part(id);
  } else {
    keep(id);
  }
}

/// A kernel that gives several results, though only one of them is wanted.
void Decomposer::keep_single_part(NodeId id) {
  GraphNode whole = in_.nodes[id];
  whole.inputs = inputs_of(id);
  whole.has_parts = true;
  whole.storage = kNoStorage;
  const NodeId made = builder_.add(std::move(whole));
  const GraphNode& node = in_.nodes[id];
  at_[id] = builder_.part(made, 0, node.sizes, node.strides, node.dtype);
  out_.nodes[at_[id]].storage = node.storage;
}

NodeGraph Decomposer::run() {
  out_.roles = in_.roles;
  at_.assign(in_.nodes.size(), kNoNode);
  for (NodeId id = 0; id < in_.nodes.size(); ++id) convert(id);
  const auto mapped = [this](const std::vector<NodeId>& ids) {
    std::vector<NodeId> out;
    out.reserve(ids.size());
    for (const NodeId id : ids) out.push_back(id == kNoNode ? kNoNode : at_[id]);
    return out;
  };
  out_.outputs = mapped(in_.outputs);
  out_.written = mapped(in_.written);
  for (const auto& [input, value] : statistics_) {
    out_.outputs.push_back(value);
    out_.written.push_back(input);
  }
  out_.gradients = mapped(in_.gradients);
  return std::move(out_);
}

NodeGraph decompose(const NodeGraph& captured, bool under_autocast, std::vector<NodeId>& places,
                    std::vector<std::string_view>& unknown) {
  Decomposer decomposer(captured, under_autocast);
  NodeGraph graph = decomposer.run();
  places = decomposer.places();
  unknown = decomposer.unknown();
  return graph;
}

}  // namespace tidemark::graph::inductor
