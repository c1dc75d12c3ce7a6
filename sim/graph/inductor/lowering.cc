#include "sim/graph/inductor/lowering.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sim/graph/inductor/fake_strides.h"
#include "sim/ops/tensor.h"

namespace tidemark::graph::inductor {

using ops::Dims;
using ops::ScalarType;

Lowering::Lowering(const PassGraph& pass, const DeviceShape& device, SizeHints& hints)
    : pass_(pass),
      nodes_(pass.graph.nodes),
      device_(device),
      hints_(hints),
      users_(pass.graph.users()),
      is_output_(nodes_.size()),
      is_visible_(nodes_.size()),
      fake_strides_(inductor::fake_strides(pass)),
      dislikes_padding_(nodes_.size()),
      values_(nodes_.size()),
      parts_(nodes_.size()) {
  for (const NodeId id : pass.outputs) {
    if (id != kNoNode) is_output_[id] = true;
  }
  for (std::size_t i = 0; i < pass.outputs.size() && i < pass.visible_outputs; ++i) {
    if (pass.outputs[i] != kNoNode) is_visible_[pass.outputs[i]] = true;
  }
}

void Lowering::run() {
  find_channels_last();
  find_dislikes_of_padding();
  find_fixed();
  // The first buffers are the inputs.
  for (const NodeId id : pass_.inputs) lower(id);
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    current_ = id;
    if (nodes_[id].kind != NodeKind::kInput) lower(id);
    finish(id);
  }
  collect_results();
  for (Buffer& buffer : program.buffers) decide_layout(buffer);
}

/// What convolutions read, up to reductions, is laid out without gaps, as is what the program sees.
/// Source: torch's mark_nodes_dislike_padding.
void Lowering::find_dislikes_of_padding() {
  std::vector<bool> is_seen = is_visible_;
  for (NodeId id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
    const GraphNode& node = nodes_[id];
    if (is_seen[id] && node.kind == NodeKind::kView) is_seen[node.inputs.front()] = true;
    if (node.kind == NodeKind::kInput || node.kind == NodeKind::kTangent ||
        node.kind == NodeKind::kPart)
      continue;
    if (node.name.ends_with("convolution") || node.name.ends_with("convolution_backward"))
      dislikes_padding_[id] = true;
    for (const NodeId input : node.inputs) {
      if (dislikes_padding_[id] && nodes_[input].kind != NodeKind::kReduction)
        dislikes_padding_[input] = true;
    }
    if (is_seen[id]) dislikes_padding_[id] = true;
  }
}

/// What becomes the gradient of a parameter has its sizes, which are never open.
void Lowering::find_fixed() {
  is_fixed_.assign(nodes_.size(), false);
  for (std::size_t i = 0; i < pass_.is_as_parameter.size(); ++i) {
    if (pass_.is_as_parameter[i] && pass_.outputs[i] != kNoNode) is_fixed_[pass_.outputs[i]] = true;
  }
  for (NodeId id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
    const GraphNode& node = nodes_[id];
    const bool looks = node.kind == NodeKind::kView || node.kind == NodeKind::kCast;
    if (is_fixed_[id] && looks) is_fixed_[node.inputs.front()] = true;
  }
}

void Lowering::lower(NodeId id) {
  const GraphNode& node = nodes_[id];
  const std::string_view name = node.name;
  if (is_beyond_loops(id)) return fallback(id);
  switch (node.kind) {
    case NodeKind::kInput:
    case NodeKind::kTangent:
      return input(id);
    case NodeKind::kView:
      return look(id);
    case NodeKind::kPart:
      return;  // given by the whole
    case NodeKind::kPointwise:
    case NodeKind::kCopy:
    case NodeKind::kCast:
      return loop(id);
    case NodeKind::kFill:
      return fill(id);
    case NodeKind::kReduction:
      if (name == "var_mean") return moments(id);
      return node.has_parts ? reduce_parts(id) : reduce(id);
    case NodeKind::kProduct:
      return product(id);
    case NodeKind::kCat:
      return concatenate(id);
    case NodeKind::kOpaque:
      break;
  }
  if (is_collective(name) || name == "wait_tensor") return collective(id);
  if (name == "inductor_seeds" || name == "inductor_lookup_seed") return seeds(id);
  if (name == "inductor_random") return random(id);
  if (name == "embedding" || name == "gather") return gather(id);
  if (puts_by_place(name)) return index_put(id);
  if (name == "copy_" || name == "copy_part_") return copy_into(id);
  if (name == "select_scatter" || name == "slice_scatter") return put_part(id);
  if (node.effects.empty() && node.dims.size() == 2 && !node.has_parts) return read_anywhere(id);
  if (name == "_low_memory_max_pool_with_offsets") return max_pool(id);
  if (name == "max_pool2d_with_indices_backward") return max_pool_backward(id);
  if (name == "as_strided_scatter") return as_strided_scatter(id);
  if (node.has_parts && node.effects.empty()) return look(id);  // split
  // So many tensors the fallback kernel gives, whether or not they are used.
  std::size_t parts = 0;
  if (name == "_scaled_dot_product_efficient_attention") parts = 4;
  if (name == "scaled_dot_product_efficient_attention_backward") parts = 3;
  if (name == "_scaled_dot_product_flash_attention") parts = 5;
  if (name == "scaled_dot_product_flash_attention_backward") parts = 3;
  if (name == "_embedding_bag") parts = 4;
  if (name == "addmm" || name == "mm" || name == "bmm" || name == "baddbmm") return product(id);
  if (name.ends_with("convolution")) return convolution(id);
  return library(id, parts);
}

// ---- values

Lowering::BoxId Lowering::add_box(NodeId id, std::shared_ptr<const Loops> loops, BufferId buffer) {
  const GraphNode& node = nodes_[id];
  Box box;
  box.loops = std::move(loops);
  box.buffer = buffer;
  box.sizes = node.sizes;
  box.strides = node.strides;
  box.offset = node.offset;
  box.dtype = node.dtype;
  box.device = node.device;
  box.node = id;
  boxes_.push_back(std::move(box));
  return static_cast<BoxId>(boxes_.size() - 1);
}

void Lowering::give(NodeId id, BoxId box) {
  const GraphNode& node = nodes_[id];
  values_[id] = {box, node.sizes, node.strides, node.offset, true};
}

bool Lowering::reads_nothing(std::size_t operation) const {
  if (read_nothing_.size() <= operation) read_nothing_.resize(program.operations.size());
  if (read_nothing_[operation]) return *read_nothing_[operation];
  const auto& loops = program.operations[operation].loops;
  bool is_nothing = false;
  if (loops != nullptr && !loops->is_reduction() && !loops->adds_atomically) {
    Trace probe;
    loops->body(probe, counters_of(loops->sizes, {}));
    is_nothing = probe.loads.empty();
  }
  read_nothing_[operation] = is_nothing;
  return is_nothing;
}

Trace::Value Lowering::load_box(Trace& trace, const Box& box, const Indices& at) const {
  if (box.loops != nullptr) return box.loops->body(trace, at);
  const Buffer& buffer = program.buffers[box.buffer];
  if (buffer.maker >= 0) {
    // What reads nothing is computed again rather than read.
    const Operation& maker = program.operations[static_cast<std::size_t>(buffer.maker)];
    if (reads_nothing(static_cast<std::size_t>(buffer.maker))) return maker.loops->body(trace, at);
  }
  return trace.load(box.buffer, flat(at, box.sizes, buffer.strides, 0));
}

namespace {

/// The indices of what a view looks at. One that only turns dimensions round hands them on.
Indices looked_through(const Indices& at, const Dims& seen, const Dims& seen_strides,
                       std::int64_t offset, const Dims& sizes, const Dims& strides) {
  Indices there(sizes.size());
  std::vector<bool> is_taken(seen.size());
  bool is_turned = offset == 0;
  for (std::size_t d = 0; d < sizes.size() && is_turned; ++d) {
    if (sizes[d] == 1) continue;
    std::size_t from = 0;
    while (from < seen.size() &&
           (is_taken[from] || seen[from] != sizes[d] || seen_strides[from] != strides[d]))
      ++from;
    is_turned = from < seen.size();
    if (!is_turned) break;
    is_taken[from] = true;
    there[d] = at[from];
  }
  for (std::size_t d = 0; d < seen.size(); ++d)
    is_turned = is_turned && (is_taken[d] || seen[d] == 1);
  if (is_turned) return there;
  return unflat(flat(at, seen, seen_strides, offset), sizes, strides);
}

}  // namespace

Trace::Value Lowering::load(Trace& trace, const Operand& operand, const Indices& at) const {
  const auto& [view, box, dtype] = operand;
  if (view.is_whole) return load_box(trace, box, at);
  const Indices there = looked_through(at, view.sizes, view.strides, view.offset - box.offset,
                                       box.sizes, box.strides);
  if (!view.is_memory || box.loops != nullptr) return load_box(trace, box, there);
  return trace.load(box.buffer, flat(there, box.sizes, program.buffers[box.buffer].strides, 0));
}

Trace::Value Lowering::load_as(Trace& trace, const Operand& operand, const Indices& at,
                               ScalarType as) const {
  const Dims& sizes = operand.view.sizes;
  Indices own;
  const std::size_t more = at.size() - sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    own.push_back(sizes[i] == 1 ? Index{} : at[more + i]);
  // What is broadcast from memory is a view of it: it is read, though it could be computed again.
  const bool is_broadcast = more > 0 && operand.view.is_whole && operand.box.loops == nullptr;
  const Value value =
      is_broadcast
          ? trace.load(operand.box.buffer,
                       flat(own, operand.box.sizes, program.buffers[operand.box.buffer].strides, 0))
          : load(trace, operand, own);
  if (operand.dtype == as) return value;
  return trace.op("to_dtype", {value, static_cast<Value>(as)});
}

Lowering::Count Lowering::count(const Loops& loops) const {
  if (counted_.get() == &loops) return count_;
  Trace trace;
  loops.body(trace, counters_of(loops.sizes, loops.reduced));
  return {trace.loads.size(), trace.ops, trace.moving_loads};
}

/// The same, kept for when it is asked of the same again.
Lowering::Count Lowering::count(const std::shared_ptr<const Loops>& loops) {
  count_ = count(*loops);
  counted_ = loops;
  return count_;
}

Buffer Lowering::buffer_for(NodeId id) const {
  const GraphNode& node = nodes_[id];
  Buffer buffer;
  buffer.sizes = node.sizes;
  buffer.strides = dense_strides(node.sizes);
  buffer.dtype = node.dtype;
  buffer.device = node.device;
  buffer.node = id;
  return buffer;
}

BufferId Lowering::new_buffer(NodeId id, const Dims& sizes, ScalarType dtype) {
  Buffer buffer;
  buffer.sizes = sizes;
  buffer.strides = dense_strides(sizes);
  buffer.dtype = dtype;
  buffer.node = id;
  buffer.device = nodes_[id].device;
  program.buffers.push_back(std::move(buffer));
  return static_cast<BufferId>(program.buffers.size() - 1);
}

BufferId Lowering::new_operation(Operation operation, Buffer buffer) {
  buffer.name = fmt::format("buf{}", program.operations.size() + names_of_writes_);
  buffer.maker = static_cast<std::int32_t>(program.operations.size());
  const auto id = static_cast<BufferId>(program.buffers.size());
  operation.output = id;
  program.buffers.push_back(std::move(buffer));
  program.operations.push_back(std::move(operation));
  return id;
}

BufferId Lowering::add_loops(std::shared_ptr<const Loops> loops, NodeId node, ops::Device device) {
  Buffer buffer;
  buffer.sizes = loops->sizes;
  buffer.strides = dense_strides(loops->sizes);
  buffer.dtype = loops->dtype;
  buffer.device = device;
  buffer.node = node;
  buffer.is_flexible = true;
  Operation operation;
  operation.loops = std::move(loops);
  operation.node = node;
  return new_operation(std::move(operation), std::move(buffer));
}

void Lowering::realize(BoxId id) {
  if (boxes_[id].loops == nullptr) return;
  const BufferId buffer = add_loops(boxes_[id].loops, boxes_[id].node, boxes_[id].device);
  boxes_[id].loops = nullptr;
  boxes_[id].buffer = buffer;
}

/// What is going to get memory anyway, unless it is read as cheaply as a copy of it would be.
void Lowering::realize_hint(BoxId id) {
  const Box& box = boxes_[id];
  if (box.loops != nullptr && count(*box.loops).moving > 1) realize(id);
}

// ---- behind each node

namespace {

constexpr std::size_t kMostReads = 8;        // realize_acc_reads_threshold
constexpr std::size_t kMostSharedReads = 4;  // realize_reads_threshold
constexpr int kMostOps = 30;                 // realize_opcount_threshold
constexpr int kMostInlined = 100;

bool needs_memory(const GraphNode& node) {
  static constexpr std::string_view kNames[] = {"mm",
                                                "addmm",
                                                "bmm",
                                                "baddbmm",
                                                "convolution",
                                                "convolution_backward",
                                                "max_pool2d_with_indices",
                                                "max_pool2d_with_indices_backward"};
  return std::find(std::begin(kNames), std::end(kNames), node.name) != std::end(kNames);
}

bool wants_fixed_strides(const GraphNode& node, bool are_channels_last) {
  return node.name == "mm" || node.name == "convolution_backward" ||
         (node.name == "convolution" && !are_channels_last);
}

bool is_convolution(const GraphNode& node) {
  return node.name.ends_with("convolution") && node.kind != NodeKind::kInput;
}

struct ConvolutionShape {
  bool is_transposed = false;
  bool is_grouped = false;  ///< though not by single channels
  bool narrows = false;
  bool is_small = false;
};

ConvolutionShape shape_of(const GraphNode& node, const Dims& x, const Dims& weight) {
  ConvolutionShape shape;
  shape.is_transposed = node.call.find("transpose") != std::string_view::npos;
  const bool is_whole = shape.is_transposed ? node.sizes[1] == weight[1] : x[1] == weight[1];
  shape.is_grouped = !is_whole && weight[1] > 1;
  shape.narrows = weight[0] * 2 <= weight[1] && weight.size() > 2 && weight[2] > 1;
  shape.is_small = weight[0] <= 64 && weight[1] <= 64;
  return shape;
}

}  // namespace

/// Without a backward pass the work decides, weighed by what was measured. Source: torch's
/// decide_layout_opt.
bool Lowering::saves_time(const std::vector<NodeId>& convolutions) const {
  double whole = 0;
  double weighed = 0;
  for (const NodeId id : convolutions) {
    const GraphNode& node = nodes_[id];
    const Dims& x = nodes_[node.inputs[0]].sizes;
    const Dims& weight = nodes_[node.inputs[1]].sizes;
    const ConvolutionShape shape = shape_of(node, x, weight);
    double work = 2.0 * static_cast<double>(inductor::product(weight)) * static_cast<double>(x[0]);
    const Dims& turns = shape.is_transposed ? x : node.sizes;
    for (std::size_t i = 2; i < turns.size(); ++i) work *= static_cast<double>(turns[i]);
    whole += work;
    weighed += work * (shape.is_grouped ? 1.358
                       : shape.is_small ? 0.783
                       : shape.narrows  ? 0.725
                                        : 0.823);
  }
  return weighed <= whole;
}

/// Which nodes are laid out for convolutions, if the graph has enough of them. Source: torch's
/// decide_layout_opt and find_nodes_prefer_channels_last.
void Lowering::find_channels_last() {
  std::vector<NodeId> convolutions;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (is_convolution(nodes_[id])) convolutions.push_back(id);
  }
  if (convolutions.empty() || pass_.is_dynamic || nodes_.size() + 1 >= 300 * convolutions.size())
    return;
  if (pass_.is_inference) {
    if (!saves_time(convolutions)) return;
  } else {
    bool are_small = true;
    for (const NodeId id : convolutions) {
      const GraphNode& node = nodes_[id];
      const ConvolutionShape shape =
          shape_of(node, nodes_[node.inputs[0]].sizes, nodes_[node.inputs[1]].sizes);
      if (shape.is_grouped || shape.narrows) return;
      are_small = are_small && shape.is_small;
    }
    if (are_small) return;
  }
  prefers_channels_last_.assign(nodes_.size(), false);
  for (NodeId id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
    if (nodes_[id].name == "bmm") continue;
    prefers_channels_last_[id] =
        is_convolution(nodes_[id]) ||
        std::any_of(users_[id].begin(), users_[id].end(),
                    [&](NodeId user) { return prefers_channels_last_[user]; });
  }
  for (NodeId id = 0; id < convolutions.back(); ++id) {
    if (!prefers_channels_last_[id]) continue;
    for (const NodeId user : users_[id]) {
      if (nodes_[user].name != "bmm") prefers_channels_last_[user] = true;
    }
  }
}

bool Lowering::prefers_channels_last(NodeId id) const {
  return !prefers_channels_last_.empty() && prefers_channels_last_[id] && !is_visible_[id] &&
         nodes_[id].sizes.size() == 4 && is_dense(nodes_[id].sizes, fake_strides_[id]);
}

void Lowering::mark_reuse(NodeId id, std::int64_t readers) {
  const BoxId box = values_[id].box;
  if (readers < 2 || boxes_[box].loops == nullptr) return;
  const Count of = count(*boxes_[box].loops);
  if (of.reads > kMostSharedReads || of.ops > kMostOps) realize(box);
}

void Lowering::prefer_channels_last(NodeId id) {
  if (!prefers_channels_last(id)) return;
  require_order(id, channels_last(nodes_[id].sizes));
}

void Lowering::make_output(NodeId id) {
  const View& view = values_[id];
  realize(view.box);
  const Dims& strides =
      prefers_channels_last(id) ? channels_last(nodes_[id].sizes) : fake_strides_[id];
  const bool may_pad = !is_visible_[id] && !dislikes_padding_[id];
  if (view.is_whole) {
    require_strides(id, strides, may_pad);
  } else {
    require_order(id, strides, may_pad);
    values_[id].is_memory = true;
  }
}

/// Whether a node's numbers get memory here. Source: torch's GraphLowering.run_node.
void Lowering::finish(NodeId id) {
  const GraphNode& node = nodes_[id];
  if (node.name == "copy_") return;
  const bool is_several =
      node.has_parts || (node.kind == NodeKind::kReduction && node.name == "var_mean");
  if (node.kind == NodeKind::kInput && is_output_[id] && prefers_channels_last(id)) make_output(id);
  if (is_several || node.kind == NodeKind::kInput || node.kind == NodeKind::kTangent) return;
  if (is_output_[id] && !node.sizes.empty()) make_output(id);
  const std::size_t users = users_[id].size() + (is_output_[id] ? 1 : 0);
  const auto loops = [&] { return boxes_[values_[id].box].loops; };
  if (users > 1) {
    for (const NodeId user : users_[id]) {
      if (!needs_memory(nodes_[user])) continue;
      realize_hint(values_[id].box);
      if (wants_fixed_strides(nodes_[user], !prefers_channels_last_.empty()))
        require_order(id, fake_strides_[id], !dislikes_padding_[id]);
    }
    if (is_output_[id]) realize(values_[id].box);
    if (loops() != nullptr) {
      const Count of = count(loops());
      if (of.reads > kMostSharedReads || of.ops > kMostOps) {
        prefer_channels_last(id);
        realize(values_[id].box);
      }
    }
  }
  if (loops() != nullptr && !loops()->is_reduction()) {
    const Count of = count(loops());
    if (of.reads > kMostReads || of.ops > kMostOps) {
      prefer_channels_last(id);
      realize_hint(values_[id].box);
    }
    if (loops() != nullptr && values_[id].is_whole && of.ops > kMostInlined)
      realize(values_[id].box);
  }
}

void Lowering::collect_results() {
  for (const NodeId id : pass_.outputs) {
    if (id == kNoNode) {
      program.results.emplace_back();
      continue;
    }
    const BufferId buffer = realized(id);
    const bool is_copied = boxes_[values_[id].box].buffer != buffer;
    Dims strides = is_copied ? dense_strides(nodes_[id].sizes) : strides_of(values_[id]);
    // What is kept lies as its buffer does, in dimensions of one element too.
    const bool is_kept = !is_copied && values_[id].is_whole && !is_visible_[id];
    for (std::size_t i = 0; i < strides.size() && !is_kept; ++i) {
      if (nodes_[id].sizes[i] == 1) strides[i] = fake_strides_[id][i];
    }
    program.results.push_back({buffer, id, strides});
  }
}

}  // namespace tidemark::graph::inductor
