#include "sim/ops/composite_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/registry.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/type_view.h"

namespace tidemark::ops {

// ---- joining tensors of few dimensions

Tensor at_least_1d(Context& c, const Tensor& x) {
  return x.dim() == 0 ? reshape(c, x, Dims{1}) : x;
}
Tensor at_least_2d(Context& c, const Tensor& x) {
  if (x.dim() == 0) return reshape(c, x, {1, 1});
  return x.dim() == 1 ? unsqueeze(c, x, 0) : x;
}
Tensor at_least_3d(Context& c, const Tensor& x) {
  if (x.dim() == 0) return reshape(c, x, {1, 1, 1});
  if (x.dim() == 1) return unsqueeze(c, unsqueeze(c, x, 0), -1);
  return x.dim() == 2 ? unsqueeze(c, x, -1) : x;
}

namespace {

using Lift = Tensor (*)(Context&, const Tensor&);

TensorList lifted(Context& c, const TensorList& tensors, Lift lift) {
  TensorList out;
  for (const Tensor& t : tensors) out.push_back(lift(c, t));
  return out;
}

}  // namespace

Tensor hstack(Context& c, const TensorList& given) {
  TensorList tensors = lifted(c, given, at_least_1d);
  const std::int64_t dim = !tensors.empty() && tensors[0].dim() == 1 ? 0 : 1;
  return cat(c, std::move(tensors), dim);
}
Tensor vstack(Context& c, const TensorList& tensors) {
  return cat(c, lifted(c, tensors, at_least_2d), 0);
}
Tensor dstack(Context& c, const TensorList& tensors) {
  return cat(c, lifted(c, tensors, at_least_3d), 2);
}
Tensor column_stack(Context& c, const TensorList& tensors) {
  TensorList columns;
  for (const Tensor& t : tensors)
    columns.push_back(t.dim() <= 1 ? reshape(c, t, {t.numel(), 1}) : t);
  return cat(c, std::move(columns), 1);
}

// ---- orders of dimensions

Tensor movedim(Context& c, const Tensor& self, const Dims& from, const Dims& to) {
  if (from.size() != to.size()) {
    throw OpError(fmt::format(
        "movedim: Invalid source or destination dims: source ({} dims) should contain the same "
        "number of dims as destination ({} dims)",
        to_string(from), to_string(to)));
  }
  Dims order = Dims::filled(self.sizes().size(), -1);
  Dims rest;
  for (std::int64_t d = 0; d < self.dim(); ++d) rest.push_back(d);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t source = wrap_dim(from[i], self.dim());
    order[static_cast<std::size_t>(wrap_dim(to[i], self.dim()))] = source;
    for (std::size_t k = 0; k < rest.size(); ++k) {
      if (rest[k] == source) {
        rest.erase(k);
        break;
      }
    }
  }
  std::size_t next = 0;
  for (std::int64_t& d : order) {
    if (d < 0) d = rest[next++];
  }
  return permute(c, self, order);
}

// ---- diagonals

Tensor diagonal_view(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const auto d1 = static_cast<std::size_t>(wrap_dim(dim1, x.dim()));
  const auto d2 = static_cast<std::size_t>(wrap_dim(dim2, x.dim()));
  if (d1 == d2) {
    throw OpError(fmt::format("diagonal dimensions cannot be identical {}, {}", dim1, dim2));
  }
  Dims sizes = x.sizes();
  Dims strides = x.strides();
  const std::int64_t length = offset >= 0 ? std::min(sizes[d1], sizes[d2] - offset)
                                          : std::min(sizes[d1] + offset, sizes[d2]);
  const std::int64_t step = strides[d1] + strides[d2];
  const std::int64_t start =
      length <= 0 ? 0 : (offset >= 0 ? offset * strides[d2] : -offset * strides[d1]);
  for (const std::size_t d : {std::max(d1, d2), std::min(d1, d2)}) {
    sizes.erase(d);
    strides.erase(d);
  }
  sizes.push_back(std::max<std::int64_t>(length, 0));
  strides.push_back(step);
  return Context::alias(x, sizes, strides, x->offset + start);
}

Tensor diagonal(Context& c, const Tensor& self, std::int64_t offset, std::int64_t dim1,
                std::int64_t dim2) {
  Op op(c, "diagonal", "DiagonalBackward0", {&self});
  return op.result(as_view(self, diagonal_view(self, offset, dim1, dim2)),
                   [all = self.sizes()](Backward& b) {
                     b.grads[0] = zeros(b.c, all, b.grad().dtype(), b.grad().device());
                   });
}

Tensor diag_embed(Context& c, const Tensor& self, std::int64_t offset, std::int64_t dim1,
                  std::int64_t dim2) {
  const std::int64_t rank = self.dim() + 1;
  const std::int64_t d1 = wrap_dim(dim1, rank);
  const std::int64_t d2 = wrap_dim(dim2, rank);
  if (d1 == d2) {
    throw OpError(fmt::format("diagonal dimensions cannot be identical {}, {}", dim1, dim2));
  }
  const std::int64_t length = self.size(-1) + std::abs(offset);
  Dims sizes = self.sizes();
  sizes.pop_back();
  sizes.insert(static_cast<std::size_t>(std::min(d1, d2)), length);
  sizes.insert(static_cast<std::size_t>(std::max(d1, d2)), length);
  Op op(c, "diag_embed", "DiagEmbedBackward0", {&self});
  return op.result(zeros(c, sizes, self.dtype(), self.device()), [offset, d1, d2](Backward& b) {
    b.grads[0] = as_view(b.grad(), diagonal_view(b.grad(), offset, d1, d2));
  });
}

Tensor diag(Context& c, const Tensor& self, std::int64_t offset) {
  if (self.dim() == 1) return diag_embed(c, self, offset, 0, 1);
  if (self.dim() != 2) {
    throw OpError(fmt::format("diag(): Supports 1D or 2D tensors. Got {}D", self.dim()));
  }
  Op op(c, "diagonal_copy", "DiagonalCopyBackward0", {&self});
  const Tensor view = diagonal_view(self, offset, 0, 1);
  return op.result(clone_in(c, view, MemoryFormat::kContiguous), [all = self.sizes()](Backward& b) {
    b.grads[0] = zeros(b.c, all, b.grad().dtype(), b.grad().device());
  });
}

Tensor diagflat(Context& c, const Tensor& self, std::int64_t offset) {
  return diag_embed(c, reshape(c, self, Dims{-1}), offset, 0, 1);
}

// ---- pieces

TensorList pieces_at(Context& c, const Tensor& self, const Dims& ends, std::int64_t dim) {
  TensorList out;
  std::int64_t at = 0;
  for (const std::int64_t end : ends) {
    out.push_back(slice(c, self, dim, at, end, 1));
    at = end;
  }
  out.push_back(slice(c, self, dim, at, self.size(dim), 1));
  return out;
}

TensorList even_pieces(Context& c, const Tensor& self, std::int64_t sections, std::int64_t dim) {
  if (sections <= 0) {
    throw OpError(fmt::format("number of sections must be larger than 0, got {}", sections));
  }
  const std::int64_t size = self.size(dim);
  TensorList out;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < sections; ++i) {
    const std::int64_t length = size / sections + (i < size % sections ? 1 : 0);
    out.push_back(slice(c, self, dim, at, at + length, 1));
    at += length;
  }
  return out;
}

// ---- broadcasting

TensorList broadcast_tensors(Context& c, const TensorList& tensors) {
  Dims shape;
  for (const Tensor& t : tensors) shape = broadcast(shape, t.sizes());
  TensorList out;
  for (const Tensor& t : tensors) out.push_back(t.sizes() == shape ? t : expand(c, t, shape));
  return out;
}

// ---- turning

namespace {

Tensor rot90_kernel(Context& c, const Tensor& x, std::int64_t k, std::int64_t d1, std::int64_t d2) {
  if (k % 2 == 0) return k == 2 ? clone(c, x) : clone_in(c, x, MemoryFormat::kContiguous);
  return transpose(clone(c, x), d1, d2);
}

}  // namespace

Tensor rot90(Context& c, const Tensor& self, std::int64_t turns, const Dims& dims) {
  if (dims.size() != 2) {
    throw OpError(fmt::format("expected total rotation dims == 2, but got dims = {}", dims.size()));
  }
  const std::int64_t k = ((turns % 4) + 4) % 4;
  const std::int64_t d1 = wrap_dim(dims[0], self.dim());
  const std::int64_t d2 = wrap_dim(dims[1], self.dim());
  Op op(c, "rot90", "Rot90Backward0", {&self});
  return op.result(rot90_kernel(c, self, k, d1, d2), [k, d1, d2](Backward& b) {
    b.grads[0] = rot90_kernel(b.c, b.grad(), (4 - k) % 4, d1, d2);
  });
}

Tensor flip_along(Context& c, const Tensor& self, std::int64_t least) {
  if (self.dim() < least) throw OpError(fmt::format("Input must be >= {}-d.", least));
  Op op(c, "flip", "FlipBackward0", {&self});
  return op.result(clone(c, self), [](Backward& b) { b.grads[0] = clone(b.c, b.grad()); });
}

// ---- as the call has them

OpResult ravel(Arguments& a) {
  const Tensor dense = contiguous(a.context(), a.tensor(0), MemoryFormat::kContiguous);
  return view(a.context(), dense, Dims{-1});
}
OpResult positive(Arguments& a) { return a.tensor(0); }
OpResult view_of_type(Arguments& a) { return view_as_type(a.tensor(0), *a.dtype(1)); }
OpResult clone_in_format(Arguments& a) {
  return clone(a.context(), a.tensor(0), a.memory_format(1).value_or(MemoryFormat::kPreserve));
}
OpResult contiguous_in_format(Arguments& a) {
  const MemoryFormat format = a.memory_format(1).value_or(MemoryFormat::kContiguous);
  require_rank(a.context(), a.tensor(0), format, a.tensor(0).dtype(), a.tensor(0).device());
  return contiguous(a.context(), a.tensor(0), format);
}
OpResult type_as(Arguments& a) {
  ToOptions options;
  options.dtype = a.tensor(1).dtype();
  options.device = a.tensor(1).device();
  return to(a.context(), a.tensor(0), options);
}

}  // namespace tidemark::ops
