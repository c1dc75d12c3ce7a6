#include "sim/ops/pointwise_ops.h"

#include <fmt/format.h>

#include "sim/ops/complex_ops.h"
#include "sim/ops/cub.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_rule.h"
#include "sim/ops/releases.h"
#include "sim/ops/sparse.h"

namespace tidemark::ops {

Tensor number_tensor(Context& c, ScalarType type) { return c.number(type); }

Tensor add(Context& c, const Tensor& self, const Tensor& other, double alpha) {
  static const PointwiseRule& rule = pointwise_rule("add.Tensor");
  if (other.defined() && other.is_sparse() && !self.is_sparse()) {
    return add_sparse_to_dense(c, self, other, alpha, false);
  }
  return apply(c, rule, self, other, alpha);
}

Tensor add_(Context& c, const Tensor& self, const Tensor& other, double alpha) {
  static const PointwiseRule& rule = pointwise_rule("add_");
  if (self.is_sparse() && other.is_sparse()) {
    const LabelScope label(c, "add_");
    add_sparse_in_place(c, self, other);
    return self;
  }
  if (other.defined() && other.is_sparse()) {
    return add_sparse_to_dense(c, self, other, alpha, true);
  }
  return apply_in_place(c, rule, self, other, alpha);
}

Tensor sub(Context& c, const Tensor& self, const Tensor& other, double alpha) {
  static const PointwiseRule& rule = pointwise_rule("sub.Tensor");
  if (other.defined() && other.is_sparse() && !self.is_sparse()) {
    return add_sparse_to_dense(c, self, other, -alpha, false);
  }
  return apply(c, rule, self, other, alpha);
}

Tensor sub_(Context& c, const Tensor& self, const Tensor& other, double alpha) {
  static const PointwiseRule& rule = pointwise_rule("sub_");
  if (other.defined() && other.is_sparse() && !self.is_sparse()) {
    return add_sparse_to_dense(c, self, other, -alpha, true);
  }
  return apply_in_place(c, rule, self, other, alpha);
}

namespace {

const PointwiseRule& division(std::string_view rounding) {
  static const PointwiseRule& plain = pointwise_rule("div.Tensor");
  static const PointwiseRule& rounded = pointwise_rule("div.Tensor_mode");
  if (rounding.empty()) return plain;
  if (rounding != "floor" && rounding != "trunc") {
    throw OpError(
        fmt::format("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                    "'{}'",
                    rounding));
  }
  return rounded;
}

}  // namespace

Tensor div(Context& c, const Tensor& self, const Tensor& other, std::string_view rounding) {
  return apply(c, division(rounding), self, other);
}

Tensor div_(Context& c, const Tensor& self, const Tensor& other, std::string_view rounding) {
  if (rounding.empty() && !is_differentiable(self.dtype())) {
    throw OpError(fmt::format("result type Float can't be cast to the desired output type {}",
                              info(self.dtype()).name));
  }
  return apply_in_place(c, division(rounding), self, other);
}

Tensor pow(Context& c, const Tensor& self, const Tensor& number, double exponent) {
  static const PointwiseRule& rule = pointwise_rule("pow.Tensor_Scalar");
  return apply(c, rule, self, number, exponent);
}
Tensor pow_(Context& c, const Tensor& self, const Tensor& number, double exponent) {
  static const PointwiseRule& rule = pointwise_rule("pow.Tensor_Scalar");
  return apply_in_place(c, rule, self, number, exponent);
}
Tensor pow_of_number(Context& c, const Tensor& number, double base, const Tensor& exponent) {
  static const PointwiseRule& rule = pointwise_rule("pow.Scalar");
  Tensor out = apply(c, rule, exponent, number, base);
  // The base goes to the device as a scalar of its own type: int64 or float64.
  if (base != 1) c.scratch(8, out.device());
  return out;
}

Tensor xlogy(Context& c, const Tensor& self, const Tensor& number, double value) {
  return apply(c, pointwise_rule("xlogy.Scalar_Other"), self, number, value);
}
Tensor xlogy_of_number(Context& c, const Tensor& number, const Tensor& other) {
  return apply(c, pointwise_rule("xlogy.Scalar_Self"), other, number);
}
Tensor xlogy_(Context& c, const Tensor& self, const Tensor& number, double value) {
  return apply_in_place(c, pointwise_rule("xlogy.Scalar_Other"), self, number, value);
}
Tensor xlog1py(Context& c, const Tensor& self, const Tensor& number, double value) {
  return apply(c, pointwise_rule("special_xlog1py.other_scalar"), self, number, value);
}
Tensor xlog1py_of_number(Context& c, const Tensor& number, const Tensor& other) {
  return apply(c, pointwise_rule("special_xlog1py.self_scalar"), other, number);
}
Tensor polygamma(Context& c, const Tensor& self) {
  return apply(c, pointwise_rule("polygamma"), self);
}

Tensor zero_(Context& c, const Tensor& self) {
  if (!self.is_sparse()) return apply_in_place(c, pointwise_rule("zero_"), self);
  clear_sparse_in_place(c, self);
  return self;
}
Tensor random_(Context& c, const Tensor& self) {
  return apply_in_place(c, pointwise_rule("random_"), self);
}

Tensor clamp(Context& c, const Tensor& self, bool has_min, bool has_max) {
  return apply(c, pointwise_rule(has_min && has_max ? "clamp" : "clamp.one_bound"), self);
}
Tensor clamp_(Context& c, const Tensor& self, bool has_min, bool has_max) {
  return apply_in_place(c, pointwise_rule(has_min && has_max ? "clamp" : "clamp.one_bound"), self);
}
namespace {

/// Gradients of clamp's bounds, then of its input. Slots: max, min, self. Source: torch's
/// clamp_backward_min_max, clamp_backward.
void clamp_tensors_backward(Backward& b) {
  b.saved.resize(3);
  const Tensor& max = b.saved[0];
  const Tensor& min = b.saved[1];
  const Tensor& self = b.saved[2];
  const auto zero = [&b] { return b.c.empty({}, b.grad().dtype(), b.grad().device()); };
  const auto compare = [&b](const Tensor& x, const Tensor& y) {
    return pointwise(b.c, {&x, &y}, ScalarType::kBool);
  };
  const auto choose = [&b](const Tensor& predicate, const Tensor& nothing) {
    return pointwise(b.c, {&predicate, &b.grad(), &nothing}, b.grad().dtype());
  };
  const bool both = min.defined() && max.defined();
  const auto bound = [&](std::size_t i, const Tensor& own, const Tensor& nothing) {
    if (!b.needs(i)) return;
    const Tensor beyond = compare(self, own);
    const Tensor order = both ? compare(min, max) : Tensor();
    b.grads[i] = choose(beyond, nothing);
  };
  if (b.needs(1) || b.needs(2)) {
    const Tensor nothing = zero();
    bound(1, min, nothing);
    bound(2, max, nothing);
  }
  if (b.needs(0)) {
    const Tensor nothing = zero();
    const Tensor first = compare(self, min.defined() ? min : max);
    const Tensor second = both ? compare(self, max) : Tensor();
    b.grads[0] = choose(first, nothing);
  }
}

/// The same where what is chosen from several alike is shared out: the comparisons are joined to
/// masks of ties, step by step. Source: oracle.
void clamp_tensors_shared_backward(Backward& b) {
  b.saved.resize(3);
  const Tensor& max = b.saved[0];
  const Tensor& min = b.saved[1];
  const Tensor& self = b.saved[2];
  const bool both = min.defined() && max.defined();
  const Tensor& bound = min.defined() ? min : max;
  const auto mask = [&] { return pointwise(b.c, {&self, &bound}, ScalarType::kBool); };
  const auto masks = [&](std::size_t count) {
    TensorList out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(mask());
    return out;
  };
  const auto drop_last = [](TensorList& list, std::size_t kept) {
    while (list.size() > kept) list.pop_back();
  };
  const auto part = [&](const Tensor& where) {
    return pointwise(b.c, {&where, &b.grad()}, b.grad().dtype());
  };
  /// One comparison says where the gradient goes, the other where it is halved.
  const auto shared = [&] {
    const Tensor chosen = mask();
    const Tensor whole = part(chosen);
    const Tensor tie = mask();
    return pointwise(b.c, {&whole, &tie}, b.grad().dtype());
  };
  if (!both) {
    if (b.needs(1) || b.needs(2)) b.grads[min.defined() ? 1 : 2] = shared();
    if (b.needs(0)) b.grads[0] = shared();
    return;
  }
  if (b.needs(1) || b.needs(2)) {
    TensorList ties = masks(2);
    if (b.needs(1)) {
      const Tensor chosen = [&] {
        TensorList steps = masks(4);
        Tensor last = mask();
        drop_last(steps, 0);
        return last;
      }();
      b.grads[1] = shared();
    }
    if (b.needs(2)) {
      const Tensor first = mask();
      const Tensor last = [&] {
        TensorList steps = masks(5);
        Tensor joined = mask();
        drop_last(steps, 0);
        return joined;
      }();
      const Tensor chosen = mask();
      const Tensor whole = part(chosen);
      TensorList halves = masks(2);
      b.grads[2] = pointwise(b.c, {&whole, &halves[0]}, b.grad().dtype());
      drop_last(halves, 0);
    }
    drop_last(ties, 0);
  }
  if (b.needs(0)) {
    const Tensor inside = mask();
    const Tensor outside = [&] {
      TensorList steps = masks(3);
      Tensor joined = mask();
      drop_last(steps, 0);
      return joined;
    }();
    const Tensor tie = [&] {
      TensorList steps = masks(2);
      Tensor joined = mask();
      drop_last(steps, 0);
      return joined;
    }();
    const Tensor whole = part(inside);
    b.grads[0] = pointwise(b.c, {&whole, &tie}, b.grad().dtype());
  }
}

}  // namespace

Tensor clamp_tensors(Context& c, const Tensor& self, const Tensor& min, const Tensor& max) {
  Op op(c, "clamp", "ClampBackward0", {&self, &min, &max});
  op.save(0, max);
  op.save(1, min);
  op.save(2, self);
  const Tensor& bound = min.defined() ? min : max;
  Tensor out = min.defined() && max.defined() ? pointwise(c, {&self, &min, &max})
                                              : pointwise(c, {&self, &bound});
  return op.result(std::move(out), c.rules().clamp_splits_ties ? clamp_tensors_shared_backward
                                                               : clamp_tensors_backward);
}

namespace {

/// As C++ names it.
std::string_view compiled_name(ScalarType type) {
  struct Row {
    ScalarType type;
    std::string_view name;
  };
  static constexpr Row kRows[] = {
      {ScalarType::kFloat32, "float"},
      {ScalarType::kFloat64, "double"},
      {ScalarType::kFloat16, "c10::Half"},
      {ScalarType::kBFloat16, "c10::BFloat16"},
      {ScalarType::kInt64, "long int"},
      {ScalarType::kInt32, "int"},
      {ScalarType::kInt16, "short int"},
      {ScalarType::kInt8, "signed char"},
      {ScalarType::kUInt8, "unsigned char"},
      {ScalarType::kBool, "bool"},
      {ScalarType::kComplex64, "c10::complex<float>"},
  };
  for (const Row& row : kRows) {
    if (row.type == type) return row.name;
  }
  return "c10::complex<double>";
}

}  // namespace

/// Nothing is promoted. Source: Lerp.cpp, TORCH_META_FUNC(lerp_Tensor).
void check_same_types(Arguments& a) {
  const Tensor& self = a.tensor(0);
  const auto check = [&](const Tensor& other, std::string_view name) {
    if (other.dtype() == self.dtype()) return;
    throw OpError(fmt::format("expected dtype {} for `{}` but got dtype {}",
                              compiled_name(self.dtype()), name, compiled_name(other.dtype())));
  };
  check(a.tensor(1), "end");
  if (a.is_tensor(2) && a.tensor(2).dim() > 0) check(a.tensor(2), "weight");
}

}  // namespace tidemark::ops
