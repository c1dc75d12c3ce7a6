#pragma once

#include <string>
#include <vector>

#include "sim/ops/context.h"

namespace tidemark::ops {

// F.pad. Source: docs/rules/shapes.md#3.

/// Two numbers a dimension, more than Dims holds.
using Pads = std::vector<std::int64_t>;

/// torch.constant_pad_nd: `pad` has (left, right) pairs from the last dimension on; negative ones
/// cut.
Tensor constant_pad(Context& c, const Tensor& self, const Pads& pad);
/// mode: constant, reflect, replicate, circular. Errors: OpError with PyTorch's words.
Tensor pad(Context& c, const Tensor& self, const Pads& pad, const std::string& mode);

/// constant_pad below autograd.
Tensor constant_pad_kernel(Context& c, const Tensor& self, const Pads& pad);

}  // namespace tidemark::ops
