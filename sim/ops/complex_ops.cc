#include "sim/ops/complex_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

ScalarType complex_type(ScalarType real) {
  if (is_complex(real)) return real;
  if (real == ScalarType::kFloat64) return ScalarType::kComplex128;
  if (is_half(real)) {
    throw OpError(fmt::format("Unsupported dtype {}: half precision has no complex type here",
                              info(real).name));
  }
  return ScalarType::kComplex64;
}
ScalarType real_type(ScalarType complex) {
  if (!is_complex(complex)) return complex;
  return complex == ScalarType::kComplex128 ? ScalarType::kFloat64 : ScalarType::kFloat32;
}

Tensor as_real(const Tensor& x) {
  Dims sizes = x.sizes();
  Dims strides = x.strides();
  for (std::int64_t& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  Tensor out = Context::alias(x, sizes, strides, 2 * x->offset);
  out->dtype = real_type(x.dtype());
  out->is_conj = false;
  return out;
}

Tensor as_complex(const Tensor& x) {
  if (x.dim() == 0 || x.size(-1) != 2) throw OpError("Tensor must have a last dimension of size 2");
  if (x.stride(-1) != 1) throw OpError("Tensor must have a last dimension with stride 1");
  Dims sizes = x.sizes();
  Dims strides = x.strides();
  sizes.pop_back();
  strides.pop_back();
  for (std::int64_t& s : strides) {
    if (s % 2 != 0) {
      throw OpError("Tensor must have a stride divisible by 2 for all but last dimension");
    }
    s /= 2;
  }
  Tensor out = Context::alias(x, sizes, strides, x->offset / 2);
  out->dtype = complex_type(x.dtype());
  return out;
}

Tensor real_gradient(const Tensor& x, ScalarType wanted) {
  if (!is_complex(x.dtype()) || is_complex(wanted)) return x;
  return as_view(x, select(as_real(x), -1, 0));
}

Tensor conjugate_view(const Tensor& x) {
  if (!is_complex(x.dtype())) return x;
  Tensor out = Context::alias(x, x.sizes(), x.strides(), x->offset);
  out->is_conj = !x->is_conj;
  return out;
}

Tensor resolved(Context& c, const Tensor& x) { return x->is_conj ? clone(c, x) : x; }

void check_takes_conjugates(std::string_view name, const Tensor& x) {
  static constexpr std::array kTakes{
      std::string_view("add"),
      std::string_view("AddBackward0"),
      std::string_view("sub"),
      std::string_view("SubBackward0"),
      std::string_view("mul"),
      std::string_view("MulBackward0"),
      std::string_view("div"),
      std::string_view("DivBackward0"),
      std::string_view("neg"),
      std::string_view("NegBackward0"),
      std::string_view("exp"),
      std::string_view("ExpBackward0"),
      std::string_view("_conj"),
      std::string_view("ConjBackward0"),
      std::string_view("mm"),
      std::string_view("MmBackward0"),
      std::string_view("bmm"),
      std::string_view("BmmBackward0"),
      std::string_view("_fft_c2c"),
      std::string_view("FftC2CBackward0"),
      std::string_view("_fft_c2r"),
      std::string_view("FftR2CBackward0"),
      std::string_view("cat"),
      std::string_view("clone"),
      std::string_view("transpose"),
      std::string_view("TransposeBackward0"),
      std::string_view("permute"),
      std::string_view("PermuteBackward0"),
      std::string_view("unsqueeze"),
      std::string_view("UnsqueezeBackward0"),
      std::string_view("view"),
      std::string_view("ViewBackward0"),
      std::string_view("expand"),
      std::string_view("t"),
      std::string_view("TBackward0"),
      std::string_view("select"),
      std::string_view("slice"),
      std::string_view("resolve_conj"),
      std::string_view("split"),
      std::string_view("SelectBackward0"),
      std::string_view("abs"),
      std::string_view("AbsBackward0"),
      std::string_view("SliceBackward0"),
  };
  if (!x->is_conj || std::find(kTakes.begin(), kTakes.end(), name) != kTakes.end()) return;
  throw NotModelled(fmt::format(
      "{} of a tensor that conj() made is not modelled; call .resolve_conj() on it first", name));
}

/// Two real tensors beside each other.
Tensor complex(Context& c, const Tensor& real, const Tensor& imag) {
  if (real.dtype() != imag.dtype()) {
    throw OpError(
        fmt::format("Expected object of scalar type {} but got scalar type {} for second "
                    "argument",
                    info(real.dtype()).name, info(imag.dtype()).name));
  }
  Op op(c, "complex", "ComplexBackward0", {&real, &imag});
  return op.result(pointwise(c, {&real, &imag}, complex_type(real.dtype())), [](Backward& b) {
    for (const std::size_t i : {0U, 1U}) {
      if (!b.needs(i)) continue;
      b.grads[i] = as_view(b.grad(), select(as_real(b.grad()), -1, static_cast<std::int64_t>(i)));
    }
  });
}

/// Lengths and angles. Source: torch's polar_backward.
Tensor polar(Context& c, const Tensor& length, const Tensor& angle) {
  Op op(c, "polar", "PolarBackward0", {&length, &angle});
  Tensor out = pointwise(c, {&length, &angle}, complex_type(length.dtype()));
  op.save(0, out);
  return op.result(std::move(out), [](Backward& b) {
    for (const std::size_t i : {0U, 1U}) {
      const Tensor direction = pointwise(b.c, {&b.saved[0]});
      const Tensor conjugate = clone(b.c, b.grad());
      const Tensor product = pointwise(b.c, {&conjugate, &direction});
      b.grads[i] = as_view(product, select(as_real(product), -1, 0));
    }
    b.drop_unneeded();
  });
}

Tensor view_as_real(Context& c, const Tensor& self) {
  if (!is_complex(self.dtype())) {
    throw OpError("view_as_real is only supported for complex tensors");
  }
  Op op(c, "view_as_real", "ViewAsRealBackward0", {&self});
  return op.result(as_view(self, as_real(self)), [](Backward& b) {
    const Tensor dense = contiguous(b.c, b.grad());
    b.grads[0] = as_view(dense, as_complex(dense));
  });
}

Tensor view_as_complex(Context& c, const Tensor& self) {
  if (!is_floating(self.dtype())) {
    throw OpError("view_as_complex is only supported for floating point tensors");
  }
  Op op(c, "view_as_complex", "ViewAsComplexBackward0", {&self});
  return op.result(as_view(self, as_complex(self)), [](Backward& b) {
    const Tensor dense = contiguous(b.c, b.grad());
    b.grads[0] = as_view(dense, as_real(dense));
  });
}

namespace {

/// Source: torch's angle_backward.
void angle_backward(Backward& b) {
  const Tensor& self = b.saved[0];
  const Tensor length = b.c.empty_like(self, real_type(self.dtype()));
  pointwise(b.c, {&self});
  const Tensor square = pointwise(b.c, {&length});
  const Tensor quotient = pointwise(b.c, {&self, &square});
  const Tensor turned = pointwise(b.c, {&quotient});
  const Tensor product = pointwise(b.c, {&b.grad(), &turned});
  const Tensor nothing = b.c.empty({}, self.dtype(), self.device());
  const Tensor is_zero = pointwise(b.c, {&self}, ScalarType::kBool);
  b.grads[0] = pointwise(b.c, {&is_zero, &product, &nothing}, self.dtype());
}

}  // namespace

/// Of complex numbers computed as complex, then made real; of real ones 0 or pi.
Tensor angle(Context& c, const Tensor& self) {
  Op op(c, "angle", "AngleBackward0", {&self});
  op.save(0, self);
  if (is_complex(self.dtype())) {
    const Tensor computed = pointwise(c, {&self});
    return op.result(c.empty_like(self, real_type(self.dtype())), angle_backward);
  }
  const ScalarType type = is_floating(self.dtype()) ? self.dtype() : c.default_dtype;
  return op.result(pointwise(c, {&self}, type),
                   [](Backward& b) { b.grads[0] = zeros_like(b.c, b.saved[0]); });
}

/// Of a real tensor itself. Of a complex one a view with a mark, which later kernels heed.
Tensor conj(Context& c, const Tensor& self) {
  if (!is_complex(self.dtype())) return self;
  Op op(c, "_conj", "ConjBackward0", {&self});
  return op.result(as_view(self, conjugate_view(self)),
                   [](Backward& b) { b.grads[0] = conjugate_view(b.grad()); });
}

Tensor part_of(Context& c, const Tensor& self, std::int64_t index) {
  if (!is_complex(self.dtype())) {
    if (index == 1) throw OpError("imag is not implemented for tensors with non-complex dtypes.");
    return self;
  }
  const Tensor numbers = view_as_real(c, self->is_conj && index == 0 ? conj(c, self) : self);
  return select(c, numbers, self.dim(), index);
}

Tensor conj_resolved(Context& c, const Tensor& self) {
  return self->is_conj ? clone(c, self, MemoryFormat::kPreserve) : self;
}

}  // namespace tidemark::ops
