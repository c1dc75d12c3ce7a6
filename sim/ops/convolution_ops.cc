#include "sim/ops/convolution_ops.h"

#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/checked_sizes.h"
#include "sim/ops/families.h"
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

namespace {

ConvolutionOptions options_of(const Arguments& a, std::size_t spatial, std::size_t stride,
                              std::size_t dilation) {
  ConvolutionOptions o;
  o.stride = a.dims_of(stride, spatial);
  o.dilation = a.dims_of(dilation, spatial);
  o.output_padding = Dims::filled(spatial, 0);
  o.padding = Dims::filled(spatial, 0);
  return o;
}

template <std::size_t kSpatial>
OpResult run_plain(Arguments& a) {
  ConvolutionOptions o = options_of(a, kSpatial, 3, 5);
  o.padding = a.dims_of(4, kSpatial);
  o.groups = a.integer(6);
  return convolution(a.context(), a.tensor(0), a.tensor(1), a.optional_tensor(2), o, kSpatial);
}

template <std::size_t kSpatial>
OpResult run_named(Arguments& a) {
  ConvolutionOptions o = options_of(a, kSpatial, 3, 5);
  o.groups = a.integer(6);
  return convolution_padded_by_name(a.context(), a.tensor(0), a.tensor(1), a.optional_tensor(2), o,
                                    a.text(4), kSpatial);
}

template <std::size_t kSpatial>
OpResult run_transposed(Arguments& a) {
  ConvolutionOptions o = options_of(a, kSpatial, 3, 7);
  o.padding = a.dims_of(4, kSpatial);
  o.output_padding = a.dims_of(5, kSpatial);
  o.groups = a.integer(6);
  o.transposed = true;
  return convolution(a.context(), a.tensor(0), a.tensor(1), a.optional_tensor(2), o, kSpatial);
}

}  // namespace

std::span<const OpDef> convolution_ops() {
  static constexpr std::string_view kConvolutionOpsSource = "docs/rules/convolution.md#2, #4";
  static constexpr OpDef kOps[] = {
      {"conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, "
       "int[1] dilation=1, int groups=1)",
       "torch F", run_plain<1>, kConvolutionOpsSource},
      {"conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str "
       "padding='valid', int[1] dilation=1, int groups=1)",
       "torch F", run_named<1>, kConvolutionOpsSource},
      {"conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, "
       "int[2] dilation=1, int groups=1)",
       "torch F", run_plain<2>, kConvolutionOpsSource},
      {"conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str "
       "padding='valid', int[2] dilation=1, int groups=1)",
       "torch F", run_named<2>, kConvolutionOpsSource},
      {"conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, "
       "int[3] dilation=1, int groups=1)",
       "torch F", run_plain<3>, kConvolutionOpsSource},
      {"conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str "
       "padding='valid', int[3] dilation=1, int groups=1)",
       "torch F", run_named<3>, kConvolutionOpsSource},
      {"conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] "
       "padding=0, int[1] output_padding=0, int groups=1, int[1] dilation=1)",
       "torch F", run_transposed<1>, kConvolutionOpsSource},
      {"conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] "
       "padding=0, int[2] output_padding=0, int groups=1, int[2] dilation=1)",
       "torch F", run_transposed<2>, kConvolutionOpsSource},
      {"conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] "
       "padding=0, int[3] output_padding=0, int groups=1, int[3] dilation=1)",
       "torch F", run_transposed<3>, kConvolutionOpsSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
