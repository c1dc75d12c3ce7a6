#include "sim/ops/composite_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

constexpr std::string_view kCompositeOpsSource = "docs/rules/shapes.md#4";

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

using Lift = Tensor (*)(Context&, const Tensor&);

TensorList lifted(Context& c, const TensorList& tensors, Lift lift) {
  TensorList out;
  for (const Tensor& t : tensors) out.push_back(lift(c, t));
  return out;
}

OpResult hstack(Arguments& a) {
  TensorList tensors = lifted(a.context(), a.tensors(0), at_least_1d);
  const std::int64_t dim = !tensors.empty() && tensors[0].dim() == 1 ? 0 : 1;
  return cat(a.context(), std::move(tensors), dim);
}
template <const Lift& kLift, std::int64_t kDim>
OpResult lifted_stack(Arguments& a) {
  return cat(a.context(), lifted(a.context(), a.tensors(0), kLift), kDim);
}
constexpr Lift kTo2d = at_least_2d;
constexpr Lift kTo3d = at_least_3d;

OpResult column_stack(Arguments& a) {
  TensorList columns;
  for (const Tensor& t : a.tensors(0)) {
    columns.push_back(t.dim() <= 1 ? reshape(a.context(), t, {t.numel(), 1}) : t);
  }
  return cat(a.context(), std::move(columns), 1);
}

template <Lift kLift>
OpResult lift_one(Arguments& a) {
  return kLift(a.context(), a.tensor(0));
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

OpResult movedim_of(Arguments& a) {
  return movedim(a.context(), a.tensor(0), a.dims(1), a.dims(2));
}

OpResult swapped(Arguments& a) {
  return transpose(a.context(), a.tensor(0), a.integer(1), a.integer(2));
}

OpResult adjoint(Arguments& a) { return transpose(a.context(), a.tensor(0), -2, -1); }

}  // namespace

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

namespace {

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

OpResult diag(Arguments& a) {
  const Tensor& self = a.tensor(0);
  if (self.dim() == 1) return diag_embed(a.context(), self, a.integer(1), 0, 1);
  if (self.dim() != 2) {
    throw OpError(fmt::format("diag(): Supports 1D or 2D tensors. Got {}D", self.dim()));
  }
  Context& c = a.context();
  Op op(c, "diagonal_copy", "DiagonalCopyBackward0", {&self});
  const Tensor view = diagonal_view(self, a.integer(1), 0, 1);
  return op.result(clone_in(c, view, MemoryFormat::kContiguous), [all = self.sizes()](Backward& b) {
    b.grads[0] = zeros(b.c, all, b.grad().dtype(), b.grad().device());
  });
}

OpResult diagflat(Arguments& a) {
  const Tensor flat = reshape(a.context(), a.tensor(0), Dims{-1});
  return diag_embed(a.context(), flat, a.integer(1), 0, 1);
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

OpResult split_evenly(Arguments& a) {
  return OpResult::tuple(even_pieces(a.context(), a.tensor(0), a.integer(1), a.integer(2)));
}
OpResult split_at(Arguments& a) {
  return OpResult::tuple(pieces_at(a.context(), a.tensor(0), a.dims(1), a.integer(2)));
}
template <std::int64_t kDim>
OpResult split_evenly_along(Arguments& a) {
  return OpResult::tuple(even_pieces(a.context(), a.tensor(0), a.integer(1), kDim));
}

// ---- broadcasting

OpResult broadcast_tensors(Arguments& a) {
  Dims shape;
  for (const Tensor& t : a.tensors(0)) shape = broadcast(shape, t.sizes());
  TensorList out;
  for (const Tensor& t : a.tensors(0)) {
    out.push_back(t.sizes() == shape ? t : expand(a.context(), t, shape));
  }
  return OpResult::tuple(std::move(out));
}

// ---- turning

Tensor rot90_kernel(Context& c, const Tensor& x, std::int64_t k, std::int64_t d1, std::int64_t d2) {
  if (k % 2 == 0) return k == 2 ? clone(c, x) : clone_in(c, x, MemoryFormat::kContiguous);
  return transpose(clone(c, x), d1, d2);
}

OpResult rot90(Arguments& a) {
  const Tensor& self = a.tensor(0);
  if (a.dims(2).size() != 2) {
    throw OpError(
        fmt::format("expected total rotation dims == 2, but got dims = {}", a.dims(2).size()));
  }
  const std::int64_t k = ((a.integer(1) % 4) + 4) % 4;
  const std::int64_t d1 = wrap_dim(a.dims(2)[0], self.dim());
  const std::int64_t d2 = wrap_dim(a.dims(2)[1], self.dim());
  Op op(a.context(), "rot90", "Rot90Backward0", {&self});
  return op.result(rot90_kernel(a.context(), self, k, d1, d2), [k, d1, d2](Backward& b) {
    b.grads[0] = rot90_kernel(b.c, b.grad(), (4 - k) % 4, d1, d2);
  });
}

OpResult flip_along(Arguments& a, std::int64_t least) {
  const Tensor& self = a.tensor(0);
  if (self.dim() < least) throw OpError(fmt::format("Input must be >= {}-d.", least));
  Op op(a.context(), "flip", "FlipBackward0", {&self});
  return op.result(clone(a.context(), self),
                   [](Backward& b) { b.grads[0] = clone(b.c, b.grad()); });
}

}  // namespace

std::span<const OpDef> composite_ops() {
  static constexpr OpDef kOps[] = {
      {"hstack(Tensor[] tensors)", "torch", hstack, kCompositeOpsSource},
      {"vstack(Tensor[] tensors)", "torch", lifted_stack<kTo2d, 0>, kCompositeOpsSource},
      {"row_stack(Tensor[] tensors)", "torch", lifted_stack<kTo2d, 0>, kCompositeOpsSource},
      {"dstack(Tensor[] tensors)", "torch", lifted_stack<kTo3d, 2>, kCompositeOpsSource},
      {"column_stack(Tensor[] tensors)", "torch", column_stack, kCompositeOpsSource},
      {"concatenate(Tensor[] tensors, int dim=0)", "torch",
       [](Arguments& a) -> OpResult { return cat(a.context(), a.tensors(0), a.integer(1)); },
       kCompositeOpsSource},
      {"atleast_1d(Tensor input)", "torch", lift_one<at_least_1d>, kCompositeOpsSource},
      {"atleast_2d(Tensor input)", "torch", lift_one<at_least_2d>, kCompositeOpsSource},
      {"atleast_3d(Tensor input)", "torch", lift_one<at_least_3d>, kCompositeOpsSource},
      {"movedim(Tensor input, int[] source, int[] destination)", "torch method", movedim_of,
       kCompositeOpsSource},
      {"moveaxis(Tensor input, int[] source, int[] destination)", "torch method", movedim_of,
       kCompositeOpsSource},
      {"swapdims(Tensor input, int dim0, int dim1)", "torch method", swapped, kCompositeOpsSource},
      {"adjoint(Tensor input)", "torch method", adjoint, kCompositeOpsSource},
      {"ravel(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult {
         const Tensor dense = contiguous(a.context(), a.tensor(0), MemoryFormat::kContiguous);
         return view(a.context(), dense, Dims{-1});
       },
       kCompositeOpsSource},
      {"positive(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return a.tensor(0); }, kCompositeOpsSource},
      {"diagonal(Tensor input, int offset=0, int dim1=0, int dim2=1)", "torch method",
       [](Arguments& a) -> OpResult {
         return diagonal(a.context(), a.tensor(0), a.integer(1), a.integer(2), a.integer(3));
       },
       kCompositeOpsSource},
      {"diag_embed(Tensor input, int offset=0, int dim1=-2, int dim2=-1)", "torch method",
       [](Arguments& a) -> OpResult {
         return diag_embed(a.context(), a.tensor(0), a.integer(1), a.integer(2), a.integer(3));
       },
       kCompositeOpsSource},
      {"diag(Tensor input, int diagonal=0)", "torch method", diag, kCompositeOpsSource},
      {"diagflat(Tensor input, int offset=0)", "torch method", diagflat, kCompositeOpsSource},
      {"tensor_split(Tensor input, int sections, int dim=0)", "torch method", split_evenly,
       kCompositeOpsSource},
      {"tensor_split(Tensor input, int[] indices, int dim=0)", "torch method", split_at,
       kCompositeOpsSource},
      {"hsplit(Tensor input, int sections)", "torch method", split_evenly_along<1>,
       kCompositeOpsSource},
      {"vsplit(Tensor input, int sections)", "torch method", split_evenly_along<0>,
       kCompositeOpsSource},
      {"dsplit(Tensor input, int sections)", "torch method", split_evenly_along<2>,
       kCompositeOpsSource},
      {"broadcast_tensors(Tensor[] *tensors)", "torch", broadcast_tensors, kCompositeOpsSource},
      {"rot90(Tensor input, int k=1, int[] dims=[0, 1])", "torch method", rot90,
       kCompositeOpsSource},
      {"fliplr(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return flip_along(a, 2); }, kCompositeOpsSource},
      {"flipud(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return flip_along(a, 1); }, kCompositeOpsSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
