#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/graph/details.h"
#include "sim/ops/node.h"

namespace tidemark::torch {

/// Writes down what a run's graph looks like, for `tidemark graph`. It looks on and changes
/// nothing.
class GraphRecorder {
 public:
  explicit GraphRecorder(graph::Details& into) : into_(into) {}

  void begin_phase(std::string_view name);
  /// An operator is called: `vertex` of the computation graph.
  void add_op(graph::VertexId vertex, std::string_view name, std::string_view module,
              const std::vector<const ops::Tensor*>& inputs);
  /// The backward pass runs a node.
  void run_node(const ops::Node& node, std::string_view module);
  /// Memory is asked for under the operator `name`.
  void allocate(ops::RequestNumber request, Bytes bytes, std::string_view name,
                std::string_view module);
  /// The operator under way keeps memory for its backward.
  void keep(ops::RequestNumber request);

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  struct Request {
    Bytes bytes = 0;
    std::uint32_t maker = kNone;
  };
  std::uint32_t add(std::string_view name, std::string_view module);
  void add_edge(std::uint32_t from, std::uint32_t to, graph::EdgeKind kind, Bytes bytes);
  /// What `vertex` gave shares memory that was there: what it read of it was no plain reading.
  void mark_shared(std::uint32_t vertex, ops::RequestNumber request);

  graph::Details& into_;
  std::uint32_t current_ = kNone;
  graph::VertexId current_op_ = graph::kNoVertex;
  std::vector<Request> requests_;
  std::unordered_map<graph::VertexId, std::uint32_t> of_op_;
  /// By vertex: its edges from memory that it read.
  std::unordered_map<std::uint32_t, std::vector<std::pair<ops::RequestNumber, std::size_t>>> reads_;
  std::unordered_map<graph::VertexId, std::vector<ops::RequestNumber>> saved_;
  std::unordered_map<graph::VertexId, std::vector<std::pair<std::uint32_t, Bytes>>> gradients_;
};

}  // namespace tidemark::torch
