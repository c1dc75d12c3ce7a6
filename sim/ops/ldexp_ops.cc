#include <utility>

#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/pointwise_rule.h"
#include "sim/ops/releases.h"

namespace tidemark::ops {

namespace {

/// The base goes to the device as a scalar of its own type, for the length of the kernel.
Tensor power_of_two(Context& c, const Tensor& exponent, ScalarType base) {
  const Tensor number = number_tensor(c, base);
  Tensor out = pointwise(c, {&number, &exponent});
  c.scratch(8, out.device());
  return out;
}

void check_mantissa(const Tensor& self) {
  if (!is_floating(self.dtype())) {
    throw NotModelled("ldexp of integers is not modelled; make them floating-point numbers first");
  }
}

/// Whole exponents have a kernel of their own. Two in the mantissa's type, where that is not fp32,
/// is a tensor. Source: at::native::_pow2.
void ldexp_kernel(Context& c, const Tensor& self, const Tensor& other, Tensor& out) {
  if (!is_differentiable(other.dtype())) {
    if (!out.defined()) out = pointwise(c, {&self, &other});
    return;
  }
  const Tensor power = [&] {
    if (self.dtype() == ScalarType::kFloat32) return power_of_two(c, other, ScalarType::kFloat64);
    const Tensor two = c.empty({}, self.dtype(), self.device());
    return pointwise(c, {&two, &other});
  }();
  if (!out.defined()) out = pointwise(c, {&self, &power});
}

void ldexp_backward(Backward& b) {
  b.saved.resize(2);
  if (b.needs(1)) {
    const Tensor product = pointwise(b.c, {&b.grad(), &b.saved[1]});
    b.grads[1] = pointwise(b.c, {&product});
  }
  if (b.needs(0)) {
    const Tensor power = power_of_two(
        b.c, b.saved[0],
        b.c.rules().ldexp_power_is_floating ? ScalarType::kFloat64 : ScalarType::kInt64);
    b.grads[0] = pointwise(b.c, {&b.grad(), &power});
  }
}

/// Where ldexp is a product.
Tensor differentiable_power_of_two(Context& c, const Tensor& self, const Tensor& other) {
  const bool is_number = c.rules().ldexp == Ldexp::kNumber || self.dtype() == ScalarType::kFloat32;
  if (is_number) return pow_of_number(c, number_tensor(c), 2, other);
  return pow_tensors(c, c.empty({}, self.dtype(), self.device()), other);
}

}  // namespace

Tensor ldexp(Context& c, const Tensor& self, const Tensor& other) {
  check_mantissa(self);
  if (c.rules().ldexp != Ldexp::kKernel) {
    return mul(c, self, differentiable_power_of_two(c, self, other));
  }
  Op op(c, "ldexp", "LdexpBackward0", {&self, &other});
  op.save_if(op.needs(0), 0, other);
  Tensor out;
  ldexp_kernel(c, self, other, out);
  op.save_if(op.needs(1), 1, out);
  return op.result(std::move(out), ldexp_backward);
}

Tensor ldexp_(Context& c, const Tensor& self, const Tensor& other) {
  check_mantissa(self);
  if (c.rules().ldexp != Ldexp::kKernel) {
    if (c.grad_enabled() && (self.requires_grad() || other.requires_grad())) {
      throw OpError(
          "ldexp(): functions with out=... arguments don't support automatic differentiation, but "
          "one of the arguments requires grad.");
    }
    return mul_(c, self, differentiable_power_of_two(c, self, other));
  }
  Op op(c, "ldexp_", "LdexpBackward0", {&self, &other});
  check_in_place(c, self, {&other});
  op.save_if(op.needs(0), 0, other);
  Tensor out = self;
  ldexp_kernel(c, self, other, out);
  op.save_if(op.needs(1), 1, self);
  return op.in_place(self, ldexp_backward);
}

}  // namespace tidemark::ops
