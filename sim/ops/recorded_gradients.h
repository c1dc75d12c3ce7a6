#pragma once

#include "sim/ops/node.h"

namespace tidemark::ops {

// Gradients by operators that record gradients of their own: what backward functions call while a
// pass creates a graph. Each does what PyTorch's formula does, operator by operator. Source:
// docs/rules/double_backward.md#1.

/// Errors: NotModelled where gradients of this node's gradients are not.
void check_has_gradient(std::string_view node);
/// A saved tensor while a graph is created: a result of the node itself has its history again.
Tensor unpack_for_graph(Node& node, const SavedTensor& saved);

/// at::sum_to.
Tensor recorded_sum_to(Context& c, const Tensor& x, const Dims& sizes);
/// A reduced tensor with its lost dimensions put back: unsqueeze_multiple.
Tensor recorded_restore(Context& c, const Tensor& reduced, const Dims& dims, bool keepdim,
                        std::int64_t rank);
/// The gradient of a sum, in the input's shape.
Tensor recorded_expand(Context& c, const Tensor& grad, const Dims& dims, bool keepdim,
                       const Dims& sizes);
/// squeeze's: torch's unsqueeze_to.
Tensor recorded_unsqueeze(Context& c, const Tensor& grad, const Dims& sizes, std::size_t first,
                          std::size_t last);
/// slice_backward and select_backward: zeros with the gradient in them.
Tensor recorded_slice_backward(Context& c, const Tensor& grad, const Dims& sizes, std::int64_t dim,
                               std::int64_t start, std::int64_t end, std::int64_t step);
Tensor recorded_select_backward(Context& c, const Tensor& grad, const Dims& sizes, std::int64_t dim,
                                std::int64_t index);
/// x times (over) a number.
Tensor times_number(Context& c, const Tensor& x);
Tensor over_number(Context& c, const Tensor& x);

}  // namespace tidemark::ops
