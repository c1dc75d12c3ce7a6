#include "sim/ops/softmax_ops.h"

#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

/// The output is made first, contiguous; an input that is not is copied then.
Tensor softmax_kernel(Context& c, const Tensor& self, ScalarType type) {
  Tensor out = c.empty(self.sizes(), type, self.device());
  contiguous(c, self);
  return out;
}

}  // namespace

Tensor softmax_gradient(Context& c, const Tensor& grad, const Tensor& output, bool log,
                        ScalarType type) {
  Tensor out = c.empty(grad.sizes(), type, grad.device());
  const Tensor product = log ? grad : pointwise(c, {&grad, &output});
  const Tensor dense = contiguous(c, product);
  contiguous(c, output);
  return out;
}

namespace {

Tensor one_softmax(Context& c, const Tensor& self, std::int64_t dim, bool log, ScalarType type) {
  wrap_dim(dim, self.dim());  // refuses what is out of range
  Op op(c, log ? "_log_softmax" : "_softmax", log ? "LogSoftmaxBackward0" : "SoftmaxBackward0",
        {&self});
  Tensor out = softmax_kernel(c, self, type);
  op.save(0, out);
  return op.result(std::move(out), [log, dim, from = self.dtype()](Backward& b) {
    if (b.c.grad_enabled()) {
      b.grads[0] = recorded_softmax(b.c, b.grad(), b.saved[0], dim, log, from);
      return;
    }
    b.grads[0] = softmax_gradient(b.c, b.grad(), b.saved[0], log, from);
  });
}

}  // namespace

Tensor softmax(Context& c, Tensor self, std::int64_t dim, std::optional<ScalarType> dtype,
               bool log) {
  const AutocastScope cast(c, CastPolicy::kFp32, {});
  const bool eligible =
      self.is_cuda() && is_floating(self.dtype()) && self.dtype() != ScalarType::kFloat64;
  if (cast.active() && eligible && !dtype) dtype = ScalarType::kFloat32;
  if (!dtype && !is_differentiable(self.dtype())) {
    throw OpError(fmt::format("\"{}\" not implemented for '{}'", log ? "log_softmax" : "softmax",
                              info(self.dtype()).name));
  }
  const bool in_one_kernel =
      self.is_cuda() && self.dtype() == ScalarType::kFloat16 && dtype == ScalarType::kFloat32;
  if (in_one_kernel) return one_softmax(c, self, dim, log, ScalarType::kFloat32);
  if (dtype) self = to(c, self, *dtype);
  return one_softmax(c, self, dim, log, self.dtype());
}

namespace {

/// The kernel of the gradient, as programs with a softmax of their own call it.
template <bool kLog>
OpResult run_softmax_gradient(Arguments& a) {
  Context& c = a.context();
  const Tensor& grad = a.tensor(0);
  const Tensor& output = a.tensor(1);
  constexpr std::string_view kName = kLog ? "_log_softmax_backward_data" : "_softmax_backward_data";
  Op op(c, kName, "SoftmaxBackwardDataBackward0", {&grad, &output});
  if (op.records()) throw NotModelled(fmt::format("the gradient of {} is not modelled", kName));
  wrap_dim(a.integer(2), grad.dim());
  return op.result(softmax_gradient(c, grad, output, kLog, *a.dtype(3)), [](Backward& /*b*/) {});
}

std::int64_t legacy_softmax_dim(const Arguments& a, std::size_t i) {
  if (!a.is_none(i)) return a.integer(i);
  const std::int64_t rank = a.tensor(0).dim();
  return rank == 0 || rank == 1 || rank == 3 ? 0 : 1;
}

template <bool kLog>
OpResult run_softmax(Arguments& a) {
  return softmax(a.context(), a.tensor(0), legacy_softmax_dim(a, 1), a.dtype(2), kLog);
}

}  // namespace

std::span<const OpDef> softmax_ops() {
  static constexpr std::string_view kSoftmaxOpsSource = "docs/rules/reductions.md#4";
  static constexpr OpDef kOps[] = {
      {"softmax(Tensor input, int? dim=None, dtype? dtype=None, any _stacklevel=3)",
       "torch F method", run_softmax<false>, kSoftmaxOpsSource},
      {"_softmax_backward_data(Tensor grad_output, Tensor output, int dim, dtype input_dtype)",
       "torch", run_softmax_gradient<false>, kSoftmaxOpsSource},
      {"_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, dtype input_dtype)",
       "torch", run_softmax_gradient<true>, kSoftmaxOpsSource},
      {"log_softmax(Tensor input, int? dim=None, dtype? dtype=None, any _stacklevel=3)",
       "torch F method", run_softmax<true>, kSoftmaxOpsSource},
      {"softmin(Tensor input, int? dim=None, dtype? dtype=None, any _stacklevel=3)", "F",
       [](Arguments& a) -> OpResult {
         const Tensor negative = unary(a.context(), "neg", a.tensor(0));
         return softmax(a.context(), negative, legacy_softmax_dim(a, 1), a.dtype(2), false);
       },
       kSoftmaxOpsSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
