#pragma once

#include <cstdint>

#include "sim/ops/context.h"

/// What PyTorch's own kernels of batch norm take: of one rank, and of several (SyncBatchNorm).
/// Source: docs/rules/normalisation.md#1.
namespace tidemark::ops::batch_norm_kernels {

enum class Layout : std::uint8_t { kContiguous, kChannelsLast, kGeneral };

/// Source: at::native::batch_norm_choose_impl.
Layout layout_of(const Tensor& x);
/// Source: at::native::batch_norm_use_channels_last_kernels.
bool channels_last_kernels(const Tensor& x);

/// Column sums over blocks of rows: where the rows need several blocks their parts meet in memory.
/// Source: at::native::flexible_launch_configs with a cooperative grid.
struct Staging {
  Staging(Context& c, const Tensor& x, std::int64_t values_per_row);
  Tensor data;
  Tensor semaphores;
};

struct Gradients {
  Tensor input;
  Tensor weight;
  Tensor bias;
};

/// What native_batch_norm_backward reads: the saved tensors by meaning.
struct NativeArguments {
  const Tensor& grad;
  const Tensor& input;
  const Tensor& weight;
  const Tensor& save_mean;  ///< undefined or empty: the running statistics serve
  const Tensor& save_invstd;
  bool training;
};

/// The sums over a channel's elements, and the gradients that they give.
/// Source: at::native::batch_norm_backward_reduce_cuda.
Gradients reduce_gradients(Context& c, const NativeArguments& a, bool want_input, bool want_weight,
                           bool want_bias, Tensor& sum_dy, Tensor& sum_dy_xmu);
/// Gradient of the input once the sums are there. Source: batch_norm_elementwise_backward_train and
/// _eval.
Tensor elementwise_gradient(Context& c, const NativeArguments& a);

// The steps of SyncBatchNorm, below autograd.

/// torch.batch_norm_stats: mean and 1 / standard deviation of this rank's elements.
TensorList stats(Context& c, const Tensor& input);
/// torch.batch_norm_gather_stats_with_counts: the same of all ranks'.
TensorList gathered_stats(Context& c, const Tensor& input);
/// torch.batch_norm_elemt.
Tensor normalised(Context& c, const Tensor& input);
/// torch.batch_norm_backward_reduce: two sums, and the gradients of weight and bias; undefined
/// where they are not wanted.
TensorList backward_sums(Context& c, const NativeArguments& a, bool want_input, bool want_weight,
                         bool want_bias);
/// torch.batch_norm_backward_elemt.
Tensor input_gradient(Context& c, const NativeArguments& a);

}  // namespace tidemark::ops::batch_norm_kernels
