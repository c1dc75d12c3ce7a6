#include "sim/ops/norm_ops.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/rounding.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

struct Rows {
  std::int64_t count;  ///< M: rows that are normalised each on its own
  std::int64_t width;  ///< N: values in one
};

Rows rows_of(const Tensor& input, const Dims& normalized_shape, const Tensor& weight,
             const Tensor& bias) {
  const std::size_t k = normalized_shape.size();
  const std::size_t n = input.sizes().size();
  if (k == 0) {
    throw OpError(
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
        "element, but got normalized_shape = []");
  }
  for (const auto& [t, name] : {std::pair{&weight, "weight"}, std::pair{&bias, "bias"}}) {
    if (t->defined() && !(t->sizes() == normalized_shape)) {
      throw OpError(
          fmt::format("Expected {} to be of same shape as normalized_shape, but got {} of shape {} "
                      "and normalized_shape = {}",
                      name, name, to_string(t->sizes()), to_string(normalized_shape)));
    }
  }
  bool fits = n >= k;
  for (std::size_t i = 0; fits && i < k; ++i)
    fits = input.sizes()[n - k + i] == normalized_shape[i];
  if (!fits) {
    std::string rest;
    for (const std::int64_t s : normalized_shape) rest += ", " + fmt::to_string(s);
    throw OpError(fmt::format(
        "Given normalized_shape={}, expected input with shape [*{}], but got input of size{}",
        to_string(normalized_shape), rest, to_string(input.sizes())));
  }
  const std::int64_t width = numel_of(normalized_shape);
  return {width == 0 ? 0 : input.numel() / width, width};
}

void check_dtype(const Tensor& input, const Tensor& parameter) {
  if (parameter.defined() && parameter.dtype() != input.dtype()) {
    throw OpError(fmt::format("expected scalar type {} but found {}", info(input.dtype()).name,
                              info(parameter.dtype()).name));
  }
}

/// The gradients of weight and bias where many rows are summed in blocks: partial sums, then their
/// sum replaces what was made first. Source: at::native's LayerNormBackwardKernelImplInternal.
void sum_partials(Context& c, Rows rows, std::initializer_list<Tensor*> gradients) {
  if (!c.rules().layer_norm_sums_in_blocks) return;
  const std::int64_t columns = rows.width / 32;
  if (rows.count <= 65'536 || columns >= c.spec().sm_count / 2) return;
  const std::int64_t blocks = std::min(32768 / ceil_div(rows.width, 32), ceil_div(rows.count, 32));
  TensorList partials;
  for (const Tensor* g : gradients) {
    if (g->defined()) partials.push_back(c.empty({blocks, rows.width}, g->dtype(), g->device()));
  }
  std::size_t i = 0;
  for (Tensor* g : gradients) {
    if (!g->defined()) continue;
    Tensor whole = sum(c, partials[i++], {0}, false);
    *g = whole.sizes() == g->sizes() ? std::move(whole) : view(whole, g->sizes());
  }
  while (!partials.empty()) partials.pop_back();
}

/// What a node kept of its statistics are results that have gradients of their own: they are asked
/// for where the gradient's gradient is recorded.
void keep_as_results(Context& c, Node* node, std::size_t first) {
  if (node == nullptr) return;
  for (std::size_t i = first; i < node->saved.size(); ++i) {
    SavedTensor& saved = node->saved[i];
    if (!saved.tensor.defined()) continue;
    saved.tensor->output_nr = static_cast<std::uint32_t>(node->metadata.size());
    node->metadata.push_back(metadata_of(c, saved.tensor));
    saved.is_result = true;
  }
}
/// Where gradients are recorded, or come for the statistics, backward is made of other operators.
bool is_of_graph(const Backward& b) {
  return b.c.grad_enabled() || std::any_of(b.incoming.begin() + 1, b.incoming.end(),
                                           [](const Tensor& grad) { return grad.defined(); });
}

}  // namespace

Tensor layer_norm(Context& c, Tensor input, const Dims& normalized_shape, Tensor weight,
                  Tensor bias, double /*eps*/) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&input, &weight, &bias});
  const Rows rows = rows_of(input, normalized_shape, weight, bias);
  check_dtype(input, weight);
  check_dtype(input, bias);
  Op op(c, "native_layer_norm", "NativeLayerNormBackward0", {&input, &weight, &bias});
  op.save(0, bias);
  op.save(1, input);
  op.save(2, weight);
  Tensor out;
  Tensor mean;
  Tensor rstd;
  {
    const Tensor x = contiguous(c, input);
    const ScalarType acc = accumulate_type(input.dtype());
    Dims statistics = input.sizes();
    for (std::size_t i = 0; i < normalized_shape.size(); ++i)
      statistics[statistics.size() - 1 - i] = 1;
    out = c.empty(input.sizes(), input.dtype(), input.device());
    mean = c.empty(statistics, acc, input.device());
    rstd = c.empty(statistics, acc, input.device());
  }
  op.save(3, mean);
  op.save(4, rstd);
  op.results({&out}, [rows](Backward& b) {
    const Tensor& w = b.saved[2];
    const Tensor x = contiguous(b.c, b.saved[1]);
    if (b.needs(0)) b.grads[0] = b.c.empty(x.sizes(), x.dtype(), x.device());
    if (b.needs(1)) b.grads[1] = b.c.empty(w.sizes(), w.dtype(), w.device());
    if (b.needs(2))
      b.grads[2] = b.c.empty(b.saved[0].sizes(), b.saved[0].dtype(), b.saved[0].device());
    const Tensor grad = contiguous(b.c, b.grad());
    sum_partials(b.c, rows, {&b.grads[1], &b.grads[2]});
    if (!b.c.grad_enabled()) return;
    b.grads = native_layer_norm_backward(b.c, b.grad(), b.saved[1], b.saved[3], b.saved[4], w,
                                         rows.count, rows.width, std::move(b.grads));
  });
  mean.reset();
  rstd.reset();
  return out;
}

namespace {

Tensor fused_rms_norm(Context& c, const Tensor& input, Rows rows, const Dims& normalized_shape,
                      const Tensor& weight) {
  Op op(c, "_fused_rms_norm", "FusedRmsNormBackward0", {&input, &weight});
  op.save(0, input);
  op.save(1, weight);
  Tensor out;
  Tensor rstd;
  {
    const Tensor x = contiguous(c, input);
    Dims statistics = input.sizes();
    for (std::size_t i = 0; i < normalized_shape.size(); ++i)
      statistics[statistics.size() - 1 - i] = 1;
    out = c.empty(input.sizes(), input.dtype(), input.device());
    rstd = c.empty(statistics, accumulate_type(input.dtype()), input.device());
  }
  op.save(2, rstd);
  const std::size_t first = input.sizes().size() - normalized_shape.size();
  op.results({&out}, [rows, first](Backward& b) {
    if (is_of_graph(b)) {
      Dims inner;
      Dims outer;
      for (std::size_t i = 0; i < b.saved[0].sizes().size(); ++i)
        (i < first ? outer : inner).push_back(static_cast<std::int64_t>(i));
      return _fused_rms_norm_of_graph(b, inner, outer);
    }
    const Tensor& w = b.saved[1];
    const Tensor x = contiguous(b.c, b.saved[0]);
    if (b.needs(0)) b.grads[0] = b.c.empty(x.sizes(), x.dtype(), x.device());
    if (b.needs(1)) b.grads[1] = b.c.empty(w.sizes(), w.dtype(), w.device());
    const Tensor grad = contiguous(b.c, b.grad());
    sum_partials(b.c, rows, {&b.grads[1]});
  });
  keep_as_results(c, op.node(), 2);
  rstd.reset();
  return out;
}

/// Input and weight of different types: made of other operators, and laid out in order unless the
/// input is channels_last. Source: at::native::rms_norm_composite.
Tensor composite_rms_norm(Context& c, const Tensor& input, const Dims& normalized_shape,
                          const Tensor& weight) {
  const Tensor number = number_tensor(c);
  Dims dims;
  for (std::size_t i = normalized_shape.size(); i > 0; --i) {
    dims.push_back(input.dim() - static_cast<std::int64_t>(i));
  }
  if (c.rules().rms_norm == RmsNorm::kNarrow) {
    Tensor out = [&] {
      const Tensor squares = pow(c, input, number, 2.0);
      const Tensor mean_square = mean(c, squares, dims, true);
      add_(c, mean_square, number);
      return mul(c, input, unary(c, "rsqrt", mean_square));
    }();
    return weight.defined() ? mul(c, out, weight) : out;
  }
  Tensor scale;  // returned beside the result
  Tensor normalized = [&] {
    const Tensor wide = to(c, input, accumulate_type(input.dtype()));
    {
      const Tensor squares = pow(c, wide, number, 2.0);
      const Tensor mean_square = mean(c, squares, dims, true);
      add_(c, mean_square, number);
      scale = unary(c, "rsqrt", mean_square);
    }
    Tensor out = mul(c, wide, scale);
    if (c.rules().rms_norm == RmsNorm::kWeightLast) {
      out = to(c, out, input.dtype());
      if (weight.defined()) out = mul(c, out, weight);
      scale.reset();
      return out;
    }
    if (weight.defined()) out = mul(c, out, weight);
    if (c.rules().rms_norm == RmsNorm::kCastLast) {
      scale.reset();
      return out;
    }
    return input.suggest_memory_format() == MemoryFormat::kContiguous
               ? contiguous(c, out, MemoryFormat::kContiguous)
               : out;
  }();
  // The product with a wider weight is as wide.
  if (c.rules().rms_norm == RmsNorm::kWeightLast) return normalized;
  return to(c, normalized, input.dtype());
}

}  // namespace

Tensor rms_norm(Context& c, Tensor input, const Dims& normalized_shape, Tensor weight) {
  std::optional<AutocastScope> cast;
  if (c.rules().rms_norm_autocasts) {
    cast.emplace(c, CastPolicy::kFp32, std::initializer_list<Tensor*>{&input, &weight});
  }
  const Rows rows = rows_of(input, normalized_shape, weight, Tensor());
  if (c.rules().rms_norm != RmsNorm::kKernel ||
      (weight.defined() && weight.dtype() != input.dtype())) {
    return composite_rms_norm(c, input, normalized_shape, weight);
  }
  return fused_rms_norm(c, input, rows, normalized_shape, weight);
}

namespace {

/// Whether group_norm's kernels for channels_last take the tensor: sizes of one leave it open how
/// it lies.
bool runs_channels_last(const Context& c, const Tensor& dense) {
  return c.rules().group_norm_layout == GroupNormLayout::kKept &&
         (dense.is_contiguous(MemoryFormat::kChannelsLast) ||
          dense.is_contiguous(MemoryFormat::kChannelsLast3d));
}

Tensor native_group_norm(Context& c, const Tensor& input, std::int64_t groups, const Tensor& weight,
                         const Tensor& bias) {
  Op op(c, "native_group_norm", "NativeGroupNormBackward0", {&input, &weight, &bias});
  op.save(0, input);
  op.save(1, weight);
  const std::int64_t n = input.size(0);
  const std::int64_t channels = input.size(1);
  const bool flat = input.numel() == n * channels;
  const ScalarType acc = accumulate_type(input.dtype());
  const bool mixed =
      is_half(input.dtype()) && weight.defined() && weight.dtype() == ScalarType::kFloat32;
  const ScalarType statistics = mixed ? ScalarType::kFloat32 : input.dtype();
  const MemoryFormat format = c.rules().group_norm_layout == GroupNormLayout::kKept
                                  ? input.suggest_memory_format()
                                  : MemoryFormat::kContiguous;
  Tensor out = c.empty_in(input.sizes(), format, input.dtype(), input.device());
  Tensor mean = c.empty({n, groups}, statistics, input.device());
  Tensor rstd = c.empty({n, groups}, statistics, input.device());
  {
    const Tensor dense = contiguous_kernel(c, input, format);
    Tensor exact_mean;
    Tensor exact_rstd;
    if (is_half(input.dtype()) && c.rules().half_group_norm_statistics) {
      exact_mean = c.empty({n, groups}, ScalarType::kFloat32, input.device());
      exact_rstd = c.empty({n, groups}, ScalarType::kFloat32, input.device());
    }
    const bool is_affine = weight.defined() || bias.defined();
    if ((!flat && is_affine) || runs_channels_last(c, dense)) {
      const Tensor a = c.empty({n, channels}, acc, input.device());
      const Tensor b = c.empty({n, channels}, acc, input.device());
    }
  }
  op.save(2, mean);
  op.save(3, rstd);
  op.results({&out}, [n, channels, groups, flat, format, acc](Backward& b) {
    if (is_of_graph(b)) {
      const std::int64_t each = b.saved[0].numel() / std::max<std::int64_t>(n * channels, 1);
      return native_group_norm_of_graph(b, n, groups, channels / groups, each);
    }
    const Tensor& w = b.saved[1];
    const Tensor grad = contiguous_kernel(b.c, b.grad(), format);
    const Tensor x = contiguous_kernel(b.c, b.saved[0], format);
    const Device device = x.device();
    const bool is_last = runs_channels_last(b.c, x);
    const bool by_channel =
        !flat || is_last || b.c.rules().group_norm_layout == GroupNormLayout::kCopiedBefore;
    if (b.needs(0)) b.grads[0] = b.c.empty_in(x.sizes(), format, x.dtype(), device);
    if (b.needs(1)) b.grads[1] = b.c.empty({channels}, w.dtype(), device);
    if (b.needs(2)) b.grads[2] = b.c.empty({channels}, w.defined() ? w.dtype() : x.dtype(), device);
    Tensor ds;
    Tensor db;
    if (by_channel) {
      ds = b.c.empty({n, channels}, acc, device);
      db = b.c.empty({n, channels}, acc, device);
    }
    if (!b.needs(0)) return;
    Tensor c1;
    const Tensor c2 = b.c.empty({n, groups}, acc, device);
    const Tensor c3 = b.c.empty({n, groups}, acc, device);
    if (!flat && w.defined() && !is_last) c1 = b.c.empty({n, channels}, acc, device);
  });
  keep_as_results(c, op.node(), 2);
  mean.reset();
  rstd.reset();
  return out;
}

}  // namespace

Tensor group_norm(Context& c, Tensor input, std::int64_t groups, Tensor weight, Tensor bias,
                  double /*eps*/) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&input, &weight, &bias});
  if (input.dim() < 2) {
    throw OpError(fmt::format("Expected at least 2 dimensions for input tensor but received {}",
                              input.dim()));
  }
  const std::int64_t channels = input.size(1);
  if (groups <= 0 || channels % groups != 0) {
    throw OpError(
        fmt::format("Expected number of channels in input to be divisible by num_groups, but got "
                    "input of shape {} and num_groups={}",
                    to_string(input.sizes()), groups));
  }
  for (const auto& [t, name] : {std::pair{&weight, "weight"}, std::pair{&bias, "bias"}}) {
    if (t->defined() && (t->dim() != 1 || t->numel() != channels)) {
      throw OpError(
          fmt::format("Expected {} to be a vector of size equal to the number of channels in "
                      "input, but got {} of shape {} and input of shape {}",
                      name, name, to_string(t->sizes()), to_string(input.sizes())));
    }
  }
  const Tensor x = c.rules().group_norm_layout == GroupNormLayout::kCopiedBefore
                       ? contiguous(c, input, MemoryFormat::kContiguous)
                       : input;
  return native_group_norm(c, x, groups, weight, bias);
}

}  // namespace tidemark::ops
