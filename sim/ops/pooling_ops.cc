#include "sim/ops/pooling_ops.h"

#include <fmt/format.h>

#include <utility>

#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

/// Source: at::native::pooling_output_shape.
std::int64_t pooled(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                    std::int64_t dilation, bool ceil_mode) {
  if (stride == 0) throw OpError("stride should not be zero");
  if (pad < 0) throw OpError(fmt::format("pad must be non-negative, but got pad: {}", pad));
  if (pad > ((kernel - 1) * dilation + 1) / 2) {
    throw OpError(
        fmt::format("pad should be at most half of effective kernel size, but got pad={}, "
                    "kernel_size={} and dilation={}",
                    pad, kernel, dilation));
  }
  const std::int64_t free =
      size + 2 * pad - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  std::int64_t out = (free >= 0 ? free / stride : -((-free + stride - 1) / stride)) + 1;
  if (ceil_mode && (out - 1) * stride >= size + pad) --out;
  return out;
}

Dims pooled_sizes(const Tensor& input, const PoolOptions& o) {
  const std::size_t spatial = o.kernel.size();
  const std::size_t lead = input.sizes().size() - spatial;
  Dims out = input.sizes();
  bool positive = true;
  for (const Dims* given : {&o.kernel, &o.stride, &o.padding, &o.dilation}) {
    for (const std::int64_t each : *given) {
      if (each != static_cast<std::int32_t>(each)) throw OpError("integer out of range");
    }
  }
  for (std::size_t i = 0; i < spatial; ++i) {
    out[lead + i] = pooled(input.sizes()[lead + i], o.kernel[i], o.stride[i], o.padding[i],
                           o.dilation[i], o.ceil_mode);
    positive = positive && out[lead + i] >= 1;
  }
  if (!positive) {
    const auto text = [&](const Dims& d) {
      std::string s;
      for (std::size_t i = lead - 1; i < d.size(); ++i)
        s += (s.empty() ? "" : "x") + fmt::to_string(d[i]);
      return s;
    };
    throw OpError(fmt::format(
        "Given input size: ({}). Calculated output size: ({}). Output size is too small",
        text(input.sizes()), text(out)));
  }
  return out;
}

void check_rank(const Tensor& input, std::size_t spatial, std::string_view name) {
  const std::size_t n = input.sizes().size();
  if (n != spatial + 1 && n != spatial + 2) {
    throw OpError(fmt::format("{}: Expected {}D or {}D input, but got: {}", name, spatial + 1,
                              spatial + 2, to_string(input.sizes())));
  }
}

std::pair<Tensor, Tensor> max_pool_nd(Context& c, const Tensor& input, const PoolOptions& o) {
  const bool flat = o.kernel.size() == 2;
  check_rank(input, o.kernel.size(), flat ? "max_pool2d" : "max_pool3d");
  const Dims sizes = pooled_sizes(input, o);
  Op op(c, flat ? "max_pool2d_with_indices" : "max_pool3d_with_indices",
        flat ? "MaxPool2DWithIndicesBackward0" : "MaxPool3DWithIndicesBackward0", {&input});
  const MemoryFormat format = input.suggest_memory_format();
  op.save(0, input);
  Tensor out = c.empty_in(sizes, format, input.dtype(), input.device());
  Tensor indices = c.empty_in(sizes, format, ScalarType::kInt64, input.device());
  { const Tensor copy = contiguous_kernel(c, input, format); }
  op.save(1, indices);
  op.results({&out, &indices}, [flat](Backward& b) {
    const Tensor& self = b.saved[0];
    const MemoryFormat f = self.suggest_memory_format();
    Tensor made = b.c.empty_in(self.sizes(), f, self.dtype(), self.device());
    {
      const Tensor self_copy = flat ? contiguous_kernel(b.c, self, f) : Tensor();
      const Tensor grad = contiguous_kernel(b.c, b.grad(), f);
      const Tensor indices_copy = contiguous_kernel(b.c, b.saved[1], f);
    }
    if (b.c.grad_enabled()) {
      made = recorded_linear(b.c, "max_pool_backward", "MaxPoolBackwardBackward0", b.grad(), self,
                             false, {b.saved[1]}, std::move(made), [flat](Backward& second) {
                               return gathered_at(second.c, second.grad(), second.saved[0],
                                                  flat ? 2 : 3);
                             });
    }
    b.grads[0] = std::move(made);
  });
  return {std::move(out), std::move(indices)};
}

Tensor avg_pool_nd(Context& c, const Tensor& input, const PoolOptions& o) {
  const bool flat = o.kernel.size() == 2;
  check_rank(input, o.kernel.size(), flat ? "avg_pool2d" : "avg_pool3d");
  const Dims sizes = pooled_sizes(input, o);
  Op op(c, flat ? "avg_pool2d" : "avg_pool3d", flat ? "AvgPool2DBackward0" : "AvgPool3DBackward0",
        {&input});
  // Three dimensions know one memory format only.
  const auto format_of = [flat](const Tensor& x) {
    return flat ? x.suggest_memory_format() : MemoryFormat::kContiguous;
  };
  op.save(0, input);
  Tensor out = c.empty_in(sizes, format_of(input), input.dtype(), input.device());
  { const Tensor copy = contiguous_kernel(c, input, format_of(input)); }
  return op.result(std::move(out), [flat, format_of, o](Backward& b) {
    const Tensor& self = b.saved[0];
    const MemoryFormat f = format_of(self);
    Tensor made = b.c.empty_in(self.sizes(), f, self.dtype(), self.device());
    {
      const Tensor self_copy = flat ? contiguous_kernel(b.c, self, f) : Tensor();
      const Tensor grad = contiguous_kernel(b.c, b.grad(), f);
    }
    if (b.c.grad_enabled()) {
      made = recorded_linear(b.c, "avg_pool_backward", "AvgPoolBackwardBackward0", b.grad(), self,
                             false, {}, std::move(made), [o](Backward& second) {
                               return avg_pool_nd(second.c, second.grad(), o);
                             });
    }
    b.grads[0] = std::move(made);
  });
}

PoolOptions widened(const PoolOptions& o) {
  PoolOptions wide = o;
  wide.kernel.insert(0, 1);
  wide.stride.insert(0, 1);
  wide.padding.insert(0, 0);
  wide.dilation.insert(0, 1);
  return wide;
}

}  // namespace

std::pair<Tensor, Tensor> max_pool(Context& c, const Tensor& input, const PoolOptions& options) {
  if (options.kernel.size() > 1) return max_pool_nd(c, input, options);
  check_rank(input, 1, "max_pool1d");
  auto [out, indices] = max_pool_nd(c, unsqueeze(c, input, -2), widened(options));
  return {squeeze(c, out, -2), squeeze(c, indices, -2)};
}

Tensor avg_pool(Context& c, const Tensor& input, const PoolOptions& options) {
  if (options.kernel.size() > 1) return avg_pool_nd(c, input, options);
  check_rank(input, 1, "avg_pool1d");
  return squeeze(c, avg_pool_nd(c, unsqueeze(c, input, -2), widened(options)), -2);
}

namespace {

/// The mean over the last `spatial` dimensions, kept as ones.
Tensor spatial_mean(Context& c, const Tensor& input, std::size_t spatial) {
  Op op(c, "mean", "MeanBackward1", {&input});
  Dims dims;
  for (std::size_t i = 1; i <= spatial; ++i) dims.push_back(-static_cast<std::int64_t>(i));
  return op.result(reduce(c, input, dims, true, input.dtype()), [old = input.sizes()](Backward& b) {
    if (b.c.grad_enabled()) {
      b.grads[0] = over_number(b.c, expand(b.c, b.grad(), old));
      return;
    }
    const Tensor wide = expand(b.grad(), old);
    b.grads[0] = pointwise(b.c, {&wide});
  });
}

/// as_strided_() that gives a [N, C, 1, 1] result channels_last strides: the same tensor, no view.
Tensor mark_channels_last(Context& c, const Tensor& self) {
  Op op(c, "as_strided", "AsStridedBackward0", {&self});
  Dims strides = Dims::filled(self.sizes().size(), self.size(1));
  strides[1] = 1;
  return op.result(Context::alias(self, self.sizes(), strides, self->offset),
                   [old = self.sizes()](Backward& b) {
                     b.grads[0] = b.c.empty(old, b.grad().dtype(), b.grad().device());
                   });
}

Dims adaptive_sizes(const Tensor& input, const Dims& output) {
  const std::size_t lead = input.sizes().size() - output.size();
  Dims sizes = input.sizes();
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (output[i] >= 0) sizes[lead + i] = output[i];
  }
  return sizes;
}

bool all_ones(const Tensor& input, const Dims& output) {
  const Dims sizes = adaptive_sizes(input, output);
  for (std::size_t i = sizes.size() - output.size(); i < sizes.size(); ++i) {
    if (sizes[i] != 1) return false;
  }
  return true;
}

}  // namespace

Tensor adaptive_avg_pool(Context& c, const Tensor& input, Dims output) {
  const std::size_t spatial = output.size();
  check_rank(input, spatial, fmt::format("adaptive_avg_pool{}d", spatial));
  if (spatial == 1) {
    output.insert(0, 1);
    return squeeze(c, adaptive_avg_pool(c, unsqueeze(c, input, -2), output), -2);
  }
  if (all_ones(input, output)) {
    const MemoryFormat format = input.suggest_memory_format();
    Tensor out = spatial_mean(c, input, spatial);
    return format == MemoryFormat::kContiguous ? out : mark_channels_last(c, out);
  }
  const bool flat = spatial == 2;
  Op op(c, flat ? "_adaptive_avg_pool2d" : "_adaptive_avg_pool3d",
        flat ? "AdaptiveAvgPool2DBackward0" : "AdaptiveAvgPool3DBackward0", {&input});
  const auto format_of = [flat](const Tensor& x) {
    return flat ? x.suggest_memory_format() : MemoryFormat::kContiguous;
  };
  op.save(0, input);
  const MemoryFormat format = format_of(input);
  const Tensor copy = contiguous_kernel(c, input, format);
  Tensor out = c.empty_in(adaptive_sizes(input, output), format, input.dtype(), input.device());
  return op.result(std::move(out), [format_of](Backward& b) {
    const Tensor& self = b.saved[0];
    const MemoryFormat f = format_of(self);
    b.grads[0] = b.c.empty_in(self.sizes(), f, self.dtype(), self.device());
    const Tensor grad = f == MemoryFormat::kContiguous ? contiguous(b.c, b.grad()) : b.grad();
  });
}

std::pair<Tensor, Tensor> adaptive_max_pool(Context& c, const Tensor& input, Dims output) {
  const std::size_t spatial = output.size();
  check_rank(input, spatial, fmt::format("adaptive_max_pool{}d", spatial));
  if (spatial == 1) {
    output.insert(0, 1);
    auto [out, indices] = adaptive_max_pool(c, unsqueeze(c, input, -2), output);
    return {squeeze(c, out, -2), squeeze(c, indices, -2)};
  }
  const bool flat = spatial == 2;
  Op op(c, flat ? "adaptive_max_pool2d" : "adaptive_max_pool3d",
        flat ? "AdaptiveMaxPool2DBackward0" : "AdaptiveMaxPool3DBackward0", {&input});
  const auto format_of = [flat](const Tensor& x) {
    return flat ? x.suggest_memory_format() : MemoryFormat::kContiguous;
  };
  op.save(0, input);
  const Dims sizes = adaptive_sizes(input, output);
  const MemoryFormat format = format_of(input);
  Tensor out = c.empty_in(sizes, format, input.dtype(), input.device());
  Tensor indices = c.empty_in(sizes, format, ScalarType::kInt64, input.device());
  {
    // The kernel knows contiguous tensors only: others are made beside and copied.
    const Tensor plain_out = contiguous(c, out);
    const Tensor plain_indices = contiguous(c, indices);
    const Tensor copy = contiguous(c, input);
  }
  op.save(1, indices);
  op.results({&out, &indices}, [format_of](Backward& b) {
    const Tensor& self = b.saved[0];
    b.grads[0] = b.c.empty_in(self.sizes(), format_of(self), self.dtype(), self.device());
    const Tensor grad = contiguous(b.c, b.grad());
    const Tensor plain_indices = contiguous(b.c, b.saved[1]);
    const Tensor plain_out = contiguous(b.c, b.grads[0]);
  });
  return {std::move(out), std::move(indices)};
}

namespace {

template <std::size_t kSpatial>
PoolOptions window(const Arguments& a) {
  PoolOptions o;
  o.kernel = a.dims_of(1, kSpatial);
  o.stride = a.is_none(2) || a.dims(2).empty() ? o.kernel : a.dims_of(2, kSpatial);
  o.padding = a.dims_of(3, kSpatial);
  o.dilation = Dims::filled(kSpatial, 1);
  return o;
}

OpResult first_or_both(std::pair<Tensor, Tensor> both, bool both_wanted) {
  if (both_wanted) return OpResult::tuple({std::move(both.first), std::move(both.second)});
  return std::move(both.first);
}

template <std::size_t kSpatial>
OpResult run_max(Arguments& a) {
  PoolOptions o = window<kSpatial>(a);
  o.dilation = a.dims_of(4, kSpatial);
  o.ceil_mode = a.flag(5);
  return first_or_both(max_pool(a.context(), a.tensor(0), o), a.flag(6));
}
template <std::size_t kSpatial>
OpResult run_avg(Arguments& a) {
  PoolOptions o = window<kSpatial>(a);
  o.ceil_mode = a.flag(4);
  return avg_pool(a.context(), a.tensor(0), o);
}
/// An int stands for all dimensions, None in a list for the input's own size.
template <std::size_t kSpatial>
OpResult run_adaptive_avg(Arguments& a) {
  return adaptive_avg_pool(a.context(), a.tensor(0), a.dims_of(1, kSpatial));
}
template <std::size_t kSpatial>
OpResult run_adaptive_max(Arguments& a) {
  return first_or_both(adaptive_max_pool(a.context(), a.tensor(0), a.dims_of(1, kSpatial)),
                       a.flag(2));
}

}  // namespace

std::span<const OpDef> pooling_ops() {
  static constexpr std::string_view kPoolingOpsSource = "docs/rules/pooling.md#1";
  static constexpr OpDef kOps[] = {
      {"max_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] "
       "dilation=1, bool ceil_mode=False, bool return_indices=False)",
       "torch F", run_max<1>, kPoolingOpsSource},
      {"max_pool2d(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] "
       "dilation=1, bool ceil_mode=False, bool return_indices=False)",
       "torch F", run_max<2>, kPoolingOpsSource},
      {"max_pool3d(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] "
       "dilation=1, bool ceil_mode=False, bool return_indices=False)",
       "torch F", run_max<3>, kPoolingOpsSource},
      {"avg_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, bool "
       "ceil_mode=False, bool count_include_pad=True)",
       "torch F", run_avg<1>, kPoolingOpsSource},
      {"avg_pool2d(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, bool "
       "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None)",
       "F", run_avg<2>, kPoolingOpsSource},
      {"avg_pool3d(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, bool "
       "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None)",
       "F", run_avg<3>, kPoolingOpsSource},
      {"adaptive_avg_pool1d(Tensor input, int[1] output_size)", "torch F", run_adaptive_avg<1>,
       kPoolingOpsSource},
      {"adaptive_avg_pool2d(Tensor input, int[2] output_size)", "F", run_adaptive_avg<2>,
       kPoolingOpsSource},
      {"adaptive_avg_pool3d(Tensor input, int[3] output_size)", "F", run_adaptive_avg<3>,
       kPoolingOpsSource},
      {"adaptive_max_pool1d(Tensor input, int[1] output_size, bool return_indices=False)", "F",
       run_adaptive_max<1>, kPoolingOpsSource},
      {"adaptive_max_pool2d(Tensor input, int[2] output_size, bool return_indices=False)", "F",
       run_adaptive_max<2>, kPoolingOpsSource},
      {"adaptive_max_pool3d(Tensor input, int[3] output_size, bool return_indices=False)", "F",
       run_adaptive_max<3>, kPoolingOpsSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
