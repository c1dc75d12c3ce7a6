#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/graph/inductor/loops.h"
#include "sim/graph/inductor/pass_graph.h"
#include "sim/graph/inductor/plan.h"

namespace tidemark::graph::inductor {

/// What of the device decides over loops.
struct DeviceShape {
  std::int64_t multiprocessors = 132;
  std::int64_t threads_per_multiprocessor = 2048;
};

/// What was decided for the sizes at which a pass was compiled, and holds for others: PyTorch
/// compiles code of dynamic sizes once.
struct SizeHints {
  struct Split {
    Hint hint = Hint::kDefault;
    std::int64_t parts = 1;
  };
  std::vector<Split> splits;                        ///< of reductions, in order
  std::vector<std::uint32_t> order;                 ///< of kernels: the first operation of each
  std::vector<std::vector<std::uint32_t>> kernels;  ///< the operations of each, in order
  std::vector<Line> lines;                          ///< the code that was written
  std::size_t buffers = 0;
  bool is_set = false;
  std::vector<std::int64_t> open_lengths;  ///< sizes that are open, if strides hang on some
};

/// Makes a pass into loops and calls of libraries: what is computed within a loop that reads it,
/// and what gets memory of its own. Source: docs/rules/compile.md#4.
class Lowering {
 public:
  /// `hints`: taken where they are set, else filled.
  Lowering(const PassGraph& pass, const DeviceShape& device, SizeHints& hints);
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;
  /// Errors: ops::NotModelled, with the operator's name.
  void run();
  /// The bodies of its loops need the lowering.
  LoopProgram program;

 private:
  using Value = Trace::Value;
  /// Numbers that are a loop still, or in memory already.
  struct Box {
    std::shared_ptr<const Loops> loops;  ///< null: in memory
    BufferId buffer = kNoBuffer;
    ops::Dims sizes;
    ops::Dims strides;  ///< as PyTorch's tensor has them, not the buffer
    std::int64_t offset = 0;
    ops::ScalarType dtype = ops::ScalarType::kFloat32;
    ops::Device device = ops::kHost;
    NodeId node = kNoNode;
  };
  using BoxId = std::uint32_t;
  /// A node's value: a box, and how it is seen.
  struct View {
    BoxId box = 0;
    ops::Dims sizes;
    ops::Dims strides;
    std::int64_t offset = 0;
    bool is_whole = true;     ///< the box as it is
    bool is_tangled = false;  ///< a loop's sizes were cut anew where they do not meet
    bool is_memory = false;   ///< of memory, not of a loop: read though it could be computed
  };

  // ---- nodes
  void lower(NodeId id);
  void input(NodeId id);
  void look(NodeId id);
  void loop(NodeId id);
  void fill(NodeId id);
  void reduce(NodeId id);
  void reduce_parts(NodeId id);
  void reduce(NodeId id, NodeId x, std::string_view name, const std::vector<std::int64_t>& dims);
  /// The greatest and the sum of a softmax in one pass. False: it takes two.
  bool reduce_online(NodeId greatest, const Loops& loops);
  [[nodiscard]] NodeId sum_of_softmax(NodeId greatest) const;
  void moments(NodeId id);
  void library(NodeId id, std::size_t parts);
  /// What no loop can compute: PyTorch's own operator, on what is in memory.
  [[nodiscard]] bool is_beyond_loops(NodeId id) const;
  void fallback(NodeId id);
  BufferId aligned_mask(NodeId id);
  void collective(NodeId id);
  [[nodiscard]] bool is_sent_in_place(NodeId id) const;
  void convolution(NodeId id);
  void copy_operands(NodeId id, bool is_last);
  void copy_factors(NodeId id);
  void product(NodeId id);
  void concatenate(NodeId id);
  [[nodiscard]] bool joins_in_loop(NodeId id) const;
  [[nodiscard]] bool is_copied_to_join(NodeId input, ops::ScalarType as) const;
  [[nodiscard]] bool reads_reduction(NodeId input) const;
  [[nodiscard]] bool has_only_element_wise_users(NodeId id) const;
  void join(NodeId id);
  void gather(NodeId id);
  void read_anywhere(NodeId id);
  void seeds(NodeId id);
  void random(NodeId id);
  void index_put(NodeId id);
  [[nodiscard]] std::size_t place_dim(const GraphNode& node) const;
  void copy_into(NodeId id);
  void put_part(NodeId id);
  void max_pool(NodeId id);
  void max_pool_backward(NodeId id);
  void as_strided_scatter(NodeId id);
  void finish(NodeId id);
  void make_output(NodeId id);
  void collect_results();

  // ---- values
  BoxId add_box(NodeId id, std::shared_ptr<const Loops> loops, BufferId buffer);
  void give(NodeId id, BoxId box);
  /// A value as a loop reads it: as it is when the loop is made. What gets memory later is computed
  /// within this loop nevertheless.
  struct Operand {
    View view;
    Box box;
    ops::ScalarType dtype = ops::ScalarType::kFloat32;
  };
  [[nodiscard]] Operand operand(NodeId id) const {
    return {values_[id], boxes_[values_[id].box], nodes_[id].dtype};
  }
  [[nodiscard]] Value load(Trace& trace, const Operand& operand, const Indices& at) const;
  /// Whether what an operation computes is of nothing in memory.
  [[nodiscard]] bool reads_nothing(std::size_t operation) const;
  [[nodiscard]] Value load_box(Trace& trace, const Box& box, const Indices& at) const;
  /// The same, where the loop has more dimensions, in a type.
  [[nodiscard]] Value load_as(Trace& trace, const Operand& operand, const Indices& at,
                              ops::ScalarType as) const;
  void realize(BoxId box);
  void realize_hint(BoxId box);
  /// What is read so many times gets memory unless it is cheap. Source: torch's mark_reuse.
  void mark_reuse(NodeId id, std::int64_t readers);
  void mark_broadcast(NodeId id, const ops::Dims& sizes);
  /// Has an input of a library's kernel in memory.
  BufferId realized(NodeId id);
  void require_strides(NodeId id, const ops::Dims& strides, bool may_pad = false);
  void require_order(NodeId id, const ops::Dims& strides, bool may_pad = false);
  /// Replaces a value by a copy of it that lies so.
  void give_copy(NodeId id, const ops::Dims& strides, bool may_pad);
  void find_dislikes_of_padding();
  void find_fixed();
  void pad(Buffer& buffer) const;
  [[nodiscard]] ops::Dims strides_of(const View& view) const;
  [[nodiscard]] bool are_channels_last(NodeId x, NodeId weight) const;
  void freeze(BoxId box);
  [[nodiscard]] bool is_strided(const View& view) const;
  [[nodiscard]] bool is_untangled(const View& view) const;
  BoxId copy_of(NodeId id);
  void decide_layout(Buffer& buffer) const;
  /// Memory for a node's result, without gaps, not yet part of the program.
  [[nodiscard]] Buffer buffer_for(NodeId id) const;
  BufferId new_buffer(NodeId id, const ops::Dims& sizes, ops::ScalarType dtype);
  BufferId new_operation(Operation operation, Buffer buffer);
  BufferId add_loops(std::shared_ptr<const Loops> loops, NodeId node, ops::Device device);
  struct Count {
    std::size_t reads = 0;
    int ops = 0;
    int moving = 0;
  };
  [[nodiscard]] Count count(const Loops& loops) const;
  [[nodiscard]] Count count(const std::shared_ptr<const Loops>& loops);
  mutable std::vector<std::optional<bool>> read_nothing_;  ///< by operation, once it is asked
  std::shared_ptr<const Loops> counted_;                   ///< what was counted last
  Count count_;

  // ---- reductions
  /// A reduction in one or several steps; its last one.
  /// `x`: its operand, if it is all of it.
  std::shared_ptr<const Loops> reduction(Loops loops, NodeId node, ops::Device device,
                                         NodeId x = kNoNode);
  static constexpr std::int64_t kAsBefore = -1;  ///< parts: those of the reductions behind
  [[nodiscard]] std::optional<std::pair<ops::Dims, ops::Dims>> ranges_behind(const Loops& loops,
                                                                             NodeId x) const;
  std::shared_ptr<const Loops> reduction_as_before(const Loops& loops,
                                                   const std::pair<ops::Dims, ops::Dims>& ranges,
                                                   NodeId node, ops::Device device);
  std::vector<BufferId> welford(Loops loops, std::vector<Body> bodies, NodeId node,
                                ops::Device device);
  using Split = SizeHints::Split;
  [[nodiscard]] Split split_of(const Loops& loops, NodeId x = kNoNode);
  [[nodiscard]] Split split_here(const Loops& loops);
  [[nodiscard]] std::int64_t split_inner(std::int64_t reduced, std::int64_t outputs) const;
  [[nodiscard]] std::int64_t split_outer(std::int64_t reduced, std::int64_t outputs) const;
  [[nodiscard]] static Body split_body(const Loops& loops, const Body& body, std::int64_t parts,
                                       std::int64_t block);
  void find_channels_last();
  [[nodiscard]] bool saves_time(const std::vector<NodeId>& convolutions) const;
  /// What convolutions around a value want, though nobody sees it from outside.
  [[nodiscard]] bool prefers_channels_last(NodeId id) const;
  /// Gives a loop that gets memory the layout that convolutions around it want.
  void prefer_channels_last(NodeId id);
  [[nodiscard]] BoxId box_of(NodeId id) const { return values_[id].box; }

  const PassGraph& pass_;
  const std::vector<GraphNode>& nodes_;
  DeviceShape device_;
  SizeHints& hints_;
  std::size_t splits_ = 0;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> is_output_;
  std::vector<bool> is_visible_;         ///< by node: the program sees how it is laid out
  std::vector<ops::Dims> fake_strides_;  ///< by node: as PyTorch's fake tensors have them
  std::vector<bool> dislikes_padding_;   ///< by node
  std::vector<bool> is_fixed_;           ///< by node: of a parameter's sizes
  NodeId current_ = 0;                   ///< the node that is made into loops
  std::vector<View> values_;
  std::vector<Box> boxes_;
  std::vector<bool> prefers_channels_last_;   ///< by node; empty: none does
  std::vector<std::vector<BufferId>> parts_;  ///< by node: of the results of a kernel
  std::map<NodeId, BufferId> online_sums_;    ///< of softmaxes, by their sum
  std::size_t names_of_writes_ = 0;           ///< that collectives take for what they write
};

/// The order of loops that reads run through memory with, the innermost first. `strides`: by read,
/// by loop. Source: torch's pick_loop_order.
std::vector<std::size_t> pick_loop_order(const std::vector<std::vector<std::int64_t>>& strides,
                                         const ops::Dims& sizes);

}  // namespace tidemark::graph::inductor
