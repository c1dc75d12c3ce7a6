#include <fmt/format.h>

#include "sim/ops/kernels.h"
#include "sim/ops/natives.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

// Operators whose form hangs on which of their arguments are Python numbers: records dispatch to
// them. Source: docs/rules/pointwise.md#2.

namespace {

Tensor power(Arguments& a, std::size_t base, std::size_t exponent) {
  Context& c = a.context();
  if (!a.is_tensor(exponent)) {
    return pow(c, a.operand(base), a.operand(exponent), a.number(exponent));
  }
  if (!a.is_tensor(base))
    return pow_of_number(c, a.operand(base), a.number(base), a.tensor(exponent));
  return pow_tensors(c, a.tensor(base), a.tensor(exponent));
}

/// Whether the bounds are tensors: beside a number, one without dimensions is read as a number too.
bool has_tensor_bounds(Arguments& a) {
  if (!a.is_tensor(1) && !a.is_tensor(2)) return false;
  const bool mixed = !(a.is_none(1) || a.is_tensor(1)) || !(a.is_none(2) || a.is_tensor(2));
  if (!mixed) return true;
  const Tensor& bound = a.tensor(a.is_tensor(1) ? 1 : 2);
  if (bound.dim() != 0)
    throw OpError("clamp(): min and max must both be numbers or both be tensors");
  if (bound.is_cuda()) a.context().read_value(bound);
  return false;
}

OpResult clamped(Arguments& a, bool in_place) {
  if (has_tensor_bounds(a)) {
    if (in_place) {
      throw NotModelled("clamp_ with tensors as bounds is not modelled; use x = x.clamp(min, max)");
    }
    return clamp_tensors(a.context(), a.tensor(0), a.optional_tensor(1), a.optional_tensor(2));
  }
  const bool has_min = !a.is_none(1);
  const bool has_max = !a.is_none(2);
  if (!has_min && !has_max)
    throw OpError("torch.clamp: At least one of 'min' or 'max' must not be None");
  return in_place ? clamp_(a.context(), a.tensor(0), has_min, has_max)
                  : clamp(a.context(), a.tensor(0), has_min, has_max);
}

}  // namespace

OpResult raised(Arguments& a) { return power(a, 0, 1); }
OpResult raised_to_by(Arguments& a) { return power(a, 1, 0); }
OpResult raised_(Arguments& a) {
  return a.is_tensor(1) ? pow_tensors_(a.context(), a.tensor(0), a.tensor(1))
                        : pow_(a.context(), a.tensor(0), a.operand(1), a.number(1));
}

OpResult float_power(Arguments& a) {
  Context& c = a.context();
  const Tensor exponent = a.is_tensor(1) ? to(c, a.tensor(1), ScalarType::kFloat64) : a.operand(1);
  const Tensor base = to(c, a.tensor(0), ScalarType::kFloat64);
  return a.is_tensor(1) ? pow_tensors(c, base, exponent) : pow(c, base, exponent, a.number(1));
}
OpResult float_power_(Arguments& a) {
  Context& c = a.context();
  const Tensor& self = a.tensor(0);
  if (self.dtype() != ScalarType::kFloat64) {
    throw OpError(fmt::format(
        "the base given to float_power_ has dtype {} but the operation's result requires "
        "dtype Double",
        info(self.dtype()).name));
  }
  return a.is_tensor(1) ? pow_tensors_(c, self, to(c, a.tensor(1), ScalarType::kFloat64))
                        : pow_(c, self, a.operand(1), a.number(1));
}

OpResult xlogy_of(Arguments& a) {
  if (!a.is_tensor(0)) return xlogy_of_number(a.context(), a.operand(0), a.tensor(1));
  if (!a.is_tensor(1)) return xlogy(a.context(), a.tensor(0), a.operand(1), a.number(1));
  return binary(a.context(), "xlogy", a.tensor(0), a.tensor(1));
}
OpResult xlogy_of_(Arguments& a) {
  return a.is_tensor(1) ? binary_(a.context(), "xlogy", a.tensor(0), a.tensor(1))
                        : xlogy_(a.context(), a.tensor(0), a.operand(1), a.number(1));
}
OpResult xlog1py_of(Arguments& a) {
  if (!a.is_tensor(0)) return xlog1py_of_number(a.context(), a.operand(0), a.tensor(1));
  if (!a.is_tensor(1)) return xlog1py(a.context(), a.tensor(0), a.operand(1), a.number(1));
  return binary(a.context(), "special_xlog1py", a.tensor(0), a.tensor(1));
}

OpResult clamp_to(Arguments& a) { return clamped(a, false); }
OpResult clamp_to_(Arguments& a) { return clamped(a, true); }

Tensor on_device(Context& c, const Tensor& x, const Tensor& other, const Tensor& condition) {
  if (!x->wrapped_number) return x;
  const Device device = other->wrapped_number ? condition.device() : other.device();
  const LabelScope label(c, "scalar_tensor");
  return c.empty({}, result_type(c, {&x, &other}), device);
}

}  // namespace tidemark::ops
