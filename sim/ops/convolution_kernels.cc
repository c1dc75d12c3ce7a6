#include "sim/ops/convolution_kernels.h"

#include <fmt/format.h>

#include "sim/ops/checked_sizes.h"
#include "sim/ops/cudnn.h"
#include "sim/ops/kernel_shape.h"
#include "sim/ops/kernels.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/slow_convolution.h"

namespace tidemark::ops {

namespace {

enum class Backend : std::uint8_t { kCudnn, kDepthwise2d, kDepthwise3d, kSlow };

/// Source: at::native::cudnn_conv_suggest_memory_format.
MemoryFormat cudnn_format(const Tensor& input, const Tensor& weight) {
  if (input.dtype() == ScalarType::kFloat64 || weight.dtype() == ScalarType::kFloat64) {
    return MemoryFormat::kContiguous;
  }
  const MemoryFormat last =
      weight.dim() == 4 ? MemoryFormat::kChannelsLast : MemoryFormat::kChannelsLast3d;
  const bool any = input.suggest_memory_format() == last || weight.suggest_memory_format() == last;
  return any ? last : MemoryFormat::kContiguous;
}

/// Source: at::native::ConvParams::use_cudnn.
bool use_cudnn(const Context& c, const Tensor& input, const Tensor& weight,
               const ConvolutionOptions& o) {
  if (!c.backends.cudnn || !input.is_cuda()) return false;
  const bool bf16 =
      input.dtype() == ScalarType::kBFloat16 || weight.dtype() == ScalarType::kBFloat16;
  if (bf16 && c.spec().compute_capability < 80) return false;
  const bool half = bf16 || input.dtype() == ScalarType::kFloat16;
  if (half && weight.dim() == 5 && !c.rules().half_conv3d_by_cudnn &&
      weight.numel() != weight.size(0) * weight.size(1))
    return false;
  for (std::size_t i = 0; i < o.output_padding.size(); ++i) {
    if (o.transposed && o.output_padding[i] >= o.stride[i]) return false;
  }
  return !(c.backends.deterministic && o.is_dilated() &&
           cudnn_format(input, weight) == MemoryFormat::kContiguous);
}

/// Source: at::native::check_cudnn_depthwise_workload_with_filter.
bool good_depthwise_workload(const Tensor& input, std::int64_t stride, const Tensor& weight) {
  if (input.size(2) == 1 && stride == 1) return true;
  if (weight.size(2) != weight.size(3)) return false;
  const std::int64_t filter = weight.size(3);
  if (filter != 1 && filter != 3 && filter != 5) return false;
  const std::int64_t width = input.size(3);
  if (width < 7) return false;
  if (stride == 1) return true;
  if (stride != 2) return false;
  const std::int64_t channels = input.size(1);
  const std::int64_t batch = input.size(0);
  if (batch == 1) return filter != 1 || width <= 28;
  if (filter == 1) return batch <= 16 && channels >= 128 && width <= 7;
  return channels >= 512 || (channels >= 256 && width >= 28);
}

/// Source: at::native::ConvParams::use_cudnn_depthwise.
bool use_cudnn_depthwise(const Context& c, const Tensor& input, const Tensor& weight,
                         const ConvolutionOptions& o) {
  if (!c.backends.cudnn) return false;
  const bool is_plain = cudnn_format(input, weight) == MemoryFormat::kContiguous;
  // Whatever the type: bfloat16 on devices that know none included.
  if (!is_plain && c.rules().channels_last_depthwise_of_any_type) return true;
  if (!use_cudnn(c, input, weight, o)) return false;
  if (!is_plain) return true;
  return input.dtype() == ScalarType::kFloat16 && weight.dtype() == ScalarType::kFloat16 &&
         input.dim() == 4 && !o.is_dilated() &&
         (o.stride[0] == o.stride[1] || input.size(2) == 1) && input.size(1) >= 32 &&
         good_depthwise_workload(input, o.stride[1], weight);
}

Backend select_backend(const Context& c, const Tensor& input, const Tensor& weight,
                       const ConvolutionOptions& o) {
  const bool depthwise = !o.transposed && o.groups > 1 && input.size(1) == o.groups &&
                         weight.size(0) % input.size(1) == 0;
  if (depthwise && input.is_cuda()) {
    if (use_cudnn_depthwise(c, input, weight, o)) return Backend::kCudnn;
    return input.dim() == 4 ? Backend::kDepthwise2d : Backend::kDepthwise3d;
  }
  return use_cudnn(c, input, weight, o) ? Backend::kCudnn : Backend::kSlow;
}

/// One spatial dimension is computed as two, the first of size 1.
void widen(ConvolutionOptions& o) {
  o.stride.insert(0, 1);
  o.padding.insert(0, 0);
  o.dilation.insert(0, 1);
  o.output_padding.insert(0, 0);
}

std::string settings_text(std::string_view pass, const ConvolutionOptions& o) {
  std::string out =
      fmt::format("pass={} stride={} padding={} dilation={} groups={}", pass, dims_text(o.stride),
                  dims_text(o.padding), dims_text(o.dilation), o.groups);
  if (o.transposed) out += " transposed=" + dims_text(o.output_padding);
  return out;
}

void launch(Context& c, const Tensor& output, const Tensor& weight, const Tensor& input) {
  const auto per_value =
      static_cast<std::uint64_t>(weight.numel() / std::max<std::int64_t>(1, weight.size(0)));
  // Source: docs/rules/convolution.md#6.
  const bool is_depthwise = weight.size(1) == 1 && input.size(1) > 1;
  const bool is_in_order = cudnn_format(input, weight) == MemoryFormat::kContiguous;
  const bool is_turned = c.backends.cudnn && is_in_order && !is_depthwise;
  c.launch(input.device(), 2 * static_cast<std::uint64_t>(output.numel()) * per_value,
           output.bytes() + weight.bytes() + input.bytes(),
           is_turned ? KernelClass::kTurnedConvolution : KernelClass::kConvolution, input.dtype());
}

/// grad.to(memory_format): by what the strides suggest, not by what they allow.
Tensor to_format(Context& c, const Tensor& x, MemoryFormat format) {
  return x.suggest_memory_format() == format ? x : clone_in(c, x, format);
}

/// cudnn.benchmark: the first call for a key times every plan, then empties the cache. Source:
/// docs/rules/convolution.md#3.
void benchmark(Context& c, CudnnBuffer kind, const Tensor& input, const Tensor& weight,
               const Tensor& output, const ConvolutionOptions& o) {
  if (!c.backends.cudnn_benchmark) return;
  std::vector<std::int64_t> key{
      static_cast<std::int64_t>(kind), static_cast<std::int64_t>(input.dtype()), o.groups,
      static_cast<std::int64_t>(o.transposed), static_cast<std::int64_t>(c.backends.deterministic)};
  for (const Tensor* t : {&input, &weight, &output}) {
    key.insert(key.end(), t->sizes().begin(), t->sizes().end());
    key.push_back(static_cast<std::int64_t>(t->suggest_memory_format()));
  }
  for (const Dims* d : {&o.stride, &o.padding, &o.dilation})
    key.insert(key.end(), d->begin(), d->end());
  if (!c.thread().timed_convolutions.insert(std::move(key)).second) return;
  { const Tensor workspace = cudnn_buffer(c, kind, input.device()); }
  c.memory().empty_cache(input.device());
}

Tensor group_of(Context& c, const Tensor& x, std::int64_t dim, std::int64_t groups,
                std::int64_t g) {
  if (!x.defined()) return {};
  const std::int64_t n = x.size(dim) / groups;
  return contiguous(c, narrow(x, dim, n * g, n));
}

Tensor cudnn_forward(Context& c, const Tensor& input, const Tensor& weight,
                     const ConvolutionOptions& o) {
  const MemoryFormat format = cudnn_format(input, weight);
  Tensor out = c.empty_in(convolution_output_size(input.sizes(), weight.sizes(), o), format,
                          input.dtype(), input.device());
  if (out.numel() == 0) return out;
  const Tensor weight_copy = contiguous_kernel(c, weight, format);
  const Tensor input_copy = contiguous_kernel(c, input, format);
  benchmark(c, CudnnBuffer::kConvolutionForward, input, weight, out, o);
  const Tensor workspace = cudnn_buffer(c, CudnnBuffer::kConvolutionForward, input.device());
  return out;
}

ConvolutionGradients cudnn_backward(Context& c, const Tensor& grad_output, const Tensor& input,
                                    const Tensor& weight, const ConvolutionOptions& o,
                                    ConvolutionMask wanted) {
  ConvolutionGradients g;
  const MemoryFormat input_format = input.suggest_memory_format();
  const Tensor grad = o.transposed ? contiguous_kernel(c, grad_output, input_format)
                                   : to_format(c, grad_output, input_format);
  if (wanted.input) {
    const MemoryFormat format = cudnn_format(grad, weight);
    g.input = c.empty_in(input.sizes(), format, grad.dtype(), grad.device());
    const Tensor weight_copy = contiguous_kernel(c, weight, format);
    const Tensor grad_copy = contiguous_kernel(c, grad, format);
    benchmark(c, CudnnBuffer::kConvolutionBackwardData, input, weight, grad, o);
    const Tensor workspace = cudnn_buffer(c, CudnnBuffer::kConvolutionBackwardData, grad.device());
    launch(c, grad_output, weight, input);
    if (shape_taker(c) != nullptr)
      works_on(c, {&grad_copy, &weight_copy}, {&g.input}, settings_text("input", o));
  }
  if (wanted.weight) {
    const MemoryFormat format = cudnn_format(input, grad);
    const Tensor grad_copy = contiguous_kernel(c, grad, format);
    const Tensor input_copy = contiguous_kernel(c, input, format);
    g.weight = c.empty_in(weight.sizes(), format, grad.dtype(), grad.device());
    benchmark(c, CudnnBuffer::kConvolutionBackwardFilter, input, weight, grad, o);
    const Tensor workspace =
        cudnn_buffer(c, CudnnBuffer::kConvolutionBackwardFilter, grad.device());
    launch(c, grad_output, weight, input);
    if (shape_taker(c) != nullptr)
      works_on(c, {&grad_copy, &input_copy}, {&g.weight}, settings_text("weight", o));
  }
  return g;
}

ConvolutionGradients depthwise2d_backward(Context& c, const Tensor& grad_output,
                                          const Tensor& input, const Tensor& weight,
                                          ConvolutionMask wanted) {
  ConvolutionGradients g;
  const Tensor grad = contiguous(c, grad_output);
  if (wanted.weight) {
    const Tensor input_copy = contiguous(c, input);
    g.weight = c.empty(weight.sizes(), grad.dtype(), grad.device());
  }
  if (wanted.input) {
    const Tensor weight_copy = contiguous(c, weight);
    g.input = c.empty(input.sizes(), grad.dtype(), grad.device());
  }
  return g;
}

ConvolutionGradients depthwise3d_backward(Context& c, const Tensor& grad_output,
                                          const Tensor& input, const Tensor& weight,
                                          ConvolutionMask wanted) {
  ConvolutionGradients g;
  const ScalarType dtype = grad_output.dtype();
  if (wanted.input) g.input = c.empty(input.sizes(), dtype, input.device());
  if (wanted.weight) g.weight = c.empty(weight.sizes(), dtype, input.device());
  const Tensor grad = contiguous(c, grad_output);
  {
    const Tensor input_copy = contiguous(c, input);
    const Tensor weight_copy = contiguous(c, weight);
  }
  if (wanted.bias) g.bias = sum(c, grad_output, {0, 2, 3, 4}, false);
  return g;
}

ConvolutionGradients grouped_slow_backward(Context& c, const Tensor& grad_output,
                                           const Tensor& input_given, const Tensor& weight_given,
                                           const ConvolutionOptions& o, ConvolutionMask wanted) {
  const Tensor input = contiguous(c, input_given);
  const Tensor weight = contiguous(c, weight_given);
  if (o.groups == 1) return slow_convolution_backward(c, grad_output, input, weight, o, wanted);
  ConvolutionOptions one = o;
  one.groups = 1;
  ConvolutionGradients g;
  TensorList inputs;
  TensorList weights;
  TensorList biases;
  for (std::int64_t i = 0; i < o.groups; ++i) {
    const Tensor grad_i = group_of(c, grad_output, 1, o.groups, i);
    const Tensor input_i = group_of(c, input, 1, o.groups, i);
    const Tensor weight_i = group_of(c, weight, 0, o.groups, i);
    ConvolutionGradients part =
        slow_convolution_backward(c, grad_i, input_i, weight_i, one, wanted);
    inputs.push_back(std::move(part.input));
    weights.push_back(std::move(part.weight));
    biases.push_back(std::move(part.bias));
  }
  if (wanted.input) g.input = cat_kernel(c, inputs, 1);
  if (wanted.weight) g.weight = cat_kernel(c, weights, 0);
  if (wanted.bias) g.bias = cat_kernel(c, biases, 0);
  // The parts go list by list, the last list first, each from its front.
  biases.clear();
  weights.clear();
  inputs.clear();
  return g;
}

Tensor grouped_slow_forward(Context& c, const Tensor& input_given, const Tensor& weight_given,
                            const Tensor& bias, const ConvolutionOptions& o) {
  const Tensor input = contiguous(c, input_given);
  const Tensor weight = contiguous(c, weight_given);
  if (o.groups == 1) return slow_convolution(c, input, weight, bias, o);
  ConvolutionOptions one = o;
  one.groups = 1;
  TensorList parts;
  for (std::int64_t i = 0; i < o.groups; ++i) {
    const Tensor input_i = group_of(c, input, 1, o.groups, i);
    const Tensor weight_i = group_of(c, weight, 0, o.groups, i);
    const Tensor bias_i = group_of(c, bias, 0, o.groups, i);
    parts.push_back(slow_convolution(c, input_i, weight_i, bias_i, one));
  }
  Tensor out = cat_kernel(c, parts, 1);
  parts.clear();
  return out;
}

}  // namespace

Dims convolution_output_size(const Dims& input, const Dims& weight, const ConvolutionOptions& o) {
  constexpr std::string_view kWhat = "convolution";
  Dims out{input[0], o.transposed ? times(weight[1], o.groups, kWhat) : weight[0]};
  for (std::size_t i = 0; i + 2 < input.size(); ++i) {
    const std::int64_t kernel = reach_of(weight[i + 2], o.dilation[i], kWhat);
    const std::int64_t edges = times(2, o.padding[i], kWhat);
    if (o.transposed) {
      const std::int64_t spread = times(input[i + 2] - 1, o.stride[i], kWhat);
      out.push_back(plus(plus(spread - edges, kernel, kWhat), o.output_padding[i], kWhat));
    } else {
      out.push_back((plus(input[i + 2], edges, kWhat) - kernel) / o.stride[i] + 1);
    }
  }
  return out;
}

namespace {

std::string by(const Dims& dims, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < dims.size(); ++i) {
    if (i > from) out += " x ";
    out += fmt::to_string(dims[i]);
  }
  return out;
}

}  // namespace

void check_convolution(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const ConvolutionOptions& o) {
  const Dims& w = weight.sizes();
  if (w.size() != input.sizes().size()) {
    throw OpError(
        fmt::format("Expected {}-dimensional input for {}-dimensional weight {}, but got "
                    "{}-dimensional input of size {} instead",
                    w.size(), w.size(), to_string(w), input.dim(), to_string(input.sizes())));
  }
  constexpr std::string_view kWhat = "convolution";
  if (o.groups <= 0) throw OpError("non-positive groups is not supported");
  for (std::size_t i = 0; i < o.stride.size(); ++i) {
    if (o.stride[i] <= 0) throw OpError("non-positive stride is not supported");
    if (o.padding[i] < 0) throw OpError("negative padding is not supported");
    if (o.dilation[i] <= 0) throw OpError("dilation should be greater than zero");
  }
  const std::int64_t channels = input.size(1);
  if (!o.transposed) {
    if (w[0] < o.groups || w[0] % o.groups != 0) {
      throw OpError(
          fmt::format("Given groups={}, expected weight to be {} at dimension 0, but got weight of "
                      "size {} instead",
                      o.groups,
                      w[0] < o.groups ? fmt::format("at least {}", o.groups)
                                      : fmt::format("divisible by {}", o.groups),
                      to_string(w)));
    }
    if (channels != w[1] * o.groups) {
      throw OpError(
          fmt::format("Given groups={}, weight of size {}, expected input{} to have {} channels, "
                      "but got {} channels instead",
                      o.groups, to_string(w), to_string(input.sizes()), w[1] * o.groups, channels));
    }
    Dims padded{0, 0};
    Dims kernel{0, 0};
    bool fits = true;
    for (std::size_t i = 0; i < o.stride.size(); ++i) {
      padded.push_back(plus(input.sizes()[i + 2], times(2, o.padding[i], kWhat), kWhat));
      kernel.push_back(reach_of(w[i + 2], o.dilation[i], kWhat));
      fits = fits && padded.back() >= kernel.back();
    }
    if (!fits) {
      throw OpError(
          fmt::format("Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel "
                      "size can't be greater than actual input size",
                      by(padded, 2), by(kernel, 2)));
    }
  } else if (channels != w[0]) {
    throw OpError(
        fmt::format("Given transposed=1, weight of size {}, expected input{} to have {} channels, "
                    "but got {} channels instead",
                    to_string(w), to_string(input.sizes()), w[0], channels));
  }
  const std::int64_t features = o.transposed ? times(w[1], o.groups, kWhat) : w[0];
  if (bias.defined() && (bias.dim() != 1 || bias.size(0) != features)) {
    throw OpError(fmt::format(
        "Given {}weight of size {}, expected bias to be 1-dimensional with {} elements, but got "
        "bias of size {} instead",
        o.transposed ? "transposed=1, " : "", to_string(w), features, to_string(bias.sizes())));
  }
  const auto same = [&](const Tensor& parameter, std::string_view what) {
    if (parameter.defined() && !(parameter.device() == input.device())) {
      const std::string or_else =
          input.is_cuda()
              ? std::string()
              : fmt::format(" or input should be a MKLDNN tensor and {} is a dense tensor", what);
      throw OpError(fmt::format("Input type ({}) and {} type ({}) should be the same{}",
                                class_name(input), what, class_name(parameter), or_else));
    }
    if (parameter.defined() && parameter.dtype() != input.dtype()) {
      throw OpError(fmt::format("Input type ({}) and {} type ({}) should be the same",
                                info(input.dtype()).name, what, info(parameter.dtype()).name));
    }
  };
  same(weight, "weight");
  same(bias, "bias");
}

Tensor convolution_forward(Context& c, Tensor input, Tensor weight, const Tensor& bias,
                           ConvolutionOptions o) {
  const bool flat = weight.dim() == 3;
  if (flat) {
    input = unsqueeze(contiguous(c, input), 2);
    weight = unsqueeze(weight, 2);
    widen(o);
  }
  Tensor out;
  switch (select_backend(c, input, weight, o)) {
    case Backend::kCudnn:
      out = cudnn_forward(c, contiguous_kernel(c, input, cudnn_format(input, weight)), weight, o);
      break;
    case Backend::kDepthwise2d:
    case Backend::kDepthwise3d: {
      const Tensor input_copy = contiguous(c, input);
      const Tensor weight_copy = contiguous(c, weight);
      out = c.empty(convolution_output_size(input.sizes(), weight.sizes(), o), input.dtype(),
                    input.device());
      break;
    }
    case Backend::kSlow:
      out = grouped_slow_forward(c, input, weight, bias, o);
      break;
  }
  launch(c, out, weight, input);
  if (shape_taker(c) != nullptr)
    works_on(c, {&input, &weight}, {&out}, settings_text("forward", o));
  return flat ? squeeze(out, 2) : out;
}

ConvolutionGradients convolution_backward(Context& c, Tensor grad_output, Tensor input,
                                          Tensor weight, ConvolutionOptions o,
                                          ConvolutionMask wanted) {
  const bool flat = weight.dim() == 3;
  if (flat) {
    input = unsqueeze(contiguous(c, input), 2);
    grad_output = unsqueeze(grad_output, 2);
    weight = unsqueeze(weight, 2);
    widen(o);
  }
  ConvolutionGradients g;
  switch (select_backend(c, input, weight, o)) {
    case Backend::kCudnn: {
      const Tensor input_copy =
          wanted.weight ? contiguous_kernel(c, input, cudnn_format(input, weight)) : input;
      g = cudnn_backward(c, grad_output, input_copy, weight, o, wanted);
      break;
    }
    case Backend::kDepthwise2d:
      g = depthwise2d_backward(c, grad_output, input, weight, wanted);
      break;
    case Backend::kDepthwise3d:
      g = depthwise3d_backward(c, grad_output, input, weight, wanted);
      break;
    case Backend::kSlow:
      g = grouped_slow_backward(c, grad_output, input, weight, o, wanted);
      break;
  }
  if (flat) {
    if (g.input.defined()) g.input = squeeze(g.input, 2);
    if (g.weight.defined()) g.weight = squeeze(g.weight, 2);
  }
  if (wanted.bias && !g.bias.defined()) {
    g.bias = grad_output.dim() == 5 ? sum(c, grad_output, {0, 2, 3, 4}, false)
                                    : sum(c, grad_output, {0, 2, 3}, false);
  }
  return g;
}

}  // namespace tidemark::ops
