#pragma once

#include <string>

#include "sim/ops/convolution_kernels.h"

namespace tidemark::ops {

// Differentiable convolutions. Source: docs/rules/convolution.md.

/// F.conv1d, conv2d, conv3d and the transposed ones; `bias` may be undefined. `spatial`: how many
/// spatial dimensions; an input without a batch gets one. Errors: OpError with PyTorch's words and
/// both shapes.
Tensor convolution(Context& c, Tensor input, Tensor weight, Tensor bias,
                   const ConvolutionOptions& options, std::int64_t spatial);
/// padding="same" or "valid". Errors: OpError for strides other than 1 with "same".
Tensor convolution_padded_by_name(Context& c, Tensor input, Tensor weight, Tensor bias,
                                  ConvolutionOptions options, const std::string& padding,
                                  std::int64_t spatial);

}  // namespace tidemark::ops
