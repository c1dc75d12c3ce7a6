#include "sim/ops/slow_convolution.h"

#include "sim/ops/kernels.h"

namespace tidemark::ops {

namespace {

std::int64_t product(const Dims& dims, std::size_t from) {
  std::int64_t n = 1;
  for (std::size_t i = from; i < dims.size(); ++i) n *= dims[i];
  return n;
}

bool is_pointwise(const Tensor& weight, const ConvolutionOptions& o) {
  for (std::size_t i = 0; i < o.stride.size(); ++i) {
    if (weight.sizes()[i + 2] != 1 || o.stride[i] != 1 || o.padding[i] != 0 || o.dilation[i] != 1)
      return false;
  }
  return true;
}

/// One sample's patches as columns.
Tensor columns_of(Context& c, const Tensor& like, std::int64_t channels, const Tensor& weight,
                  std::int64_t positions) {
  return c.empty({channels * product(weight.sizes(), 2), positions}, like.dtype(), like.device());
}

// ---- plain, two spatial dimensions: thnn_conv2d

Tensor plain(Context& c, const Tensor& input, const Tensor& weight, const ConvolutionOptions& o) {
  const Dims sizes = convolution_output_size(input.sizes(), weight.sizes(), o);
  Tensor out = c.empty(sizes, input.dtype(), input.device());
  Tensor columns;
  if (!is_pointwise(weight, o)) {
    columns = columns_of(c, input, input.size(1), weight, product(sizes, 2));
  }
  c.cublas_workspace(input.device(), input.size(0));
  return out;
}

ConvolutionGradients plain_backward(Context& c, const Tensor& grad_output, const Tensor& input,
                                    const Tensor& weight, ConvolutionMask wanted) {
  ConvolutionGradients g;
  const Tensor grad = contiguous(c, grad_output);
  Tensor columns;
  const auto need_columns = [&] {
    if (!columns.defined()) {
      columns = columns_of(c, input, input.size(1), weight, product(grad.sizes(), 2));
    }
    c.cublas_workspace(input.device(), input.size(0));
  };
  if (wanted.input) {
    g.input = c.empty(input.sizes(), grad.dtype(), grad.device());
    need_columns();
  }
  // Into a given tensor: autocast, which widens `sum`, has no such form on its lists.
  if (wanted.bias) g.bias = reduce(c, grad, {0, 2, 3}, false, grad.dtype());
  if (wanted.weight) {
    g.weight = c.empty(weight.sizes(), grad.dtype(), grad.device());
    need_columns();
  }
  return g;
}

// ---- dilated, and everything in three dimensions: slow_conv_dilated

Tensor dilated(Context& c, const Tensor& input, const Tensor& weight, const ConvolutionOptions& o) {
  const Dims sizes = convolution_output_size(input.sizes(), weight.sizes(), o);
  Tensor out = c.empty(sizes, input.dtype(), input.device());
  const Tensor columns = columns_of(c, input, input.size(1), weight, product(sizes, 2));
  c.cublas_workspace(input.device(), input.size(0));
  return out;
}

ConvolutionGradients dilated_backward(Context& c, const Tensor& grad_output, const Tensor& input,
                                      const Tensor& weight, ConvolutionMask wanted) {
  ConvolutionGradients g;
  const Tensor grad = contiguous(c, grad_output);
  const ScalarType dtype = grad.dtype();
  if (wanted.input) g.input = c.empty(input.sizes(), dtype, grad.device());
  if (wanted.weight) g.weight = c.empty(weight.sizes(), dtype, grad.device());
  if (wanted.bias) g.bias = c.empty({weight.size(0)}, dtype, grad.device());
  Tensor columns;
  if (wanted.input || wanted.weight) {
    columns = columns_of(c, input, input.size(1), weight, product(grad.sizes(), 2));
  }
  Dims spatial;
  for (std::int64_t d = 1; d + 1 < grad.dim(); ++d) spatial.push_back(d);
  for (std::int64_t n = 0; n < grad.size(0); ++n) {
    if (wanted.input) c.cublas_workspace(input.device());
    if (wanted.weight) c.cublas_workspace(input.device());
    if (wanted.bias) sum(c, select(grad, 0, n), spatial, false);
  }
  return g;
}

// ---- transposed

Tensor transposed(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const ConvolutionOptions& o) {
  const Dims sizes = convolution_output_size(input.sizes(), weight.sizes(), o);
  Tensor out;
  if (input.dim() == 5) {
    // slow_conv_transpose3d starts from a tensor of the input's size and resizes it.
    Tensor first = c.empty(input.sizes(), input.dtype(), input.device());
    out = numel_of(sizes) > input.numel()
              ? c.empty(sizes, input.dtype(), input.device())
              : Context::alias(first, sizes, contiguous_strides(sizes), 0);
  } else {
    out = c.empty(sizes, input.dtype(), input.device());
  }
  const Tensor columns = columns_of(c, input, weight.size(1), weight, product(input.sizes(), 2));
  Tensor ones;
  if (bias.defined()) {
    Dims spatial;
    for (std::size_t i = 2; i < sizes.size(); ++i) spatial.push_back(sizes[i]);
    ones = c.empty(spatial, input.dtype(), input.device());
  }
  c.cublas_workspace(input.device(), bias.defined() ? 2 * input.size(0) : input.size(0));
  return out;
}

ConvolutionGradients transposed_backward(Context& c, const Tensor& grad_output, const Tensor& input,
                                         const Tensor& weight, const ConvolutionOptions& o,
                                         ConvolutionMask wanted) {
  ConvolutionGradients g;
  const ScalarType dtype = grad_output.dtype();
  // One by one kernels read the gradient as it is.
  const bool direct = is_pointwise(weight, o);
  // Each product goes through the samples one by one.
  const auto work = [&](std::int64_t products) {
    Tensor columns;
    if (!direct) columns = columns_of(c, input, weight.size(1), weight, product(input.sizes(), 2));
    c.cublas_workspace(input.device(), products * input.size(0));
    return columns;
  };
  if (wanted.input) {
    const Tensor grad = contiguous(c, grad_output);
    g.input = c.empty(input.sizes(), dtype, input.device());
    work(1);
  }
  if (wanted.weight) g.weight = c.empty(weight.sizes(), dtype, input.device());
  if (wanted.bias) g.bias = c.empty({weight.size(1)}, dtype, input.device());
  if (wanted.weight || wanted.bias) {
    const Tensor grad = contiguous(c, grad_output);
    // The bias of three dimensions is a product with ones.
    const bool sums_bias = wanted.bias && grad.dim() == 4;
    const Tensor columns = work((wanted.weight ? 1 : 0) + (wanted.bias && !sums_bias ? 1 : 0));
    if (sums_bias) {
      reduction_scratch(c, grad, {0, 2, 3}, element_bytes(accumulate_type(dtype)));
    }
  }
  return g;
}

}  // namespace

Tensor slow_convolution(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const ConvolutionOptions& o) {
  if (o.transposed) return transposed(c, input, weight, bias, o);
  if (input.dim() == 5 || o.is_dilated()) return dilated(c, input, weight, o);
  return plain(c, input, weight, o);
}

ConvolutionGradients slow_convolution_backward(Context& c, const Tensor& grad_output,
                                               const Tensor& input, const Tensor& weight,
                                               const ConvolutionOptions& o,
                                               ConvolutionMask wanted) {
  if (o.transposed) return transposed_backward(c, grad_output, input, weight, o, wanted);
  if (input.dim() == 5 || o.is_dilated()) {
    return dilated_backward(c, grad_output, input, weight, wanted);
  }
  return plain_backward(c, grad_output, input, weight, wanted);
}

}  // namespace tidemark::ops
