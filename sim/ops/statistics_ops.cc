#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/composite_ops.h"
#include "sim/ops/cub.h"
#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

constexpr std::string_view kStatisticsOpsSource = "docs/rules/reductions.md#2";

/// The smallest and the largest at once: PyTorch knows no gradient of it.
TensorList aminmax(Context& c, const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  if (self.numel() == 0) {
    throw OpError(
        "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
        "identity.");
  }
  Dims dims;
  Dims sizes;
  if (dim && self.dim() > 0) {
    const std::int64_t d = wrap_dim(*dim, self.dim());
    dims.push_back(d);
    sizes = self.sizes();
    sizes[static_cast<std::size_t>(d)] = 1;
    if (!keepdim) sizes.erase(static_cast<std::size_t>(d));
  } else if (keepdim) {
    sizes = Dims::filled(self.sizes().size(), 1);
  }
  Op op(c, "aminmax", "NotImplemented", {&self});
  TensorList out{c.empty(sizes, self.dtype(), self.device()),
                 c.empty(sizes, self.dtype(), self.device())};
  {
    const Tensor read = dims.empty() ? contiguous(c, self) : self;
    const ReductionScratch scratch =
        reduction_scratch(c, read, dims, 2 * element_bytes(self.dtype()), false);
  }
  op.results_of(
      out, [](Backward&) { throw OpError("derivative for aten::aminmax is not implemented"); });
  return out;
}

Tensor trace(Context& c, const Tensor& self) {
  if (self.dim() != 2) {
    throw OpError(fmt::format("trace: expected a matrix, but got tensor with dim {}", self.dim()));
  }
  Op op(c, "trace", "TraceBackward0", {&self});
  return op.result(
      sum_kernel(c, diagonal_view(self, 0, 0, 1), {}, false), [sizes = self.sizes()](Backward& b) {
        const std::int64_t count = sizes[0] * sizes[1];
        const Tensor flat = zeros(b.c, {count}, b.grad().dtype(), b.grad().device());
        // The places of the diagonal, which index_fill_ takes.
        b.c.empty({(count + sizes[1]) / (sizes[1] + 1)}, ScalarType::kInt64, b.grad().device());
        b.grads[0] = as_view(flat, view(flat, sizes));
      });
}

Tensor logcumsumexp_kernel(Context& c, const Tensor& self, std::int64_t dim) {
  Tensor out = c.empty(self.sizes(), self.dtype(), self.device());
  const Tensor dense = contiguous(c, self);
  scan_kernel(c, dense, dim);
  return out;
}

Tensor logcumsumexp(Context& c, const Tensor& self, std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, self.dim());
  Op op(c, "logcumsumexp", "LogcumsumexpBackward0", {&self});
  op.save(0, self);
  Tensor out = logcumsumexp_kernel(c, self, d);
  op.save(1, out);
  return op.result(std::move(out), [d](Backward& b) {
    const Tensor& grad = b.grad();
    if (grad.dim() == 0 || grad.numel() == 0) {
      b.grads[0] = grad;
      return;
    }
    const Tensor lowest = b.c.empty({}, grad.dtype(), grad.device());
    const Tensor log_grad = [&] {
      const Tensor magnitude = pointwise(b.c, {&grad});
      return pointwise(b.c, {&magnitude});
    }();
    // The logarithms of what is positive (negative) alone.
    const auto of_sign = [&] {
      const Tensor sign = pointwise(b.c, {&grad}, ScalarType::kBool);
      return pointwise(b.c, {&sign, &log_grad, &lowest}, grad.dtype());
    };
    const Tensor positive = of_sign();
    const Tensor negative = of_sign();
    const auto summed = [&](const Tensor& x) {
      const Tensor shifted = pointwise(b.c, {&x, &b.saved[1]});
      const Tensor reversed = [&] {
        const Tensor flipped = b.c.empty_like(shifted);
        const Tensor sums = logcumsumexp_kernel(b.c, flipped, d);
        return b.c.empty_like(sums);
      }();
      const Tensor moved = pointwise(b.c, {&reversed, &b.saved[0]});
      return pointwise(b.c, {&moved});
    };
    const Tensor above = summed(positive);
    const Tensor below = summed(negative);
    b.grads[0] = pointwise(b.c, {&above, &below});
  });
}

Tensor dist(Context& c, Tensor self, Tensor other, double p) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&self, &other});
  Op op(c, "dist", "DistBackward0", {&self, &other});
  op.save(0, other);
  op.save(1, self);
  Tensor out = [&] {
    const Tensor difference = pointwise(c, {&self, &other});
    return sum_kernel(c, difference, {}, false, difference.dtype());
  }();
  op.save(2, out);
  return op.result(std::move(out), [p](Backward& b) {
    const auto gradient = [&](const Tensor& difference) {
      return norm_gradient(b.c, b.grad(), b.saved[2], difference, p, {}, true);
    };
    if (b.needs(1)) {
      const Tensor difference = pointwise(b.c, {&b.saved[1], &b.saved[0]});
      const Tensor positive = gradient(difference);
      b.grads[1] = pointwise(b.c, {&positive});
    }
    if (b.needs(0)) b.grads[0] = gradient(pointwise(b.c, {&b.saved[1], &b.saved[0]}));
  });
}

/// All dimensions but one.
Dims others_than(std::int64_t dim, std::int64_t rank) {
  Dims dims;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (d != dim) dims.push_back(d);
  }
  return dims;
}

/// The factors by which slices are brought to the norm they may have. Source: renorm_out.
void renorm_kernel(Context& c, const Tensor& self, std::int64_t dim) {
  const Tensor norm = sum_kernel(c, self, others_than(dim, self.dim()), true,
                                 is_half(self.dtype()) ? ScalarType::kFloat32 : self.dtype());
  const Tensor factor =
      is_half(self.dtype()) ? c.empty(norm.sizes(), self.dtype(), self.device()) : norm;
}

BackwardFunction renorm_backward(double p, std::int64_t dim) {
  return [p, dim](Backward& b) {
    const Tensor& self = b.saved[0];
    const Tensor& grad = b.grad();
    const Dims dims = others_than(dim, self.dim());
    const ScalarType wide = is_half(self.dtype()) ? ScalarType::kFloat32 : self.dtype();
    const Tensor norm = sum_kernel(b.c, self, dims, true, wide);
    const Tensor of_norm = [&] {
      const Tensor summed = [&] {
        const Tensor product = pointwise(b.c, {&self, &grad});
        return sum_kernel(b.c, product, dims, true, wide);
      }();
      return norm_gradient(b.c, summed, norm, self, p, dims, true);
    }();
    const Tensor inverse = [&] {
      const Tensor positive = pointwise(b.c, {&norm});
      return pointwise(b.c, {&positive});
    }();
    const Tensor scaled = [&] {
      const Tensor along = pointwise(b.c, {&inverse, &of_norm});
      const Tensor rest = pointwise(b.c, {&grad, &along});
      const Tensor factor = pointwise(b.c, {&inverse});
      return pointwise(b.c, {&factor, &rest});
    }();
    const Tensor cast = to_dtype(b.c, scaled, grad.dtype());
    const Tensor above = pointwise(b.c, {&norm}, ScalarType::kBool);
    b.grads[0] = pointwise(b.c, {&above, &cast, &grad}, grad.dtype());
  };
}

std::int64_t renorm_dim(const Tensor& self, std::int64_t dim) {
  if (self.dim() < 2) {
    throw OpError(
        fmt::format("renorm: input needs at least 2 dimensions, got {} dimensions", self.dim()));
  }
  return wrap_dim(dim, self.dim());
}

Tensor renorm(Context& c, Tensor self, double p, std::int64_t dim) {
  const AutocastScope cast(c, CastPolicy::kFp32, {&self});
  const std::int64_t d = renorm_dim(self, dim);
  Op op(c, "renorm", "RenormBackward0", {&self});
  op.save(0, self);
  Tensor out = c.empty(self.sizes(), self.dtype(), self.device());
  renorm_kernel(c, self, d);
  return op.result(std::move(out), renorm_backward(p, d));
}

Tensor renorm_(Context& c, const Tensor& self, double p, std::int64_t dim) {
  const std::int64_t d = renorm_dim(self, dim);
  Op op(c, "renorm_", "RenormBackward0", {&self});
  if (op.records()) op.save(0, clone(c, self));
  renorm_kernel(c, self, d);
  return op.in_place(self, renorm_backward(p, d));
}

}  // namespace

std::span<const OpDef> statistics_ops() {
  static constexpr OpDef kOps[] = {
      {"aminmax(Tensor input, *, int? dim=None, bool keepdim=False)", "torch method",
       [](Arguments& a) -> OpResult {
         return OpResult::named(
             "aminmax", "min max",
             aminmax(a.context(), a.tensor(0), a.optional_integer(1), a.flag(2)));
       },
       kStatisticsOpsSource},
      {"trace(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return trace(a.context(), a.tensor(0)); },
       kStatisticsOpsSource},
      {"logcumsumexp(Tensor input, int dim)", "torch method",
       [](Arguments& a) -> OpResult {
         return logcumsumexp(a.context(), a.tensor(0), a.integer(1));
       },
       kStatisticsOpsSource},
      {"dist(Tensor input, Tensor other, number p=2)", "torch method",
       [](Arguments& a) -> OpResult {
         return dist(a.context(), a.tensor(0), a.tensor(1), a.number(2));
       },
       kStatisticsOpsSource},
      {"renorm(Tensor input, number p, int dim, number maxnorm)", "torch method",
       [](Arguments& a) -> OpResult {
         return renorm(a.context(), a.tensor(0), a.number(1), a.integer(2));
       },
       kStatisticsOpsSource},
      {"renorm_(Tensor input, number p, int dim, number maxnorm)", "method",
       [](Arguments& a) -> OpResult {
         return renorm_(a.context(), a.tensor(0), a.number(1), a.integer(2));
       },
       kStatisticsOpsSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
