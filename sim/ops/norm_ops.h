#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// Normalisation over features. `weight` and `bias` may be undefined. Source:
// docs/rules/normalisation.md#2, #3, #4.

/// Errors: OpError with PyTorch's words when the shapes do not end in normalized_shape.
Tensor layer_norm(Context& c, Tensor input, const Dims& normalized_shape, Tensor weight,
                  Tensor bias, double eps);
Tensor rms_norm(Context& c, Tensor input, const Dims& normalized_shape, Tensor weight);
Tensor group_norm(Context& c, Tensor input, std::int64_t groups, Tensor weight, Tensor bias,
                  double eps);

}  // namespace tidemark::ops
