#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// What the records of activations make (sim/ops/records/activations.yaml), for other C++.

/// Errors: OpError for p outside [0, 1].
Tensor dropout(Context& c, const Tensor& self, double p, bool train);

}  // namespace tidemark::ops
