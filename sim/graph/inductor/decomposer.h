#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/graph/inductor/decompose.h"
#include "sim/graph/inductor/graph_builder.h"

namespace tidemark::graph::inductor {

/// What decompose() runs: node by node of the captured graph.
class Decomposer {
 public:
  Decomposer(const NodeGraph& captured, bool under_autocast)
      : in_(captured), builder_(out_), under_autocast_(under_autocast) {}
  NodeGraph run();
  /// By node of the captured graph: which it is now.
  [[nodiscard]] const std::vector<NodeId>& places() const { return at_; }
  /// Operators whose decompositions are not known here, each once.
  [[nodiscard]] const std::vector<std::string_view>& unknown() const { return unknown_; }

 private:
  [[noreturn]] static void refuse(std::string_view name);
  static bool library_kernel(std::string_view name);
  static std::vector<std::int64_t> reduced_dims(const GraphNode& from, const GraphNode& to,
                                                bool& keeps_dims);
  static std::vector<std::int64_t> numbers_in(std::string_view call);
  [[nodiscard]] std::vector<NodeId> inputs_of(NodeId id) const;
  [[nodiscard]] std::vector<NodeId> parts_of(NodeId id) const;
  NodeId evaluate(std::string_view text, std::map<std::string_view, NodeId> names);
  void convert(NodeId id);
  void keep(NodeId id);
  void keep_unknown(NodeId id);
  void remember(std::string_view name);
  void add_seeds(NodeId last_part);
  void keep_transposed(NodeId product);
  void keep_single_part(NodeId id);
  NodeId with_expanded_dims(const GraphNode& view, NodeId base);
  void gives(NodeId captured, NodeId id);
  bool by_formula(NodeId id);
  /// "add_" as "add".
  static std::string_view without_underscore(std::string_view name);
  void element_wise(NodeId id);
  void copy(NodeId id);
  void reduction(NodeId id);
  void dropout(NodeId id);
  NodeId random(const ops::Dims& sizes, ops::ScalarType dtype);
  void fill(NodeId id);
  void bernoulli(NodeId id);
  void drawn_in_place(NodeId id);
  /// Operators that are reductions and more: decompose_composites.cc. False: it is none of them.
  bool composite(NodeId id);
  NodeId in_rows(NodeId x);
  void layer_norm(NodeId id);
  void layer_norm_backward(NodeId id);
  void stack(NodeId id);
  void softmax(NodeId id, bool is_log);
  void softmax_backward(NodeId id, bool is_log);
  /// Operators that read at places which no strides say: decompose_gathers.cc. False: none of them.
  bool anywhere(NodeId id);
  /// What is written in place: decompose_writes.cc. False: it is none of them.
  bool written(NodeId id);
  static bool is_repeated(const GraphNode& joined);
  void repeat(NodeId id);
  void adds_where(NodeId id, std::size_t dim, std::vector<NodeId> places);
  /// Reductions that are made of others. False: it is none of them.
  bool made_of_reductions(NodeId id);
  bool chosen_backward(NodeId id);
  void rms_norm(NodeId id);
  void rms_norm_backward(NodeId id);
  /// Losses, up to how they are summed up: decompose_losses.cc. False: it is none of them.
  bool roll(NodeId id);
  bool loss(NodeId id);
  void loss_of_both(NodeId id, const Formula& formula);
  NodeId summed_up(NodeId losses, std::string_view call, ops::ScalarType dtype);
  void nll_loss(NodeId id);
  void nll_loss_backward(NodeId id);
  void batch_norm(NodeId id);
  void batch_norm_backward(NodeId id);
  void group_norm(NodeId id);
  void group_norm_backward(NodeId id);
  void convolution_backward(NodeId id);
  /// The same numbers in other sizes: a copy where strides cannot say so.
  NodeId reshape(NodeId x, const ops::Dims& sizes);
  void mean_backward(NodeId id);
  void part_backward(NodeId id);
  void max_pool(NodeId id, std::vector<std::int64_t> window);
  bool adaptive_max_pool(NodeId id);
  void max_pool_backward(NodeId id);
  bool as_strided_backward(NodeId id);
  std::vector<NodeId> nearest_places(const ops::Dims& from, const ops::Dims& to);
  bool nearest(NodeId id);
  /// By dimension of an image: two places of the input, and where between them.
  struct Between {
    std::vector<NodeId> low;
    std::vector<NodeId> high;
    std::vector<NodeId> place;
    std::vector<NodeId> near;  ///< to the second
  };
  Between& between(const ops::Dims& from, const ops::Dims& to, ops::ScalarType dtype);
  NodeId nearness(Between& between, std::size_t dim, ops::ScalarType dtype);
  bool linear(NodeId id);
  bool clamp(NodeId id);
  void embedding(NodeId id);
  void embedding_backward(NodeId id);

  const NodeGraph& in_;
  NodeGraph out_;
  GraphBuilder builder_;
  bool under_autocast_;
  std::vector<NodeId> at_;
  std::map<NodeId, int> part_number_;
  std::map<NodeId, std::vector<NodeId>> attention_seeds_;  ///< by the last part before them
  std::vector<std::pair<NodeId, NodeId>> statistics_;      ///< inputs, and what they become
  using Sizes = std::vector<std::int64_t>;
  std::map<std::pair<Sizes, Sizes>, std::vector<NodeId>> nearest_places_;  ///< from, to
  std::map<std::pair<Sizes, Sizes>, Between> between_;                     ///< from, to
  NodeId seeds_ = kNoNode;
  std::vector<std::string_view> unknown_;
};

}  // namespace tidemark::graph::inductor
