#pragma once

#include <span>

#include "sim/ops/registry.h"

namespace tidemark::ops {

std::span<const OpDef> shape_ops();   ///< shape_ops.cc: views, copies, joins, casts, factories
std::span<const OpDef> pointwise_ops();  ///< pointwise_ops.cc: arithmetic, activations
std::span<const OpDef> foreach_ops(); ///< foreach_ops.cc: the optimizers' operators on lists
std::span<const OpDef> linear_ops();  ///< linear_ops.cc: matrix products
std::span<const OpDef> convolution_ops();
std::span<const OpDef> padding_ops();
std::span<const OpDef> pooling_ops();
std::span<const OpDef> batch_norm_ops();  ///< batch_norm and instance_norm
std::span<const OpDef> norm_ops();        ///< layer_norm, rms_norm, group_norm

}  // namespace tidemark::ops
