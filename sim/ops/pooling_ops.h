#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// What the records of pooling make (sim/ops/records/pooling.yaml), for other C++.

/// `output_size`: wanted size a spatial dimension; -1 keeps the input's.
Tensor adaptive_avg_pool1d(Context& c, const Tensor& self, const Dims& output_size);
Tensor adaptive_avg_pool2d(Context& c, const Tensor& self, const Dims& output_size);
Tensor adaptive_avg_pool3d(Context& c, const Tensor& self, const Dims& output_size);

}  // namespace tidemark::ops
