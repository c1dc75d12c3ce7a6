#include <fmt/format.h>

#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

constexpr std::string_view kArithmeticTableSource = "docs/rules/pointwise.md#2";

std::string_view rounding(const Arguments& a, std::size_t i) {
  if (a.is_none(i)) return {};
  const std::string& mode = a.text(i);
  if (mode != "floor" && mode != "trunc") {
    throw OpError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" +
                  mode + "'");
  }
  return mode;
}

Tensor power(Arguments& a, std::size_t base, std::size_t exponent) {
  Context& c = a.context();
  if (!a.is_tensor(exponent)) {
    return pow(c, a.operand(base), a.operand(exponent), a.number(exponent));
  }
  if (!a.is_tensor(base))
    return pow_of_number(c, a.operand(base), a.number(base), a.tensor(exponent));
  return pow_tensors(c, a.tensor(base), a.tensor(exponent));
}

/// A number in where() becomes a scalar on the device first.
Tensor where_operand(Arguments& a, std::size_t i, std::size_t other) {
  if (a.is_tensor(i)) return a.tensor(i);
  const Tensor number = a.operand(i);
  const Tensor beside = a.operand(other);
  const Device device = a.is_tensor(other) ? beside.device() : a.tensor(0).device();
  const LabelScope label(a.context(), "scalar_tensor");
  return a.context().empty({}, result_type(a.context(), {&number, &beside}), device);
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

std::span<const OpDef> arithmetic_ops() {
  static constexpr OpDef kOps[] = {
      {"add(operand input, operand other, *, number alpha=1)", "torch method",
       [](Arguments& a) -> OpResult {
         return add(a.context(), a.operand(0), a.operand(1), a.number(2));
       },
       kArithmeticTableSource},
      {"add_(Tensor input, operand other, *, number alpha=1)", "method",
       [](Arguments& a) -> OpResult {
         return add_(a.context(), a.tensor(0), a.operand(1), a.number(2));
       },
       kArithmeticTableSource},
      {"sub(operand input, operand other, *, number alpha=1)", "torch method",
       [](Arguments& a) -> OpResult {
         return sub(a.context(), a.operand(0), a.operand(1), a.number(2));
       },
       kArithmeticTableSource},
      {"subtract(operand input, operand other, *, number alpha=1)", "torch method",
       [](Arguments& a) -> OpResult {
         return sub(a.context(), a.operand(0), a.operand(1), a.number(2));
       },
       kArithmeticTableSource},
      {"rsub(Tensor input, operand other, *, number alpha=1)", "torch method",
       [](Arguments& a) -> OpResult {
         return sub(a.context(), a.operand(1), a.operand(0), a.number(2));
       },
       kArithmeticTableSource},
      {"sub_(Tensor input, operand other, *, number alpha=1)", "method",
       [](Arguments& a) -> OpResult {
         return sub_(a.context(), a.tensor(0), a.operand(1), a.number(2));
       },
       kArithmeticTableSource},
      {"div(operand input, operand other, *, str? rounding_mode=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return div(a.context(), a.operand(0), a.operand(1), rounding(a, 2));
       },
       kArithmeticTableSource},
      {"divide(operand input, operand other, *, str? rounding_mode=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return div(a.context(), a.operand(0), a.operand(1), rounding(a, 2));
       },
       kArithmeticTableSource},
      {"true_divide(operand input, operand other)", "torch method",
       [](Arguments& a) -> OpResult { return div(a.context(), a.operand(0), a.operand(1)); },
       kArithmeticTableSource},
      {"div_(Tensor input, operand other, *, str? rounding_mode=None)", "method",
       [](Arguments& a) -> OpResult {
         return div_(a.context(), a.tensor(0), a.operand(1), rounding(a, 2));
       },
       kArithmeticTableSource},
      {"__rtruediv__(Tensor input, operand other)", "method",
       [](Arguments& a) -> OpResult {
         return mul(a.context(), unary(a.context(), "reciprocal", a.tensor(0)), a.operand(1));
       },
       kArithmeticTableSource},
      {"__rfloordiv__(Tensor input, operand other)", "method",
       [](Arguments& a) -> OpResult {
         return binary(a.context(), "floor_divide", a.operand(1), a.operand(0));
       },
       kArithmeticTableSource},
      {"__rmod__(Tensor input, operand other)", "method",
       [](Arguments& a) -> OpResult {
         return binary(a.context(), "remainder", a.operand(1), a.operand(0));
       },
       kArithmeticTableSource},
      {"__abs__(Tensor input)", "method",
       [](Arguments& a) -> OpResult { return unary(a.context(), "abs", a.tensor(0)); },
       kArithmeticTableSource},
      {"__rpow__(Tensor input, operand other)", "method",
       [](Arguments& a) -> OpResult { return power(a, 1, 0); }, kArithmeticTableSource},
      {"pow(operand input, operand exponent)", "torch method",
       [](Arguments& a) -> OpResult { return power(a, 0, 1); }, kArithmeticTableSource},
      {"float_power(Tensor input, operand exponent)", "torch method",
       [](Arguments& a) -> OpResult {
         Context& c = a.context();
         const Tensor exponent =
             a.is_tensor(1) ? to(c, a.tensor(1), ScalarType::kFloat64) : a.operand(1);
         const Tensor base = to(c, a.tensor(0), ScalarType::kFloat64);
         return a.is_tensor(1) ? pow_tensors(c, base, exponent)
                               : pow(c, base, exponent, a.number(1));
       },
       kArithmeticTableSource},
      {"float_power_(Tensor input, operand exponent)", "method",
       [](Arguments& a) -> OpResult {
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
       },
       kArithmeticTableSource},
      {"pow_(Tensor input, operand exponent)", "method",
       [](Arguments& a) -> OpResult {
         return a.is_tensor(1) ? pow_tensors_(a.context(), a.tensor(0), a.tensor(1))
                               : pow_(a.context(), a.tensor(0), a.operand(1), a.number(1));
       },
       kArithmeticTableSource},
      {"xlogy(operand input, operand other)", "torch method",
       [](Arguments& a) -> OpResult {
         if (!a.is_tensor(0)) return xlogy_of_number(a.context(), a.operand(0), a.tensor(1));
         if (!a.is_tensor(1)) {
           return xlogy(a.context(), a.tensor(0), a.operand(1), a.number(1));
         }
         return binary(a.context(), "xlogy", a.tensor(0), a.tensor(1));
       },
       kArithmeticTableSource},
      {"xlogy_(Tensor input, operand other)", "torch method",
       [](Arguments& a) -> OpResult {
         return a.is_tensor(1) ? binary_(a.context(), "xlogy", a.tensor(0), a.tensor(1))
                               : xlogy_(a.context(), a.tensor(0), a.operand(1), a.number(1));
       },
       kArithmeticTableSource},
      {"special_xlog1py(operand input, operand other)", "torch",
       [](Arguments& a) -> OpResult {
         if (!a.is_tensor(0)) return xlog1py_of_number(a.context(), a.operand(0), a.tensor(1));
         if (!a.is_tensor(1)) {
           return xlog1py(a.context(), a.tensor(0), a.operand(1), a.number(1));
         }
         return binary(a.context(), "special_xlog1py", a.tensor(0), a.tensor(1));
       },
       kArithmeticTableSource},
      {"ldexp(Tensor input, Tensor other)", "torch method",
       [](Arguments& a) -> OpResult { return ldexp(a.context(), a.tensor(0), a.tensor(1)); },
       kArithmeticTableSource},
      {"ldexp_(Tensor input, Tensor other)", "method",
       [](Arguments& a) -> OpResult { return ldexp_(a.context(), a.tensor(0), a.tensor(1)); },
       kArithmeticTableSource},
      {"polygamma(int n, Tensor input)", "torch",
       [](Arguments& a) -> OpResult { return polygamma(a.context(), a.tensor(1)); },
       kArithmeticTableSource},
      {"polygamma(Tensor input, int n)", "method",
       [](Arguments& a) -> OpResult { return polygamma(a.context(), a.tensor(0)); },
       kArithmeticTableSource},
      {"where(Tensor condition, operand input, operand other)", "torch",
       [](Arguments& a) -> OpResult {
         const Tensor self = where_operand(a, 1, 2);
         const Tensor other = where_operand(a, 2, 1);
         return where(a.context(), a.tensor(0), self, other);
       },
       kArithmeticTableSource},
      {"where(Tensor input, Tensor condition, operand other)", "method",
       [](Arguments& a) -> OpResult {
         const Tensor other = where_operand(a, 2, 0);
         return where(a.context(), a.tensor(1), a.tensor(0), other);
       },
       kArithmeticTableSource},
      {"masked_fill(Tensor input, Tensor mask, operand value)", "torch method",
       [](Arguments& a) -> OpResult {
         return masked_fill(a.context(), a.tensor(0), a.tensor(1), a.operand(2));
       },
       kArithmeticTableSource},
      {"masked_fill_(Tensor input, Tensor mask, operand value)", "method",
       [](Arguments& a) -> OpResult {
         return masked_fill_(a.context(), a.tensor(0), a.tensor(1), a.operand(2));
       },
       kArithmeticTableSource},
      {"clamp(Tensor input, operand? min=None, operand? max=None)", "torch method",
       [](Arguments& a) -> OpResult { return clamped(a, false); }, kArithmeticTableSource},
      {"clip(Tensor input, operand? min=None, operand? max=None)", "torch method",
       [](Arguments& a) -> OpResult { return clamped(a, false); }, kArithmeticTableSource},
      {"clamp_(Tensor input, operand? min=None, operand? max=None)", "torch method",
       [](Arguments& a) -> OpResult { return clamped(a, true); }, kArithmeticTableSource},
      {"clamp_min(Tensor input, number min)", "torch method",
       [](Arguments& a) -> OpResult { return clamp_min(a.context(), a.tensor(0)); },
       kArithmeticTableSource},
      {"clamp_min_(Tensor input, number min)", "torch method",
       [](Arguments& a) -> OpResult { return clamp_min_(a.context(), a.tensor(0)); },
       kArithmeticTableSource},
      {"clamp_max(Tensor input, number max)", "torch method",
       [](Arguments& a) -> OpResult { return clamp_min(a.context(), a.tensor(0)); },
       kArithmeticTableSource},
      {"clamp_max_(Tensor input, number max)", "torch method",
       [](Arguments& a) -> OpResult { return clamp_min_(a.context(), a.tensor(0)); },
       kArithmeticTableSource},
      {"isinf(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return isinf(a.context(), a.tensor(0)); },
       kArithmeticTableSource},
      {"isfinite(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return isfinite(a.context(), a.tensor(0)); },
       kArithmeticTableSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
