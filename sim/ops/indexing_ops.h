#pragma once

#include <optional>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Reading and writing at positions given by tensors. Every value counts as zero, so a mask selects
// nothing. Source: docs/rules/indexing.md#2.

Tensor index_select(Context& c, const Tensor& self, std::int64_t dim, const Tensor& index);
Tensor gather(Context& c, const Tensor& self, std::int64_t dim, const Tensor& index);
/// x[indices]: one tensor (or an undefined one) a dimension; bool tensors stand for the dimensions
/// they cover.
Tensor index(Context& c, const Tensor& self, const TensorList& indices);
/// x[indices] = values, and index_put_.
Tensor index_put_(Context& c, const Tensor& self, const TensorList& indices, const Tensor& values,
                  bool accumulate);
Tensor index_put(Context& c, const Tensor& self, const TensorList& indices, const Tensor& values,
                 bool accumulate);
/// x[index] = number along `dim`; `index` has one dimension or none.
Tensor index_fill_(Context& c, const Tensor& self, std::int64_t dim, const Tensor& index,
                   double value);
/// x.fill_(value); an undefined value is a number.
Tensor fill_(Context& c, const Tensor& self, const Tensor& value = {});
/// Positions of what is not zero: none.
Tensor nonzero(Context& c, const Tensor& self);
Tensor masked_select(Context& c, const Tensor& self, const Tensor& mask);
/// Requires: one of `indices` is a mask, and no other is defined. Errors: OpError where the mask,
/// seen with the dimensions round it, does not fit.
void check_mask_index(const Tensor& self, const TensorList& indices);

/// The kernel of x[indices].
Tensor index_kernel(Context& c, const Tensor& self, const TensorList& indices);

}  // namespace tidemark::ops
