#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/index_error.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/softmax_ops.h"
#include "sim/ops/steps.h"
#include "sim/ops/values/view.h"

namespace tidemark::ops {

Reduction reduction_from(const std::string& text) {
  if (text == "none") return Reduction::kNone;
  if (text == "mean") return Reduction::kMean;
  if (text == "sum") return Reduction::kSum;
  throw OpError(text + " is not a valid value for reduction");
}

std::string reduction_name(const Arguments& a, std::size_t size_average, std::size_t reduce,
                           std::size_t reduction) {
  if (a.is_none(size_average) && a.is_none(reduce)) return a.text(reduction);
  if (!a.optional_flag(reduce).value_or(true)) return "none";
  return a.optional_flag(size_average).value_or(true) ? "mean" : "sum";
}

Tensor apply_reduction(Context& c, const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::kMean) return mean(c, loss, {}, false);
  if (reduction == Reduction::kSum) return sum(c, loss, {}, false, {});
  return loss;
}

namespace {

/// nll_loss and nll_loss2d: the loss and the total weight. Source: LossNLL.cpp, NLLLoss2d.cu.
Tensor nll_loss_forward(Context& c, Tensor self, const Tensor& target, Tensor weight,
                        Reduction reduction, bool spatial) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&self, &weight});
  Op op(c, spatial ? "nll_loss2d_forward" : "nll_loss_forward",
        spatial ? "NllLoss2DBackward0" : "NllLossBackward0", {&self}, {&target, &weight});
  op.save(0, self);
  op.save(1, target);
  op.save(2, weight);
  const bool keeps_shape = reduction == Reduction::kNone && (spatial || self.dim() == 2);
  Tensor out;
  Tensor total_weight;
  const auto make_out = [&] {
    out = c.empty(keeps_shape ? target.sizes() : Dims{}, self.dtype(), self.device());
  };
  if (!spatial) make_out();
  total_weight = c.empty({}, self.dtype(), self.device());
  if (spatial) make_out();
  if (!keeps_shape) {
    const Tensor dense = contiguous(c, self);
    const Tensor dense_weight = weight.defined() ? contiguous(c, weight) : Tensor();
    contiguous(c, target);
  }
  if (target.dtype() != ScalarType::kInt64 && target.dtype() != ScalarType::kUInt8) {
    throw OpError(fmt::format("expected scalar type Long but found {}", info(target.dtype()).name));
  }
  op.save(3, total_weight);
  return op.result(std::move(out), [spatial, reduction](Backward& b) {
    const Tensor& x = b.saved[0];
    Tensor made = b.c.empty(x.sizes(), x.dtype(), x.device());
    {
      const Tensor labels = contiguous(b.c, b.saved[1]);
      const Tensor dense = spatial ? Tensor() : contiguous(b.c, x);
      const Tensor grad = spatial ? Tensor() : contiguous(b.c, b.grad());
      const Tensor weights = b.saved[2].defined() ? contiguous(b.c, b.saved[2]) : Tensor();
    }
    if (b.c.grad_enabled()) {
      made = recorded_linear(b.c, spatial ? "nll_loss2d_backward" : "nll_loss_backward",
                             spatial ? "NllLoss2DBackwardBackward0" : "NllLossBackwardBackward0",
                             b.grad(), x, true, {b.saved[1], b.saved[2]}, std::move(made),
                             [spatial, reduction](Backward& second) {
                               return nll_loss_forward(second.c, second.grad(), second.saved[0],
                                                       second.saved[1], reduction, spatial);
                             });
    }
    b.grads[0] = std::move(made);
  });
}

}  // namespace

Tensor nll_loss(Context& c, const Tensor& self, const Tensor& target, const Tensor& weight,
                Reduction reduction) {
  if (self.dim() < 1)
    throw OpError(fmt::format("Expected 1 or more dimensions (got {})", self.dim()));
  if (self.dim() != 1 && (target.dim() == 0 || self.size(0) != target.size(0))) {
    throw ValueError(fmt::format(
        "Expected input batch_size ({}) to match target batch_size ({}); shapes {} and {}",
        self.size(0), target.dim() == 0 ? 0 : target.size(0), to_string(self.sizes()),
        to_string(target.sizes())));
  }
  if (self.dim() <= 2 && target.dim() > 1)
    throw OpError("0D or 1D target tensor expected, multi-target not supported");
  if (self.dim() <= 2) return nll_loss_forward(c, self, target, weight, reduction, false);
  if (self.dim() == 4) return nll_loss_forward(c, self, target, weight, reduction, true);
  Dims wanted = self.sizes();
  wanted.erase(1);
  if (!(wanted == target.sizes())) {
    throw OpError(fmt::format("Expected target size {}, got {}", to_string(wanted),
                              to_string(target.sizes())));
  }
  const std::int64_t n = self.size(0);
  const std::int64_t rest = numel_of(wanted) / std::max<std::int64_t>(n, 1);
  const Tensor flat =
      view(c, contiguous(c, self, MemoryFormat::kContiguous), {n, self.size(1), 1, rest});
  const Tensor flat_target =
      view(c, contiguous(c, target, MemoryFormat::kContiguous), {n, 1, rest});
  const Tensor out = nll_loss_forward(c, flat, flat_target, weight, reduction, true);
  return reduction == Reduction::kNone ? view(c, out, wanted) : out;
}

namespace {

Tensor broadcast_weight(Context& c, const Tensor& weight, std::int64_t rank) {
  if (rank <= 1) return weight;
  Dims sizes = Dims::filled(static_cast<std::size_t>(rank), 1);
  sizes[1] = weight.numel();
  return view(c, weight, sizes);
}

Tensor negative(Context& c, const Tensor& x) { return unary(c, "neg", x); }

/// Probabilities as targets. Source: at::native::cross_entropy_loss_prob_target.
Tensor cross_entropy_of_probabilities(Context& c, const Tensor& self, const Tensor& target,
                                      const Tensor& weight, Reduction reduction, double smoothing) {
  if (!is_differentiable(target.dtype())) {
    throw OpError(
        fmt::format("Expected floating point type for target with class probabilities, got {}",
                    info(target.dtype()).name));
  }
  const std::int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const Tensor input = softmax(c, self, class_dim, self.dtype(), true);
  Tensor smoothed;
  if (smoothing > 0) {
    const Tensor scaled = mul(c, target, number_tensor(c));
    smoothed = add(c, scaled, number_tensor(c));
  }
  const Tensor wide = weight.defined() ? broadcast_weight(c, weight, input.dim()) : Tensor();
  const Tensor plain = mul(c, input, smoothing > 0 ? smoothed : target);
  const Tensor product = wide.defined() ? mul(c, plain, wide) : plain;
  if (reduction == Reduction::kNone) {
    const Tensor total = sum(c, product, {class_dim}, false, {});
    return negative(c, total);
  }
  const Tensor total = sum(c, product, {}, false, {});
  const Tensor loss = negative(c, total);
  return reduction == Reduction::kSum ? loss : div(c, loss, number_tensor(c));
}

/// Source: at::native::cross_entropy_loss_label_smoothing.
Tensor smoothed_cross_entropy(Context& c, const Tensor& self, const Tensor& target,
                              const Tensor& weight, Reduction reduction) {
  const std::int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const Tensor input = softmax(c, self, class_dim, self.dtype(), true);
  const Tensor nll = nll_loss(c, input, target, weight, reduction);
  const Tensor smooth = [&] {
    if (weight.defined()) {
      const Tensor wide = broadcast_weight(c, weight, input.dim());
      const Tensor product = mul(c, input, wide);
      const Tensor total = sum(c, product, {class_dim}, false, {});
      return negative(c, total);
    }
    const Tensor total = sum(c, input, {class_dim}, false, {});
    return negative(c, total);
  }();
  const Tensor ignored = binary(c, "eq", target, number_tensor(c, ScalarType::kInt64));
  masked_fill_(c, smooth, ignored, number_tensor(c));
  Tensor out = smooth;
  if (reduction == Reduction::kSum) {
    out = sum(c, smooth, {}, false, {});
  } else if (reduction == Reduction::kMean) {
    if (weight.defined()) {
      // Normalised by the weights of the targets that count: they are selected by value.
      const Tensor counted = unary(c, "bitwise_not", ignored);
      // Of targets that nobody knows none is taken to be ignored.
      if (c.count_unknown && !known_count(counted)) note_fill(counted, 1, nullptr);
      const Tensor selected = masked_select(c, target, counted);
      const Tensor weights = gather(c, weight, 0, selected);
      const Tensor weight_sum = sum(c, weights, {}, false, {});
      const Tensor total = sum(c, smooth, {}, false, {});
      out = div(c, total, weight_sum);
    } else {
      const Tensor counted = unary(c, "bitwise_not", ignored);
      const Tensor count = sum(c, counted, {}, false, {});
      const Tensor total = sum(c, smooth, {}, false, {});
      out = div(c, total, count);
    }
  }
  const Tensor smooth_part = mul(c, out, number_tensor(c));
  const Tensor nll_part = mul(c, nll, number_tensor(c));
  return add(c, nll_part, smooth_part);
}

}  // namespace

Tensor cross_entropy(Context& c, const Tensor& self, const Tensor& target, const Tensor& weight,
                     Reduction reduction, double label_smoothing) {
  if (self.sizes() == target.sizes()) {
    return cross_entropy_of_probabilities(c, self, target, weight, reduction, label_smoothing);
  }
  if (label_smoothing > 0) return smoothed_cross_entropy(c, self, target, weight, reduction);
  const std::int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const Tensor log_probabilities = softmax(c, self, class_dim, self.dtype(), true);
  return nll_loss(c, log_probabilities, target, weight, reduction);
}

void check_binary_cross_entropy(Arguments& a) {
  const Tensor& self = a.tensor(0);
  const Tensor& target = a.tensor(1);
  if (a.context().thread().autocast.enabled) {
    throw OpError(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
        "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
        "In this case, combine the two layers using "
        "torch.nn.functional.binary_cross_entropy_with_logits\n"
        "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
        "safe to autocast.");
  }
  if (!(self.sizes() == target.sizes())) {
    throw ValueError(
        fmt::format("Using a target size (torch.Size({})) that is different to the input size "
                    "(torch.Size({})) is "
                    "deprecated. Please ensure they have the same size.",
                    to_string(target.sizes()), to_string(self.sizes())));
  }
}

void check_binary_cross_entropy_with_logits(Arguments& a) {
  const Tensor& self = a.tensor(0);
  const Tensor& target = a.tensor(1);
  if (!(self.sizes() == target.sizes())) {
    throw ValueError(
        fmt::format("Target size (torch.Size({})) must be the same as input size (torch.Size({}))",
                    to_string(target.sizes()), to_string(self.sizes())));
  }
}

OpResult kl_div_or_batchmean(Arguments& a) {
  Context& c = a.context();
  const std::string name = reduction_name(a, 2, 3, 4);
  const bool batch_mean = name == "batchmean";
  const Reduction reduction = batch_mean ? Reduction::kSum : reduction_from(name);
  const Tensor loss = kl_div(c, a.tensor(0), a.tensor(1), reduction, a.flag(5));
  if (!batch_mean || a.tensor(0).dim() == 0) return loss;
  return div(c, loss, number_tensor(c, ScalarType::kInt64));
}

Tensor cosine_similarity(Context& c, Tensor x1, Tensor x2, std::int64_t dim) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&x1, &x2});
  const ScalarType type = result_type(c, {&x1, &x2});
  const Dims shape = broadcast(x1.sizes(), x2.sizes());
  const Tensor b = expand(c, to(c, x2, type), shape);  // C++ evaluates the last argument first
  const Tensor a = expand(c, to(c, x1, type), shape);
  const auto norm = [&](const Tensor& x) {
    const Tensor length = linalg_vector_norm(c, x, 2, {dim}, true, {});
    return clone(c, length, MemoryFormat::kPreserve);
  };
  const Tensor a_norm = norm(a);
  const Tensor b_norm = norm(b);
  Tensor epsilon;
  if (c.rules().cosine_epsilon_is_tensor) {
    epsilon = c.empty({}, accumulate_type(type), a_norm.device());
  }
  const Tensor b_unit = div(c, b, b_norm);
  const Tensor a_unit = div(c, a, a_norm);
  const Tensor product = mul(c, a_unit, b_unit);
  return sum(c, product, {dim}, false, {});
}

}  // namespace tidemark::ops
