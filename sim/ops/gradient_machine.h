#pragma once

#include <cstddef>

#include "sim/ops/pointwise_rule.h"

namespace tidemark::ops {

/// The gradient of an input of a rule, from what `b` has: the incoming gradient, and what was saved
/// by the rule's slots. `in_place`: that of NAME_. Where gradients are recorded, its steps are
/// operators like any other. Errors: NotModelled for a gradient that there is not.
Tensor run_gradient(Backward& b, const PointwiseRule& rule, std::size_t input, bool in_place,
                    double number);

}  // namespace tidemark::ops
