#pragma once

#include <string_view>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Operators that write into a tensor that is there: torch.cat(tensors, out=out). Nothing is
// allocated for the result. Element-wise ones: write_into() in pointwise_ops.h.

/// Checks that a tensor takes a result of these sizes and this type. Errors: OpError with PyTorch's
/// words for a type that cannot be cast; NotModelled for other sizes, which PyTorch would resize.
void check_out(std::string_view name, const Tensor& out, const Dims& sizes, ScalarType type);

/// torch.cat and torch.stack. Errors: as check_out, and OpError where a gradient is wanted.
Tensor cat_into(Context& c, const TensorList& tensors, std::int64_t dim, const Tensor& out);
Tensor stack_into(Context& c, const TensorList& tensors, std::int64_t dim, const Tensor& out);

}  // namespace tidemark::ops
