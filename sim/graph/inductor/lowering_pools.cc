// Poolings of windows, and memory that is written in part. Source: docs/rules/compile.md#4.

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "sim/graph/inductor/lowering.h"
#include "sim/ops/op.h"

namespace tidemark::graph::inductor {

namespace {

/// A number of a window's turn: its place in memory is none that digits could say.
Indices shifted(const Indices& at, std::size_t turn) {
  Indices out = at;
  for (std::size_t d = 2; d < out.size(); ++d)
    out[d].mark = mixed(mixed(hash_of(at[d]), turn), d) | 1U;
  return out;
}

std::size_t window_of(const GraphNode& node) {
  return static_cast<std::size_t>(node.dims[0] * node.dims[1]);
}

/// In how many windows a number may lie, by dimension. Source: torch's
/// max_pool2d_with_indices_backward.
std::array<std::size_t, 2> windows_of_dims(const GraphNode& node) {
  std::array<std::size_t, 2> windows{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t kernel = node.dims[i];
    const std::int64_t stride = node.dims[i + 2];
    std::int64_t most = 1;
    for (std::int64_t at = 0; at < kernel * 2; ++at) {
      const std::int64_t before = at < kernel ? 0 : (at - kernel) / stride;
      most = std::max(most, at / stride - before);
    }
    windows[i] = static_cast<std::size_t>(most);
  }
  return windows;
}

}  // namespace

/// The greatest of each window, and where in the window it is.
void Lowering::max_pool(NodeId id) {
  const GraphNode& node = nodes_[id];
  const NodeId x = node.inputs.front();
  realize_hint(values_[x].box);
  for (const NodeId part : users_[id]) {
    const GraphNode& of = nodes_[part];
    auto loops = std::make_shared<Loops>();
    loops->sizes = of.sizes;
    loops->dtype = of.dtype;
    const bool is_place = of.dims[0] == 1;
    loops->body = [this, from = operand(x), is_place, turns = window_of(node)](Trace& trace,
                                                                               const Indices& at) {
      Value most = 0;
      for (std::size_t turn = 0; turn < turns; ++turn) {
        const Value one = load(trace, from, shifted(at, turn));
        most = turn == 0 ? one : trace.op(is_place ? "where" : "maximum", {most, one});
      }
      return most;
    };
    give(part, add_box(part, std::move(loops), kNoBuffer));
  }
}

void Lowering::max_pool_backward(NodeId id) {
  const GraphNode& node = nodes_[id];
  const NodeId g = node.inputs[0];
  const NodeId places = node.inputs.back();
  const NodeId x = node.inputs[1];
  realize_hint(values_[g].box);
  const auto [rows, columns] = windows_of_dims(node);
  if (rows * columns > 25)
    throw ops::NotModelled("the gradient of a pooling with windows so large");
  const auto is_last = [&](NodeId of) {
    const View& view = values_[of];
    return boxes_[view.box].loops == nullptr && strides_of(view)[1] == 1;
  };
  const bool is_channels_last = node.sizes.size() == 4 && (is_last(x) || is_last(g));
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  const std::array<std::int64_t, 2> strides{node.dims[2], node.dims[3]};
  loops->body = [this, from = operand(g), by = operand(places), most = windows_of_dims(node),
                 strides](Trace& trace, const Indices& at) {
    const std::size_t rank = at.size();
    const std::uint64_t row = hash_of(at[rank - 2]);
    const Value self = trace.op("index_expr", {row, hash_of(at.back())});
    // Where the windows over a number begin and end: expressions of its place.
    const Value zero = trace.constant(0);
    std::array<Value, 2> begins{};
    std::array<Value, 2> ends{};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::uint64_t place = hash_of(at[rank - 2 + i]);
      const auto pooled = static_cast<Value>(from.view.sizes[rank - 2 + i]);
      begins[i] = trace.op("maximum", {trace.op("index_expr", {place, 1}), zero});
      const Value end = trace.op("index_expr", {place, 2});
      ends[i] = trace.op("minimum", {end, trace.op("index_expr", {pooled})});
    }
    Value sum = 0;
    for (std::size_t turn = 0; turn < most[0] * most[1]; ++turn) {
      const std::array<std::size_t, 2> turns{turn / most[1], turn % most[1]};
      Indices there = at;
      std::array<Value, 2> windows{};
      for (std::size_t i = 0; i < 2; ++i) {
        for (Digit& digit : there[rank - 2 + i].digits) digit.divisor *= strides[i];
        windows[i] = trace.op("add", {begins[i], trace.constant(turns[i])});
        const Value last = trace.op("sub", {ends[i], trace.constant(1)});
        there[rank - 2 + i].mark = trace.op("minimum", {windows[i], last}) | 1U;
      }
      const Value place = load(trace, by, there);
      const Value one = load(trace, from, there);
      Value is_it = trace.op("eq", {place, self});
      if (turn == 0) {
        sum = trace.op("where", {is_it, one, trace.constant(0x0f)});
        continue;
      }
      const Value is_row = trace.op("lt", {windows[0], ends[0]});
      const Value is_column = trace.op("lt", {windows[1], ends[1]});
      is_it = trace.op("and", {trace.op("and", {is_row, is_column}), is_it});
      sum = trace.op("where", {is_it, trace.op("add", {sum, one}), sum});
    }
    return sum;
  };
  give(id, add_box(id, std::move(loops), kNoBuffer));
  if (is_channels_last) require_strides(id, channels_last(node.sizes));
}

/// A copy of some memory, into which others are written by their strides. Source: torch's
/// as_strided_scatter.
void Lowering::as_strided_scatter(NodeId id) {
  const GraphNode& node = nodes_[id];
  const BoxId copy = copy_of(node.inputs[0]);
  freeze(copy);
  const NodeId values = node.inputs[1];
  auto loops = std::make_shared<Loops>();
  loops->sizes = nodes_[values].sizes;
  loops->dtype = node.dtype;
  loops->body = [this, x = operand(values), as = node.dtype](Trace& trace, const Indices& at) {
    return load_as(trace, x, at, as);
  };
  const BufferId target = boxes_[copy].buffer;
  Buffer buffer = program.buffers[target];
  buffer.changes = target;
  buffer.is_flexible = false;
  // The same memory in the shape of what is written: the numbers lie one behind the other.
  buffer.sizes = loops->sizes;
  buffer.strides = dense_strides(loops->sizes);
  Operation operation;
  operation.loops = std::move(loops);
  operation.node = id;
  const BufferId made = new_operation(std::move(operation), std::move(buffer));
  give(id, add_box(id, nullptr, made));
}

}  // namespace tidemark::graph::inductor
