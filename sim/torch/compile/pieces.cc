#include "sim/torch/compile/pieces.h"

#include <algorithm>

#include "sim/torch/compile/capture.h"

namespace tidemark::torch {

using graph::GraphNode;
using graph::kNoNode;
using graph::kNoStorage;
using graph::NodeGraph;
using graph::NodeId;
using graph::NodeKind;
using graph::StorageId;

namespace {

/// torch.distributed._DEFAULT_FIRST_BUCKET_BYTES
constexpr Bytes kFirstCap = Bytes{1} << 20U;

void add_once(std::vector<NodeId>& list, NodeId id) {
  if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

/// Which bucket each of the program's calls belongs to, and where its nodes begin.
class Buckets {
 public:
  Buckets(const Capture& capture, const std::vector<NodeId>& results, Bytes cap)
      : graph_(capture.graph), calls_(capture.program_calls), users_(capture.graph.users()) {
    for (const NodeId id : results) are_results_.push_back(id);
    fill(cap);
  }
  /// The first node of each, in order.
  [[nodiscard]] const std::vector<NodeId>& starts() const { return starts_; }

 private:
  /// As gradients come: from the end. A bucket that is full ends before the call that filled it,
  /// once something outside reads of it.
  void fill(Bytes cap) {
    Bytes held = 0;
    auto end = static_cast<NodeId>(graph_.nodes.size());
    for (std::size_t i = calls_.size(); i-- > 0;) {
      const bool is_full = held >= cap || (starts_.empty() && held >= kFirstCap);
      if (is_full && is_read_outside(calls_[i + 1].first, end)) {
        starts_.push_back(end = calls_[i + 1].first);
        held = 0;
      }
      held += calls_[i].parameters;
    }
    // What comes before all parameters goes with the first that has some.
    if (held == 0 && !starts_.empty()) starts_.pop_back();
    starts_.push_back(0);
    std::reverse(starts_.begin(), starts_.end());
  }
  [[nodiscard]] bool is_read_outside(NodeId first, NodeId end) const {
    for (NodeId id = first; id < end; ++id) {
      const bool is_read =
          std::find(are_results_.begin(), are_results_.end(), id) != are_results_.end() ||
          std::any_of(users_[id].begin(), users_[id].end(), [end](NodeId u) { return u >= end; });
      if (is_read) return true;
    }
    return false;
  }

  const NodeGraph& graph_;
  const std::vector<Capture::ProgramCall>& calls_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<NodeId> are_results_;
  std::vector<NodeId> starts_;
};

/// Finds what crosses from piece to piece. What only looks at something is seen anew in each.
class Crossings {
 public:
  Crossings(const Capture& capture, std::vector<Piece>& pieces)
      : graph_(capture.graph), are_looks_(capture.are_looks()), pieces_(pieces) {}

  void find(const std::vector<Capture::ProgramCall>& calls) {
    std::size_t at = 0;
    std::size_t call = 0;
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      for (; call < calls.size() && calls[call].first == id; ++call) {
        while (id >= pieces_[at].last) ++at;
        for (const NodeId read : calls[call].reads) reads(at, read);
      }
      while (id >= pieces_[at].last) ++at;
      for (const NodeId read : graph_.nodes[id].inputs) reads(at, read);
    }
    for (; call < calls.size(); ++call) {
      for (const NodeId read : calls[call].reads) reads(pieces_.size() - 1, read);
    }
  }

 private:
  void reads(std::size_t at, NodeId id) {
    Piece& reader = pieces_[at];
    if (graph_.nodes[id].kind != NodeKind::kInput) {
      if (id >= reader.first && !are_looks_[id]) return;
      if (are_looks_[id]) {
        reads(at, graph_.nodes[id].inputs.front());
        return;
      }
      const auto maker = std::find_if(pieces_.begin(), pieces_.end(),
                                      [id](const Piece& piece) { return id < piece.last; });
      add_once(maker->outputs, id);
    }
    add_once(reader.inputs, id);
  }

  const NodeGraph& graph_;
  std::vector<bool> are_looks_;
  std::vector<Piece>& pieces_;
};

}  // namespace

std::vector<Piece> pieces_of(const Capture& capture, const std::vector<NodeId>& results,
                             Bytes cap) {
  const Buckets buckets(capture, results, cap);
  std::vector<Piece> pieces;
  for (const NodeId start : buckets.starts()) {
    if (!pieces.empty()) pieces.back().last = start;
    pieces.emplace_back().first = start;
  }
  pieces.back().last = static_cast<NodeId>(capture.graph.nodes.size());
  if (pieces.size() == 1) return pieces;
  Crossings(capture, pieces).find(capture.program_calls);
  for (const NodeId id : results) {
    const auto maker = std::find_if(pieces.begin(), pieces.end(),
                                    [id](const Piece& piece) { return id < piece.last; });
    add_once(maker->outputs, id);
  }
  return pieces;
}

PieceGraph::PieceGraph(const Capture& capture, const Piece& piece,
                       std::pair<NodeId, NodeId> gradients)
    : capture_(capture),
      are_looks_(capture.are_looks()),
      places_(capture.graph.nodes.size(), kNoNode),
      memories_(capture.graph.roles.size(), kNoStorage) {
  for (const NodeId id : piece.inputs) add_input(id);
  for (NodeId id = piece.first; id < piece.last; ++id) add(id);
  for (NodeId id = gradients.first; id < gradients.second; ++id) add(id);
}

NodeId PieceGraph::place(NodeId id) {
  if (places_[id] != kNoNode) return places_[id];
  return are_looks_[id] ? add(id) : add_input(id);
}

StorageId PieceGraph::memory(StorageId id) {
  if (id == kNoStorage) return id;
  if (memories_[id] == kNoStorage) {
    memories_[id] = static_cast<StorageId>(graph.roles.size());
    graph.roles.push_back(capture_.graph.roles[id]);
  }
  return memories_[id];
}

/// Inputs have memory of their own, though one may look into another's.
NodeId PieceGraph::add_input(NodeId id) {
  const GraphNode& of = capture_.graph.nodes[id];
  GraphNode node;
  node.name = "input";
  node.kind = NodeKind::kInput;
  node.is_parameter = of.kind == NodeKind::kInput && of.is_parameter;
  node.sizes = of.sizes;
  node.strides = of.strides;
  node.offset = of.offset;
  node.dtype = of.dtype;
  node.device = of.device;
  node.storage = static_cast<StorageId>(graph.roles.size());
  graph.roles.push_back(ops::Role::kInput);
  graph.nodes.push_back(std::move(node));
  inputs.push_back(id);
  return places_[id] = static_cast<NodeId>(graph.nodes.size() - 1);
}

NodeId PieceGraph::add(NodeId id) {
  if (places_[id] != kNoNode) return places_[id];
  const GraphNode& of = capture_.graph.nodes[id];
  if (of.kind == NodeKind::kInput) return kNoNode;  // one that it reads is there
  GraphNode node = of;
  for (NodeId& input : node.inputs) input = place(input);
  const bool looks = node.kind == NodeKind::kView && !node.inputs.empty();
  node.storage = looks ? graph.nodes[node.inputs.front()].storage : memory(of.storage);
  for (graph::Effect& effect : node.effects) effect.storage = memory(effect.storage);
  graph.nodes.push_back(std::move(node));
  return places_[id] = static_cast<NodeId>(graph.nodes.size() - 1);
}

}  // namespace tidemark::torch
