// Lowering's reductions: in one step, or split where one has too few results to fill the device.
// Source: docs/rules/compile.md#5.

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "sim/graph/inductor/lowering.h"

namespace tidemark::graph::inductor {

using ops::Dims;
using ops::ScalarType;

namespace {

constexpr std::int64_t kUnrolled = 8;  // unroll_reductions_threshold
constexpr std::int64_t kLeastPerThread = 32;
constexpr std::int64_t kMostPerThread = 512;
constexpr std::int64_t kThreads = 256;

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The divisor of a number that lies nearest to another, the smaller of two.
std::int64_t nearest_divisor(std::int64_t of, std::int64_t to) {
  std::int64_t best = 1;
  for (std::int64_t i = 1; i * i <= of; ++i) {
    if (of % i != 0) continue;
    for (const std::int64_t divisor : {i, of / i}) {
      const std::int64_t distance = std::abs(divisor - to);
      const std::int64_t least = std::abs(best - to);
      if (distance < least || (distance == least && divisor < best)) best = divisor;
    }
  }
  return best;
}

bool is_floating_or_wide(ScalarType dtype) {
  return !ops::is_floating(dtype) || ops::element_bytes(dtype) >= 4;
}

}  // namespace

std::int64_t Lowering::split_inner(std::int64_t reduced, std::int64_t outputs) const {
  const std::int64_t sm = device_.multiprocessors;
  const std::int64_t threads = device_.threads_per_multiprocessor;
  if (outputs >= 2 * sm || reduced <= 8192) return 1;
  std::int64_t size = kLeastPerThread;
  if (reduced * outputs > kLeastPerThread * sm * threads) {
    if (reduced * outputs < kMostPerThread * sm * threads) {
      const std::int64_t blocks = up(sm * threads / (2 * kThreads), outputs);
      const std::int64_t wanted = up(reduced, kThreads * blocks);
      const std::int64_t closest = nearest_divisor(reduced, wanted);
      size = std::abs(closest - wanted) < 30 ? std::max(closest, kLeastPerThread) : wanted;
    } else {
      const std::int64_t closest = nearest_divisor(reduced, kMostPerThread);
      size = std::abs(closest - kMostPerThread) < 50 ? closest : kMostPerThread;
    }
  }
  return up(reduced, size * kThreads);
}

std::int64_t Lowering::split_outer(std::int64_t reduced, std::int64_t outputs) const {
  const std::int64_t sm = device_.multiprocessors;
  const std::int64_t threads = device_.threads_per_multiprocessor;
  constexpr std::int64_t kPerThread = 4;
  const std::int64_t blocks = up(outputs, 128);
  std::int64_t size = kLeastPerThread;
  if (reduced * outputs >= kLeastPerThread * sm * threads) {
    if (reduced * outputs < kMostPerThread * sm * threads) {
      const std::int64_t target = up(sm * threads / kThreads, blocks);
      const std::int64_t wanted = up(reduced, kPerThread * target);
      const std::int64_t closest = nearest_divisor(reduced, wanted);
      size = std::abs(wanted - closest) < 20 ? std::max(closest, kLeastPerThread) : wanted;
    } else {
      const std::int64_t closest = nearest_divisor(reduced, kMostPerThread);
      size = std::abs(closest - kMostPerThread) < 50 ? closest : kMostPerThread;
    }
  }
  return up(reduced, kPerThread * size);
}

Lowering::Split Lowering::split_of(const Loops& loops, NodeId x) {
  Split split = split_here(loops);
  if (split.parts > 1 && x != kNoNode && inductor::product(loops.sizes) == 1 &&
      ranges_behind(loops, x))
    split.parts = kAsBefore;
  if (!hints_.is_set) hints_.splits.push_back(split);
  const std::size_t at = splits_++;
  return at < hints_.splits.size() ? hints_.splits[at] : split;
}

/// What the reductions behind the operand of a total reduction run over, if that are as many
/// numbers: its first step runs over the same. Source: torch's
/// extract_input_node_reduction_ranges.
std::optional<std::pair<Dims, Dims>> Lowering::ranges_behind(const Loops& loops, NodeId x) const {
  std::optional<std::pair<Dims, Dims>> found;
  std::vector<BufferId> reads;
  const auto note = [](std::vector<BufferId>& into, const Loops& of) {
    for (const Access& read : reads_of(of)) {
      if (std::find(into.begin(), into.end(), read.buffer) == into.end())
        into.push_back(read.buffer);
    }
  };
  const Box& box = boxes_[values_[x].box];
  const bool is_memory = box.loops == nullptr;
  if (is_memory) {
    reads.push_back(box.buffer);
  } else {
    note(reads, loops);
  }
  while (!found && !reads.empty()) {
    std::vector<BufferId> next;
    for (const BufferId read : reads) {
      if (program.buffers[read].maker < 0) continue;
      const auto maker = static_cast<std::size_t>(program.buffers[read].maker);
      const std::shared_ptr<const Loops>& made = program.operations[maker].loops;
      if (made == nullptr) continue;
      if (!made->is_reduction()) {
        note(next, *made);
        continue;
      }
      std::pair<Dims, Dims> ranges{made->sizes, made->reduced};
      if (found && *found != ranges) return std::nullopt;
      found = std::move(ranges);
    }
    if (is_memory || next == reads) break;
    reads = std::move(next);
  }
  const bool is_as_many =
      found && inductor::product(found->first) * inductor::product(found->second) ==
                   inductor::product(loops.reduced);
  return is_as_many ? found : std::nullopt;
}

/// A total reduction over the ranges of those behind it, then over the rows of these.
std::shared_ptr<const Loops> Lowering::reduction_as_before(const Loops& loops,
                                                           const std::pair<Dims, Dims>& ranges,
                                                           NodeId node, ops::Device device) {
  Loops first = loops;
  const std::size_t rank = loops.sizes.size();
  for (const std::int64_t size : ranges.first) first.sizes.push_back(size);
  first.reduced = ranges.second;
  first.dtype = is_floating_or_wide(loops.dtype) ? loops.dtype : ScalarType::kFloat32;
  Dims all = ranges.first;
  for (const std::int64_t size : ranges.second) all.push_back(size);
  first.body = [body = loops.body, rank, all, reduced = loops.reduced](Trace& trace,
                                                                       const Indices& at) {
    Indices inner(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(rank));
    const Indices own(at.begin() + static_cast<std::ptrdiff_t>(rank), at.end());
    const Indices places =
        unflat(flat(own, all, dense_strides(all), 0), reduced, dense_strides(reduced));
    inner.insert(inner.end(), places.begin(), places.end());
    return body(trace, inner);
  };
  const BufferId between = add_loops(reduction(std::move(first), node, device), node, device);
  Loops second = loops;
  second.reduced = ranges.first;
  second.hint = Hint::kInner;
  second.body = [this, between](Trace& trace, const Indices& at) {
    const Buffer& buffer = program.buffers[between];
    return trace.load(between, flat(at, buffer.sizes, buffer.strides, 0));
  };
  return std::make_shared<Loops>(std::move(second));
}

Lowering::Split Lowering::split_here(const Loops& loops) {
  const std::int64_t outputs = inductor::product(loops.sizes);
  const std::int64_t reduced = inductor::product(loops.reduced);
  if (outputs == 1) return {Hint::kInner, split_inner(reduced, 1)};
  if (reduced <= kLeastPerThread || outputs >= device_.multiprocessors * 2 * 32)
    return {Hint::kDefault, 1};
  // What it reads at the full size decides over the direction.
  const auto loops_in = static_cast<int>(loops.sizes.size() + loops.reduced.size());
  const auto full_reads = [&] {
    std::vector<Access> reads = reads_of(loops);
    std::erase_if(reads, [&](const Access& read) {
      for (int loop = 0; loop < loops_in; ++loop) {
        const auto i = static_cast<std::size_t>(loop);
        const std::int64_t size =
            i < loops.sizes.size() ? loops.sizes[i] : loops.reduced[i - loops.sizes.size()];
        if (size != 1 && !reads_loop(read.index, loop)) return true;
      }
      return false;
    });
    return reads;
  };
  for (const Access& read : full_reads()) decide_layout(program.buffers[read.buffer]);
  const std::vector<Access> reads = full_reads();
  if (reads.empty()) return {Hint::kDefault, 1};
  int outer = 0;
  for (const Access& read : reads) {
    bool is_outer = true;
    for (std::size_t i = 0; i < loops.reduced.size(); ++i) {
      if (loops.reduced[i] == 1) continue;
      const std::int64_t stride = stride_of(read.index, static_cast<int>(loops.sizes.size() + i));
      is_outer = is_outer && (stride == 0 || stride > 1);
    }
    outer += is_outer ? 1 : 0;
  }
  const int inner = static_cast<int>(reads.size()) - outer;
  if (inner > outer) return {Hint::kInner, split_inner(reduced, outputs)};
  return {Hint::kOuter, split_outer(reduced, outputs)};
}

Body Lowering::split_body(const Loops& loops, const Body& body, std::int64_t parts,
                          std::int64_t block) {
  const bool has_rest = inductor::product(loops.reduced) % parts != 0;
  return [body, rank = loops.sizes.size(), reduced = loops.reduced, block, has_rest](
             Trace& trace, const Indices& at) {
    Index place;
    add(place, at[rank], block);
    add(place, at[rank + 1], 1);
    Indices inner(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(rank));
    const Indices places = unflat(place, reduced, dense_strides(reduced));
    inner.insert(inner.end(), places.begin(), places.end());
    const Trace::Value value = body(trace, inner);
    return has_rest ? trace.op("masked", {value}) : value;
  };
}

namespace {

Hint second_hint(std::int64_t parts, std::int64_t outputs, Hint hint) {
  if (hint != Hint::kOuter) return hint;
  const bool is_tiny = (parts <= 512 && outputs <= 512) || (parts <= 1024 && outputs <= 256);
  return is_tiny ? Hint::kOuterTiny : hint;
}

}  // namespace

std::shared_ptr<const Loops> Lowering::reduction(Loops loops, NodeId node, ops::Device device,
                                                 NodeId x) {
  const std::int64_t reduced = inductor::product(loops.reduced);
  if (reduced < kUnrolled) {
    // Written out as a sum of so many.
    auto unrolled = std::make_shared<Loops>();
    unrolled->sizes = loops.sizes;
    unrolled->dtype = loops.dtype;
    unrolled->body = [body = loops.body, of = loops.reduced, reduced, kind = loops.reduction](
                         Trace& trace, const Indices& at) {
      Trace::Value value = 0;
      for (std::int64_t i = 0; i < reduced; ++i) {
        Indices inner = at;
        std::int64_t rest = i;
        Indices places(of.size());
        for (std::size_t d = of.size(); d-- > 0;) {
          places[d].offset = rest % of[d];
          rest /= of[d];
        }
        inner.insert(inner.end(), places.begin(), places.end());
        const Trace::Value one = body(trace, inner);
        value = i == 0 ? one : trace.op(kind, {value, one});
      }
      return value;
    };
    return unrolled;
  }
  const Split split = split_of(loops, x);
  if (loops.hint == Hint::kDefault) loops.hint = split.hint;
  if (split.parts == kAsBefore) {
    if (const auto ranges = ranges_behind(loops, x))
      return reduction_as_before(loops, *ranges, node, device);
  }
  if (split.parts <= 1) return std::make_shared<Loops>(std::move(loops));
  const std::int64_t block = up(reduced, split.parts);
  Loops first = loops;
  first.sizes.push_back(split.parts);
  first.reduced = {block};
  first.dtype = is_floating_or_wide(loops.dtype) ? loops.dtype : ScalarType::kFloat32;
  first.body = split_body(loops, loops.body, split.parts, block);
  std::shared_ptr<const Loops> intermediate = reduction(std::move(first), node, device);
  if (intermediate->whole_sizes == 0) {
    Loops marked = *intermediate;
    marked.whole_sizes = inductor::product(loops.sizes);
    marked.whole_reduced = reduced;
    intermediate = std::make_shared<Loops>(std::move(marked));
  }
  const BufferId between = add_loops(std::move(intermediate), node, device);
  Loops second = loops;
  second.reduced = {split.parts};
  second.hint = second_hint(split.parts, inductor::product(loops.sizes), loops.hint);
  second.body = [this, between](Trace& trace, const Indices& at) {
    const Buffer& buffer = program.buffers[between];
    return trace.load(between, flat(at, buffer.sizes, buffer.strides, 0));
  };
  return std::make_shared<Loops>(std::move(second));
}

/// The sum of powers of what the greatest was taken from. Source: torch's prepare_softmax_pattern.
NodeId Lowering::sum_of_softmax(NodeId greatest) const {
  const GraphNode& node = nodes_[greatest];
  const auto user = [&](NodeId of, std::string_view name, const auto& fits) {
    for (const NodeId id : users_[of]) {
      if (nodes_[id].name == name && fits(nodes_[id])) return id;
    }
    return kNoNode;
  };
  if (node.name != "amax" || node.sizes.size() != nodes_[node.inputs[0]].sizes.size())
    return kNoNode;
  const NodeId shifted = user(greatest, "sub", [&](const GraphNode& sub) {
    return sub.inputs == std::vector<NodeId>{node.inputs[0], greatest};
  });
  if (shifted == kNoNode) return kNoNode;
  const NodeId powers = user(shifted, "exp", [](const GraphNode&) { return true; });
  if (powers == kNoNode) return kNoNode;
  return user(powers, "sum", [&](const GraphNode& sum) {
    return sum.dims == node.dims && sum.sizes == node.sizes;
  });
}

bool Lowering::reduce_online(NodeId greatest, const Loops& loops) {
  const NodeId sum = sum_of_softmax(greatest);
  if (sum == kNoNode) return false;
  // It computes the powers itself, in two passes too. Source: torch's prepare_softmax_online.
  std::erase(users_[nodes_[sum].inputs.front()], sum);
  if (inductor::product(loops.reduced) < kUnrolled) return false;
  Loops both = loops;
  both.reduction = "online_softmax_reduce";
  const Split split = split_of(both);
  if (split.parts > 1) return false;
  both.hint = split.hint;
  const ops::Device device = nodes_[greatest].device;
  const BufferId first = add_loops(std::make_shared<Loops>(both), greatest, device);
  both.result = 1;
  online_sums_[sum] = add_loops(std::make_shared<Loops>(both), sum, device);
  give(greatest, add_box(greatest, nullptr, first));
  return true;
}

void Lowering::reduce(NodeId id) {
  if (const auto online = online_sums_.find(id); online != online_sums_.end()) {
    give(id, add_box(id, nullptr, online->second));
    return;
  }
  const GraphNode& node = nodes_[id];
  reduce(id, node.inputs.front(), node.name, node.dims);
}

/// The greatest or least along dimensions, and where they are: two reductions. Source: torch's
/// reduce_max.
void Lowering::reduce_parts(NodeId id) {
  const GraphNode& node = nodes_[id];
  const bool is_max = node.name == "max";
  for (const NodeId part : users_[id]) {
    const bool is_place = nodes_[part].dims[0] == 1;
    const std::string_view name =
        is_max ? (is_place ? "argmax" : "amax") : (is_place ? "argmin" : "amin");
    reduce(part, node.inputs.front(), name, node.dims);
  }
}

void Lowering::reduce(NodeId id, NodeId x, std::string_view name,
                      const std::vector<std::int64_t>& dims) {
  const GraphNode& node = nodes_[id];
  const Dims& from = nodes_[x].sizes;
  const bool keeps_dims = node.sizes.size() == from.size();
  Loops loops;
  loops.reduction = name == "mean" ? "sum" : name;
  loops.sizes = node.sizes;
  const bool is_sum = loops.reduction == "sum";
  loops.dtype = is_sum && name == "mean" && ops::element_bytes(node.dtype) < 4
                    ? ScalarType::kFloat32
                    : node.dtype;
  std::vector<bool> goes(from.size());
  for (const std::int64_t dim : dims) goes[static_cast<std::size_t>(dim)] = true;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (goes[i]) loops.reduced.push_back(from[i]);
  }
  loops.body = [this, from_x = operand(x), goes, keeps_dims, rank = node.sizes.size(),
                as = loops.dtype](Trace& trace, const Indices& at) {
    Indices own;
    std::size_t outer = 0;
    std::size_t inner = rank;
    for (const bool is_reduced : goes) {
      if (is_reduced) {
        own.push_back(at[inner++]);
        if (keeps_dims) ++outer;
      } else {
        own.push_back(at[outer++]);
      }
    }
    return load_as(trace, from_x, own, as);
  };
  if (reduce_online(id, loops)) return;
  std::shared_ptr<const Loops> last = reduction(std::move(loops), id, node.device, x);
  const bool is_reduction = last->is_reduction();
  BoxId box = add_box(id, std::move(last), kNoBuffer);
  if (is_reduction) realize(box);
  if (name == "mean") {
    // The sum is divided in a loop of its own.
    auto divided = std::make_shared<Loops>();
    divided->sizes = node.sizes;
    divided->dtype = node.dtype;
    divided->body = [this, from_sum = boxes_[box], count = node.settings](Trace& trace,
                                                                          const Indices& at) {
      return trace.op("div", {load_box(trace, from_sum, at), trace.constant(count)});
    };
    box = add_box(id, std::move(divided), kNoBuffer);
  }
  give(id, box);
}

std::vector<BufferId> Lowering::welford(Loops loops, std::vector<Body> bodies, NodeId node,
                                        ops::Device device) {
  const std::int64_t reduced = inductor::product(loops.reduced);
  Loops probe = loops;
  probe.body = bodies.front();
  const Split split = split_of(probe);
  if (loops.hint == Hint::kDefault) loops.hint = split.hint;
  if (split.parts > 1) {
    const std::int64_t block = up(reduced, split.parts);
    if (reduced % split.parts != 0 && bodies.size() == 1) {
      const auto number = [](std::uint64_t value) {
        return [value](Trace& trace, const Indices&) { return trace.constant(value); };
      };
      bodies.push_back(number(0));
      bodies.push_back(number(1));
      loops.reduction = "welford_combine";
      return welford(std::move(loops), std::move(bodies), node, device);
    }
    Loops first = loops;
    first.sizes.push_back(split.parts);
    first.reduced = {block};
    std::vector<Body> parts;
    parts.reserve(bodies.size());
    for (const Body& body : bodies) parts.push_back(split_body(loops, body, split.parts, block));
    const std::vector<BufferId> between = welford(std::move(first), std::move(parts), node, device);
    Loops second = loops;
    second.reduction = "welford_combine";
    second.reduced = {split.parts};
    second.hint = second_hint(split.parts, inductor::product(loops.sizes), loops.hint);
    std::vector<Body> loads;
    loads.reserve(between.size());
    for (const BufferId buffer : between) {
      loads.push_back([this, buffer](Trace& trace, const Indices& at) {
        const Buffer& of = program.buffers[buffer];
        return trace.load(buffer, flat(at, of.sizes, of.strides, 0));
      });
    }
    return welford(std::move(second), std::move(loads), node, device);
  }
  std::vector<BufferId> results;
  loops.body = [bodies](Trace& trace, const Indices& at) {
    Trace::Value value = 0;
    for (const Body& body : bodies) value = mixed(value, body(trace, at));
    return value;
  };
  for (int i = 0; i < 3; ++i) {
    loops.result = i;
    results.push_back(add_loops(std::make_shared<Loops>(loops), node, device));
  }
  return results;
}

void Lowering::moments(NodeId id) {
  const GraphNode& node = nodes_[id];
  const NodeId x = node.inputs.front();
  const Dims& from = nodes_[x].sizes;
  Loops loops;
  loops.reduction = "welford_reduce";
  loops.sizes = node.sizes;
  loops.dtype = node.dtype;
  std::vector<bool> goes(from.size());
  for (const std::int64_t dim : node.dims) goes[static_cast<std::size_t>(dim)] = true;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (goes[i]) loops.reduced.push_back(from[i]);
  }
  const Body body = [this, from_x = operand(x), goes, rank = node.sizes.size(), as = node.dtype](
                        Trace& trace, const Indices& at) {
    Indices own;
    std::size_t inner = rank;
    for (std::size_t i = 0; i < goes.size(); ++i) own.push_back(goes[i] ? at[inner++] : at[i]);
    return load_as(trace, from_x, own, as);
  };
  const std::vector<BufferId> buffers = welford(std::move(loops), {body}, id, node.device);
  for (const NodeId part : users_[id]) {
    const bool is_mean = !nodes_[part].dims.empty() && nodes_[part].dims[0] == 1;
    if (is_mean) {
      give(part, add_box(part, nullptr, buffers[0]));
      continue;
    }
    auto scaled = std::make_shared<Loops>();
    scaled->sizes = node.sizes;
    scaled->dtype = node.dtype;
    const BoxId spread = add_box(part, nullptr, buffers[1]);
    scaled->body = [this, from_spread = boxes_[spread]](Trace& trace, const Indices& at) {
      const Value value = load_box(trace, from_spread, at);
      const Value correction = trace.constant(1);
      const Value number = trace.constant(2);
      const Value zero = trace.constant(3);
      const Value least = trace.op("maximum", {zero, trace.op("sub", {number, correction})});
      return trace.op("div", {value, least});
    };
    give(part, add_box(part, std::move(scaled), kNoBuffer));
  }
}

}  // namespace tidemark::graph::inductor
