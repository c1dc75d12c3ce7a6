#pragma once

#include <optional>
#include <vector>

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
/// linalg_vector_norm. Errors: OpError for integers.
Tensor linalg_vector_norm(Context& c, const Tensor& self, double ord, const Dims& dim, bool keepdim,
                          std::optional<ScalarType> dtype);
/// at::norm, which operators made of others call; torch.norm is linalg_vector_norm.
Tensor at_norm(Context& c, const Tensor& self, double p, const Dims& dim, bool keepdim,
               std::optional<ScalarType> dtype);
Tensor logsumexp(Context& c, Tensor self, const Dims& dims, bool keepdim);
/// amax, amin.
Tensor amax(Context& c, const Tensor& self, const Dims& dim, bool keepdim);
Tensor amin(Context& c, const Tensor& self, const Dims& dim, bool keepdim);
/// any, all.
Tensor any(Context& c, const Tensor& self, const Dims& dim, bool keepdim);
Tensor all(Context& c, const Tensor& self, const Dims& dim, bool keepdim);
Tensor count_nonzero(Context& c, const Tensor& self, const Dims& dims);
Tensor cumsum(Context& c, const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype);
Tensor cumprod(Context& c, const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype);

/// Which of `rank` dimensions are reduced; none given: all. Errors: OpError for one named twice.
std::vector<bool> reduced_dims(const Dims& dims, std::int64_t rank);
/// The kernel of sum: integers are summed as int64, cast first.
Tensor sum_kernel(Context& c, const Tensor& x, const Dims& dims, bool keepdim,
                  std::optional<ScalarType> dtype = {});
/// A reduced tensor with its lost dimensions put back as ones.
Tensor restore_dims(const Tensor& reduced, const Dims& dims, bool keepdim, std::int64_t rank);

}  // namespace tidemark::ops
