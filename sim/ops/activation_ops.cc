#include "sim/ops/activation_ops.h"

#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

Tensor glu(Context& c, const Tensor& self, std::int64_t dim) {
  if (self.dim() == 0) throw OpError("glu does not support 0-dimensional tensors");
  const std::int64_t d = wrap_dim(dim, self.dim());
  const std::int64_t size = self.size(d);
  if (size % 2 != 0) {
    throw OpError(
        fmt::format("Halving dimension must be even, but dimension {} is size {}", d, size));
  }
  Op op(c, "glu", "GluBackward0", {&self});
  op.save(0, self);
  const Tensor first = narrow(self, d, 0, size / 2);
  const Tensor second = narrow(self, d, size / 2, size / 2);
  return op.result(pointwise(c, {&first, &second}), [](Backward& b) {
    const Tensor& x = b.saved[0];
    b.grads[0] = b.c.empty(x.sizes(), x.dtype(), x.device());
  });
}

Tensor prelu(Context& c, Tensor self, Tensor weight) {
  const AutocastScope cast(c, CastPolicy::kLowPrecision, {&self, &weight});
  if (self.dtype() != weight.dtype()) {
    throw OpError(fmt::format("prelu: Type promoting not supported. Got {} and {}",
                              info(self.dtype()).name, info(weight.dtype()).name));
  }
  if (weight.numel() != 1) {
    const std::int64_t channels = self.dim() < 2 ? 1 : self.size(1);
    if (channels != weight.numel()) {
      throw OpError(
          fmt::format("Mismatch of parameter numbers and input channel size. Found parameter "
                      "numbers = {} and channel size = {}.",
                      weight.numel(), channels));
    }
  }
  if (self.dim() != weight.dim()) {
    Dims sizes = Dims::filled(self.sizes().size(), 1);
    if (self.dim() > 1) sizes[1] = weight.numel();
    weight = reshape(c, weight, sizes);
  }
  Op op(c, "_prelu_kernel", "PreluKernelBackward0", {&self, &weight});
  op.save(0, self);
  op.save(1, weight);
  return op.result(pointwise(c, {&self, &weight}), [](Backward& b) {
    b.grads[0] = pointwise(b.c, {&b.saved[0], &b.saved[1], &b.grad()});
    b.grads[1] = pointwise(b.c, {&b.saved[0], &b.saved[1], &b.grad()});
  });
}

Tensor softsign(Context& c, const Tensor& self) {
  const Tensor sum = [&] {
    const Tensor magnitude = unary(c, "abs", self);
    return add(c, magnitude, number_tensor(c, ScalarType::kInt64));
  }();
  return div(c, self, sum);
}

Tensor tanhshrink(Context& c, const Tensor& self) {
  const Tensor squashed = unary(c, "tanh", self);
  return sub(c, self, squashed);
}

namespace {

void check_probability(double p) {
  if (p < 0 || p > 1) {
    throw OpError(fmt::format("dropout probability has to be between 0 and 1, but got {}", p));
  }
}

Tensor product(Context& c, const Tensor& input, const Tensor& noise, bool in_place) {
  return in_place ? mul_(c, input, noise) : mul(c, input, noise);
}

/// Dropout from a noise tensor that is multiplied in. Source: at::native::_dropout_impl.
Tensor noisy(Context& c, const Tensor& input, double p, bool train, bool in_place, bool features,
             bool alpha) {
  check_probability(p);
  if (p == 0 || !train || input.numel() == 0) return input;
  if (p == 1) return product(c, input, c.empty({}, input.dtype(), input.device()), in_place);
  Tensor shift;  // dies after noise
  Tensor noise;
  if (features) {
    if (input.dim() < 2) {
      throw OpError("Feature dropout requires at least 2 dimensions in the input");
    }
    Dims sizes = Dims::filled(input.sizes().size(), 1);
    sizes[0] = input.sizes()[0];
    sizes[1] = input.sizes()[1];
    noise = c.empty(sizes, input.dtype(), input.device());
  } else {
    noise = c.empty_like(input);
  }
  if (!alpha) return product(c, input, noise, in_place);
  {
    const GradMode off(c, false);
    shift = add(c, noise, number_tensor(c));
  }
  return add_(c, product(c, input, noise, in_place), shift);
}

}  // namespace

Tensor dropout(Context& c, const Tensor& input, double p, bool train) {
  // What is compiled takes PyTorch's decomposition of it.
  if (c.tracer != nullptr && (p == 0 || !train)) return clone(c, input, MemoryFormat::kPreserve);
  const bool fused = input.is_cuda() && p > 0 && p < 1 && input.numel() > 0 && train;
  if (!fused) return noisy(c, input, p, train, false, false, false);
  Op op(c, "native_dropout", "NativeDropoutBackward0", {&input});
  Tensor mask = c.empty_like(input, ScalarType::kBool);
  Tensor out = c.empty_like(input);
  op.save(0, mask);
  return op.result(std::move(out), [](Backward& b) {
    const Tensor& grad = b.grad();
    if (b.c.grad_enabled()) {  // infinitely_differentiable_native_dropout_backward
      const Tensor scaled = mul(b.c, b.saved[0], number_tensor(b.c));
      b.grads[0] = mul(b.c, grad, scaled);
      return;
    }
    b.grads[0] =
        b.c.empty_in(grad.sizes(), grad.suggest_memory_format(), grad.dtype(), grad.device());
  });
}

Tensor dropout_(Context& c, const Tensor& input, double p, bool train) {
  return noisy(c, input, p, train, true, false, false);
}

Tensor feature_dropout(Context& c, const Tensor& input, double p, bool train, bool in_place) {
  return noisy(c, input, p, train, in_place, true, false);
}

Tensor alpha_dropout(Context& c, const Tensor& input, double p, bool train, bool in_place,
                     bool features) {
  return noisy(c, input, p, train, in_place, features, true);
}

namespace {

/// The slopes are drawn into a contiguous tensor of the input's size, in evaluation too; the kernel
/// that draws them works on contiguous tensors alone. Slots: noise, then the input (its result,
/// where it is written into). Source: rrelu_with_noise_out_cuda; the layouts: oracle.
OpResult rrelu(Context& c, const Tensor& self, bool training, bool in_place) {
  const auto contiguous_like = [&c](const Tensor& x) {
    return c.empty_in(x.sizes(), MemoryFormat::kContiguous, x.dtype(), x.device());
  };
  Op op(c, in_place ? "rrelu_with_noise_" : "rrelu_with_noise", "RreluWithNoiseBackward0", {&self});
  const Tensor noise = contiguous_like(self);
  op.save(0, noise);
  op.save(1, self);
  const auto backward = [training](Backward& b) {
    b.grads[0] = pointwise(b.c, {&b.saved[training ? 0 : 1], &b.grad()});
  };
  const auto draw = [&c, &self, training](const Tensor& out) {
    if (!training) return;
    const Tensor input = contiguous(c, self);
    const Tensor written = contiguous(c, out);
  };
  if (in_place) {
    draw(self);
    return op.in_place(self, backward);
  }
  Tensor out = contiguous_like(self);
  draw(out);
  return op.result(std::move(out), backward);
}

OpResult unbatched_dropout(Arguments& a, std::int64_t sample_rank) {
  Context& c = a.context();
  const Tensor& input = a.tensor(0);
  if (input.dim() != sample_rank) {
    return feature_dropout(c, input, a.number(1), a.flag(2), a.flag(3));
  }
  const Tensor batch = unsqueeze(c, input, 0);
  return squeeze(c, feature_dropout(c, batch, a.number(1), a.flag(2), a.flag(3)), 0);
}

}  // namespace

std::span<const OpDef> activation_ops() {
  static constexpr std::string_view kActivation = "docs/rules/pointwise.md#3";
  static constexpr std::string_view kDropout = "docs/rules/pointwise.md#4";
  static constexpr auto kFeatures = [](Arguments& a) -> OpResult {
    return feature_dropout(a.context(), a.tensor(0), a.number(1), a.flag(2), a.flag(3));
  };
  // These take one sample without a batch too.
  static constexpr auto kFeatures1d = [](Arguments& a) -> OpResult {
    return unbatched_dropout(a, 2);
  };
  static constexpr auto kFeatures3d = [](Arguments& a) -> OpResult {
    return unbatched_dropout(a, 4);
  };
  static constexpr OpDef kOps[] = {
      {"glu(Tensor input, int dim=-1)", "F",
       [](Arguments& a) -> OpResult { return glu(a.context(), a.tensor(0), a.integer(1)); },
       kActivation},
      {"prelu(Tensor input, Tensor weight)", "F torch method",
       [](Arguments& a) -> OpResult { return prelu(a.context(), a.tensor(0), a.tensor(1)); },
       kActivation},
      {"rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool "
       "training=False, bool inplace=False)",
       "F",
       [](Arguments& a) -> OpResult {
         return rrelu(a.context(), a.tensor(0), a.flag(3), a.flag(4));
       },
       kActivation},
      {"rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool "
       "training=False)",
       "torch",
       [](Arguments& a) -> OpResult { return rrelu(a.context(), a.tensor(0), a.flag(3), false); },
       kActivation},
      {"rrelu_(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool "
       "training=False)",
       "F torch",
       [](Arguments& a) -> OpResult { return rrelu(a.context(), a.tensor(0), a.flag(3), true); },
       kActivation},
      {"softsign(Tensor input)", "F",
       [](Arguments& a) -> OpResult { return softsign(a.context(), a.tensor(0)); }, kActivation},
      {"tanhshrink(Tensor input)", "F",
       [](Arguments& a) -> OpResult { return tanhshrink(a.context(), a.tensor(0)); }, kActivation},
      {"dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False)", "F",
       [](Arguments& a) -> OpResult {
         return a.flag(3) ? dropout_(a.context(), a.tensor(0), a.number(1), a.flag(2))
                          : dropout(a.context(), a.tensor(0), a.number(1), a.flag(2));
       },
       kDropout},
      {"dropout(Tensor input, float p, bool train)", "torch",
       [](Arguments& a) -> OpResult {
         return dropout(a.context(), a.tensor(0), a.number(1), a.flag(2));
       },
       kDropout},
      {"dropout_(Tensor input, float p, bool train)", "torch",
       [](Arguments& a) -> OpResult {
         return dropout_(a.context(), a.tensor(0), a.number(1), a.flag(2));
       },
       kDropout},
      {"dropout1d(Tensor input, float p=0.5, bool training=True, bool inplace=False)", "F",
       kFeatures1d, kDropout},
      {"dropout2d(Tensor input, float p=0.5, bool training=True, bool inplace=False)", "F",
       kFeatures, kDropout},
      {"dropout3d(Tensor input, float p=0.5, bool training=True, bool inplace=False)", "F",
       kFeatures3d, kDropout},
      {"alpha_dropout(Tensor input, float p=0.5, bool training=False, bool inplace=False)", "F",
       [](Arguments& a) -> OpResult {
         return alpha_dropout(a.context(), a.tensor(0), a.number(1), a.flag(2), a.flag(3), false);
       },
       kDropout},
      {"feature_alpha_dropout(Tensor input, float p=0.5, bool training=False, bool inplace=False)",
       "F",
       [](Arguments& a) -> OpResult {
         return alpha_dropout(a.context(), a.tensor(0), a.number(1), a.flag(2), a.flag(3), true);
       },
       kDropout},
  };
  return kOps;
}

}  // namespace tidemark::ops
