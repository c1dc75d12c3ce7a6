#pragma once

#include <span>

#include "sim/ops/registry.h"

namespace tidemark::ops {

std::span<const OpDef> shape_ops();   ///< shape_ops.cc: views, copies, joins, casts, factories
std::span<const OpDef> pointwise_ops();  ///< pointwise_ops.cc: arithmetic, activations
std::span<const OpDef> linear_ops();  ///< linear_ops.cc: matrix products

}  // namespace tidemark::ops
