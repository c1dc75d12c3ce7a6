#include "sim/ops/batch_norm_ops.h"

#include <fmt/format.h>

#include <limits>

#include "sim/ops/batch_norm_kernels.h"
#include "sim/ops/cudnn.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/rounding.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

using batch_norm_kernels::backward_sums;
using batch_norm_kernels::channels_last_kernels;
using batch_norm_kernels::elementwise_gradient;
using batch_norm_kernels::Gradients;
using batch_norm_kernels::input_gradient;
using batch_norm_kernels::Layout;
using batch_norm_kernels::layout_of;
using batch_norm_kernels::NativeArguments;
using batch_norm_kernels::reduce_gradients;
using batch_norm_kernels::Staging;

namespace {

bool use_cudnn(const Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
               const Tensor& running_mean, const Tensor& running_var, bool training) {
  if (!input.is_cuda() || !c.backends.cudnn || !weight.defined() || !bias.defined()) return false;
  if (input.dtype() == ScalarType::kBFloat16 || weight.dtype() == ScalarType::kBFloat16)
    return false;
  if (input.dtype() == ScalarType::kFloat16 && weight.dtype() != ScalarType::kFloat32) return false;
  const bool both = running_mean.defined() && running_var.defined();
  const bool neither = !running_mean.defined() && !running_var.defined();
  return (both || (neither && training)) && input.dim() >= 3 &&
         input.size(0) <= (training ? 880801 : 65535) &&
         input.numel() < std::numeric_limits<std::int32_t>::max();
}

/// Source: at::native::batch_norm_backward_cuda.
Gradients native_backward(Context& c, const NativeArguments& a, bool want_input, bool want_weight,
                          bool want_bias) {
  Gradients g;
  const bool sums = a.training || want_weight || want_bias;
  if (sums && want_input && !channels_last_kernels(a.input)) {
    const Tensor input = reshape_kernel(c, a.input, {a.input.size(0), a.input.size(1), -1});
    const Tensor grad = reshape_kernel(c, a.grad, input.sizes());
    g.input = c.empty(a.input.sizes(), a.input.dtype(), a.input.device());
    if (want_weight) g.weight = c.empty_like(a.weight);
    if (want_bias) g.bias = c.empty_like(a.weight);
    return g;
  }
  const ScalarType acc = accumulate_type(a.input.dtype());
  Tensor invstd;
  if (!a.save_invstd.defined() || a.save_invstd.numel() == 0) {
    invstd = c.empty({a.input.size(1)}, acc, a.input.device());
  }
  Tensor sum_dy;
  Tensor sum_dy_xmu;
  if (sums) g = reduce_gradients(c, a, want_input, want_weight, want_bias, sum_dy, sum_dy_xmu);
  if (want_input) g.input = elementwise_gradient(c, a);
  sum_dy_xmu.reset();
  sum_dy.reset();
  return g;
}

void give(Backward& b, Gradients g) {
  b.grads[0] = std::move(g.input);
  b.grads[1] = std::move(g.weight);
  b.grads[2] = std::move(g.bias);
}

std::int64_t per_channel(const Tensor& x) {
  return x.numel() / std::max<std::int64_t>(x.size(1), 1);
}

/// The gradients of native_batch_norm_backward's results, where they are recorded.
void record_native(Backward& b, const Tensor& save_mean, const Tensor& save_invstd, bool training) {
  if (!b.c.grad_enabled()) return;
  const Tensor& x = b.saved[0];
  b.grads =
      native_batch_norm_backward(b.c, b.grad(), x, b.saved[3], b.saved[1], b.saved[2], save_mean,
                                 save_invstd, training, per_channel(x), std::move(b.grads));
}

Tensor cudnn_batch_norm(Context& c, const Tensor& given, const Tensor& weight, const Tensor& bias,
                        const Tensor& running_mean, const Tensor& running_var, bool training) {
  Tensor input = contiguous(c, given, given.suggest_memory_format());
  Op op(c, "cudnn_batch_norm", "CudnnBatchNormBackward0", {&input, &weight, &bias},
        {&running_mean, &running_var});
  op.save(0, input);
  op.save(1, running_mean);
  op.save(2, running_var);
  op.save(3, weight);
  Tensor out =
      c.empty_in(input.sizes(), input.suggest_memory_format(), input.dtype(), input.device());
  Tensor save_mean = c.empty({training ? input.size(1) : 0}, weight.dtype(), weight.device());
  Tensor save_var = c.empty({training ? input.size(1) : 0}, weight.dtype(), weight.device());
  Tensor reserve;
  if (training) {
    const Tensor workspace = cudnn_buffer(c, CudnnBuffer::kBatchNormForward, input.device());
    reserve = cudnn_buffer(c, CudnnBuffer::kBatchNormReserve, input.device());
    op.save(6, reserve);
  }
  op.save(4, save_mean);
  op.save(5, save_var);
  op.results({&out}, [training](Backward& b) {
    const Tensor& x = b.saved[0];
    const Tensor& w = b.saved[3];
    if (!training) {
      give(b, native_backward(b.c, {b.grad(), x, w, b.saved[4], b.saved[5], false}, b.needs(0),
                              b.needs(1), b.needs(2)));
      record_native(b, b.saved[4], b.saved[5], false);
      return;
    }
    // cuDNN writes over what it kept: a pass that leaves the graph works on a copy.
    const Tensor kept = b.c.thread().retains_graph ? clone(b.c, b.saved[6]) : std::move(b.saved[6]);
    const Tensor grad = contiguous_kernel(b.c, b.grad(), x.suggest_memory_format());
    Gradients g;
    g.input = b.c.empty_in(x.sizes(), x.suggest_memory_format(), x.dtype(), x.device());
    g.weight = b.c.empty(w.sizes(), w.dtype(), w.device());
    g.bias = b.c.empty(w.sizes(), w.dtype(), w.device());
    {
      const Tensor workspace = cudnn_buffer(b.c, CudnnBuffer::kBatchNormBackward, x.device());
      give(b, std::move(g));
    }
    if (!b.c.grad_enabled()) return;
    b.grads = cudnn_batch_norm_backward(b.c, x, grad, w, b.saved[1], b.saved[2], b.saved[4],
                                        b.saved[5], per_channel(x), std::move(b.grads));
  });
  // A copy of the input goes with the call, then a tuple's members from the first to the last.
  input.reset();
  save_mean.reset();
  save_var.reset();
  return out;
}

Tensor native_batch_norm(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                         const Tensor& running_mean, const Tensor& running_var, bool training) {
  Op op(c, "native_batch_norm", "NativeBatchNormBackward0", {&input, &weight, &bias},
        {&running_mean, &running_var});
  op.save(0, input);
  op.save(1, running_mean);
  op.save(2, running_var);
  op.save(3, weight);
  const ScalarType acc = accumulate_type(input.dtype());
  Tensor out = c.empty_like(input);
  Tensor save_mean = c.empty({input.size(1)}, acc, input.device());
  Tensor save_invstd = c.empty({input.size(1)}, acc, input.device());
  const Layout layout = layout_of(input);
  if (training && layout == Layout::kChannelsLast) {
    const Staging staging(c, input, 4);
  } else if (training && layout == Layout::kGeneral) {
    Dims dims;
    for (std::int64_t d = 0; d < input.dim(); ++d) {
      if (d != 1) dims.push_back(d);
    }
    constexpr Bytes kWelford = 16;  // mean, squares, count
    // var_mean_out has kernels that read one type and write fp32 for fp16 alone.
    const Tensor read = input.dtype() == ScalarType::kFloat16 ? input : to_dtype(c, input, acc);
    const ReductionScratch scratch = reduction_scratch(c, read, dims, kWelford, false);
  }
  if (layout == Layout::kGeneral) {
    Tensor one;
    Tensor zero;
    if (!weight.defined()) one = c.empty({}, acc, input.device());
    if (!bias.defined()) zero = c.empty({}, acc, input.device());
  }
  op.save(4, save_mean);
  op.save(5, save_invstd);
  op.results({&out}, [training](Backward& b) {
    give(b,
         native_backward(b.c, {b.grad(), b.saved[0], b.saved[3], b.saved[4], b.saved[5], training},
                         b.needs(0), b.needs(1), b.needs(2)));
    record_native(b, b.saved[4], b.saved[5], training);
  });
  save_mean.reset();
  save_invstd.reset();
  return out;
}

void check_statistics(const Tensor& input, const Tensor& t, std::string_view name) {
  if (t.defined() && t.numel() != input.size(1)) {
    throw OpError(
        fmt::format("{} should contain {} elements not {}", name, input.size(1), t.numel()));
  }
}

}  // namespace

Tensor batch_norm(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double /*momentum*/, double /*eps*/) {
  if (input.dim() < 2) {
    throw OpError(
        fmt::format("expected 2D or more input to batch_norm (got {}D input)", input.dim()));
  }
  if (!training && (!running_mean.defined() || !running_var.defined())) {
    throw OpError("running_mean and running_var must be defined in evaluation mode");
  }
  if (training && input.numel() == input.size(1)) {
    throw OpError(fmt::format(
        "Expected more than 1 value per channel when training, got input size torch.Size({})",
        to_string(input.sizes())));
  }
  check_statistics(input, running_mean, "running_mean");
  check_statistics(input, running_var, "running_var");
  check_statistics(input, weight, "weight");
  check_statistics(input, bias, "bias");
  for (const Tensor* statistic : {&running_mean, &running_var}) {
    if (training && statistic->defined()) (*statistic)->storage->set_known(nullptr);
  }
  if (use_cudnn(c, input, weight, bias, running_mean, running_var, training)) {
    // Traced code has the native one, of what cuDNN would read. Source: torch._decomp,
    // cudnn_batch_norm.
    if (c.tracer != nullptr)
      return native_batch_norm(c, contiguous(c, input, input.suggest_memory_format()), weight, bias,
                               running_mean, running_var, training);
    return cudnn_batch_norm(c, input, weight, bias, running_mean, running_var, training);
  }
  return native_batch_norm(c, input, weight, bias, running_mean, running_var, training);
}

namespace {

/// x.repeat(n) of a vector: an expanded view copied.
Tensor repeat_vector(Context& c, const Tensor& x, std::int64_t n) {
  if (!x.defined()) return x;
  Op op(c, "repeat", "RepeatBackward0", {&x});
  return op.result(c.empty({x.size(0) * n}, x.dtype(), x.device()), [n](Backward& b) {
    if (n == 1) {
      b.grads[0] = b.grad();
      return;
    }
    const Dims sizes{n, b.grad().size(0) / n};
    if (b.c.grad_enabled()) {
      b.grads[0] = sum(b.c, reshape(b.c, b.grad(), sizes), {0}, false, {});
      return;
    }
    const Tensor rows = reshape_kernel(b.c, b.grad(), sizes);
    b.grads[0] = sum(b.c, rows, {0}, false);
  });
}

}  // namespace

Tensor instance_norm(Context& c, const Tensor& given, const Tensor& weight, const Tensor& bias,
                     const Tensor& running_mean, const Tensor& running_var, bool use_input_stats,
                     double momentum, double eps) {
  if (!use_input_stats && (!running_mean.defined() || !running_var.defined())) {
    throw OpError(
        "Expected running_mean and running_var to be defined when use_input_stats is false");
  }
  const std::int64_t n = given.size(0);
  Dims merged = given.sizes();
  merged[1] = given.size(1) * n;
  merged[0] = 1;
  const Tensor weights = repeat_vector(c, weight, n);
  const Tensor biases = repeat_vector(c, bias, n);
  const Tensor means = repeat_vector(c, running_mean, n);
  const Tensor variances = repeat_vector(c, running_var, n);
  const Tensor flat = view(c, contiguous(c, given, MemoryFormat::kContiguous), merged);
  const Tensor out =
      batch_norm(c, flat, weights, biases, means, variances, use_input_stats, momentum, eps);
  // The running statistics become the means over the instances.
  const bool averages = use_input_stats || c.rules().instance_norm_averages_always;
  for (const Tensor* t : {&means, &variances}) {
    if (averages && t->defined()) {
      reduce(c, view(*t, {n, given.size(1)}), {0}, false, t->dtype());
    }
  }
  return view(c, out, given.sizes());
}

TensorList batch_norm_stats(Context& c, const Tensor& input) {
  return batch_norm_kernels::stats(c, input);
}
TensorList batch_norm_gather_stats(Context& c, const Tensor& input) {
  return batch_norm_kernels::gathered_stats(c, input);
}
Tensor batch_norm_elemt(Context& c, const Tensor& input) {
  return batch_norm_kernels::normalised(c, input);
}

OpResult batch_norm_sums(Arguments& a) {
  const Tensor weight = a.optional_tensor(4);
  return OpResult::tuple(
      backward_sums(a.context(), {a.tensor(0), a.tensor(1), weight, a.tensor(2), a.tensor(3), true},
                    a.flag(5), a.flag(6), a.flag(7)));
}

OpResult batch_norm_input_gradient(Arguments& a) {
  const Tensor weight = a.optional_tensor(4);
  return input_gradient(a.context(),
                        {a.tensor(0), a.tensor(1), weight, a.tensor(2), a.tensor(3), true});
}

}  // namespace tidemark::ops
