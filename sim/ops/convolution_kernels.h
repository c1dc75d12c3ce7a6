#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

/// The numbers of one convolution; each list has as many entries as there are spatial dimensions.
struct ConvolutionOptions {
  Dims stride;
  Dims padding;
  Dims dilation;
  Dims output_padding;  ///< transposed only
  bool transposed = false;
  std::int64_t groups = 1;

  [[nodiscard]] bool is_dilated() const {
    for (const std::int64_t d : dilation) {
      if (d != 1) return true;
    }
    return false;
  }
};

struct ConvolutionGradients {
  Tensor input;
  Tensor weight;
  Tensor bias;
};
struct ConvolutionMask {
  bool input = false;
  bool weight = false;
  bool bias = false;
};

/// Output sizes. Errors: OpError with PyTorch's words when weight, bias or input do not fit
/// together.
Dims convolution_output_size(const Dims& input, const Dims& weight, const ConvolutionOptions& o);
void check_convolution(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const ConvolutionOptions& o);

/// Below autograd: the backend that PyTorch picks on this device, with its copies and temporaries.
/// Requires: 1, 2 or 3 spatial dimensions and a batch. Source: docs/rules/convolution.md#2, #4.
Tensor convolution_forward(Context& c, Tensor input, Tensor weight, const Tensor& bias,
                           ConvolutionOptions o);
ConvolutionGradients convolution_backward(Context& c, Tensor grad_output, Tensor input,
                                          Tensor weight, ConvolutionOptions o,
                                          ConvolutionMask wanted);

}  // namespace tidemark::ops
