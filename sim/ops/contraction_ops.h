#pragma once

#include <string>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Products over named or listed dimensions. Source: docs/rules/products.md#2.

/// torch.einsum, operands taken from left to right. Errors: OpError with PyTorch's words;
/// NotModelled for a label that stands twice in one operand.
Tensor einsum(Context& c, const std::string& equation, TensorList operands);
Tensor tensordot(Context& c, Tensor a, Tensor b, const Dims& dims_a, const Dims& dims_b);
/// F.bilinear; `bias` may be undefined.
Tensor bilinear(Context& c, Tensor input1, Tensor input2, Tensor weight, Tensor bias);

/// Product of two tensors of equal rank, summed over `sum_dims`, which stay as dimensions of one.
/// Source: at::native::sumproduct_pair.
Tensor sumproduct_pair(Context& c, Tensor left, Tensor right, const Dims& sum_dims);

}  // namespace tidemark::ops
