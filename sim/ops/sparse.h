#pragma once

#include <string_view>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Sparse COO gradients (nn.Embedding(sparse=True)). Source: docs/rules/autograd.md#6,
// docs/rules/indexing.md#1.3.

/// Errors: NotModelled, for an operator that would have to merge a sparse tensor's entries: how
/// many are left depends on their indices' values.
void check_takes_sparse(std::string_view name, const Tensor& x);
Tensor make_sparse(const Dims& sizes, Tensor indices, Tensor values);
/// Errors: OpError for a tensor that is not sparse.
const TensorImpl::Sparse& parts_of(const Tensor& x);
/// dense + alpha * sparse, in memory of its own or in place. Two indices of an entry are made one
/// first.
Tensor add_sparse_to_dense(Context& c, const Tensor& dense, const Tensor& sparse, double alpha,
                           bool in_place);
/// x.to_dense(), without a gradient.
Tensor dense_of(Context& c, const Tensor& x);
/// Two gradients meet in the engine and at least one is sparse.
Tensor add_gradients_sparse(Context& c, Tensor stored, Tensor incoming);
/// What .grad becomes when it was None: a shallow copy where nobody else holds the parts, else a
/// clone.
Tensor keep_sparse_gradient(Context& c, const Tensor& grad, std::uint32_t expected_references);
/// x.clone(): values first, then indices.
Tensor clone_sparse(Context& c, const Tensor& x);
/// x.mul_(number): new indices and values, then the former go.
void scale_sparse_in_place(Context& c, const Tensor& x);
/// x.zero_(): no entries are left; indices go first, then values.
void clear_sparse_in_place(Context& c, const Tensor& x);
/// x.add_(other) where both are sparse: the entries of both, one after another.
void add_sparse_in_place(Context& c, const Tensor& x, const Tensor& other);
/// .grad += grad where one is sparse: the tensor that replaces .grad, undefined when it was changed
/// in place.
Tensor accumulate_sparse_gradient(Context& c, const Tensor& before, const Tensor& grad);

}  // namespace tidemark::ops
