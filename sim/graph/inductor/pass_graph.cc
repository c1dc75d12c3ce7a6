#include "sim/graph/inductor/pass_graph.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/inductor/graph_builder.h"
#include "sim/graph/inductor/index.h"

namespace tidemark::graph::inductor {

namespace {

/// How many results an operator gives, whether or not they are used; 0: those that are.
int results_of(std::string_view name) {
  static constexpr std::pair<std::string_view, int> kCounts[] = {
      {"_scaled_dot_product_flash_attention", 9},
      {"_scaled_dot_product_efficient_attention", 4},
      {"_embedding_bag", 4},
      {"convolution_backward", 3}};
  for (const auto& [known, count] : kCounts) {
    if (known == name) return count;
  }
  return 0;
}

/// Where a result stands among those of flash attention, of which some are no tensors.
int number_of(std::string_view name, int part) {
  return name == "_scaled_dot_product_flash_attention" && part > 1 ? part + 4 : part;
}

}  // namespace

namespace {

/// What is written where numbers say, into a copy and in place.
constexpr std::pair<std::string_view, std::string_view> kPuts[] = {
    {"index_put", "index_put_"}, {"scatter", "scatter_"}, {"scatter_add", "scatter_add_"}};

std::string_view in_place(std::string_view name) {
  for (const auto& [into_copy, into_input] : kPuts) {
    if (into_copy == name) return into_input;
  }
  return name;
}

}  // namespace

bool puts_by_place(std::string_view name) {
  return std::any_of(std::begin(kPuts), std::end(kPuts),
                     [name](const auto& put) { return put.first == name || put.second == name; });
}

std::vector<std::string> labels_of(const NodeGraph& joint,
                                   const std::map<NodeId, int>& open_sizes) {
  std::map<std::string_view, int> counts;
  std::vector<std::string> labels;
  std::map<NodeId, int> first_part;
  for (NodeId id = 0; id < joint.nodes.size(); ++id) {
    const GraphNode& node = joint.nodes[id];
    if (node.has_parts && results_of(node.name) > 0) {
      first_part[id] = counts["getitem"];
      counts["getitem"] += results_of(node.name);
    }
    if (node.kind == NodeKind::kPart && first_part.count(node.inputs.front()) > 0) {
      const std::string_view whole = joint.nodes[node.inputs.front()].name;
      const int number =
          first_part[node.inputs.front()] + number_of(whole, static_cast<int>(node.dims.front()));
      labels.push_back(number == 0 ? "getitem" : fmt::format("getitem_{}", number));
      continue;
    }
    std::string base(node.name);
    const bool is_input = node.kind == NodeKind::kInput || node.kind == NodeKind::kTangent;
    if (node.kind == NodeKind::kInput) base = "primals";
    if (const auto open = open_sizes.find(id); open != open_sizes.end())
      counts[node.name] += open->second;
    if (node.kind == NodeKind::kTangent) base = "tangents";
    if (base.starts_with("inductor_")) base += "_default";
    // Their decomposition converts operands before it finds that it has nothing to do.
    const bool is_narrow = ops::is_floating(node.dtype) && ops::element_bytes(node.dtype) < 4;
    if (is_narrow && node.name == "addmm") counts["convert_element_type"] += 3;
    if (is_narrow && (node.name == "mm" || node.name == "bmm")) counts["convert_element_type"] += 2;
    // Python's own names are taken. Source: torch.fx's _Namespace.
    static constexpr std::string_view kTaken[] = {"sum", "pow", "abs",   "max",  "min",
                                                  "all", "any", "round", "slice"};
    if (counts[node.name] == 0 &&
        std::find(std::begin(kTaken), std::end(kTaken), node.name) != std::end(kTaken))
      counts[node.name] = 1;
    const int count = counts[node.name]++;
    labels.push_back(
        count == 0 && !is_input ? base : fmt::format("{}_{}", base, count + (is_input ? 1 : 0)));
  }
  return labels;
}

namespace {

bool same_layout(const GraphNode& a, const GraphNode& b) {
  if (!(a.sizes == b.sizes) || a.dtype != b.dtype || a.offset != b.offset) return false;
  for (std::size_t i = 0; i < a.sizes.size(); ++i) {
    if (a.sizes[i] != 1 && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

/// What a node is another name of, if it does nothing; itself else.
NodeId without_effect(const NodeGraph& graph, const std::vector<std::size_t>& users, NodeId id) {
  const GraphNode& node = graph.nodes[id];
  if (node.inputs.empty() || node.has_parts) return id;
  const NodeId base = node.inputs.front();
  const GraphNode& from = graph.nodes[base];
  const bool is_conjugate = node.name == "_conj" || from.name == "_conj";
  const bool is_copy = node.kind == NodeKind::kCopy || node.kind == NodeKind::kView;
  if (is_copy && !is_conjugate && !from.has_parts && same_layout(node, from)) return base;
  // Two that undo each other, where nobody else looks at the first and no size is left to be found.
  const bool finds_size = node.name == "view" && node.call.find("-1") != std::string_view::npos;
  if (!finds_size && node.kind == NodeKind::kView && from.kind == NodeKind::kView &&
      users[base] == 1 && !from.inputs.empty() && node.name == from.name &&
      same_layout(node, graph.nodes[from.inputs.front()]))
    return from.inputs.front();
  return id;
}

std::vector<std::size_t> count_users(const NodeGraph& graph) {
  std::vector<std::size_t> counts(graph.nodes.size());
  const auto users = graph.users();
  for (std::size_t i = 0; i < users.size(); ++i) counts[i] = users[i].size();
  for (const auto* results : {&graph.outputs, &graph.gradients}) {
    for (const NodeId id : *results) {
      if (id != kNoNode) ++counts[id];
    }
  }
  return counts;
}

bool is_float(ops::ScalarType dtype) { return ops::is_floating(dtype); }

}  // namespace

namespace {

bool is_batch_of_one(const NodeGraph& graph, const GraphNode& node) {
  const auto is_one = [&](NodeId input) { return graph.nodes[input].sizes[0] == 1; };
  return node.name == "bmm" && node.inputs.size() == 2 && node.device.is_cuda() &&
         std::all_of(node.inputs.begin(), node.inputs.end(), is_one);
}

}  // namespace

void drop_batches_of_one(NodeGraph& joint, std::vector<std::string>& labels,
                         std::vector<NodeId>& places) {
  const auto is_here = [&](const GraphNode& node) { return is_batch_of_one(joint, node); };
  auto left = std::count_if(joint.nodes.begin(), joint.nodes.end(), is_here);
  if (left == 0) return;
  NodeGraph out;
  out.roles = joint.roles;
  GraphBuilder builder(out);
  std::vector<std::string> names;
  std::vector<NodeId> at(joint.nodes.size());
  for (NodeId id = 0; id < joint.nodes.size(); ++id) {
    GraphNode node = joint.nodes[id];
    const bool is_one = is_here(node);
    for (NodeId& input : node.inputs) input = at[input];
    if (!is_one) {
      out.nodes.push_back(std::move(node));
      names.push_back(std::move(labels[id]));
      at[id] = static_cast<NodeId>(out.nodes.size() - 1);
      continue;
    }
    // The last of them is found first.
    const std::string number = --left == 0 ? std::string() : fmt::format("_{}", left);
    builder.follow(node);
    for (NodeId& input : node.inputs) {
      input = builder.squeeze(input, {0});
      names.push_back("squeeze_dim" + number);
    }
    node.name = "mm";
    node.sizes = {node.sizes[1], node.sizes[2]};
    node.strides = dense_strides(node.sizes);
    const NodeId product = builder.add(std::move(node));
    names.push_back("mm_default" + number);
    at[id] = builder.unsqueeze(product, 0);
    names.push_back("unsqueeze_default" + number);
  }
  for (auto* list : {&joint.outputs, &joint.written, &joint.gradients, &places}) {
    for (NodeId& id : *list) id = id == kNoNode ? id : at[id];
  }
  out.outputs = std::move(joint.outputs);
  out.written = std::move(joint.written);
  out.gradients = std::move(joint.gradients);
  joint = std::move(out);
  labels = std::move(names);
}

std::vector<bool> simplify_joint(NodeGraph& joint) {
  const std::vector<std::size_t> users = count_users(joint);
  std::vector<NodeId> same(joint.nodes.size());
  for (NodeId id = 0; id < joint.nodes.size(); ++id) {
    GraphNode& node = joint.nodes[id];
    for (NodeId& input : node.inputs) input = same[input];
    same[id] = without_effect(joint, users, id);
    if (same[id] != id) continue;
    // A conversion of a conversion is one of what that one converts.
    if (node.kind == NodeKind::kCast && joint.nodes[node.inputs[0]].kind == NodeKind::kCast) {
      const GraphNode& first = joint.nodes[node.inputs[0]];
      if (is_float(first.dtype) && is_float(node.dtype) && users[node.inputs[0]] == 1)
        node.inputs = first.inputs;
      if (joint.nodes[node.inputs[0]].dtype == node.dtype) same[id] = node.inputs[0];
    }
  }
  std::vector<bool> are_converted;
  for (const NodeId id : joint.gradients) {
    const bool is_cast = id != kNoNode && joint.nodes[id].kind == NodeKind::kCast;
    are_converted.push_back(is_cast && same[id] != id);
  }
  for (auto* list : {&joint.outputs, &joint.gradients}) {
    for (NodeId& id : *list) {
      if (id != kNoNode) id = same[id];
    }
  }
  return are_converted;
}

PassGraph pass_of(const NodeGraph& joint, const std::vector<std::string>& labels,
                  const std::vector<NodeId>& inputs, const std::vector<NodeId>& order,
                  const std::vector<NodeId>& outputs) {
  PassGraph pass;
  std::vector<NodeId> at(joint.nodes.size(), kNoNode);
  const auto add = [&](NodeId id, bool is_input) {
    GraphNode node = joint.nodes[id];
    if (is_input) {
      node.kind = NodeKind::kInput;
      node.inputs.clear();
      node.effects.clear();
      node.has_parts = false;
    }
    for (NodeId& input : node.inputs) input = at[input];
    at[id] = static_cast<NodeId>(pass.graph.nodes.size());
    pass.graph.nodes.push_back(std::move(node));
    pass.labels.push_back(labels[id]);
    pass.places.push_back(id);
    if (is_input) pass.inputs.push_back(at[id]);
  };
  for (const NodeId id : inputs) add(id, true);
  for (const NodeId id : order) {
    if (at[id] == kNoNode) add(id, false);
  }
  for (const NodeId id : outputs) pass.outputs.push_back(id == kNoNode ? kNoNode : at[id]);
  pass.is_donated.assign(pass.inputs.size(), false);
  return pass;
}

void write_inputs(PassGraph& pass, const NodeGraph& joint, const std::vector<NodeId>& inputs) {
  const auto place = [&](NodeId id) {
    const auto found = std::find(pass.places.begin(), pass.places.end(), id);
    return static_cast<NodeId>(found - pass.places.begin());
  };
  const std::size_t first = joint.outputs.size() - joint.written.size();
  for (const NodeId input : inputs) {
    for (std::size_t i = 0; i < joint.written.size(); ++i) {
      if (joint.written[i] != input) continue;
      GraphNode copy = joint.nodes[input];
      copy.name = "copy_";
      copy.kind = NodeKind::kOpaque;
      copy.inputs = {place(input), place(joint.outputs[first + i])};
      copy.effects.clear();
      pass.graph.nodes.push_back(std::move(copy));
      pass.labels.emplace_back("copy_");
      pass.places.push_back(kNoNode);
    }
  }
}

namespace {

bool looks_only(const GraphNode& node) {
  return node.kind == NodeKind::kView || node.kind == NodeKind::kPart;
}

bool is_loop(const GraphNode& node) {
  return node.kind == NodeKind::kPointwise || node.kind == NodeKind::kCopy ||
         node.kind == NodeKind::kCast;
}

/// What becomes of a pass's sums and products, decided from the last node on.
struct ProductChoices {
  std::vector<NodeId> taken_in;   ///< by sum: the product that takes its other operand in
  std::vector<bool> is_taken;     ///< by product
  std::vector<bool> comes_apart;  ///< by product with a sum: it is both again
  std::vector<bool> is_output;
  std::vector<std::vector<NodeId>> users;
};

/// Whether all that is made of a node, behind views, is loops.
bool feeds_loops(const PassGraph& pass, const ProductChoices& choices, NodeId id) {
  if (choices.is_output[id]) return false;
  for (const NodeId user : choices.users[id]) {
    const GraphNode& node = pass.graph.nodes[user];
    const bool is_behind_product = choices.comes_apart[user] && node.inputs[0] == id &&
                                   node.inputs[1] != id && node.inputs[2] != id;
    if (is_behind_product) continue;
    if (choices.taken_in[user] != kNoNode) return false;
    if (looks_only(node) ||
        (node.has_parts && node.effects.empty() && node.kind != NodeKind::kReduction)) {
      if (!feeds_loops(pass, choices, user)) return false;
    } else if (!is_loop(node)) {
      return false;
    }
  }
  return true;
}

}  // namespace

namespace {

bool is_plain_product(const GraphNode& node) {
  return node.name == "mm" && node.inputs.size() == 2;
}

bool is_expandable_to(const ops::Dims& from, const ops::Dims& to) {
  if (from.size() > to.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != to[to.size() - from.size() + i]) return false;
  }
  return true;
}

/// Of a sum, its operand that is a product which takes the other in, the second before the first;
/// kNoNode: there is none. A factor of the sum (alpha=) keeps nothing from it, since patterns look
/// at no names that they do not have (torch's pattern_matcher.py, _TargetArgsExpr).
NodeId product_of_sum(const PassGraph& pass, const ProductChoices& choices, NodeId id) {
  const GraphNode& node = pass.graph.nodes[id];
  const bool is_sum = node.kind == NodeKind::kPointwise && node.name == "add" &&
                      node.inputs.size() == 2 && node.numbers == 0;
  if (!is_sum || node.sizes.size() != 2) return kNoNode;
  for (const std::size_t i : {1U, 0U}) {
    const NodeId product = node.inputs[i];
    const GraphNode& other = pass.graph.nodes[node.inputs[1 - i]];
    const GraphNode& factor = pass.graph.nodes[product];
    const bool fits = is_plain_product(factor) && choices.users[product].size() == 1 &&
                      !choices.is_output[product] && node.inputs[0] != node.inputs[1] &&
                      other.dtype == factor.dtype && is_expandable_to(other.sizes, factor.sizes) &&
                      other.device.is_cuda();
    if (fits) return feeds_loops(pass, choices, id) ? kNoNode : product;
  }
  return kNoNode;
}

/// The last node decides first, and what it becomes is what earlier ones see. Source: torch's
/// PatternMatcherPass.apply, which goes through the graph backwards; post_grad.py.
ProductChoices choose_products(const PassGraph& pass) {
  const std::vector<GraphNode>& nodes = pass.graph.nodes;
  ProductChoices choices;
  choices.taken_in.assign(nodes.size(), kNoNode);
  choices.is_taken.resize(nodes.size());
  choices.comes_apart.resize(nodes.size());
  choices.is_output.resize(nodes.size());
  choices.users = pass.graph.users();
  for (const NodeId id : pass.outputs) {
    if (id != kNoNode) choices.is_output[id] = true;
  }
  for (auto id = static_cast<NodeId>(nodes.size()); id-- > 0;) {
    const GraphNode& node = nodes[id];
    choices.taken_in[id] = product_of_sum(pass, choices, id);
    if (choices.taken_in[id] != kNoNode) choices.is_taken[choices.taken_in[id]] = true;
    const bool is_narrow = ops::element_bytes(node.dtype) < 4;
    choices.comes_apart[id] = node.name == "addmm" && node.inputs.size() == 3 && !is_narrow &&
                              feeds_loops(pass, choices, id);
  }
  return choices;
}

}  // namespace

namespace {

/// Puts what a node reads right before it, from the last node on, where nobody behind it reads it:
/// source: torch's reorder_for_locality. Parts stay where they are, and what lies behind the first
/// write into an input.
std::vector<NodeId> local_order(const PassGraph& pass) {
  const std::vector<GraphNode>& nodes = pass.graph.nodes;
  const auto count = static_cast<NodeId>(nodes.size());
  // A list that begins and ends at `count`.
  std::vector<NodeId> before(count + 1U);
  std::vector<NodeId> behind(count + 1U);
  for (NodeId id = 0; id <= count; ++id) {
    before[id] = id == 0 ? count : id - 1;
    behind[id] = id == count ? 0 : id + 1;
  }
  const auto users = pass.graph.users();
  std::vector<bool> is_seen(count);
  const auto put_before = [&](NodeId at, NodeId id) {
    const bool stays = nodes[id].kind == NodeKind::kInput || nodes[id].kind == NodeKind::kPart;
    const bool is_read_before = std::any_of(users[id].begin(), users[id].end(),
                                            [&](NodeId user) { return !is_seen[user]; });
    if (stays || is_read_before || before[at] == id) return;
    behind[before[id]] = behind[id];
    before[behind[id]] = before[id];
    before[id] = before[at];
    behind[id] = at;
    behind[before[id]] = id;
    before[at] = id;
  };
  const auto is_write = [](const GraphNode& node) { return node.name == "copy_"; };
  bool is_behind_writes = std::any_of(nodes.begin(), nodes.end(), is_write);
  if (!is_behind_writes) {
    for (const NodeId id : pass.outputs) {
      if (id != kNoNode) put_before(count, id);
    }
  }
  const auto first_write =
      static_cast<NodeId>(std::find_if(nodes.begin(), nodes.end(), is_write) - nodes.begin());
  for (NodeId id = before[count]; id != count; id = before[id]) {
    is_seen[id] = true;
    if (is_behind_writes) {
      is_behind_writes = id != first_write;
      continue;
    }
    for (const NodeId input : nodes[id].inputs) put_before(id, input);
  }
  std::vector<NodeId> order;
  order.reserve(count);
  for (NodeId id = behind[count]; id != count; id = behind[id]) order.push_back(id);
  return order;
}

void put_in_order(PassGraph& pass, const std::vector<NodeId>& order) {
  PassGraph out = pass;
  std::vector<NodeId> at(order.size());
  for (NodeId i = 0; i < order.size(); ++i) at[order[i]] = i;
  for (NodeId i = 0; i < order.size(); ++i) {
    out.graph.nodes[i] = std::move(pass.graph.nodes[order[i]]);
    for (NodeId& input : out.graph.nodes[i].inputs) input = at[input];
    out.labels[i] = std::move(pass.labels[order[i]]);
    out.places[i] = pass.places[order[i]];
  }
  for (NodeId& id : out.inputs) id = at[id];
  for (NodeId& id : out.outputs) id = id == kNoNode ? id : at[id];
  pass = std::move(out);
}

}  // namespace

namespace {

bool puts_part(const GraphNode& node) {
  const bool is_scatter = node.name == "select_scatter" || node.name == "slice_scatter";
  return is_scatter && node.dims.size() == 3;
}

/// A part that is put into an input, whatever views lead to it, as one loop that writes there: its
/// strides, and where it begins. Source: torch's canonicalize_view_scatter_ops.
void put_into_input(std::vector<GraphNode>& nodes, const std::vector<std::vector<NodeId>>& users,
                    NodeId made) {
  const NodeId into = nodes[made].inputs[0];
  ops::Dims strides = nodes[into].strides;
  std::int64_t offset = 0;
  NodeId at = made;
  while (true) {
    const GraphNode& put = nodes[at];
    const auto dim = static_cast<std::size_t>(put.dims[0]);
    offset = put.dims[1];
    if (put.name == "select_scatter") {
      strides.erase(dim);
    } else {
      strides[dim] = put.dims[2];
    }
    const NodeId values = put.inputs[1];
    const bool is_behind_view = puts_part(nodes[values]) && users[values].size() == 1 &&
                                looks_only(nodes[nodes[values].inputs[0]]);
    if (!is_behind_view) break;
    at = values;
  }
  const NodeId values = nodes[at].inputs[1];
  nodes[made].name = "copy_part_";
  nodes[made].inputs = {into, values};
  nodes[made].dims.assign(strides.begin(), strides.end());
  nodes[made].settings = static_cast<std::uint64_t>(offset);
}

/// What is scattered into a copy of an input and then written into it is scattered into the input
/// itself, if nobody reads the input behind that. Gives the writes that are left out. Source:
/// torch's fx_passes/reinplace.py.
std::vector<bool> scatter_into_inputs(PassGraph& pass) {
  std::vector<GraphNode>& nodes = pass.graph.nodes;
  std::vector<bool> is_left_out(nodes.size());
  const auto users = pass.graph.users();
  const std::function<bool(NodeId, NodeId, NodeId)> is_read_behind = [&](NodeId of, NodeId at,
                                                                         NodeId but) {
    return std::any_of(users[of].begin(), users[of].end(), [&](NodeId user) {
      if (looks_only(nodes[user])) return is_read_behind(user, at, but);
      return user > at && user != but;
    });
  };
  for (NodeId id = 0; id < nodes.size(); ++id) {
    if (nodes[id].name != "copy_") continue;
    const NodeId into = nodes[id].inputs[0];
    const NodeId made = nodes[id].inputs[1];
    const bool is_put = puts_part(nodes[made]);
    if ((!puts_by_place(nodes[made].name) || nodes[made].name.ends_with('_')) && !is_put) continue;
    if (nodes[made].inputs[0] != into || is_read_behind(into, made, id)) continue;
    if (is_put) {
      put_into_input(nodes, users, made);
    } else {
      nodes[made].name = in_place(nodes[made].name);
    }
    is_left_out[id] = true;
  }
  return is_left_out;
}

}  // namespace

void rewrite_pass(PassGraph& pass) {
  if (pass.is_inference) put_in_order(pass, local_order(pass));
  const std::vector<bool> is_left_out = scatter_into_inputs(pass);
  const ProductChoices choices = choose_products(pass);
  PassGraph out;
  out.inputs = pass.inputs;
  out.is_donated = pass.is_donated;
  out.input_strides = pass.input_strides;
  out.visible_outputs = pass.visible_outputs;
  out.is_inference = pass.is_inference;
  out.is_dynamic = pass.is_dynamic;
  out.open_images = pass.open_images;
  out.is_as_parameter = pass.is_as_parameter;
  std::vector<NodeId> at(pass.graph.nodes.size());
  const auto add = [&](GraphNode node, NodeId old) {
    out.graph.nodes.push_back(std::move(node));
    out.labels.push_back(pass.labels[old]);
    out.places.push_back(pass.places[old]);
    return static_cast<NodeId>(out.graph.nodes.size() - 1);
  };
  for (NodeId id = 0; id < pass.graph.nodes.size(); ++id) {
    if (choices.is_taken[id] || is_left_out[id]) continue;
    GraphNode node = pass.graph.nodes[id];
    if (const NodeId product = choices.taken_in[id]; product != kNoNode) {
      const NodeId other = node.inputs[1] == product ? node.inputs[0] : node.inputs[1];
      const GraphNode& factors = pass.graph.nodes[product];
      node.name = "addmm";
      node.dims.clear();
      node.kind = NodeKind::kProduct;
      node.effects = factors.effects;
      for (Effect& effect : node.effects) {
        if (effect.storage == factors.storage) effect.storage = node.storage;
      }
      node.inputs = {at[other], at[factors.inputs[0]], at[factors.inputs[1]]};
      at[id] = add(std::move(node), id);
      continue;
    }
    for (NodeId& input : node.inputs) input = at[input];
    if (!choices.comes_apart[id]) {
      at[id] = add(std::move(node), id);
      continue;
    }
    GraphNode product = node;
    product.name = "mm";
    product.inputs = {node.inputs[1], node.inputs[2]};
    const NodeId made = add(std::move(product), id);
    GraphNode sum = node;
    sum.name = "add";
    sum.kind = NodeKind::kPointwise;
    sum.effects.clear();
    sum.numbers = 0;
    sum.inputs = {node.inputs[0], made};
    at[id] = add(std::move(sum), id);
  }
  for (const NodeId id : pass.outputs) out.outputs.push_back(id == kNoNode ? kNoNode : at[id]);
  pass = std::move(out);
}

}  // namespace tidemark::graph::inductor
