#include "sim/ops/batch_norm_kernels.h"

#include <algorithm>
#include <utility>

#include "sim/ops/kernels.h"
#include "sim/ops/rounding.h"

namespace tidemark::ops::batch_norm_kernels {

namespace {

std::int64_t floor_power_of_two(std::int64_t x) {
  std::int64_t p = 1;
  while (p * 2 <= x) p *= 2;
  return p;
}

}  // namespace

Layout layout_of(const Tensor& x) {
  if (x.is_contiguous()) return x.stride(1) == 1 ? Layout::kChannelsLast : Layout::kContiguous;
  return x.is_contiguous(MemoryFormat::kChannelsLast) ? Layout::kChannelsLast : Layout::kGeneral;
}
bool channels_last_kernels(const Tensor& x) {
  return x.is_contiguous(MemoryFormat::kChannelsLast) ||
         x.is_contiguous(MemoryFormat::kChannelsLast3d) || (x.is_contiguous() && x.stride(1) == 1);
}

Staging::Staging(Context& c, const Tensor& x, std::int64_t values_per_row) {
  constexpr std::int64_t kPerThread = 16;
  constexpr std::int64_t kMaxBlock = 512;
  const std::int64_t columns = x.size(1);
  const std::int64_t rows = x.numel() / std::max<std::int64_t>(columns, 1);
  std::int64_t width = std::min<std::int64_t>(floor_power_of_two(columns), 32);
  const std::int64_t height =
      std::min(floor_power_of_two(ceil_div(rows, kPerThread)), kMaxBlock / width);
  if (width * height != kMaxBlock) {
    width = std::min(floor_power_of_two(columns), kMaxBlock / height);
  }
  const std::int64_t grid_y = std::min<std::int64_t>(ceil_div(rows, height * kPerThread), 128);
  if (grid_y < 8) return;
  data = c.empty({values_per_row * columns * grid_y}, accumulate_type(x.dtype()), x.device());
  semaphores = c.empty({ceil_div(columns, width)}, ScalarType::kInt32, x.device());
}

Gradients reduce_gradients(Context& c, const NativeArguments& a, bool want_input, bool want_weight,
                           bool want_bias, Tensor& sum_dy, Tensor& sum_dy_xmu) {
  Gradients g;
  const bool in_last = channels_last_kernels(a.grad) && channels_last_kernels(a.input);
  const Dims channels{a.input.size(1)};
  const ScalarType acc = accumulate_type(a.input.dtype());
  const ScalarType parameter = a.weight.defined() ? a.weight.dtype() : acc;
  if (want_input || in_last) {
    sum_dy = c.empty(channels, acc, a.input.device());
    sum_dy_xmu = c.empty(channels, acc, a.input.device());
  }
  // The kernels of these layouts make both gradients, wanted or not.
  const bool both = in_last && a.weight.defined();
  if (want_weight || both) g.weight = c.empty(channels, parameter, a.input.device());
  if (want_bias || both) g.bias = c.empty(channels, parameter, a.input.device());
  if (in_last) {
    const Staging staging(c, a.input, 2);
  } else {
    const Tensor input = reshape_kernel(c, a.input, {a.input.size(0), a.input.size(1), -1});
    const Tensor grad = reshape_kernel(c, a.grad, input.sizes());
  }
  return g;
}

Tensor elementwise_gradient(Context& c, const NativeArguments& a) {
  if (!a.training) return c.empty(a.input.sizes(), a.grad.dtype(), a.grad.device());
  const Layout input = layout_of(a.input);
  if (input == layout_of(a.grad) && input == Layout::kContiguous) {
    return c.empty_in(a.input.sizes(), a.input.suggest_memory_format(), a.input.dtype(),
                      a.input.device());
  }
  if (input == layout_of(a.grad) && input == Layout::kChannelsLast) {
    return c.empty_in(a.input.sizes(), a.input.suggest_memory_format(), a.input.dtype(),
                      a.input.device());
  }
  Tensor one;
  if (!a.weight.defined()) one = c.empty({}, accumulate_type(a.input.dtype()), a.input.device());
  return c.empty_in(a.input.sizes(), a.input.suggest_memory_format(), a.input.dtype(),
                    a.input.device());
}

namespace {

void launch(Context& c, const Tensor& x, std::uint64_t passes) {
  c.launch(x.device(), 0, passes * x.bytes(), KernelClass::kElementwise, x.dtype());
}

TensorList two_of_channels(Context& c, const Tensor& input) {
  const ScalarType acc = accumulate_type(input.dtype());
  Tensor mean = c.empty({input.size(1)}, acc, input.device());
  Tensor invstd = c.empty({input.size(1)}, acc, input.device());
  return {std::move(mean), std::move(invstd)};
}

}  // namespace

TensorList stats(Context& c, const Tensor& input) {
  const LabelScope label(c, "batch_norm_stats");
  TensorList out = two_of_channels(c, input);
  launch(c, input, 1);
  if (channels_last_kernels(input)) {
    const Staging staging(c, input, 4);
  }
  return out;
}

TensorList gathered_stats(Context& c, const Tensor& input) {
  const LabelScope label(c, "batch_norm_gather_stats_with_counts");
  return two_of_channels(c, input);
}

Tensor normalised(Context& c, const Tensor& input) {
  const LabelScope label(c, "batch_norm_elemt");
  launch(c, input, 2);
  return c.empty_like(input);
}

TensorList backward_sums(Context& c, const NativeArguments& a, bool want_input, bool want_weight,
                         bool want_bias) {
  const LabelScope label(c, "batch_norm_backward_reduce");
  Tensor sum_dy;
  Tensor sum_dy_xmu;
  launch(c, a.input, 2);
  Gradients g = reduce_gradients(c, a, want_input, want_weight, want_bias, sum_dy, sum_dy_xmu);
  return {std::move(sum_dy), std::move(sum_dy_xmu), std::move(g.weight), std::move(g.bias)};
}

Tensor input_gradient(Context& c, const NativeArguments& a) {
  const LabelScope label(c, "batch_norm_backward_elemt");
  launch(c, a.input, 3);
  return c.empty_like(a.input);
}

}  // namespace tidemark::ops::batch_norm_kernels
