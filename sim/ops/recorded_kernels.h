#pragma once

#include <functional>

#include "sim/ops/convolution_kernels.h"
#include "sim/ops/node.h"
#include "sim/ops/softmax_ops.h"

namespace tidemark::ops {

// Backward kernels as operators with gradients of their own, for passes that create a graph.
// Source: docs/rules/double_backward.md#2.

/// A kernel that is linear in `grad`: `result` is what it made. `of_grad` makes the gradient of
/// `grad` of the incoming one. `self`, where it is defined, gets zeros: as it lies (`like_grad`:
/// as the incoming gradient lies). `kept`: what of_grad finds in b.saved.
Tensor recorded_linear(Context& c, std::string_view name, std::string_view node, const Tensor& grad,
                       const Tensor& self, bool like_grad, const TensorList& kept, Tensor result,
                       std::function<Tensor(Backward&)> of_grad);

// ---- compiled from records: sim/ops/records/double_backward.yaml. What C++ made is tied to a node
// of its own; what a node does where its gradients are recorded.
TensorList native_layer_norm_backward(Context& c, const Tensor& grad_out, const Tensor& input,
                                      const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                      std::int64_t rows, std::int64_t width, TensorList made);
TensorList cudnn_batch_norm_backward(Context& c, const Tensor& input, const Tensor& grad_output,
                                     const Tensor& weight, const Tensor& running_mean,
                                     const Tensor& running_var, const Tensor& save_mean,
                                     const Tensor& save_var, std::int64_t count, TensorList made);
TensorList native_batch_norm_backward(Context& c, const Tensor& grad_out, const Tensor& input,
                                      const Tensor& weight, const Tensor& running_mean,
                                      const Tensor& running_var, const Tensor& save_mean,
                                      const Tensor& save_invstd, bool train, std::int64_t count,
                                      TensorList made);
void native_group_norm_of_graph(Backward& b, std::int64_t n, std::int64_t groups,
                                std::int64_t width, std::int64_t area);
void _fused_rms_norm_of_graph(Backward& b, const Dims& inner, const Dims& outer);

Tensor recorded_mse(Context& c, const Tensor& grad, const Tensor& self, const Tensor& target,
                    Reduction reduction);
ConvolutionGradients recorded_convolution(Context& c, const Tensor& grad, const Tensor& input,
                                          const Tensor& weight, const ConvolutionOptions& options,
                                          ConvolutionMask wanted);
/// max_pool_double_backward: the incoming gradient at the places that won.
Tensor gathered_at(Context& c, const Tensor& grad, const Tensor& indices, std::int64_t dims);

}  // namespace tidemark::ops
