#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// Pooling. Source: docs/rules/pooling.md#1.

/// Window sizes of a pooling operator, one entry a spatial dimension.
struct PoolOptions {
  Dims kernel;
  Dims stride;
  Dims padding;
  Dims dilation;
  bool ceil_mode = false;
};

/// F.max_pool1d, 2d, 3d by the number of windows. The second is the indices (int64).
std::pair<Tensor, Tensor> max_pool(Context& c, const Tensor& input, const PoolOptions& options);
Tensor avg_pool(Context& c, const Tensor& input, const PoolOptions& options);
/// `output`: wanted size a spatial dimension; -1 keeps the input's. All ones: the mean.
Tensor adaptive_avg_pool(Context& c, const Tensor& input, Dims output);
std::pair<Tensor, Tensor> adaptive_max_pool(Context& c, const Tensor& input, Dims output);

}  // namespace tidemark::ops
