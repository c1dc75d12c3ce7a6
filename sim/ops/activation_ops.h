#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// Activations that are more than one kernel, and dropout. Source: docs/rules/pointwise.md#3, #4.

Tensor glu(Context& c, const Tensor& self, std::int64_t dim);
Tensor prelu(Context& c, Tensor self, Tensor weight);
Tensor softsign(Context& c, const Tensor& self);
Tensor tanhshrink(Context& c, const Tensor& self);

/// Errors: OpError for p outside [0, 1].
Tensor dropout(Context& c, const Tensor& input, double p, bool train);
Tensor dropout_(Context& c, const Tensor& input, double p, bool train);
/// Whole channels: dropout1d, dropout2d, dropout3d.
Tensor feature_dropout(Context& c, const Tensor& input, double p, bool train, bool in_place);
Tensor alpha_dropout(Context& c, const Tensor& input, double p, bool train, bool in_place,
                     bool features);

}  // namespace tidemark::ops
