#include "sim/ops/indexing_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/autocast.h"
#include "sim/ops/cub.h"
#include "sim/ops/index_error.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/values/rule.h"

namespace tidemark::ops {

namespace {

/// Index tensors brought to integers on the right device, one a dimension of the indexed tensor (or
/// undefined).
struct Positions {
  TensorList tensors;
  Dims shape;             ///< of all of them broadcast
  std::size_t first = 0;  ///< the first indexed dimension
  std::size_t count = 0;  ///< how many are indexed
  bool adjacent = true;
  bool moved = true;     ///< to the indexed tensor's device
  bool written = false;  ///< used to write
  /// Reading, an iterator holds them and drops its last operand first; writing, a vector does.
  ~Positions() {
    if (written) {
      for (Tensor& t : tensors) t.reset();
    }
    while (!tensors.empty()) tensors.pop_back();
  }
};

void check_index(const Tensor& t) {
  if (t.dtype() == ScalarType::kBool || t.dtype() == ScalarType::kUInt8 ||
      t.dtype() == ScalarType::kInt64 || t.dtype() == ScalarType::kInt32) {
    return;
  }
  throw OpError("tensors used as indices must be long, int, byte or bool tensors");
}

/// How many each mask of an index chose when it was first asked: backward chooses no others.
using Counts = std::vector<std::int64_t>;

/// A mask becomes one column of positions for each dimension that it covers. Source:
/// at::native::expandTensors.
void fill_positions(Context& c, const Tensor& self, const TensorList& indices, Counts& counts,
                    Positions& out) {
  std::size_t mask = 0;
  std::int64_t held = 0;  // places that a mask of several dimensions has taken already
  for (const Tensor& index : indices) {
    if (held > 0 && !index.defined()) {
      --held;
      continue;
    }
    held = 0;
    if (index.defined()) check_index(index);
    if (!index.defined() ||
        (index.dtype() != ScalarType::kBool && index.dtype() != ScalarType::kUInt8)) {
      out.tensors.push_back(index);
      continue;
    }
    for (std::int64_t d = 0; d < index.dim(); ++d) {
      const auto at = out.tensors.size() + static_cast<std::size_t>(d);
      if (at >= self.sizes().size() || index.size(d) != self.sizes()[at]) {
        throw OpError(
            fmt::format("The shape of the mask {} at index {} does not match the shape of the "
                        "indexed tensor {} at index {}",
                        to_string(index.sizes()), d, to_string(self.sizes()), at));
      }
    }
    if (mask == counts.size()) counts.push_back(c.count_nonzero(index));
    const Tensor found = nonzero_kernel(c, index, counts[mask++]);
    for (std::int64_t d = 0; d < index.dim(); ++d) out.tensors.push_back(select(found, 1, d));
    held = index.dim() - 1;
  }
  if (out.tensors.size() > self.sizes().size()) {
    throw IndexError(fmt::format("too many indices for tensor of dimension {} (got {})", self.dim(),
                                 out.tensors.size()));
  }
  bool seen = false;
  bool gap = false;
  for (std::size_t i = 0; i < out.tensors.size(); ++i) {
    Tensor& t = out.tensors[i];
    if (!t.defined()) {
      gap = gap || seen;
      continue;
    }
    if (!seen) out.first = i;
    if (gap) out.adjacent = false;
    seen = true;
    ++out.count;
    try {
      out.shape = broadcast(out.shape, t.sizes());
    } catch (const OpError&) {
      std::string shapes;
      for (const Tensor& each : out.tensors) {
        if (each.defined()) shapes += (shapes.empty() ? "" : ", ") + to_string(each.sizes());
      }
      throw OpError(
          "shape mismatch: indexing tensors could not be broadcast together with shapes " + shapes);
    }
  }
  for (Tensor& t : out.tensors) {
    if (!t.defined()) continue;
    const Device device = out.moved ? self.device() : t.device();
    if (t.device() == device && t.dtype() != ScalarType::kInt32) continue;
    const bool spread_first = out.moved && !c.rules().positions_move_first;
    t = c.empty(spread_first ? out.shape : t.sizes(), ScalarType::kInt64, device);
  }
}

/// Several index tensors are read with the same strides. Source: AdvancedIndex.
void align_positions(Context& c, Positions& at) {
  if (at.count < 2) return;
  const Tensor* first = nullptr;
  bool alike = true;
  for (Tensor& t : at.tensors) {
    if (!t.defined()) continue;
    t = expand(t, at.shape);
    if (first == nullptr) first = &t;
    alike = alike && t.strides() == first->strides();
  }
  if (alike) return;
  TensorList before = at.tensors;  // all copies are made before the first original goes
  for (Tensor& t : at.tensors) {
    if (t.defined()) t = contiguous(c, t);
  }
  for (Tensor& t : before) t.reset();
}

Dims indexed_shape(const Tensor& self, const Positions& at) {
  Dims out;
  const auto put_index = [&] {
    for (const std::int64_t s : at.shape) out.push_back(s);
  };
  if (!at.adjacent) put_index();
  for (std::size_t i = 0; i < self.sizes().size(); ++i) {
    if (i == at.first && at.adjacent) put_index();
    if (i < at.tensors.size() && at.tensors[i].defined()) continue;
    out.push_back(self.sizes()[i]);
  }
  return out;
}

/// The output takes the memory order that TensorIterator finds for the source and the indices.
Dims indexed_strides(const Tensor& self, const Positions& at, const Dims& shape) {
  const std::size_t index_rank = at.shape.size();
  const std::size_t index_at = at.adjacent ? at.first : 0;
  Dims source = Dims::filled(shape.size(), 0);
  std::size_t to = at.adjacent ? 0 : index_rank;
  for (std::size_t i = 0; i < self.sizes().size(); ++i) {
    if (at.adjacent && i == at.first) to += index_rank;
    if (i < at.tensors.size() && at.tensors[i].defined()) continue;
    source[to++] = self.strides()[i];
  }
  const Tensor read = Context::alias(self, shape, source, self->offset);
  std::vector<const Tensor*> operands{&read};
  TensorList indices;
  for (const Tensor& t : at.tensors) {
    if (!t.defined()) continue;
    const Tensor wide = expand(t, at.shape);
    Dims strides = Dims::filled(shape.size(), 0);
    for (std::size_t i = 0; i < index_rank; ++i) strides[index_at + i] = wide.strides()[i];
    indices.push_back(Context::alias(t, shape, strides, t->offset));
  }
  for (const Tensor& t : indices) operands.push_back(&t);
  return iterator_strides(shape, operands);
}

/// Where indexed dimensions lie apart they come first.
Tensor indexed_first(const Tensor& self, const Positions& at) {
  if (at.adjacent) return self;
  Dims order;
  for (const bool indexed : {true, false}) {
    for (std::size_t i = 0; i < self.sizes().size(); ++i) {
      if ((i < at.tensors.size() && at.tensors[i].defined()) == indexed) {
        order.push_back(static_cast<std::int64_t>(i));
      }
    }
  }
  return permute(self, order);
}

/// How many elements lie together behind the indexed dimensions.
std::int64_t slice_of(const Tensor& self, const Positions& at) {
  std::int64_t slice = 1;
  bool behind = !at.adjacent;
  for (std::size_t i = 0; i < self.sizes().size(); ++i) {
    const bool indexed = i < at.tensors.size() && at.tensors[i].defined();
    if (indexed && at.adjacent) slice = 1;
    behind = behind || indexed;
    if (behind && !indexed) slice *= self.sizes()[i];
  }
  return slice;
}

/// Values are added in the order of their positions, which are sorted first. Source:
/// index_put_with_sort_kernel. `checked`: the positions are compared with the bounds.
void put_sorted(Context& c, const Tensor& self, const TensorList& indices, const Tensor& values,
                bool checked, Counts& counts) {
  const Tensor whole = contiguous(c, self);
  Positions at;
  at.moved = false;
  fill_positions(c, self, indices, counts, at);
  const std::int64_t count = numel_of(at.shape);
  if (count == 0 || self.numel() == 0) return;
  const auto column = [&] { return c.empty(at.shape, ScalarType::kInt64, self.device()); };
  Tensor linear;
  const std::int64_t highest = (self.numel() - 1) / slice_of(self, at);
  for (std::size_t i = 0; i < at.tensors.size(); ++i) {
    const Tensor& t = at.tensors[i];
    if (!t.defined()) continue;
    if (!t.is_cuda()) {
      // Counted out on the host, then copied.
      const Tensor scaled = column();
      if (!linear.defined()) linear = scaled;
      continue;
    }
    if (checked) {
      const auto extreme = [&] { return reduce(c, t, {}, false, ScalarType::kInt64, 8); };
      const auto compare = [&] { c.empty({}, ScalarType::kBool, self.device()); };
      Tensor smallest = extreme();
      if (!c.rules().index_put_extremes_first) {
        compare();
        smallest.reset();
      }
      Tensor largest = extreme();
      compare();
      if (c.rules().index_put_extremes_first) compare();
      smallest.reset();
    }
    const Tensor scaled = [&] {
      const Tensor wrapped = column();
      return column();
    }();
    if (!linear.defined()) linear = scaled;
  }
  const Tensor in_order = indexed_first(whole, at);
  const Dims values_shape = indexed_shape(self, at);
  for (Tensor& t : at.tensors) t.reset();
  const Tensor dense_values = contiguous(c, expand(values, values_shape));
  const Tensor dense_self = contiguous(c, in_order);
  const Tensor sorted = column();
  const Tensor original = column();
  const Tensor range = column();
  c.scratch(sort_bytes(c, count, 8, 8, bits_of(highest)), self.device());
}

bool is_lone_mask(const TensorList& indices) {
  std::size_t defined = 0;
  for (const Tensor& t : indices) {
    if (!t.defined()) continue;
    if (t.dtype() != ScalarType::kBool && t.dtype() != ScalarType::kUInt8) return false;
    ++defined;
  }
  return defined == 1;
}

}  // namespace

void check_mask_index(const Tensor& self, const TensorList& indices) {
  Dims shape;
  for (const Tensor& t : indices) {
    if (!t.defined()) {
      shape.push_back(1);
      continue;
    }
    for (const std::int64_t size : t.sizes()) shape.push_back(size);
  }
  while (shape.size() > self.sizes().size() && shape.back() == 1) shape.pop_back();
  while (shape.size() < self.sizes().size()) shape.push_back(1);
  if (broadcast(shape, self.sizes()) == self.sizes()) return;
  throw OpError(fmt::format("The shape of the mask {} does not match the shape of the indexed {}",
                            to_string(shape), to_string(self.sizes())));
}

namespace {

void put_kernel(Context& c, const Tensor& self, const TensorList& indices, const Tensor& values,
                bool accumulate, Counts& counts) {
  // Filled where the mask says so. Source: canDispatchToMaskedFill.
  if (!accumulate && values.numel() == 1 && !values.is_cuda() && is_lone_mask(indices)) {
    check_mask_index(self, indices);
    return;
  }
  Tensor there = values;
  if (!(values.device() == self.device())) {
    if (values.dim() > 0) {
      throw OpError(
          "Expected all tensors to be on the same device, but found at least two devices");
    }
    there = c.empty({}, self.dtype(), self.device());
  }
  if (accumulate && self.is_cuda()) {
    put_sorted(c, self, indices, there, true, counts);
    return;
  }
  Positions at;
  at.written = true;
  fill_positions(c, self, indices, counts, at);
  align_positions(c, at);
  const Dims shape = indexed_shape(self, at);
  if (!(broadcast(shape, there.sizes()) == shape)) {
    throw OpError(
        fmt::format("shape mismatch: value tensor of shape {} cannot be broadcast to indexing "
                    "result of shape {}",
                    to_string(there.sizes()), to_string(shape)));
  }
}

void save_indices(Op& op, const TensorList& indices) {
  std::size_t slot = 0;
  for (const Tensor& t : indices) op.save(slot++, t);
}

TensorList saved_indices(const Backward& b, std::size_t count) {
  TensorList out(b.saved.begin(),
                 b.saved.begin() + static_cast<std::ptrdiff_t>(std::min(count, b.saved.size())));
  out.resize(count);
  return out;
}

Tensor read_kernel(Context& c, const Tensor& self, const TensorList& indices, Counts& counts) {
  Positions at;
  fill_positions(c, self, indices, counts, at);
  align_positions(c, at);
  const Dims shape = indexed_shape(self, at);
  return c.empty_strided(shape, indexed_strides(self, at, shape), self.dtype(), self.device());
}

}  // namespace

Tensor index_kernel(Context& c, const Tensor& self, const TensorList& indices) {
  Counts counts;
  return read_kernel(c, self, indices, counts);
}

Tensor index(Context& c, const Tensor& self, const TensorList& indices) {
  const Tensor none;
  const auto at = [&](std::size_t i) { return i < indices.size() ? &indices[i] : &none; };
  Op op(c, "index", "IndexBackward0", {&self}, {at(0), at(1), at(2), at(3)});
  op.gathers();
  save_indices(op, indices);
  Counts counts;
  Tensor out = read_kernel(c, self, indices, counts);
  return op.result(std::move(out), [sizes = self.sizes(), count = indices.size(),
                                    counts = std::move(counts)](Backward& b) {
    b.grads[0] = zeros(b.c, sizes, b.grad().dtype(), b.grad().device());
    Counts chosen = counts;
    put_sorted(b.c, b.grads[0], saved_indices(b, count), b.grad(), false, chosen);
    if (!b.c.grad_enabled()) return;
    b.grads[0] = recorded_linear(
        b.c, "_index_put_impl_", "IndexPutImplBackward0", b.grad(), {}, false,
        saved_indices(b, count), std::move(b.grads[0]),
        [](Backward& second) { return index(second.c, second.grad(), second.saved); });
  });
}

namespace {

/// Gradients of index_put: of what was written over, then of the values.
auto index_put_backward(std::size_t count, const Tensor& values, bool accumulate, Counts counts) {
  return [count, accumulate, sizes = values.sizes(), dtype = values.dtype(),
          device = values.device(), counts = std::move(counts)](Backward& b) {
    Counts chosen = counts;
    if (b.needs(0)) {
      if (accumulate) {
        b.grads[0] = b.grad();
      } else {
        const Tensor zero = b.c.empty(sizes, dtype, device);
        b.grads[0] = clone(b.c, b.grad());
        put_kernel(b.c, b.grads[0], saved_indices(b, count), zero, false, chosen);
      }
    }
    if (b.needs(1)) b.grads[1] = read_kernel(b.c, b.grad(), saved_indices(b, count), chosen);
  };
}

}  // namespace

Tensor index_put_(Context& c, const Tensor& self, const TensorList& indices, const Tensor& values,
                  bool accumulate) {
  const Tensor none;
  const auto at = [&](std::size_t i) { return i < indices.size() ? &indices[i] : &none; };
  Op op(c, "index_put_", "IndexPutBackward0", {&self, &values}, {at(0), at(1), at(2), at(3)});
  save_indices(op, indices);
  Counts counts;
  put_kernel(c, self, indices, values, accumulate, counts);
  return op.in_place(self,
                     index_put_backward(indices.size(), values, accumulate, std::move(counts)));
}

Tensor index_put(Context& c, const Tensor& self, const TensorList& indices, const Tensor& values,
                 bool accumulate) {
  const Tensor none;
  const auto at = [&](std::size_t i) { return i < indices.size() ? &indices[i] : &none; };
  Op op(c, "index_put", "IndexPutBackward0", {&self, &values}, {at(0), at(1), at(2), at(3)});
  save_indices(op, indices);
  Tensor out = clone(c, self);
  Counts counts;
  put_kernel(c, out, indices, values, accumulate, counts);
  return op.result(std::move(out),
                   index_put_backward(indices.size(), values, accumulate, std::move(counts)));
}

Tensor fill_(Context& c, const Tensor& self, const Tensor& given) {
  const Tensor value = given.defined() && given->wrapped_number ? Tensor() : given;
  if (value.defined() && value.dim() > 0) {
    throw OpError(fmt::format(
        "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.",
        value.dim()));
  }
  Op op(c, "fill_", value.defined() ? "FillBackward1" : "FillBackward0", {&self, &value});
  return op.in_place(self, [](Backward& b) {
    if (b.needs(1)) b.grads[1] = sum(b.c, b.grad(), {}, false);
    if (b.needs(0)) b.grads[0] = zeros_like(b.c, b.grad());
  });
}

Tensor nonzero(Context& c, const Tensor& self) {
  Op op(c, "nonzero", "", {}, {&self});
  const Tensor found = nonzero_kernel(c, self, c.count_nonzero(self));
  note_nonzero(self, found);
  return op.result(found, nullptr);
}

}  // namespace tidemark::ops
