#include "sim/ops/convolution_ops.h"

#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/checked_sizes.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/op.h"
#include "sim/ops/padding_ops.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

Tensor differentiable(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                      const ConvolutionOptions& o) {
  check_convolution(input, weight, bias, o);
  Op op(c, "convolution", "ConvolutionBackward0", {&input, &weight, &bias});
  op.save(0, input);
  op.save(1, weight);
  return op.result(convolution_forward(c, input, weight, bias, o), [o](Backward& b) {
    const ConvolutionMask wanted{b.needs(0), b.needs(1), b.needs(2)};
    ConvolutionGradients g =
        b.c.grad_enabled() ? recorded_convolution(b.c, b.grad(), b.saved[0], b.saved[1], o, wanted)
                           : convolution_backward(b.c, b.grad(), b.saved[0], b.saved[1], o, wanted);
    b.grads[0] = std::move(g.input);
    b.grads[1] = std::move(g.weight);
    b.grads[2] = std::move(g.bias);
  });
}

/// Gives an input without a batch a batch of one, and takes it off the result.
template <class F>
Tensor with_batch(Context& c, const Tensor& input, std::int64_t spatial, bool transposed,
                  const F& run) {
  if (input.dim() == spatial + 2) return run(input);
  if (input.dim() != spatial + 1) {
    throw OpError(fmt::format(
        "Expected {}D (unbatched) or {}D (batched) input to conv{}{}d, but got input of size: {}",
        spatial + 1, spatial + 2, transposed ? "_transpose" : "", spatial,
        to_string(input.sizes())));
  }
  return squeeze(c, run(unsqueeze(c, input, 0)), 0);
}

}  // namespace

Tensor convolution(Context& c, Tensor input, Tensor weight, Tensor bias,
                   const ConvolutionOptions& options, std::int64_t spatial) {
  const AutocastScope cast(c, CastPolicy::kLowPrecision, {&input, &weight, &bias});
  return with_batch(c, input, spatial, options.transposed, [&](const Tensor& batched) {
    return differentiable(c, batched, weight, bias, options);
  });
}

Tensor convolution_padded_by_name(Context& c, Tensor input, Tensor weight, Tensor bias,
                                  ConvolutionOptions options, const std::string& padding,
                                  std::int64_t spatial) {
  // The input is padded before anything is cast.
  const auto convolved = [&](const Tensor& padded) {
    Tensor x = padded;
    const AutocastScope cast(c, CastPolicy::kLowPrecision, {&x, &weight, &bias});
    return differentiable(c, x, weight, bias, options);
  };
  if (padding != "same" && padding != "valid") {
    throw OpError(fmt::format("Invalid padding string: '{}'", padding));
  }
  const auto dims = static_cast<std::size_t>(spatial);
  options.padding = Dims::filled(dims, 0);
  return with_batch(c, input, spatial, false, [&](const Tensor& batched) {
    if (padding == "valid") return convolved(batched);
    Pads extra(2 * dims, 0);
    bool symmetric = true;
    for (std::size_t i = 0; i < dims; ++i) {
      if (options.stride[i] != 1)
        throw OpError("padding='same' is not supported for strided convolutions");
      const std::int64_t total =
          reach_of(weight.sizes()[i + 2], options.dilation[i], "convolution") - 1;
      options.padding[i] = total / 2;
      // What the right side gets beyond the left one is added to the input first.
      extra[2 * (dims - 1 - i) + 1] = total - 2 * options.padding[i];
      symmetric = symmetric && total % 2 == 0;
    }
    return convolved(symmetric ? batched : constant_pad(c, batched, extra));
  });
}

Tensor convolved(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                 std::int64_t spatial, const Dims& stride, const Dims& padding,
                 const Dims& dilation, std::int64_t groups) {
  ConvolutionOptions o;
  o.stride = stride;
  o.dilation = dilation;
  o.padding = padding;
  o.groups = groups;
  return convolution(c, input, weight, bias, o, spatial);
}
Tensor convolved_padded(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        std::int64_t spatial, const Dims& stride, const std::string& padding,
                        const Dims& dilation, std::int64_t groups) {
  ConvolutionOptions o;
  o.stride = stride;
  o.dilation = dilation;
  o.groups = groups;
  return convolution_padded_by_name(c, input, weight, bias, o, padding, spatial);
}
Tensor convolved_back(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                      std::int64_t spatial, const Dims& stride, const Dims& padding,
                      const Dims& output_padding, std::int64_t groups, const Dims& dilation) {
  ConvolutionOptions o;
  o.stride = stride;
  o.dilation = dilation;
  o.padding = padding;
  o.output_padding = output_padding;
  o.groups = groups;
  o.transposed = true;
  return convolution(c, input, weight, bias, o, spatial);
}

}  // namespace tidemark::ops
