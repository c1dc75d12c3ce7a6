#pragma once

#include <string>

#include "sim/ops/context.h"

namespace tidemark::ops {

// F.pad. Source: docs/rules/shapes.md#3.

/// torch.constant_pad_nd: `pad` has (left, right) pairs from the last dimension on; negative ones
/// cut.
Tensor constant_pad(Context& c, const Tensor& self, const Dims& pad);
/// mode: constant, reflect, replicate, circular. Errors: OpError with PyTorch's words.
Tensor pad(Context& c, const Tensor& self, const Dims& pad, const std::string& mode);

/// constant_pad below autograd.
Tensor constant_pad_kernel(Context& c, const Tensor& self, const Dims& pad);

}  // namespace tidemark::ops
