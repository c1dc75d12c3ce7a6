#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/softmax_ops.h"

namespace tidemark::ops {

/// The loss of each row, summed by a second kernel.
Tensor multi_margin_loss(Context& c, Tensor self, const Tensor& target, double p, Tensor weight,
                         Reduction reduction) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&self, &weight});
  if (p != 1 && p != 2) throw OpError("multi_margin_loss: p == 1 and p == 2 supported");
  if (self.dim() > 2) {
    throw OpError("Expected non-empty vector or matrix with optional 0-dim batch size, but got: " +
                  to_string(self.sizes()));
  }
  Op op(c, "multi_margin_loss", "MultiMarginLossBackward0", {&self}, {&target, &weight});
  op.save(0, self);
  op.save(1, target);
  op.save(2, weight);
  const std::int64_t rows = self.dim() == 2 ? self.size(0) : 1;
  const bool keeps = reduction == Reduction::kNone && target.dim() > 0;
  Tensor out = c.empty(keeps ? Dims{rows} : Dims{}, self.dtype(), self.device());
  const Tensor dense = contiguous(c, self);
  const Tensor dense_target = contiguous(c, target);
  const Tensor dense_weight = weight.defined() ? contiguous(c, weight) : weight;
  if (reduction != Reduction::kNone && self.dim() == 2) {
    const Tensor per_row = c.empty({rows}, self.dtype(), self.device());
    reduction_scratch(c, per_row, {}, element_bytes(accumulate_type(self.dtype())));
  }
  return op.result(std::move(out), [](Backward& b) {
    const Tensor& x = b.saved[0];
    b.grads[0] = b.c.empty(x.sizes(), x.dtype(), x.device());
    const Tensor read = contiguous(b.c, x);
    const Tensor classes = contiguous(b.c, b.saved[1]);
    const Tensor grad = contiguous(b.c, b.grad());
    if (b.saved.size() > 2 && b.saved[2].defined()) contiguous(b.c, b.saved[2]);
  });
}

/// Which classes are targets is kept for backward, in the input's type.
Tensor multilabel_margin_loss(Context& c, Tensor self, const Tensor& target, Reduction reduction) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&self});
  if (!(self.sizes() == target.sizes())) {
    throw OpError(fmt::format("inconsistent target size: {} for input of size: {}",
                              to_string(target.sizes()), to_string(self.sizes())));
  }
  Op op(c, "multilabel_margin_loss_forward", "MultilabelMarginLossBackward0", {&self}, {&target});
  op.save(0, self);
  op.save(1, target);
  Tensor is_target;  // a result besides: outlives what the kernel reads
  const Tensor dense = contiguous(c, self);
  const Tensor dense_target = contiguous(c, target);
  is_target = c.empty(target.sizes(), self.dtype(), self.device());
  op.save(2, is_target);
  Tensor out;
  const bool matrix = self.dim() == 2;
  if (matrix && reduction == Reduction::kNone) {
    out = c.empty({self.size(0)}, self.dtype(), self.device());
  } else if (matrix) {
    const Tensor per_row = c.empty({self.size(0)}, self.dtype(), self.device());
    out = c.empty({}, self.dtype(), self.device());
    reduction_scratch(c, per_row, {}, element_bytes(accumulate_type(self.dtype())));
  } else {
    out = c.empty({}, self.dtype(), self.device());
  }
  return op.result(std::move(out), [](Backward& b) {
    const Tensor& x = b.saved[0];
    b.grads[0] = b.c.empty(x.sizes(), x.dtype(), x.device());
    const Tensor read = contiguous(b.c, x);
    const Tensor classes = contiguous(b.c, b.saved[1]);
    const Tensor grad = contiguous(b.c, b.grad());
  });
}

namespace {

// ---- connectionist temporal classification

/// Lengths of inputs and targets and the targets' offsets go to the device as int64.
struct CtcLengths {
  CtcLengths(Context& c, const Tensor& like, std::int64_t batch) {
    for (Tensor* t : {&inputs, &targets, &offsets}) {
      *t = c.empty({batch}, ScalarType::kInt64, like.device());
    }
  }
  ~CtcLengths() {
    targets.reset();
    inputs.reset();
    offsets.reset();
  }
  CtcLengths(const CtcLengths&) = delete;
  CtcLengths& operator=(const CtcLengths&) = delete;
  Tensor inputs;
  Tensor targets;
  Tensor offsets;
};

/// Gradients of samples whose loss is infinite become zero.
void zero_where_infinite(Backward& b, std::int64_t samples) {
  const Tensor before = b.grads[0];
  const Tensor zero = b.c.empty({}, before.dtype(), before.device());
  const Tensor infinite = b.c.empty({samples}, ScalarType::kBool, before.device());
  b.grads[0] = b.c.empty(before.sizes(), before.dtype(), before.device());
}

}  // namespace

/// The loss of each sample. `longest`: of the targets; probabilities of all positions, blanks
/// between them, are kept for every step.
Tensor ctc_loss(Context& c, Tensor log_probs, const Tensor& targets, std::int64_t longest,
                bool zero_infinity) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&log_probs});
  if (log_probs.dim() != 3) {
    throw OpError("log_probs must have 3 dimensions (T, N, C), but got " +
                  to_string(log_probs.sizes()));
  }
  Op op(c, "_ctc_loss", "CtcLossBackward0", {&log_probs}, {&targets});
  op.save(0, log_probs);
  op.save(1, targets);
  const std::int64_t batch = log_probs.size(1);
  const Dims alpha{batch, log_probs.size(0), 2 * longest + 1};
  Tensor out;
  Tensor log_alpha;
  {
    const CtcLengths lengths(c, log_probs, batch);
    log_alpha = c.empty(alpha, log_probs.dtype(), log_probs.device());
    out = c.empty({batch}, log_probs.dtype(), log_probs.device());
    op.save(2, out);
    op.save(3, log_alpha);
  }
  return op.result(std::move(out), [alpha, zero_infinity](Backward& b) {
    const Tensor& x = b.saved[0];
    const CtcLengths lengths(b.c, x, alpha[0]);
    const Tensor log_beta = b.c.empty(alpha, x.dtype(), x.device());
    b.grads[0] = b.c.empty(x.sizes(), x.dtype(), x.device());
    // One kernel for small problems; else blanks are summed up first.
    const bool is_large = 2 * x.size(0) + 24 * alpha[0] / 10 + 2 * x.size(2) / 10 > 450;
    if (!is_large) return;
    {
      const GradMode off(b.c, false);
      const Tensor of_blanks =
          b.c.empty({alpha[0], alpha[1], alpha[2] / 2 + 1}, x.dtype(), x.device());
      logsumexp(b.c, of_blanks, {2}, true);
    }
    if (zero_infinity) zero_where_infinite(b, alpha[0]);
  });
}

/// The gradient is computed with the loss. What cuDNN asks for by itself counts as nothing. Source:
/// at::native::_cudnn_ctc_loss, _cudnn_ctc_loss_backward.
Tensor cudnn_ctc_loss(Context& c, const Tensor& log_probs, bool zero_infinity) {
  Op op(c, "_cudnn_ctc_loss", "CudnnCtcLossBackward0", {&log_probs});
  const Tensor gradient = c.empty(log_probs.sizes(), log_probs.dtype(), log_probs.device());
  Tensor out = c.empty({log_probs.size(1)}, log_probs.dtype(), log_probs.device());
  op.save(0, out);
  op.save(1, gradient);
  return op.result(std::move(out), [zero_infinity](Backward& b) {
    const Tensor& x = b.saved[1];
    Tensor scaled = b.c.empty(x.sizes(), x.dtype(), x.device());
    if (!zero_infinity) {
      b.grads[0] = std::move(scaled);
      return;
    }
    b.grads[0] = std::move(scaled);
    zero_where_infinite(b, b.saved[0].numel());
  });
}

}  // namespace tidemark::ops
