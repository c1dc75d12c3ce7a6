// Lowering's operators.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/inductor/lowering.h"
#include "sim/ops/tensor.h"

namespace tidemark::graph::inductor {

using ops::Dims;
using ops::ScalarType;

void Lowering::input(NodeId id) {
  const GraphNode& node = nodes_[id];
  const BufferId buffer = new_buffer(id, node.sizes, node.dtype);
  Buffer& made = program.buffers[buffer];
  made.strides = node.strides;
  made.name = pass_.labels[id];
  const auto at = std::find(pass_.inputs.begin(), pass_.inputs.end(), id);
  made.is_donated =
      at != pass_.inputs.end() && pass_.is_donated[static_cast<std::size_t>(at - pass_.inputs.begin())];
  give(id, add_box(id, nullptr, buffer));
}

void Lowering::look(NodeId id) {
  const GraphNode& node = nodes_[id];
  const auto see = [&](NodeId as, NodeId base) {
    const GraphNode& seen = nodes_[as];
    values_[as] = {values_[base].box, seen.sizes, seen.strides, seen.offset, false};
  };
  if (!node.has_parts) {
    see(id, node.inputs.front());
    return;
  }
  for (const NodeId part : users_[id]) see(part, node.inputs.front());
}

void Lowering::loop(NodeId id) {
  const GraphNode& node = nodes_[id];
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  if (node.kind == NodeKind::kCopy) {
    loops->body = [this, x = node.inputs.front()](Trace& trace, const Indices& at) {
      return load_operand(trace, x, at, nodes_[x].dtype);
    };
  } else if (node.kind == NodeKind::kCast) {
    loops->body = [this, x = node.inputs.front(), to = node.dtype](Trace& trace, const Indices& at) {
      return load_operand(trace, x, at, to);
    };
  } else {
    // Operands are brought to one type; what chooses among them stays as it is.
    ScalarType as = node.dtype;
    if (as == ScalarType::kBool && !node.inputs.empty()) as = nodes_[node.inputs.front()].dtype;
    loops->body = [this, id, as](Trace& trace, const Indices& at) {
      const GraphNode& of = nodes_[id];
      std::uint64_t value = std::hash<std::string_view>{}(of.name);
      for (std::size_t i = 0; i < of.inputs.size(); ++i) {
        const bool chooses = of.name == "where" && i == 0;
        value = mixed(value, load_operand(trace, of.inputs[i], at,
                                          chooses ? nodes_[of.inputs[i]].dtype : as));
      }
      for (int i = 0; i < of.numbers; ++i)
        value = mixed(value, trace.constant(of.settings + static_cast<std::uint64_t>(i)));
      return trace.op("loop", {value});
    };
  }
  give(id, add_box(id, std::move(loops), kNoBuffer));
}

void Lowering::fill(NodeId id) {
  const GraphNode& node = nodes_[id];
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  const bool counts = node.name == "iota";
  loops->body = [settings = node.settings, counts](Trace& trace, const Indices& at) {
    if (counts && !at.empty()) return trace.op("index_expr", {hash_of(at.front())});
    return trace.constant(settings);
  };
  give(id, add_box(id, std::move(loops), kNoBuffer));
}

void Lowering::gather(NodeId id) {
  const GraphNode& node = nodes_[id];
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  const NodeId from = node.inputs[0];
  const NodeId places = node.inputs[1];
  const bool is_embedding = node.name == "embedding";
  if (!boxes_[values_[from].box].loops) {
    // It is in memory.
  } else {
    realize(values_[from].box);
  }
  loops->body = [this, from, places, is_embedding](Trace& trace, const Indices& at) {
    const std::size_t rank = values_[places].sizes.size();
    const Indices first(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(rank));
    const Value place = load_operand(trace, places, first, nodes_[places].dtype);
    Index row;
    row.mark = place | 1U;
    Indices into;
    if (is_embedding) {
      into = {row};
      into.insert(into.end(), at.begin() + static_cast<std::ptrdiff_t>(rank), at.end());
    } else {
      into = at;
      into.back() = row;
    }
    return load(trace, values_[from], into);
  };
  give(id, add_box(id, std::move(loops), kNoBuffer));
}

void Lowering::seeds(NodeId id) {
  const GraphNode& node = nodes_[id];
  if (node.name == "inductor_seeds") {
    Buffer buffer;
    buffer.sizes = node.sizes;
    buffer.strides = dense_strides(node.sizes);
    buffer.dtype = ScalarType::kInt64;
    buffer.device = node.device;
    buffer.node = id;
    Operation operation;
    operation.node = id;
    give(id, add_box(id, nullptr, new_operation(std::move(operation), std::move(buffer))));
    return;
  }
  auto loops = std::make_shared<Loops>();
  loops->dtype = ScalarType::kInt64;
  loops->body = [this, id](Trace& trace, const Indices&) {
    Index place;
    place.offset = static_cast<std::int64_t>(id);  // each its own
    return trace.load(boxes_[box_of(nodes_[id].inputs.front())].buffer, place);
  };
  give(id, add_box(id, std::move(loops), kNoBuffer));
}

void Lowering::random(NodeId id) {
  const GraphNode& node = nodes_[id];
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  loops->body = [this, seed = node.inputs.front(), sizes = node.sizes](Trace& trace,
                                                                     const Indices& at) {
    const Value value = load_operand(trace, seed, {}, ScalarType::kInt64);
    const Value place =
        trace.op("index_expr", {hash_of(flat(at, sizes, dense_strides(sizes), 0))});
    return trace.op("rand", {value, place});
  };
  const BoxId box = add_box(id, std::move(loops), kNoBuffer);
  give(id, box);
  realize(box);
}

void Lowering::index_put(NodeId id) {
  const GraphNode& node = nodes_[id];
  const NodeId into = node.inputs[0];
  const NodeId places = node.inputs[1];
  const NodeId values = node.inputs[2];
  realize(values_[into].box);
  freeze(values_[into].box);
  auto loops = std::make_shared<Loops>();
  loops->sizes = nodes_[values].sizes;
  loops->dtype = node.dtype;
  loops->adds_atomically = true;
  loops->body = [this, places, values, as = node.dtype](Trace& trace, const Indices& at) {
    const std::size_t rank = values_[places].sizes.size();
    const Indices first(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(rank));
    const Value place = load_operand(trace, places, first, nodes_[places].dtype);
    return trace.op("scatter", {load_operand(trace, values, at, as), place});
  };
  const BufferId target = boxes_[values_[into].box].buffer;
  Buffer buffer = program.buffers[target];
  buffer.changes = target;
  buffer.is_flexible = false;
  Operation operation;
  operation.loops = std::move(loops);
  operation.node = id;
  const BufferId made = new_operation(std::move(operation), std::move(buffer));
  give(id, add_box(id, nullptr, made));
}

/// A kernel of a library that takes memory for its result from the generated code.
void Lowering::product(NodeId id) {
  const GraphNode& node = nodes_[id];
  Operation operation;
  operation.node = id;
  // The factors come into memory before what is added.
  const bool has_sum = node.inputs.size() == 3;
  if (has_sum) {
    realized(node.inputs[1]);
    realized(node.inputs[2]);
  }
  for (const NodeId input : node.inputs) operation.reads.push_back(realized(input));
  Buffer buffer;
  buffer.sizes = node.sizes;
  buffer.strides = dense_strides(node.sizes);
  buffer.dtype = node.dtype;
  buffer.device = node.device;
  buffer.node = id;
  give(id, add_box(id, nullptr, new_operation(std::move(operation), std::move(buffer))));
}

/// A kernel of a library that asks for its memory itself.
void Lowering::library(NodeId id, std::size_t parts) {
  const GraphNode& node = nodes_[id];
  Operation operation;
  operation.node = id;
  for (const NodeId input : node.inputs) {
    const BufferId buffer = realized(input);
    if (std::find(operation.reads.begin(), operation.reads.end(), buffer) == operation.reads.end())
      operation.reads.push_back(buffer);
  }
  Buffer buffer;
  buffer.dtype = node.dtype;
  buffer.device = node.device;
  buffer.node = id;
  buffer.is_library_made = true;
  if (!node.has_parts) {
    buffer.sizes = node.sizes;
    buffer.strides = node.strides;
    give(id, add_box(id, nullptr, new_operation(std::move(operation), std::move(buffer))));
    return;
  }
  buffer.is_whole = true;
  const BufferId whole = new_operation(std::move(operation), std::move(buffer));
  std::size_t made = 0;
  const auto add_part = [&](NodeId part) {
    Operation taking;
    taking.is_part = true;
    taking.reads = {whole};
    taking.node = part;
    Buffer piece;
    piece.device = node.device;
    piece.node = part;
    piece.is_library_made = true;
    if (part != kNoNode) {
      piece.device = nodes_[part].device;
      piece.sizes = nodes_[part].sizes;
      piece.strides = nodes_[part].strides;
      piece.dtype = nodes_[part].dtype;
    }
    const BufferId buffer_of_part = new_operation(std::move(taking), std::move(piece));
    if (part != kNoNode) give(part, add_box(part, nullptr, buffer_of_part));
    ++made;
  };
  for (const NodeId part : users_[id]) {
    const auto number = static_cast<std::size_t>(nodes_[part].dims.empty() ? 0 : nodes_[part].dims[0]);
    while (made < number) add_part(kNoNode);
    add_part(part);
  }
  while (made < parts) add_part(kNoNode);
}

namespace {

constexpr std::size_t kMostPointwiseCat = 8;  // max_pointwise_cat_inputs

}  // namespace

void Lowering::concatenate(NodeId id) {
  const GraphNode& node = nodes_[id];
  if (node.inputs.size() > kMostPointwiseCat)
    throw ops::NotModelled("cat of more than eight tensors in code compiled by inductor is not modelled");
  std::size_t dim = 0;
  for (std::size_t i = 0; i < node.sizes.size(); ++i) {
    if (nodes_[node.inputs.front()].sizes[i] != node.sizes[i]) dim = i;
  }
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  loops->body = [this, id, dim](Trace& trace, const Indices& at) {
    const GraphNode& of = nodes_[id];
    Value value = trace.op("index_expr", {hash_of(at[dim])});
    std::int64_t start = 0;
    for (const NodeId input : of.inputs) {
      const std::int64_t size = nodes_[input].sizes[dim];
      const Value bound = trace.constant(static_cast<std::uint64_t>(start + size));
      const Value inside = trace.op("lt", {value, bound});
      Indices shifted = at;
      if (size == 1) {
        shifted[dim] = {};
      } else {
        shifted[dim].offset -= start;
      }
      value = trace.op("where", {inside, trace.op("masked", {load_operand(trace, input, shifted, of.dtype)})});
      start += size;
    }
    return value;
  };
  give(id, add_box(id, std::move(loops), kNoBuffer));
}

void Lowering::softmax_parts(NodeId id) {
  throw ops::NotModelled(fmt::format("{} in code compiled by inductor is not modelled", nodes_[id].name));
}

}  // namespace tidemark::graph::inductor
