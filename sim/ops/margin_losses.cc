#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/softmax_ops.h"

namespace tidemark::ops {

namespace {

constexpr std::string_view kMarginLossesSource = "docs/rules/losses.md#4";

Tensor real(Context& c) { return number_tensor(c); }

/// The norm of (x1 - x2 + eps) along the last dimension.
Tensor pairwise_distance(Context& c, const Tensor& x1, const Tensor& x2, double p, bool keepdim) {
  const Tensor difference = sub(c, x1, x2);
  const Tensor shifted = add(c, difference, real(c));
  return norm(c, shifted, p, {-1}, keepdim);
}

/// clamp_min(margin + positive - negative, 0), reduced.
Tensor hinge(Context& c, const Tensor& positive, const Tensor& negative, Reduction reduction) {
  const Tensor out = [&] {
    const Tensor with_margin = add(c, positive, real(c));
    const Tensor difference = sub(c, with_margin, negative);
    return clamp_min(c, difference);
  }();
  return apply_reduction(c, out, reduction);
}

Tensor triplet_margin_loss(Context& c, Tensor anchor, Tensor positive, Tensor negative, double p,
                           bool swap, Reduction reduction) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&anchor, &positive, &negative});
  const Tensor to_positive = pairwise_distance(c, anchor, positive, p, false);
  Tensor to_negative = pairwise_distance(c, anchor, negative, p, false);
  if (swap) {
    const Tensor swapped = pairwise_distance(c, positive, negative, p, false);
    to_negative = binary(c, "minimum", to_negative, swapped);
  }
  return hinge(c, to_positive, to_negative, reduction);
}

Tensor margin_ranking_loss(Context& c, Tensor input1, Tensor input2, Tensor target,
                           Reduction reduction) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&input1, &input2, &target});
  const Tensor out = [&] {
    const Tensor difference = sub(c, input1, input2);
    const Tensor negative = unary(c, "neg", target);
    const Tensor product = mul(c, negative, difference);
    return add(c, product, real(c));
  }();
  clamp_min_(c, out);
  return apply_reduction(c, out, reduction);
}

Tensor hinge_embedding_loss(Context& c, Tensor self, Tensor target, Reduction reduction) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&self, &target});
  const Tensor zero = c.empty(self.sizes(), self.dtype(), self.device());
  const Tensor distance = sub(c, real(c), self);
  const Tensor margin = clamp_min_(c, distance);
  const auto choose = [&](const Tensor& value) {
    const Tensor is_other = binary(c, "ne", target, number_tensor(c, ScalarType::kInt64));
    return where(c, is_other, value, zero);
  };
  const Tensor out_margin = choose(margin);
  const Tensor out_self = choose(self);
  const Tensor out = add(c, out_margin, out_self);
  return apply_reduction(c, out, reduction);
}

Tensor poisson_nll_loss(Context& c, Tensor input, Tensor target, bool log_input, bool full,
                        Reduction reduction) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&input, &target});
  const Tensor loss = [&] {
    if (log_input) {
      const Tensor product = mul(c, target, input);
      const Tensor expected = unary(c, "exp", input);
      return sub(c, expected, product);
    }
    const Tensor shifted = add(c, input, real(c));
    const Tensor logs = unary(c, "log", shifted);
    const Tensor product = mul(c, target, logs);
    return sub(c, input, product);
  }();
  if (full) {
    // Stirling's approximation, for targets above one.
    const Tensor stirling = [&] {
      const Tensor scaled = mul(c, target, real(c));
      const Tensor log_scaled = unary(c, "log", scaled);
      const Tensor half = mul(c, log_scaled, real(c));
      const Tensor log_target = unary(c, "log", target);
      const Tensor product = mul(c, target, log_target);
      const Tensor difference = sub(c, product, target);
      return add(c, difference, half);
    }();
    const Tensor small = binary(c, "le", target, number_tensor(c, ScalarType::kInt64));
    const Tensor counted = masked_fill(c, stirling, small, number_tensor(c));
    add_(c, loss, counted);
  }
  return apply_reduction(c, loss, reduction);
}

}  // namespace

std::span<const OpDef> margin_losses() {
  static constexpr OpDef kOps[] = {
      {"pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False)",
       "torch F",
       [](Arguments& a) -> OpResult {
         return pairwise_distance(a.context(), a.tensor(0), a.tensor(1), a.number(2), a.flag(4));
       },
       kMarginLossesSource},
      {"triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, "
       "float p=2, float eps=1e-06, bool swap=False, bool? size_average=None, bool? reduce=None, "
       "str reduction='mean')",
       "F",
       [](Arguments& a) -> OpResult {
         return triplet_margin_loss(a.context(), a.tensor(0), a.tensor(1), a.tensor(2), a.number(4),
                                    a.flag(6), reduction_from(reduction_name(a, 7, 8, 9)));
       },
       kMarginLossesSource},
      {"margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, bool? "
       "size_average=None, bool? reduce=None, str reduction='mean')",
       "F",
       [](Arguments& a) -> OpResult {
         return margin_ranking_loss(a.context(), a.tensor(0), a.tensor(1), a.tensor(2),
                                    reduction_from(reduction_name(a, 4, 5, 6)));
       },
       kMarginLossesSource},
      {"hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, bool? "
       "size_average=None, bool? reduce=None, str reduction='mean')",
       "F",
       [](Arguments& a) -> OpResult {
         return hinge_embedding_loss(a.context(), a.tensor(0), a.tensor(1),
                                     reduction_from(reduction_name(a, 3, 4, 5)));
       },
       kMarginLossesSource},
      {"poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, bool? "
       "size_average=None, float eps=1e-08, bool? reduce=None, str reduction='mean')",
       "F",
       [](Arguments& a) -> OpResult {
         return poisson_nll_loss(a.context(), a.tensor(0), a.tensor(1), a.flag(2), a.flag(3),
                                 reduction_from(reduction_name(a, 4, 6, 7)));
       },
       kMarginLossesSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
