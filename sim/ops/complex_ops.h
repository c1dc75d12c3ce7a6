#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

/// The real part of a complex tensor, as a view, where `wanted` is a real type; else x itself: what
/// a gradient becomes for a real input of a complex result. Source: torch's handle_r_to_c.
Tensor real_gradient(const Tensor& x, ScalarType wanted);
/// A complex tensor seen as real numbers in a last dimension of two, and back: below autograd.
Tensor as_real(const Tensor& x);
Tensor as_complex(const Tensor& x);
ScalarType complex_type(ScalarType real);
ScalarType real_type(ScalarType complex);

}  // namespace tidemark::ops
