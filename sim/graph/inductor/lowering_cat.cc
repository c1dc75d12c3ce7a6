// Tensors that are joined: in a loop that reads the right one at each place, or in memory that each
// of them is written into. Source: docs/rules/compile.md#4; torch's cat and ConcatKernel.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/graph/inductor/fake_strides.h"
#include "sim/graph/inductor/lowering.h"

namespace tidemark::graph::inductor {

using ops::Dims;

namespace {

constexpr std::size_t kMostInLoop = 8;  // MAX_COMPLEX_POINTWISE_CAT, max_pointwise_cat_inputs

bool is_element_wise(const GraphNode& node) {
  return node.kind == NodeKind::kPointwise || node.kind == NodeKind::kCopy ||
         node.kind == NodeKind::kCast || node.kind == NodeKind::kCat ||
         node.name == "constant_pad_nd";
}

}  // namespace

/// Whether all that becomes of a value is computed element by element, as far as views of it go.
bool Lowering::has_only_element_wise_users(NodeId id) const {
  return !is_output_[id] && std::all_of(users_[id].begin(), users_[id].end(), [this](NodeId user) {
    const GraphNode& node = nodes_[user];
    const bool is_view = node.kind == NodeKind::kView || node.kind == NodeKind::kPart;
    return is_view ? has_only_element_wise_users(user) : is_element_wise(node);
  });
}

/// Whether a kernel would copy it into memory that it is to be a part of.
bool Lowering::is_copied_to_join(NodeId input, ops::ScalarType as) const {
  const View& view = values_[input];
  const Box& box = boxes_[view.box];
  if (nodes_[input].dtype != as) return true;
  if (box.loops != nullptr) return !box.loops->is_reduction();
  const Buffer& buffer = program.buffers[box.buffer];
  return !view.is_whole || buffer.maker < 0 || !(buffer.is_flexible || buffer.goes_anywhere);
}

bool Lowering::reads_reduction(NodeId input) const {
  const auto is_reduction = [this](BufferId id) {
    const std::int32_t maker = program.buffers[id].maker;
    if (maker < 0) return false;
    const auto& loops = program.operations[static_cast<std::size_t>(maker)].loops;
    return loops != nullptr && loops->is_reduction();
  };
  const Box& box = boxes_[values_[input].box];
  if (box.loops == nullptr) return is_reduction(box.buffer);
  if (box.loops->is_reduction()) return false;
  const std::vector<Access> reads = reads_of(*box.loops);
  return std::any_of(reads.begin(), reads.end(),
                     [&](const Access& read) { return is_reduction(read.buffer); });
}

bool Lowering::joins_in_loop(NodeId id) const {
  const std::vector<NodeId>& inputs = nodes_[id].inputs;
  if (inputs.size() == 1) return true;
  if (inputs.size() > kMostInLoop) return false;
  const auto is_copied = [&](NodeId input) { return is_copied_to_join(input, nodes_[id].dtype); };
  const auto has_reduction = [this](NodeId input) { return reads_reduction(input); };
  if (std::all_of(inputs.begin(), inputs.end(), is_copied) &&
      std::none_of(inputs.begin(), inputs.end(), has_reduction))
    return true;
  return std::any_of(inputs.begin(), inputs.end(), is_copied) && has_only_element_wise_users(id);
}

/// Each has its memory within the result: what gets memory here gets it there, the rest is copied.
void Lowering::join(NodeId id) {
  const GraphNode& node = nodes_[id];
  Buffer whole = buffer_for(id);
  bool is_channels_last = false;
  if (node.sizes.size() == 4) {
    const auto is_in_memory = [this](NodeId input) {
      const View& view = values_[input];
      return boxes_[view.box].loops == nullptr && is_strided(view);
    };
    const bool is_any_in_memory = std::any_of(node.inputs.begin(), node.inputs.end(), is_in_memory);
    const auto is_last = [&](NodeId input) {
      const Dims& sizes = nodes_[input].sizes;
      if (!is_any_in_memory) return lies_as(sizes, fake_strides_[input], channels_last(sizes));
      return is_in_memory(input) && is_copied_to_join(input, node.dtype) &&
             lies_as(sizes, strides_of(values_[input]), channels_last(sizes));
    };
    if (std::any_of(node.inputs.begin(), node.inputs.end(), is_last)) is_channels_last = true;
  }
  if (is_channels_last) {
    whole.strides = channels_last(node.sizes);
  } else if (!dislikes_padding_[id]) {
    pad(whole);
  }
  Operation joined;
  joined.node = id;
  joined.is_joined = true;
  for (const NodeId input : node.inputs) {
    const View& view = values_[input];
    BoxId box = view.box;
    if (nodes_[input].dtype == node.dtype && view.is_whole) realize(box);
    if (boxes_[box].loops != nullptr || is_copied_to_join(input, node.dtype)) {
      auto loops = std::make_shared<Loops>();
      loops->sizes = nodes_[input].sizes;
      loops->dtype = node.dtype;
      loops->body = [this, from = operand(input), as = node.dtype](
                        Trace& trace, const Indices& at) { return load_as(trace, from, at, as); };
      box = add_box(input, std::move(loops), kNoBuffer);
      realize(box);
    }
    Buffer& part = program.buffers[boxes_[box].buffer];
    part.is_flexible = part.goes_anywhere = false;
    part.strides = whole.strides;
    joined.reads.push_back(boxes_[box].buffer);
  }
  const std::vector<BufferId> parts = joined.reads;
  const BufferId result = new_operation(std::move(joined), std::move(whole));
  for (const BufferId part : parts) program.buffers[part].within = result;
  give(id, add_box(id, nullptr, result));
}

void Lowering::concatenate(NodeId id) {
  const GraphNode& node = nodes_[id];
  std::size_t dim = 0;
  for (std::size_t i = 0; i < node.sizes.size(); ++i) {
    if (nodes_[node.inputs.front()].sizes[i] != node.sizes[i]) dim = i;
  }
  if (!joins_in_loop(id)) {
    join(id);
    return;
  }
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  std::vector<Operand> operands;
  for (const NodeId input : node.inputs) operands.push_back(operand(input));
  loops->body = [this, dim, operands, as = node.dtype](Trace& trace, const Indices& at) {
    const Value place = trace.op("index_expr", {hash_of(at[dim])});
    Value start = trace.constant(0x5ca1eULL);
    std::int64_t before = 0;
    std::vector<Value> insides;
    std::vector<Value> values;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::int64_t size = operands[i].view.sizes[dim];
      const Value end = trace.op("index_expr", {static_cast<Value>(before + size)});
      const Value is_behind = trace.op("ge", {place, start});
      const Value is_before = trace.op("lt", {place, end});
      const bool is_last = i + 1 == operands.size();
      insides.push_back(i == 0    ? is_before
                        : is_last ? is_behind
                                  : trace.op("and", {is_behind, is_before}));
      Indices shifted = at;
      if (size == 1) {
        shifted[dim] = {};
      } else {
        shifted[dim].offset -= before;
      }
      // A place less what lies before it stays an expression of its own, where it says a place at
      // all. Source: torch's Identity.
      const std::uint64_t outer = trace.kept_apart;
      if (size != 1)
        trace.kept_apart = mixed(mixed(outer, place), static_cast<std::uint64_t>(before)) | 1U;
      const Value read = load_as(trace, operands[i], shifted, as);
      trace.kept_apart = outer;
      values.push_back(trace.op("masked", {insides.back(), read}));
      start = end;
      before += size;
    }
    Value value = values.back();
    for (std::size_t i = values.size() - 1; i-- > 0;)
      value = trace.op("where", {insides[i], values[i], value});
    return value;
  };
  give(id, add_box(id, std::move(loops), kNoBuffer));
}

}  // namespace tidemark::graph::inductor
