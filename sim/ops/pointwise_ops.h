#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// Differentiable element-wise operators. Source: training-semantics.md 2.3, 2.4.

Tensor add(Context& c, const Tensor& self, const Tensor& other, double alpha = 1);
Tensor add_(Context& c, const Tensor& self, const Tensor& other, double alpha = 1);
Tensor mul(Context& c, const Tensor& self, const Tensor& other);
Tensor mul_(Context& c, const Tensor& self, const Tensor& other);
Tensor relu(Context& c, const Tensor& self);
Tensor relu_(Context& c, const Tensor& self);

}  // namespace tidemark::ops
