#pragma once

#include <optional>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Differentiable reductions and scans. `dims` empty: over everything. `dtype`: of the result, where
// the caller gave one. Source: docs/rules/reductions.md#1, #2.

/// sum and sum.dim_IntList, mean and mean.dim.
Tensor sum(Context& c, const Tensor& self, const Dims& dims, bool keepdim,
           std::optional<ScalarType> dtype);
/// Errors: OpError for integers, with PyTorch's words.
Tensor mean(Context& c, const Tensor& self, const Dims& dims, bool keepdim);
// What records make, for other C++.
Tensor sum(Context& c, const Tensor& self, std::optional<ScalarType> dtype);
Tensor sum_dim_IntList(Context& c, const Tensor& self, const Dims& dim, bool keepdim,
                       std::optional<ScalarType> dtype);
Tensor mean(Context& c, const Tensor& self, std::optional<ScalarType> dtype);
Tensor mean_dim(Context& c, const Tensor& self, const Dims& dim, bool keepdim,
                std::optional<ScalarType> dtype);
/// Variance (or its root) and mean.
TensorList var_mean(Context& c, const Tensor& self, const Dims& dims, bool keepdim, bool root);
Tensor vector_norm(Context& c, Tensor self, double ord, const Dims& dims, bool keepdim,
                   std::optional<ScalarType> dtype = {});
/// at::norm, which operators made of others call; torch.norm is vector_norm.
Tensor norm(Context& c, const Tensor& self, double p, const Dims& dims, bool keepdim);
Tensor logsumexp(Context& c, Tensor self, const Dims& dims, bool keepdim);
/// Largest (smallest, median) of everything.
Tensor extreme(Context& c, std::string_view name, const Tensor& self);
/// Values and indices along a dimension: max, min.
TensorList extreme_along(Context& c, std::string_view name, const Tensor& self, std::int64_t dim,
                         bool keepdim);
/// amax, amin.
Tensor amax(Context& c, const Tensor& self, const Dims& dim, bool keepdim);
Tensor amin(Context& c, const Tensor& self, const Dims& dim, bool keepdim);
/// any, all.
Tensor any(Context& c, const Tensor& self, const Dims& dim, bool keepdim);
Tensor all(Context& c, const Tensor& self, const Dims& dim, bool keepdim);
Tensor count_nonzero(Context& c, const Tensor& self, const Dims& dims);
Tensor cumsum(Context& c, Tensor self, std::int64_t dim, std::optional<ScalarType> dtype);
Tensor cumprod(Context& c, Tensor self, std::int64_t dim, std::optional<ScalarType> dtype);
Tensor cumsum_(Context& c, const Tensor& self, std::int64_t dim);
Tensor cumprod_(Context& c, const Tensor& self, std::int64_t dim);

/// The kernel of sum: integers are summed as int64, cast first.
Tensor sum_kernel(Context& c, const Tensor& x, const Dims& dims, bool keepdim,
                  std::optional<ScalarType> dtype = {});
/// A reduced tensor with its lost dimensions put back as ones.
Tensor restore_dims(const Tensor& reduced, const Dims& dims, bool keepdim, std::int64_t rank);
/// Gradient of the norm `result` of order p of `self`. Source:
/// torch::autograd::generated::details::norm_backward.
Tensor norm_gradient(Context& c, const Tensor& incoming, const Tensor& result, const Tensor& self,
                     double p, const Dims& dims, bool keepdim);
/// Gradient of the largest of everything: shared among all equal to it.
Tensor evenly_distributed(Context& c, const Tensor& grad, const Tensor& input, const Tensor& value);
/// What gradients of max, sort, topk and the like become: zeros of the input with the values
/// scattered in.
Tensor value_selecting_backward(Backward& b, const Dims& sizes);

}  // namespace tidemark::ops
