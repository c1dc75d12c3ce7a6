#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

/// torch.diagonal below autograd.
Tensor diagonal_view(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
/// torch.diagonal: a view, its own dimension the last. Errors: OpError with PyTorch's words.
Tensor diagonal(Context& c, const Tensor& self, std::int64_t offset, std::int64_t dim1,
                std::int64_t dim2);

// What the records of views and copies call. Source: docs/rules/shapes.md#4.
Tensor at_least_1d(Context& c, const Tensor& x);
Tensor at_least_2d(Context& c, const Tensor& x);
Tensor at_least_3d(Context& c, const Tensor& x);
Tensor hstack(Context& c, const TensorList& given);
Tensor vstack(Context& c, const TensorList& tensors);
Tensor dstack(Context& c, const TensorList& tensors);
Tensor column_stack(Context& c, const TensorList& tensors);
Tensor movedim(Context& c, const Tensor& self, const Dims& from, const Dims& to);
Tensor diag_embed(Context& c, const Tensor& self, std::int64_t offset, std::int64_t dim1,
                  std::int64_t dim2);
Tensor diag(Context& c, const Tensor& self, std::int64_t offset);
Tensor diagflat(Context& c, const Tensor& self, std::int64_t offset);
TensorList pieces_at(Context& c, const Tensor& self, const Dims& ends, std::int64_t dim);
TensorList even_pieces(Context& c, const Tensor& self, std::int64_t sections, std::int64_t dim);
TensorList broadcast_tensors(Context& c, const TensorList& tensors);
Tensor rot90(Context& c, const Tensor& self, std::int64_t turns, const Dims& dims);
/// fliplr and flipud; `least`: dimensions that it must have.
Tensor flip_along(Context& c, const Tensor& self, std::int64_t least);

}  // namespace tidemark::ops
