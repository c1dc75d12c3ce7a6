#pragma once

#include <optional>
#include <string_view>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Differentiable element-wise operators. Python numbers come in as 0-dim host tensors marked as
// wrapped numbers (number_tensor). Source: docs/rules/pointwise.md#2, #3.

/// A Python float (or int, or bool) as it enters an operator.
Tensor number_tensor(Context& c, ScalarType type = ScalarType::kFloat64);

/// Whether NAME(..., out=tensor) is modelled: element-wise, the result goes nowhere else.
bool takes_out(std::string_view name);
/// NAME of one or two operands into a tensor that has the result's sizes; nothing is allocated.
/// Requires: takes_out(name). Errors: OpError with PyTorch's words, NotModelled for other sizes.
Tensor write_into(Context& c, std::string_view name, const Tensor& self, const Tensor& other,
                  const Tensor& out);

Tensor add(Context& c, const Tensor& self, const Tensor& other, double alpha = 1);
Tensor add_(Context& c, const Tensor& self, const Tensor& other, double alpha = 1);
Tensor sub(Context& c, const Tensor& self, const Tensor& other, double alpha = 1);
Tensor sub_(Context& c, const Tensor& self, const Tensor& other, double alpha = 1);
Tensor mul(Context& c, const Tensor& self, const Tensor& other);
Tensor mul_(Context& c, const Tensor& self, const Tensor& other);
/// `rounding`: empty, "floor" or "trunc". Errors: OpError for another.
Tensor div(Context& c, const Tensor& self, const Tensor& other, std::string_view rounding = {});
Tensor div_(Context& c, const Tensor& self, const Tensor& other, std::string_view rounding = {});
/// One side a Python number, of which the rule wants to know whether it is zero.
Tensor pow(Context& c, const Tensor& self, const Tensor& number, double exponent);
Tensor pow_(Context& c, const Tensor& self, const Tensor& number, double exponent);
Tensor pow_of_number(Context& c, const Tensor& number, double base, const Tensor& exponent);
Tensor pow_tensors(Context& c, const Tensor& self, const Tensor& exponent);
Tensor pow_tensors_(Context& c, const Tensor& self, const Tensor& exponent);
/// One side a Python number: as `other` its value matters, as `self` it does not.
Tensor xlogy(Context& c, const Tensor& self, const Tensor& number, double value);
Tensor xlogy_of_number(Context& c, const Tensor& number, const Tensor& other);
Tensor xlogy_(Context& c, const Tensor& self, const Tensor& number, double value);
/// One side a Python number, as in xlogy.
Tensor xlog1py(Context& c, const Tensor& self, const Tensor& number, double value);
Tensor xlog1py_of_number(Context& c, const Tensor& number, const Tensor& other);
Tensor polygamma(Context& c, const Tensor& self);
/// self times two to the power of other.
Tensor ldexp(Context& c, const Tensor& self, const Tensor& other);
Tensor ldexp_(Context& c, const Tensor& self, const Tensor& other);
Tensor relu(Context& c, const Tensor& self);
Tensor relu_(Context& c, const Tensor& self);
/// An operator of one (two) tensors by its name in the table of rules. Requires: it is there.
Tensor unary(Context& c, std::string_view name, const Tensor& self);
Tensor unary_(Context& c, std::string_view name, const Tensor& self);
Tensor binary(Context& c, std::string_view name, const Tensor& self, const Tensor& other);
Tensor binary_(Context& c, std::string_view name, const Tensor& self, const Tensor& other);

Tensor where(Context& c, const Tensor& condition, const Tensor& self, const Tensor& other);
Tensor masked_fill(Context& c, const Tensor& self, const Tensor& mask, const Tensor& value);
Tensor masked_fill_(Context& c, const Tensor& self, const Tensor& mask, const Tensor& value);
Tensor clamp(Context& c, const Tensor& self, bool has_min, bool has_max);
Tensor clamp_(Context& c, const Tensor& self, bool has_min, bool has_max);
/// Bounds given as tensors; one of them may be undefined.
Tensor clamp_tensors(Context& c, const Tensor& self, const Tensor& min, const Tensor& max);
Tensor isfinite(Context& c, const Tensor& self);
Tensor zero_(Context& c, const Tensor& self);
/// Random numbers, of whatever kind.
Tensor random_(Context& c, const Tensor& self);

}  // namespace tidemark::ops
