#include "sim/graph/partition.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>
#include <string_view>
#include <utility>

#include "sim/graph/minimum_cut.h"

namespace tidemark::graph {

namespace {

template <std::size_t kCount>
bool is_one_of(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// What torch's partitioner counts as a view; transpose and detach are none to it.
bool is_view(const GraphNode& node) {
  static constexpr std::string_view kNames[] = {"squeeze", "unsqueeze", "alias",  "view",
                                                "slice",   "t",         "expand", "as_strided",
                                                "permute", "select",    "split"};
  return is_one_of(kNames, node.name);
}

bool is_random(const GraphNode& node) {
  static constexpr std::string_view kNames[] = {"native_dropout", "rand_like", "randn_like"};
  return is_one_of(kNames, node.name);
}

/// Loops that draw numbers: others each time.
bool draws(const GraphNode& node) {
  static constexpr std::string_view kNames[] = {"bernoulli", "poisson", "_standard_gamma", "normal",
                                                "uniform"};
  return is_one_of(kNames, node.name);
}

/// What may be computed twice.
bool is_recomputable(const GraphNode& node) {
  static constexpr std::string_view kReductions[] = {"sum", "mean",     "amax",       "max",
                                                     "min", "any",      "argmax",     "var",
                                                     "std", "var_mean", "sum_to_size"};
  static constexpr std::string_view kOthers[] = {
      "_unsafe_view", "arange",    "iota",  "triu",       "index",
      "gather",       "ones",      "zeros", "zeros_like", "_low_memory_max_pool_offsets_to_indices",
      "full",         "full_like", "empty", "empty_like", "new_zeros",
      "scalar_tensor"};
  if (draws(node)) return false;
  switch (node.kind) {
    case NodeKind::kPart:
    case NodeKind::kPointwise:
    case NodeKind::kCopy:
    case NodeKind::kCast:
      return true;
    case NodeKind::kReduction:
      return is_one_of(kReductions, node.name);
    default:
      return is_view(node) || is_one_of(kOthers, node.name);
  }
}

bool is_input(const GraphNode& node) {
  return node.kind == NodeKind::kInput || node.kind == NodeKind::kTangent;
}

class Partitioner {
 public:
  explicit Partitioner(const NodeGraph& joint)
      : joint_(joint), nodes_(joint.nodes), users_(joint.users()) {
    forget_dead();
    classify();
    measure_distances();
  }

  Partition run() {
    read_regions();
    ban_by_node();
    ban_used_far_apart();
    ban_long_chains();
    Partition out;
    out.saved = cut();
    std::vector<NodeId> given = out.saved;
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      if (nodes_[id].kind == NodeKind::kTangent) given.push_back(id);
    }
    const std::vector<NodeId> backward = joint_.needed_for(joint_.gradients, given);
    drop_unused(out.saved, backward);
    out.backward = with_parts_first(as_late_as_possible(backward, given));
    std::vector<NodeId> kept = joint_.outputs;
    kept.insert(kept.end(), out.saved.begin(), out.saved.end());
    std::vector<NodeId> inputs;
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      if (nodes_[id].kind == NodeKind::kInput) inputs.push_back(id);
    }
    out.forward = with_parts_first(joint_.needed_for(kept, inputs));
    return out;
  }

 private:
  [[nodiscard]] Bytes size_of(NodeId id) const {
    if (!nodes_[id].has_parts) return bytes_of(nodes_[id]);
    Bytes bytes = 0;
    for (const NodeId user : users_[id]) bytes += bytes_of(nodes_[user]);
    return bytes;
  }

  /// What nobody needs any more, such as what was computed twice, reads nothing.
  void forget_dead() {
    std::vector<NodeId> wanted = joint_.outputs;
    wanted.insert(wanted.end(), joint_.gradients.begin(), joint_.gradients.end());
    std::vector<bool> is_live(nodes_.size());
    for (const NodeId id : joint_.needed_for(wanted, {})) is_live[id] = true;
    for (std::vector<NodeId>& users : users_)
      std::erase_if(users, [&](NodeId user) { return !is_live[user]; });
  }

  void classify() {
    const std::size_t n = nodes_.size();
    by_tangents_.resize(n);
    in_backward_.resize(n);
    in_forward_.resize(n);
    order_.resize(n);
    for (NodeId id = 0; id < n; ++id) {
      const auto& inputs = nodes_[id].inputs;
      by_tangents_[id] = nodes_[id].kind == NodeKind::kTangent ||
                         std::any_of(inputs.begin(), inputs.end(),
                                     [this](NodeId input) { return by_tangents_[input]; });
      in_backward_[id] = by_tangents_[id];
    }
    for (const NodeId id : joint_.gradients) {
      if (id != kNoNode) in_backward_[id] = true;
    }
    for (const NodeId id : joint_.needed_for(joint_.outputs, {})) in_forward_[id] = true;
    is_result_.resize(n);
    for (const auto* results : {&joint_.outputs, &joint_.gradients}) {
      for (const NodeId id : *results) {
        if (id != kNoNode) is_result_[id] = true;
      }
    }
    // PyTorch's graphs have all inputs before anything else.
    for (NodeId id = 0; id < n; ++id) {
      if (nodes_[id].kind != NodeKind::kInput) continue;
      in_forward_[id] = true;
      forward_.push_back(id);
    }
    for (NodeId id = 0; id < n; ++id) {
      if (in_forward_[id] && nodes_[id].kind != NodeKind::kInput) forward_.push_back(id);
    }
    for (std::size_t i = 0; i < forward_.size(); ++i)
      order_[forward_[i]] = static_cast<std::uint32_t>(i);
  }

  /// How many nodes lie between a node and the backward pass.
  void measure_distances() {
    distance_.assign(nodes_.size(), 0);
    for (NodeId id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
      if (!in_forward_[id]) continue;
      distance_[id] = kFar;
      for (const NodeId user : users_[id])
        distance_[id] = std::min(distance_[id], distance_[user] + 1);
    }
  }

  [[nodiscard]] bool is_fusible(NodeId id) const {
    return is_recomputable(nodes_[id]) || is_random(nodes_[id]);
  }
  /// A loop over what `a` gives could be one with `b`'s.
  [[nodiscard]] bool fuses(NodeId a, NodeId b) const {
    return nodes_[b].name == "cat" || (is_fusible(a) && is_fusible(b));
  }

  [[nodiscard]] bool is_materialized_in_backward(NodeId id) const {
    if (is_view(nodes_[id])) return false;
    std::vector<NodeId> stack{id};
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      if (is_result_[at]) return true;  // the graph's end reads it, and is no loop
      for (const NodeId user : users_[at]) {
        if (!in_forward_[user] && !fuses(at, user)) return true;
        if (is_view(nodes_[user])) stack.push_back(user);
      }
    }
    return false;
  }

  /// Whether its result is saved, if it is needed, rather than computed again.
  [[nodiscard]] bool is_banned(NodeId id) const {
    const GraphNode& node = nodes_[id];
    if (is_input(node) || node.kind == NodeKind::kPart) return false;
    if (must_save_[id]) return true;
    if (!is_recomputable(node) || is_materialized_in_backward(id)) return true;
    constexpr std::uint32_t kMostDistance = 1000;  // the constants of torch._functorch.config
    if (distance_[id] < 1000 && distance_[id] > kMostDistance) return true;
    constexpr Bytes kReduces = 4;
    Bytes read = 0;
    for (const NodeId input : node.inputs) read += size_of(input);
    return node.kind != NodeKind::kCat && size_of(id) * kReduces < read;
  }

  void ban(NodeId id) {
    if (!is_view(nodes_[id]) && !must_recompute_[id]) banned_[id] = true;
  }

  /// Checkpointed code is computed again, but for what one region hands to a later one. Source:
  /// torch's cleanup_recompute_tags.
  void read_regions() {
    must_recompute_.resize(nodes_.size());
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      const std::uint32_t region = nodes_[id].region;
      const bool is_kept =
          nodes_[id].is_kept || std::any_of(users_[id].begin(), users_[id].end(), [&](NodeId user) {
            return nodes_[user].region > region && !nodes_[user].is_kept;
          });
      must_recompute_[id] = region != 0 && !is_kept && !is_input(nodes_[id]);
    }
    must_save_.resize(nodes_.size());
    for (NodeId id = 0; id < nodes_.size(); ++id)
      must_save_[id] = nodes_[id].region != 0 && !must_recompute_[id] && !is_input(nodes_[id]);
    // Nothing is sent twice. Source: torch's force_save_collectives.
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      const bool is_sent = is_collective(nodes_[id].name) || nodes_[id].name == "wait_tensor";
      if (is_sent && !must_recompute_[id]) must_save_[id] = true;
    }
  }

  void ban_by_node() {
    banned_.resize(nodes_.size());
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      if (by_tangents_[id]) continue;
      if (nodes_[id].kind == NodeKind::kInput || (in_forward_[id] && is_banned(id))) ban(id);
    }
  }

  /// Where the first node lies, among those that follow on `start`, that no loop takes in.
  [[nodiscard]] std::uint32_t first_unfusible(const std::vector<NodeId>& start,
                                              std::uint32_t most) const {
    using Entry = std::pair<std::uint32_t, std::pair<bool, NodeId>>;
    std::set<Entry> waiting;
    for (const NodeId id : start) waiting.insert({order_[id], {true, id}});
    while (!waiting.empty()) {
      const auto [order, entry] = *waiting.begin();
      waiting.erase(waiting.begin());
      const auto [is_fused, id] = entry;
      if (!is_fused) return order;
      for (const NodeId user : users_[id]) {
        if (in_forward_[user] && order_[user] <= most)
          waiting.insert({order_[user], {fuses(id, user), user}});
      }
    }
    return most;
  }

  /// What is used both near and far behind is not computed again for the far use.
  void ban_used_far_apart() {
    for (const NodeId id : forward_) {
      std::vector<NodeId> forward;
      std::uint32_t last = 0;
      for (const NodeId user : users_[id]) {
        if (!in_forward_[user]) continue;
        forward.push_back(user);
        last = std::max(last, order_[user]);
      }
      if (forward.empty()) continue;
      const std::uint32_t first = first_unfusible(forward, last);
      for (const NodeId user : forward) {
        if (order_[user] > first && fuses(id, user) && !banned_[user]) ban(user);
      }
    }
  }

  /// A chain of loops through the whole model is cut somewhere.
  void ban_long_chains() {
    constexpr std::uint32_t kLongest = 100;
    std::vector<bool> visited(nodes_.size());
    using Entry = std::pair<std::uint32_t, NodeId>;
    for (const NodeId start : forward_) {
      std::priority_queue<Entry, std::vector<Entry>, std::greater<>> fusible;
      fusible.emplace(order_[start], start);
      while (!fusible.empty()) {
        const NodeId at = fusible.top().second;
        fusible.pop();
        if (visited[at]) continue;
        visited[at] = true;
        if (order_[at] > order_[start] + kLongest && fusible.empty()) {
          ban(at);
          break;
        }
        for (const NodeId user : users_[at]) {
          if (in_forward_[user] && fuses(at, user) && !banned_[user])
            fusible.emplace(order_[user], user);
        }
      }
    }
  }

  [[nodiscard]] std::int64_t weight_of(NodeId id) const {
    const GraphNode& node = nodes_[id];
    if (node.has_parts) return FlowNetwork::kUnlimited;
    if (node.is_parameter) return 0;
    const double factor =
        std::pow(1.1, std::max<std::uint32_t>(std::min<std::uint32_t>(distance_[id], 100), 1));
    const auto weight = static_cast<std::int64_t>(static_cast<double>(size_of(id)) * factor);
    const bool is_materialized = is_input(node) || is_result_[id] ||
                                 !std::all_of(users_[id].begin(), users_[id].end(),
                                              [&](NodeId user) { return fuses(id, user); });
    return is_materialized ? weight : 2 * weight;
  }

  [[nodiscard]] std::vector<NodeId> cut() const {
    const auto n = static_cast<std::uint32_t>(nodes_.size());
    const std::uint32_t source = 2 * n;
    const std::uint32_t sink = source + 1;
    const auto before = [](NodeId id) { return 2 * id; };
    const auto behind = [](NodeId id) { return 2 * id + 1; };
    FlowNetwork network(2 * n + 2);
    for (NodeId id = 0; id < n; ++id) {
      if (banned_[id]) network.add_edge(source, before(id), FlowNetwork::kUnlimited);
      if (by_tangents_[id]) {
        network.add_edge(before(id), sink, FlowNetwork::kUnlimited);
        continue;
      }
      if (in_backward_[id]) network.add_edge(behind(id), sink, FlowNetwork::kUnlimited);
      if (must_recompute_[id]) {
        network.add_edge(before(id), sink, FlowNetwork::kUnlimited);
        continue;
      }
      network.add_edge(before(id), behind(id), weight_of(id));
      for (const NodeId user : users_[id])
        network.add_edge(behind(id), before(user), FlowNetwork::kUnlimited);
    }
    const auto sides = network.behind_cut(source, sink);
    if (!sides) throw ops::NotModelled("the graph of compiled code has no cut");
    std::vector<NodeId> saved;
    for (NodeId id = 0; id < n; ++id) {
      if (!by_tangents_[id] && !(*sides)[before(id)] && (*sides)[behind(id)]) saved.push_back(id);
    }
    return saved;
  }

  void drop_unused(std::vector<NodeId>& saved, const std::vector<NodeId>& backward) const {
    std::vector<bool> is_used(nodes_.size());
    for (const NodeId id : backward) {
      for (const NodeId input : nodes_[id].inputs) is_used[input] = true;
    }
    for (const NodeId id : joint_.gradients) {
      if (id != kNoNode) is_used[id] = true;
    }
    std::erase_if(saved, [&](NodeId id) { return !is_used[id]; });
  }

  /// What is computed again is so when it is first needed. Source: torch's
  /// reordering_to_mimic_autograd_engine.
  [[nodiscard]] std::vector<NodeId> as_late_as_possible(const std::vector<NodeId>& backward,
                                                        const std::vector<NodeId>& given) const {
    const auto first = std::find_if(backward.begin(), backward.end(), [this](NodeId id) {
      const auto& inputs = nodes_[id].inputs;
      return std::any_of(inputs.begin(), inputs.end(),
                         [this](NodeId input) { return nodes_[input].kind == NodeKind::kTangent; });
    });
    if (first == backward.end()) return backward;
    std::vector<bool> is_there(nodes_.size());
    for (const NodeId id : given) is_there[id] = true;
    std::vector<NodeId> order;
    for (auto at = first; at != backward.end(); ++at) {
      std::set<NodeId> wanted;
      std::vector<NodeId> stack{*at};
      while (!stack.empty()) {
        const NodeId id = stack.back();
        stack.pop_back();
        if (is_there[id] || !wanted.insert(id).second) continue;
        for (const NodeId input : nodes_[id].inputs) stack.push_back(input);
      }
      for (const NodeId id : wanted) {
        is_there[id] = true;
        order.push_back(id);
      }
    }
    return order;
  }

  /// The parts of a node follow on it. Source: torch's raise_getitems.
  [[nodiscard]] std::vector<NodeId> with_parts_first(const std::vector<NodeId>& order) const {
    std::vector<bool> is_wanted(nodes_.size());
    for (const NodeId id : order) is_wanted[id] = true;
    std::vector<NodeId> out;
    for (const NodeId id : order) {
      const bool comes_earlier =
          nodes_[id].kind == NodeKind::kPart && is_wanted[nodes_[id].inputs.front()];
      if (comes_earlier) continue;
      out.push_back(id);
      if (!nodes_[id].has_parts) continue;
      for (const NodeId part : users_[id]) {
        if (is_wanted[part]) out.push_back(part);
      }
    }
    return out;
  }

  static constexpr std::uint32_t kFar = 1'000'000'000;
  const NodeGraph& joint_;
  const std::vector<GraphNode>& nodes_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> by_tangents_;  ///< is one, or depends on one
  std::vector<bool> in_backward_;  ///< the same, or is a gradient itself
  std::vector<bool> in_forward_;   ///< an input, or needed for a result
  std::vector<NodeId> forward_;    ///< those, in PyTorch's order
  std::vector<bool> is_result_;    ///< of the forward pass, or a gradient
  std::vector<bool> banned_;
  std::vector<bool> must_recompute_;
  std::vector<bool> must_save_;
  std::vector<std::uint32_t> order_;  ///< among those in_forward_
  std::vector<std::uint32_t> distance_;
};

}  // namespace

Partition partition(const NodeGraph& joint) { return Partitioner(joint).run(); }

}  // namespace tidemark::graph
