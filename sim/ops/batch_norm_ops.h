#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// Source: docs/rules/normalisation.md#1.

/// torch.batch_norm. `weight`, `bias`, `running_mean`, `running_var` may be undefined.
/// `training`: statistics of the batch (and the running ones, if given, are updated in place).
/// Errors: OpError with PyTorch's words.
Tensor batch_norm(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum, double eps);
/// F.instance_norm. `use_input_stats`: statistics of the instance.
Tensor instance_norm(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const Tensor& running_mean, const Tensor& running_var, bool use_input_stats,
                     double momentum, double eps);

}  // namespace tidemark::ops
