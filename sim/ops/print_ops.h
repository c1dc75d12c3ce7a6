#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

/// What printing a tensor runs on its device: more than 1000 elements are summarised, then the
/// finite ones that are not zero are selected, to choose a format. Source: torch/_tensor_str.py;
/// docs/rules/shapes.md#7.
void print_kernels(Context& c, const Tensor& x);

}  // namespace tidemark::ops
