// How what gets memory lies in it. Source: docs/rules/compile.md#4.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/graph/inductor/fake_strides.h"
#include "sim/graph/inductor/lowering.h"

namespace tidemark::graph::inductor {

using ops::Dims;

namespace {

constexpr std::int64_t kPadsAbove = 1024;   // padding_stride_threshold
constexpr std::int64_t kPadsToBytes = 128;  // padding_alignment_bytes

}  // namespace

/// Large strides become multiples of 128 bytes. Source: torch's Layout._pad_strides.
void Lowering::pad(Buffer& buffer) const {
  const bool may_be_open =
      pass_.is_dynamic &&
      (buffer.maker < 0 || buffer.node >= is_fixed_.size() || !is_fixed_[buffer.node]);
  if (may_be_open || buffer.sizes.empty()) return;
  const Dims& sizes = buffer.sizes;
  const bool is_last =
      sizes.size() == 4 && sizes[1] != 1 && lies_as(sizes, buffer.strides, channels_last(sizes));
  if (is_last) return;
  const auto align = kPadsToBytes / static_cast<std::int64_t>(ops::element_bytes(buffer.dtype));
  // From the innermost dimension outwards, of equal ones the last first.
  std::vector<std::size_t> order;
  for (std::size_t i = sizes.size(); i-- > 0;) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return buffer.strides[a] < buffer.strides[b];
  });
  Dims strides = buffer.strides;
  bool is_padded = false;
  std::int64_t stride = 1;
  for (const std::size_t dim : order) {
    if (stride > kPadsAbove && stride % align != 0) {
      stride = (stride + align - 1) / align * align;
      is_padded = true;
    }
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  if (is_padded) buffer.strides = strides;
}

/// Decides over strides that nobody decided over: without gaps, in order, unless the channels of
/// PyTorch's tensor are innermost.
void Lowering::freeze(BoxId id) {
  Buffer& buffer = program.buffers[boxes_[id].buffer];
  if (!buffer.is_flexible && !buffer.goes_anywhere) return;
  const Dims& strides = fake_strides_[boxes_[id].node];
  if (buffer.is_flexible && buffer.sizes.size() == 4 && boxes_[id].sizes == buffer.sizes &&
      lies_as(buffer.sizes, strides, channels_last(buffer.sizes)))
    buffer.strides = channels_last(buffer.sizes);
  buffer.is_flexible = buffer.goes_anywhere = false;
  if (!dislikes_padding_[current_]) pad(buffer);
}

/// Whether places in a view whose dimensions were cut anew come out as a sum of its counters: a
/// quotient goes where one counter alone is smaller than the divisor, or where its dimension and
/// the next are joined again. Source: torch's SizeVarAllocator._simplify_with_ranges.
bool Lowering::is_untangled(const View& view) const {
  const Box& box = boxes_[view.box];
  std::vector<std::int64_t> terms_before;
  bool is_first = true;
  bool is_joined = true;
  bool is_simple = true;
  for (std::size_t dim = box.sizes.size(); dim-- > 0;) {
    if (box.sizes[dim] == 1) continue;
    std::vector<std::int64_t> terms;
    std::size_t smaller = 0;
    for (std::size_t i = 0; i < view.sizes.size(); ++i) {
      const std::int64_t stride = view.strides[i];
      if (view.sizes[i] == 1 || stride % (box.strides[dim] * box.sizes[dim]) == 0) continue;
      terms.push_back(stride);
      if (stride % box.strides[dim] != 0) ++smaller;
    }
    is_joined = is_joined && (is_first || terms.empty() || terms == terms_before);
    is_simple = is_simple && smaller < 2;
    terms_before = std::move(terms);
    is_first = false;
  }
  return is_joined || is_simple;
}

/// Whether a view of memory is one by strides alone.
bool Lowering::is_strided(const View& view) const {
  if (view.is_whole) return true;
  if (view.is_tangled && !is_untangled(view)) return false;
  const Box& box = boxes_[view.box];
  const Indices at = counters_of(view.sizes, {});
  const Index place = flat(at, view.sizes, view.strides, view.offset - box.offset);
  const Index index = flat(unflat(place, box.sizes, box.strides), box.sizes,
                           program.buffers[box.buffer].strides, 0);
  return index.mark == 0 &&
         std::all_of(index.digits.begin(), index.digits.end(), [&](const Digit& d) {
           return d.divisor == 1 && d.extent == view.sizes[static_cast<std::size_t>(d.loop)];
         });
}

/// A copy of a value, in memory of its own.
Lowering::BoxId Lowering::copy_of(NodeId id) {
  auto loops = std::make_shared<Loops>();
  loops->sizes = nodes_[id].sizes;
  loops->dtype = nodes_[id].dtype;
  loops->body = [this, from = operand(id)](Trace& trace, const Indices& at) {
    return load(trace, from, at);
  };
  const BoxId copy = add_box(id, std::move(loops), kNoBuffer);
  realize(copy);
  return copy;
}

BufferId Lowering::realized(NodeId id) {
  const View& view = values_[id];
  realize(view.box);
  if (!view.is_whole) freeze(view.box);
  if (!is_strided(view)) return boxes_[copy_of(id)].buffer;
  return boxes_[view.box].buffer;
}

/// How a value that is in memory lies there.
Dims Lowering::strides_of(const View& view) const {
  const Box& box = boxes_[view.box];
  const Dims& of_buffer = program.buffers[box.buffer].strides;
  if (view.is_whole) return of_buffer;
  const Index place =
      flat(counters_of(view.sizes, {}), view.sizes, view.strides, view.offset - box.offset);
  const Index index = flat(unflat(place, box.sizes, box.strides), box.sizes, of_buffer, 0);
  Dims strides = view.strides;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (view.sizes[i] != 1) strides[i] = stride_of(index, static_cast<int>(i));
  }
  return strides;
}

/// Has a value in memory with its dimensions in the order of these strides: a copy of it if it lies
/// in another. Source: torch's ExternKernel.require_stride_order.
void Lowering::require_order(NodeId id, const Dims& strides, bool may_pad) {
  if (inductor::product(values_[id].sizes) <= 1) return;
  // A view of a loop without memory is copied by itself.
  const std::shared_ptr<const Loops>& loops = boxes_[values_[id].box].loops;
  const bool is_loop = !values_[id].is_whole && loops != nullptr && !loops->is_reduction();
  if (!is_loop) realize(values_[id].box);
  const View& view = values_[id];
  const Dims wanted = dense_in_order(view.sizes, strides);
  if (view.is_whole) {
    require_strides(id, wanted, may_pad);
    return;
  }
  if (!is_loop) freeze(view.box);
  const auto is_ordered = [&] {
    return lies_as(view.sizes, dense_in_order(view.sizes, strides_of(view)), wanted);
  };
  if (!is_loop && is_strided(view) && is_ordered()) return;
  give_copy(id, wanted, may_pad);
}

void Lowering::give_copy(NodeId id, const Dims& strides, bool may_pad) {
  const BoxId copy = copy_of(id);
  Buffer& made = program.buffers[boxes_[copy].buffer];
  made.strides = strides;
  made.is_flexible = false;
  if (may_pad) pad(made);
  give(id, copy);
}

void Lowering::require_strides(NodeId id, const Dims& strides, bool may_pad) {
  const BoxId box = values_[id].box;
  realize(box);
  if (!values_[id].is_whole) {
    freeze(box);
    if (!is_strided(values_[id])) {
      const BoxId copy = copy_of(id);
      freeze(copy);
      give(id, copy);
    }
    return;
  }
  Buffer& buffer = program.buffers[boxes_[box].buffer];
  if (buffer.is_flexible || buffer.goes_anywhere) {
    if (is_dense(buffer.sizes, strides)) {
      buffer.strides = strides;
      buffer.is_flexible = buffer.goes_anywhere = false;
      if (may_pad) pad(buffer);
    } else {
      freeze(box);
    }
    return;
  }
  // The order of the dimensions counts.
  const bool has_gaps = !is_dense(buffer.sizes, buffer.strides);
  if (lies_as(buffer.sizes,
              has_gaps ? dense_in_order(buffer.sizes, buffer.strides) : buffer.strides, strides))
    return;
  if (!is_dense(buffer.sizes, strides)) return;
  give_copy(id, strides, may_pad);
}

std::vector<std::size_t> pick_loop_order(const std::vector<std::vector<std::int64_t>>& strides,
                                         const Dims& sizes) {
  const auto compare = [&](std::size_t a, std::size_t b) {
    if (sizes[a] == 1 || sizes[b] == 1)
      return static_cast<int>(sizes[a] == 1) - static_cast<int>(sizes[b] == 1);
    int a_first = 0;
    int b_first = 0;
    for (const auto& read : strides) {
      const std::int64_t of_a = read[a] < 0 ? -read[a] : read[a];
      const std::int64_t of_b = read[b] < 0 ? -read[b] : read[b];
      a_first += of_b == 0 || of_a < of_b ? 1 : 0;
      b_first += of_a == 0 || of_b < of_a ? 1 : 0;
    }
    if (a_first != b_first) return a_first > b_first ? -1 : 1;
    return b < a ? -1 : 1;
  };
  // Python's sort of few: each is put behind those that are not after it.
  std::vector<std::size_t> order;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    std::size_t low = 0;
    std::size_t high = order.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (compare(i, order[middle]) < 0) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(low), i);
  }
  return order;
}

void Lowering::decide_layout(Buffer& buffer) const {
  if (buffer.goes_anywhere) pad(buffer);
  if (!buffer.is_flexible || buffer.maker < 0) return;
  buffer.is_flexible = false;
  const auto& loops = *program.operations[static_cast<std::size_t>(buffer.maker)].loops;
  std::vector<std::vector<std::int64_t>> strides;
  for (const Access& read : reads_of(loops)) {
    std::vector<std::int64_t>& of = strides.emplace_back();
    for (std::size_t i = 0; i < loops.sizes.size(); ++i)
      of.push_back(stride_of(read.index, static_cast<int>(i)));
  }
  std::int64_t stride = 1;
  for (const std::size_t dim :
       strides.empty() ? std::vector<std::size_t>() : pick_loop_order(strides, buffer.sizes)) {
    buffer.strides[dim] = stride;
    stride *= buffer.sizes[dim];
  }
  pad(buffer);
}

}  // namespace tidemark::graph::inductor
