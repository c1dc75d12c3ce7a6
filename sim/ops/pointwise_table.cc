#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/base/check.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/pointwise_rule.h"

namespace tidemark::ops {

namespace {

/// The rules of that name, one after another in pointwise_names().
std::span<const std::uint16_t> rules_named(std::string_view name) {
  const auto table = pointwise_table();
  const auto names = pointwise_names();
  const auto begin = std::lower_bound(
      names.begin(), names.end(), name,
      [&](std::uint16_t rule, std::string_view wanted) { return table[rule].name < wanted; });
  auto end = begin;
  while (end != names.end() && table[*end].name == name) ++end;
  return {begin, end};
}

/// What NAME(..., out=tensor) computes; nullopt: it is not modelled.
std::optional<ResultKind> out_kind(std::string_view name) {
  for (const std::string_view promotes : {"add", "clamp", "pow", "sub", "subtract"}) {
    if (name == promotes) return ResultKind::kPromote;
  }
  for (const std::string_view divides : {"div", "divide", "true_divide"}) {
    if (name == divides) return ResultKind::kFloat;
  }
  for (const std::uint16_t rule : rules_named(name)) {
    if (pointwise_table()[rule].takes_out) return pointwise_table()[rule].result;
  }
  return std::nullopt;
}

}  // namespace

const PointwiseRule* find_pointwise_rule(const Context& c, std::string_view name) {
  for (const std::uint16_t rule : rules_named(name)) {
    if (pointwise_table()[rule].releases.contain(c.pytorch().pytorch))
      return &pointwise_table()[rule];
  }
  return nullptr;
}
const PointwiseRule& pointwise_rule(const Context& c, std::string_view name) {
  const PointwiseRule* rule = find_pointwise_rule(c, name);
  TIDEMARK_CHECK(rule != nullptr, "no such pointwise rule");
  return *rule;
}
const PointwiseRule& pointwise_rule(std::string_view name) {
  const auto rules = rules_named(name);
  TIDEMARK_CHECK(!rules.empty(), "no such pointwise rule");
  return pointwise_table()[rules.front()];
}

bool takes_out(std::string_view name) { return out_kind(name).has_value(); }

Tensor write_into(Context& c, std::string_view name, const Tensor& self, const Tensor& other,
                  const Tensor& out) {
  const bool two = other.defined();
  const bool wants_grad =
      self.requires_grad() || (two && other.requires_grad()) || out.requires_grad();
  if (c.grad_enabled() && wants_grad) {
    throw OpError(
        fmt::format("{}(): functions with out=... arguments don't support automatic "
                    "differentiation, but one of the arguments requires grad.",
                    name));
  }
  const Dims shape = two ? broadcast(self.sizes(), other.sizes()) : self.sizes();
  if (!(shape == out.sizes())) {
    throw NotModelled(
        fmt::format("{} into out= of size {} is not modelled where the result has size {}; give a "
                    "tensor of the result's size",
                    name, to_string(out.sizes()), to_string(shape)));
  }
  const ResultKind kind = *out_kind(name);
  ScalarType type = two ? result_type(c, {&self, &other}) : result_type(c, {&self});
  if (kind == ResultKind::kFloat && !is_differentiable(type)) type = c.default_dtype;
  if (is_complex(type) || is_complex(out.dtype())) {
    throw NotModelled(fmt::format("{} into out= of complex numbers is not modelled", name));
  }
  const bool fits =
      kind == ResultKind::kBool || is_floating(out.dtype()) ||
      (!is_differentiable(type) && (out.dtype() != ScalarType::kBool || type == ScalarType::kBool));
  if (!fits) {
    throw OpError(fmt::format("result type {} can't be cast to the desired output type {}",
                              info(type).name, info(out.dtype()).name));
  }
  Op op(c, name, "", {}, {&self, &other});
  return op.in_place(out, [](Backward& /*b*/) {});
}

Tensor mul(Context& c, const Tensor& self, const Tensor& other) {
  static const PointwiseRule& rule = pointwise_rule("mul");
  return apply(c, rule, self, other);
}
Tensor mul_(Context& c, const Tensor& self, const Tensor& other) {
  static const PointwiseRule& rule = pointwise_rule("mul");
  return apply_in_place(c, rule, self, other);
}
Tensor relu(Context& c, const Tensor& self) {
  static const PointwiseRule& rule = pointwise_rule("relu");
  return apply(c, rule, self);
}
Tensor relu_(Context& c, const Tensor& self) {
  static const PointwiseRule& rule = pointwise_rule("relu");
  return apply_in_place(c, rule, self);
}
Tensor pow_tensors(Context& c, const Tensor& self, const Tensor& exponent) {
  static const PointwiseRule& rule = pointwise_rule("pow.Tensor_Tensor");
  return apply(c, rule, self, exponent);
}
Tensor pow_tensors_(Context& c, const Tensor& self, const Tensor& exponent) {
  static const PointwiseRule& rule = pointwise_rule("pow.Tensor_Tensor");
  return apply_in_place(c, rule, self, exponent);
}
Tensor unary(Context& c, std::string_view name, const Tensor& self) {
  return apply(c, pointwise_rule(c, name), self);
}
Tensor unary_(Context& c, std::string_view name, const Tensor& self) {
  return apply_in_place(c, pointwise_rule(c, name), self);
}
Tensor binary(Context& c, std::string_view name, const Tensor& self, const Tensor& other) {
  return apply(c, pointwise_rule(c, name), self, other);
}
Tensor binary_(Context& c, std::string_view name, const Tensor& self, const Tensor& other) {
  return apply_in_place(c, pointwise_rule(c, name), self, other);
}

}  // namespace tidemark::ops
