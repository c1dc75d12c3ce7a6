#pragma once

#include "sim/ops/convolution_kernels.h"

namespace tidemark::ops {

/// The convolutions that PyTorch brings itself, by columns (im2col) and matrix products, one sample
/// at a time. Requires: 2 or 3 spatial dimensions, one group. Source: docs/rules/convolution.md#2.
Tensor slow_convolution(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const ConvolutionOptions& o);
ConvolutionGradients slow_convolution_backward(Context& c, const Tensor& grad_output,
                                               const Tensor& input, const Tensor& weight,
                                               const ConvolutionOptions& o, ConvolutionMask wanted);

}  // namespace tidemark::ops
