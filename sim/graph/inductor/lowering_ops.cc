// Lowering's operators.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/inductor/fake_strides.h"
#include "sim/graph/inductor/graph_builder.h"
#include "sim/graph/inductor/lowering.h"
#include "sim/ops/tensor.h"

namespace tidemark::graph::inductor {

using ops::Dims;
using ops::ScalarType;

void Lowering::input(NodeId id) {
  const GraphNode& node = nodes_[id];
  const BufferId buffer = new_buffer(id, node.sizes, node.dtype);
  Buffer& made = program.buffers[buffer];
  made.strides = fake_strides_[id];
  made.name = pass_.labels[id];
  const auto at = std::find(pass_.inputs.begin(), pass_.inputs.end(), id);
  made.is_donated = at != pass_.inputs.end() &&
                    pass_.is_donated[static_cast<std::size_t>(at - pass_.inputs.begin())];
  give(id, add_box(id, nullptr, buffer));
}

namespace {

/// Whether dimensions are only split and joined from one shape to the other. Source: torch's
/// View._dynamic_reshape_indexer.
bool meets(const ops::Dims& from, const ops::Dims& to) {
  std::size_t i = from.size();
  std::size_t j = to.size();
  while (i > 0 && j > 0) {
    std::int64_t a = from[--i];
    std::int64_t b = to[--j];
    if (a == 1 || b == 1) {
      // One of the two is left for the next.
      if (a != 1) ++i;
      if (b != 1) ++j;
      continue;
    }
    if (b < a) {
      while (b < a && j > 0) b *= to[--j];
    } else {
      while (a < b && i > 0) a *= from[--i];
    }
    if (a != b) return false;
  }
  return true;
}

}  // namespace

void Lowering::look(NodeId id) {
  const GraphNode& node = nodes_[id];
  const auto see = [&](NodeId as, NodeId base) {
    const GraphNode& seen = nodes_[as];
    const View& of = values_[base];
    const bool is_cut = seen.name == "view" && boxes_[of.box].loops != nullptr &&
                        inductor::product(nodes_[base].sizes) == inductor::product(seen.sizes) &&
                        !meets(nodes_[base].sizes, seen.sizes);
    const bool is_memory = of.is_memory || (of.is_whole && boxes_[of.box].loops == nullptr);
    values_[as] = {of.box,   seen.sizes, seen.strides, seen.offset, false, of.is_tangled || is_cut,
                   is_memory};
  };
  if (!node.has_parts) {
    if (node.name == "expand") mark_broadcast(node.inputs.front(), node.sizes);
    see(id, node.inputs.front());
    return;
  }
  for (const NodeId part : users_[id]) see(part, node.inputs.front());
}

/// An operand that is repeated to be so large is read so many times. Source: torch's expand.
void Lowering::mark_broadcast(NodeId id, const ops::Dims& sizes) {
  if (nodes_[id].sizes == sizes) return;
  mark_reuse(id, inductor::product(sizes) /
                     std::max<std::int64_t>(1, inductor::product(nodes_[id].sizes)));
}

void Lowering::loop(NodeId id) {
  const GraphNode& node = nodes_[id];
  if (node.kind == NodeKind::kPointwise) {
    for (const NodeId input : node.inputs) mark_broadcast(input, node.sizes);
  }
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  if (node.kind == NodeKind::kCopy) {
    loops->body = [this, x = operand(node.inputs.front())](Trace& trace, const Indices& at) {
      return load_as(trace, x, at, x.dtype);
    };
  } else if (node.kind == NodeKind::kCast) {
    loops->body = [this, x = operand(node.inputs.front()), to = node.dtype](
                      Trace& trace, const Indices& at) { return load_as(trace, x, at, to); };
  } else {
    // Operands are brought to one type; what chooses among them stays as it is.
    ScalarType as = node.dtype;
    if (as == ScalarType::kBool && !node.inputs.empty()) as = nodes_[node.inputs.front()].dtype;
    std::vector<Operand> operands;
    for (const NodeId input : node.inputs) operands.push_back(operand(input));
    loops->body = [this, id, as, operands](Trace& trace, const Indices& at) {
      const GraphNode& of = nodes_[id];
      std::uint64_t value = std::hash<std::string_view>{}(of.name);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const bool chooses =
            (of.name == "where" && i == 0) || of.name == "_low_memory_max_pool_offsets_to_indices";
        value = mixed(value, load_as(trace, operands[i], at, chooses ? operands[i].dtype : as));
      }
      for (int i = 0; i < of.numbers; ++i)
        value = mixed(value,
                      trace.constant((of.settings & ~kReflected) + static_cast<std::uint64_t>(i)));
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
    return trace.constant(
        mixed(settings, 0xf111ULL));  // none that an operator is given as a number
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
  const std::size_t place_dim =
      node.dims.empty() ? node.sizes.size() - 1 : static_cast<std::size_t>(node.dims.front());
  loops->body = [this, x = operand(from), by = operand(places), is_embedding, place_dim](
                    Trace& trace, const Indices& at) {
    const std::size_t rank = by.view.sizes.size();
    const Indices first(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(rank));
    const Value place = load_as(trace, by, first, by.dtype);
    Index row;
    row.mark = place | 1U;
    Indices into;
    if (is_embedding) {
      into = {row};
      into.insert(into.end(), at.begin() + static_cast<std::ptrdiff_t>(rank), at.end());
    } else {
      into = at;
      into[place_dim] = row;
    }
    return load(trace, x, into);
  };
  give(id, add_box(id, std::move(loops), kNoBuffer));
}

/// A loop that reads its first operand so many times, at places that others of them or the loop
/// itself say.
void Lowering::read_anywhere(NodeId id) {
  const GraphNode& node = nodes_[id];
  if (node.dims[1] != 0) realize(values_[node.inputs.front()].box);
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  std::vector<Operand> places;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    places.push_back(operand(node.inputs[i]));
    // Several are broadcast to each other: views of memory.
    if (node.inputs.size() > 2 && places.back().box.loops == nullptr) {
      places.back().view.is_whole = false;
      places.back().view.is_memory = true;
    }
  }
  loops->body = [this, x = operand(node.inputs.front()), places, reads = node.dims[0],
                 sizes = node.sizes, name = node.name](Trace& trace, const Indices& at) {
    std::uint64_t place = std::hash<std::string_view>{}(name);
    for (const Operand& by : places) {
      const std::size_t rank = std::min(by.view.sizes.size(), at.size());
      Indices own(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(rank));
      own.resize(by.view.sizes.size());
      place = mixed(place, load_as(trace, by, own, by.dtype));
    }
    Value value = place;
    for (std::int64_t turn = 0; turn < reads; ++turn) {
      Indices there(x.view.sizes.size());
      // Which dimension is read elsewhere is seen where its size changes only.
      const bool is_moved =
          x.view.sizes == sizes &&
          (name.starts_with("flip") || name.starts_with("roll") || name.starts_with("index") ||
           name == "_unsafe_index" || name == "take");
      const bool is_aligned = there.size() == at.size() && !is_moved;
      for (std::size_t d = 0; d < there.size(); ++d) {
        if (is_aligned && x.view.sizes[d] == sizes[d] && d < 2) {
          there[d] = at[d];
        } else if (x.view.sizes[d] != 1) {
          std::uint64_t mark = mixed(place, static_cast<std::uint64_t>(turn));
          for (const Index& index : at) mark = mixed(mark, hash_of(index));
          there[d].mark = mixed(mark, d) | 1U;
        }
      }
      value = trace.op("anywhere", {value, load(trace, x, there)});
    }
    return value;
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
  loops->body = [this, seed = operand(node.inputs.front()), sizes = node.sizes](Trace& trace,
                                                                                const Indices& at) {
    const Value value = load_as(trace, seed, {}, ScalarType::kInt64);
    const Value place = trace.op("index_expr", {hash_of(flat(at, sizes, dense_strides(sizes), 0))});
    return trace.op("rand", {value, place});
  };
  const BoxId box = add_box(id, std::move(loops), kNoBuffer);
  give(id, box);
  realize(box);
}

/// Along which dimension of the values the places lie: the first that is of their sizes.
std::size_t Lowering::place_dim(const GraphNode& node) const {
  const Dims& values = nodes_[node.inputs.back()].sizes;
  const Dims& places = nodes_[node.inputs[1]].sizes;
  if (places.size() > values.size()) return 0;
  for (std::size_t first = 0; first + places.size() <= values.size(); ++first) {
    bool is_here = true;
    for (std::size_t i = 0; i < places.size(); ++i)
      is_here = is_here && (places[i] == 1 || places[i] == values[first + i]);
    if (is_here) return first;
  }
  return 0;
}

void Lowering::index_put(NodeId id) {
  const GraphNode& node = nodes_[id];
  const NodeId into = node.inputs.front();
  const NodeId values = node.inputs.back();
  // Into a copy, which only what reads it elsewhere tells from the operand.
  const BoxId copy = node.name.ends_with('_') ? values_[into].box : copy_of(into);
  freeze(copy);
  auto loops = std::make_shared<Loops>();
  loops->sizes = nodes_[values].sizes;
  loops->dtype = node.dtype;
  loops->adds_atomically = true;
  std::vector<Operand> places;
  for (std::size_t i = 1; i + 1 < node.inputs.size(); ++i)
    places.push_back(operand(node.inputs[i]));
  loops->body = [this, places, first = place_dim(node), x = operand(values), as = node.dtype](
                    Trace& trace, const Indices& at) {
    std::vector<Value> scattered;
    for (const Operand& by : places) {
      const std::size_t rank = std::min(by.view.sizes.size(), at.size() - first);
      const auto begin = at.begin() + static_cast<std::ptrdiff_t>(first);
      const Indices own(begin, begin + static_cast<std::ptrdiff_t>(rank));
      scattered.push_back(load_as(trace, by, own, by.dtype));
    }
    Value place = scattered.front();
    for (std::size_t i = 1; i < scattered.size(); ++i) place = mixed(place, scattered[i]);
    return trace.op("scatter", {load_as(trace, x, at, as), place});
  };
  const BufferId target = boxes_[copy].buffer;
  Buffer buffer = program.buffers[target];
  buffer.changes = target;
  buffer.is_flexible = false;
  Operation operation;
  operation.loops = std::move(loops);
  operation.node = id;
  const BufferId made = new_operation(std::move(operation), std::move(buffer));
  give(id, add_box(id, nullptr, made));
}

/// Numbers with others in one part of them. Where the part begins has no bearing on memory.
void Lowering::put_part(NodeId id) {
  const GraphNode& node = nodes_[id];
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  const auto dim = static_cast<std::size_t>(node.dims.front());
  const bool is_one = nodes_[node.inputs[1]].sizes.size() < node.sizes.size();
  if (dim >= node.sizes.size())
    throw ops::NotModelled(fmt::format("{} of all of a tensor in compiled code is not modelled",
                                       is_one ? "select_scatter" : "slice_scatter"));
  // One that is selected is repeated along the dimension.
  if (is_one && node.sizes[dim] != 1) mark_broadcast(node.inputs[1], node.sizes);
  loops->body = [this, into = operand(node.inputs[0]), part = operand(node.inputs[1]), dim, is_one](
                    Trace& trace, const Indices& at) {
    const Value place = trace.op("index_expr", {hash_of(at[dim])});
    const Value is_inside = trace.op(is_one ? "eq" : "lt", {place, trace.constant(dim)});
    Indices own = at;
    if (is_one) own.erase(own.begin() + static_cast<std::ptrdiff_t>(dim));
    Value value = load(trace, part, own);
    if (!is_one) value = trace.op("masked", {value});
    return trace.op("where", {is_inside, value, load(trace, into, at)});
  };
  give(id, add_box(id, std::move(loops), kNoBuffer));
}

/// A loop that writes into an input, or into a part of it.
void Lowering::copy_into(NodeId id) {
  const GraphNode& node = nodes_[id];
  const NodeId value = node.inputs[1];
  // What is copied has memory of its own, as far as estimates go; no kernel then needs it.
  if (node.name == "copy_") realize(values_[value].box);
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  if (node.name == "copy_part_") {
    loops->sizes = nodes_[value].sizes;
    loops->writes_part = true;
    loops->part_strides = Dims(std::span<const std::int64_t>(node.dims));
    loops->part_begin = static_cast<std::int64_t>(node.settings);
  }
  loops->body = [this, x = operand(value), as = node.dtype](Trace& trace, const Indices& at) {
    return load_as(trace, x, at, as);
  };
  const BufferId target = boxes_[values_[node.inputs[0]].box].buffer;
  Buffer buffer = program.buffers[target];
  buffer.changes = target;
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
  copy_factors(id);
  Buffer buffer = buffer_for(id);
  // Source: torch's choices.py, _need_to_fix_layout.
  buffer.goes_anywhere = node.sizes.size() == 2;  // those of batches do not
  give(id, add_box(id, nullptr, new_operation(std::move(operation), std::move(buffer))));
}

bool Lowering::are_channels_last(NodeId x, NodeId weight) const {
  return convolves_channels_last(nodes_[x], strides_of(values_[x]), nodes_[weight],
                                 strides_of(values_[weight]));
}

/// A convolution: its operands lie as it is fastest, and its bias is a loop of its own. Source:
/// torch's kernel/conv.py.
void Lowering::convolution(NodeId id) {
  const GraphNode& node = nodes_[id];
  const NodeId x = node.inputs[0];
  const NodeId weight = node.inputs[1];
  const View x_before = values_[x];
  const View weight_before = values_[weight];
  realize(x_before.box);
  realize(weight_before.box);
  const bool is_2d = node.sizes.size() == 4;
  const bool is_laid_out = is_2d && !prefers_channels_last_.empty();
  // Source: torch's constrain_conv_to_fx_strides, which leaves operands alone in such a graph.
  if (prefers_channels_last_.empty()) {
    for (const NodeId operand_id : node.inputs) {
      const View before = values_[operand_id];
      require_order(operand_id, fake_strides_[operand_id]);
      if (operand_id != x && operand_id != weight) values_[operand_id] = before;
    }
  }
  bool is_last = is_laid_out || (is_2d && are_channels_last(x, weight));
  // Else in the order of the result.
  const Dims result = is_2d ? convolved_strides(node.sizes, is_last) : fake_strides_[id];
  for (const NodeId operand_id : {x, weight})
    require_order(operand_id, is_laid_out ? channels_last(nodes_[operand_id].sizes) : result);
  Operation operation;
  operation.node = id;
  for (const NodeId operand_id : {x, weight}) operation.reads.push_back(realized(operand_id));
  if (is_laid_out) is_last = are_channels_last(x, weight);
  copy_operands(id, is_last);
  values_[x] = x_before;
  values_[weight] = weight_before;
  Buffer buffer;
  buffer.dtype = node.dtype;
  buffer.device = node.device;
  buffer.node = id;
  buffer.is_library_made = true;
  buffer.sizes = node.sizes;
  buffer.strides = is_2d ? convolved_strides(node.sizes, is_last) : node.strides;
  const BoxId box = add_box(id, nullptr, new_operation(std::move(operation), std::move(buffer)));
  give(id, box);
  if (node.inputs.size() < 3) return;
  auto loops = std::make_shared<Loops>();
  loops->sizes = node.sizes;
  loops->dtype = node.dtype;
  loops->body = [this, from = boxes_[box], bias = operand(node.inputs[2])](Trace& trace,
                                                                           const Indices& at) {
    return trace.op("add", {load_box(trace, from, at), load(trace, bias, {at[1]})});
  };
  give(id, add_box(id, std::move(loops), kNoBuffer));
}

/// A mask of attention in memory: its rows begin at multiples of eight elements, what is repeated
/// is there once. Source: torch's sdpa_constraint.
BufferId Lowering::aligned_mask(NodeId id) {
  constexpr std::int64_t kAlignment = 8;
  const Dims& sizes = nodes_[id].sizes;
  Dims strides = Dims::filled(sizes.size(), 1);
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size() - 1; i-- > 0;) {
    if (strides[i + 1] != 0) stride *= sizes[i + 1];
    if (fake_strides_[id][i] == 0 && strides[i + 1] % kAlignment == 0) {
      strides[i] = 0;
      continue;
    }
    stride = (stride + kAlignment - 1) / kAlignment * kAlignment;
    strides[i] = stride;
  }
  const View before = values_[id];
  // What is in memory stays there if it is aligned.
  const auto is_aligned = [&](const Dims& of) {
    for (std::size_t i = 0; i + 1 < of.size(); ++i) {
      if (of[i] % kAlignment != 0) return false;
    }
    return of.back() == 1 || sizes.back() <= 1;
  };
  const bool is_there =
      boxes_[before.box].loops == nullptr && is_strided(before) && is_aligned(strides_of(before));
  if (is_there) return realized(id);
  // What is repeated is computed once. Source: torch's ExternKernel.require_strides.
  auto loops = std::make_shared<Loops>();
  loops->sizes = sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (strides[i] == 0 && sizes[i] > 1) loops->sizes[i] = 1;
  }
  loops->dtype = nodes_[id].dtype;
  loops->body = [this, x = operand(id)](Trace& trace, const Indices& at) {
    return load(trace, x, at);
  };
  const Dims once = loops->sizes;
  const BoxId copy = add_box(id, std::move(loops), kNoBuffer);
  boxes_[copy].sizes = once;
  realize(copy);
  Buffer& made = program.buffers[boxes_[copy].buffer];
  made.sizes = once;
  made.strides = strides;
  made.is_flexible = false;
  return boxes_[copy].buffer;
}

/// A kernel of a library that asks for its memory itself.
void Lowering::library(NodeId id, std::size_t parts) {
  const GraphNode& node = nodes_[id];
  Operation operation;
  operation.node = id;
  const bool is_gradient = node.name.ends_with("convolution_backward");
  bool is_last = false;
  if (is_gradient) {
    // The operands lie as they do for fake tensors; it is for this call alone.
    std::vector<View> before;
    for (const NodeId input : node.inputs) {
      before.push_back(values_[input]);
      require_order(input, fake_strides_[input]);
      operation.reads.push_back(boxes_[values_[input].box].buffer);
    }
    is_last = are_channels_last(node.inputs[1], node.inputs[2]);
    copy_operands(id, is_last);
    for (std::size_t i = 0; i < before.size(); ++i) values_[node.inputs[i]] = before[i];
  }
  const bool has_mask =
      node.name == "_scaled_dot_product_efficient_attention" && node.inputs.size() > 3;
  for (const NodeId input : node.inputs) {
    if (is_gradient) break;
    const bool is_mask = has_mask && input == node.inputs[3];
    const BufferId buffer = is_mask ? aligned_mask(input) : realized(input);
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
      piece.strides = is_gradient && piece.sizes.size() == 4
                          ? convolved_strides(piece.sizes, is_last)
                          : nodes_[part].strides;
      piece.dtype = nodes_[part].dtype;
    }
    const BufferId buffer_of_part = new_operation(std::move(taking), std::move(piece));
    if (part != kNoNode) give(part, add_box(part, nullptr, buffer_of_part));
    ++made;
  };
  for (const NodeId part : users_[id]) {
    const auto number =
        static_cast<std::size_t>(nodes_[part].dims.empty() ? 0 : nodes_[part].dims[0]);
    while (made < number) add_part(kNoNode);
    add_part(part);
  }
  while (made < parts) add_part(kNoNode);
}

}  // namespace tidemark::graph::inductor
