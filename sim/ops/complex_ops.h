#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

/// The real part of a complex tensor, as a view, where `wanted` is a real type; else x itself: what
/// a gradient becomes for a real input of a complex result. Source: torch's handle_r_to_c.
Tensor real_gradient(const Tensor& x, ScalarType wanted);
/// A complex tensor seen as real numbers in a last dimension of two, and back: below autograd.
Tensor as_real(const Tensor& x);
Tensor as_complex(const Tensor& x);
/// The conjugate, as a view that is marked; x itself where it is real. Below autograd.
Tensor conjugate_view(const Tensor& x);
/// What a kernel reads of x: x itself, or a copy where it is marked, for as long as the caller
/// holds it. Source: ATen's ConjugateFallback.
Tensor resolved(Context& c, const Tensor& x);
/// Errors: NotModelled, for an operator (or node) of which it is not known what it makes of a
/// tensor that is marked as conjugate.
void check_takes_conjugates(std::string_view name, const Tensor& x);
ScalarType complex_type(ScalarType real);
ScalarType real_type(ScalarType complex);

}  // namespace tidemark::ops
