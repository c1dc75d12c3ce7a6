#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/contraction_ops.h"
#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/reduction_ops.h"

namespace tidemark::ops {

namespace {

constexpr std::string_view kProductOpsSource = "docs/rules/products.md#3";

/// A gradient times beta or alpha; the gradient itself for one. Source: maybe_multiply.
Tensor scaled(Context& c, const Tensor& grad, double factor) {
  return factor == 1 ? grad : pointwise(c, {&grad});
}

void check_fits(const Tensor& self, const Dims& sizes, bool in_place) {
  if (!(broadcast(self.sizes(), sizes) == sizes) || (in_place && !(self.sizes() == sizes))) {
    throw OpError(fmt::format("The expanded size of the tensor {} must match the existing size {}",
                              to_string(sizes), to_string(self.sizes())));
  }
}

/// The outer product of two vectors, below autograd.
Tensor outer_kernel(Context& c, const Tensor& first, const Tensor& second) {
  const Tensor column = unsqueeze(first, 1);
  const Tensor row = unsqueeze(second, 0);
  return pointwise(c, {&column, &row});
}

struct Factors {
  double beta;
  double alpha;
};

/// beta * self + alpha * (mat @ vec).
Tensor addmv(Context& c, Tensor self, Tensor mat, Tensor vec, Factors f, bool in_place) {
  std::optional<AutocastScope> cast;
  if (!in_place) {
    cast.emplace(c, CastPolicy::kLowPrecision, std::initializer_list<Tensor*>{&self, &mat, &vec});
  }
  if (mat.dim() != 2 || vec.dim() != 1 || self.dim() > 1 || mat.size(1) != vec.size(0)) {
    throw OpError(fmt::format("size mismatch, got input ({}), mat ({}), vec ({})",
                              to_string(self.sizes()), to_string(mat.sizes()),
                              to_string(vec.sizes())));
  }
  check_fits(self, {mat.size(0)}, in_place);
  Op op(c, "addmv", "AddmvBackward0", {&self, &mat, &vec});
  op.save_if(op.needs(2), 0, mat);
  op.save_if(op.needs(1), 1, vec);
  Tensor out = mv_kernel(c, mat, vec, in_place ? self : Tensor());
  const auto backward = [f](Backward& b) {
    if (b.needs(1)) b.grads[1] = scaled(b.c, outer_kernel(b.c, b.grad(), b.saved[1]), f.alpha);
    if (b.needs(0)) b.grads[0] = scaled(b.c, b.grad(), f.beta);
    if (b.needs(2)) {
      b.grads[2] = scaled(b.c, mv_kernel(b.c, transpose(b.saved[0], 0, 1), b.grad()), f.alpha);
    }
  };
  return in_place ? op.in_place(self, backward) : op.result(std::move(out), backward);
}

/// beta * self + alpha * the sum over the batch of batch1 @ batch2.
Tensor addbmm(Context& c, Tensor self, Tensor batch1, Tensor batch2, Factors f, bool in_place) {
  std::optional<AutocastScope> cast;
  if (!in_place) {
    cast.emplace(c, CastPolicy::kLowPrecision,
                 std::initializer_list<Tensor*>{&self, &batch1, &batch2});
  }
  if (batch1.dim() != 3 || batch2.dim() != 3) {
    throw OpError("batch1 and batch2 must be 3D tensors");
  }
  if (batch1.size(0) != batch2.size(0) || batch1.size(2) != batch2.size(1)) {
    throw OpError(fmt::format("Incompatible matrix sizes for bmm ({}x{} and {}x{})", batch1.size(1),
                              batch1.size(2), batch2.size(1), batch2.size(2)));
  }
  const Dims sizes{batch1.size(1), batch2.size(2)};
  check_fits(self, sizes, in_place);
  Op op(c, "addbmm", "AddbmmBackward0", {&self, &batch1, &batch2});
  op.save_if(op.needs(2), 0, batch1);
  op.save_if(op.needs(1), 1, batch2);
  Tensor out = in_place ? self : c.empty(sizes, batch1.dtype(), batch1.device());
  c.cublas_workspace(batch1.device(), batch1.size(0));
  const auto backward = [f, n = batch1.size(0)](Backward& b) {
    const Tensor grad = expand(b.grad(), {n, b.grad().size(0), b.grad().size(1)});
    if (b.needs(1)) {
      b.grads[1] = scaled(b.c, bmm_kernel(b.c, grad, transpose(b.saved[1], 1, 2)), f.alpha);
    }
    if (b.needs(2)) {
      b.grads[2] = scaled(b.c, bmm_kernel(b.c, transpose(b.saved[0], 1, 2), grad), f.alpha);
    }
    if (b.needs(0)) b.grads[0] = scaled(b.c, b.grad(), f.beta);
  };
  return in_place ? op.in_place(self, backward) : op.result(std::move(out), backward);
}

/// beta * self + alpha * (vec1 outer vec2): one element-wise kernel.
Tensor addr(Context& c, Tensor self, Tensor vec1, Tensor vec2, Factors f, bool in_place) {
  std::optional<AutocastScope> cast;
  if (!in_place) {
    cast.emplace(c, CastPolicy::kLowPrecision, std::initializer_list<Tensor*>{&self, &vec1, &vec2});
  }
  if (vec1.dim() != 1 || vec2.dim() != 1) {
    throw OpError(fmt::format("addr: Expected 1-D argument vec{}, but got {}-D",
                              vec1.dim() != 1 ? 1 : 2, vec1.dim() != 1 ? vec1.dim() : vec2.dim()));
  }
  check_fits(self, {vec1.size(0), vec2.size(0)}, in_place);
  Op op(c, "addr", "AddrBackward0", {&self, &vec1, &vec2});
  op.save_if(op.needs(2), 0, vec1);
  op.save_if(op.needs(1), 1, vec2);
  Tensor out = self;
  if (!in_place) {
    const Tensor column = unsqueeze(vec1, 1);
    out = pointwise(c, {&self, &column, &vec2});
  }
  const auto backward = [f](Backward& b) {
    if (b.needs(0)) b.grads[0] = scaled(b.c, b.grad(), f.beta);
    if (b.needs(1)) b.grads[1] = scaled(b.c, mv_kernel(b.c, b.grad(), b.saved[1]), f.alpha);
    if (b.needs(2)) {
      b.grads[2] = scaled(b.c, mv_kernel(b.c, transpose(b.grad(), 0, 1), b.saved[0]), f.alpha);
    }
  };
  return in_place ? op.in_place(self, backward) : op.result(std::move(out), backward);
}

/// self = beta * self + alpha * (first @ second), of matrices or batches of them.
Tensor add_product_(Context& c, const Tensor& self, const Tensor& first, const Tensor& second,
                    Factors f) {
  const bool batched = self.dim() == 3;
  check_product(first, second, batched);
  Op op(c, batched ? "baddbmm_" : "addmm_", batched ? "BaddbmmBackward0" : "AddmmBackward0",
        {&self, &first, &second});
  op.save_if(op.needs(2), 0, first);
  op.save_if(op.needs(1), 1, second);
  {
    const GradMode off(c, false);
    Dims sizes = first.sizes();
    sizes.back() = second.size(-1);
    check_fits(self, sizes, true);
    product_kernel(c, self, first, second);
  }
  return op.in_place(self, [f, batched, s1 = first.sizes(), t1 = first.strides(),
                            s2 = second.sizes(), t2 = second.strides()](Backward& b) {
    if (b.c.grad_enabled())
      throw NotModelled("the gradient of the gradient of addmm_ is not modelled");
    if (b.needs(1)) {
      const auto grad = [&] {
        if (!batched) return mm_first_gradient(b.c, b.grad(), b.saved[1], s1, t1);
        return bmm_kernel(b.c, b.grad(), transpose(b.saved[1], -1, -2));
      };
      b.grads[1] = scaled(b.c, grad(), f.alpha);
    }
    if (b.needs(2)) {
      const auto grad = [&] {
        if (!batched) return mm_second_gradient(b.c, b.grad(), b.saved[0], s2, t2);
        return bmm_kernel(b.c, transpose(b.saved[0], -1, -2), b.grad());
      };
      b.grads[2] = scaled(b.c, grad(), f.alpha);
    }
    if (b.needs(0)) b.grads[0] = scaled(b.c, b.grad(), f.beta);
  });
}

/// beta * added + first @ second, written into `out`. `added` is copied there first, which asks for
/// nothing; undefined: nothing is added. No autocast.
Tensor product_into(Context& c, std::string_view name, const Tensor& added, double beta,
                    const Tensor& first, const Tensor& second, const Tensor& out) {
  const bool has_history = first.requires_grad() || second.requires_grad() || out.requires_grad() ||
                           (added.defined() && added.requires_grad());
  if (c.grad_enabled() && has_history) {
    throw OpError(
        fmt::format("{}(): functions with out=... arguments don't support automatic "
                    "differentiation, but one of the arguments requires grad.",
                    name));
  }
  check_product(first, second, name.find("bmm") != std::string_view::npos);
  if (first.dtype() != second.dtype() || out.dtype() != first.dtype()) {
    throw OpError(fmt::format("Expected out tensor to have dtype {}, but got {} instead",
                              info(first.dtype()).name, info(out.dtype()).name));
  }
  Dims sizes = first.sizes();
  sizes.back() = second.size(-1);
  const bool is_matrix = out.stride(-1) == 1 || out.stride(-2) == 1;
  if (!(out.sizes() == sizes) || !is_matrix) {
    throw NotModelled(
        fmt::format("{} into out= of size {} and strides {} is not modelled where the result has "
                    "size {}",
                    name, to_string(out.sizes()), to_string(out.strides()), to_string(sizes)));
  }
  Op op(c, name, "", {}, {&first, &second, added.defined() ? &added : &first});
  add_product_kernel(c, out, added.defined() ? added : out, first, second, beta);
  return op.in_place(out, [](Backward& /*b*/) {});
}

/// Of real vectors what dot does, but its gradients come in the other order.
Tensor vdot(Context& c, Tensor self, Tensor other) {
  const AutocastScope cast(c, CastPolicy::kPromote, {&self, &other});
  if (self.dim() != 1 || other.dim() != 1 || self.numel() != other.numel()) {
    throw OpError(fmt::format("1D tensors of one size expected, but got {} and {}",
                              to_string(self.sizes()), to_string(other.sizes())));
  }
  Op op(c, "vdot", "VdotBackward0", {&self, &other});
  op.save_if(op.needs(0), 0, other);
  op.save_if(op.needs(1), 1, self);
  Tensor out = c.empty({}, self.dtype(), self.device());
  c.cublas_workspace(self.device());
  return op.result(std::move(out), [](Backward& b) {
    if (b.needs(1)) b.grads[1] = pointwise(b.c, {&b.grad(), &b.saved[1]});
    if (b.needs(0)) b.grads[0] = pointwise(b.c, {&b.grad(), &b.saved[0]});
  });
}

/// The result is contiguous whatever the operands are. Source: linalg_cross.
Tensor cross_kernel(Context& c, const Tensor& first, const Tensor& second) {
  return c.empty(broadcast(first.sizes(), second.sizes()), result_type(c, {&first, &second}),
                 first.device());
}
Tensor cross(Context& c, Tensor self, Tensor other) {
  const AutocastScope cast(c, CastPolicy::kPromote, {&self, &other});
  Op op(c, "linalg_cross", "LinalgCrossBackward0", {&self, &other});
  op.save_if(op.needs(0), 0, other);
  op.save_if(op.needs(1), 1, self);
  return op.result(cross_kernel(c, self, other), [](Backward& b) {
    if (b.needs(1)) b.grads[1] = cross_kernel(b.c, b.grad(), b.saved[1]);
    if (b.needs(0)) b.grads[0] = cross_kernel(b.c, b.saved[0], b.grad());
  });
}

/// Source: at::native::linalg_vecdot.
Tensor vecdot(Context& c, Tensor x, Tensor y, std::int64_t dim) {
  const AutocastScope cast(c, CastPolicy::kLowPrecision, {&x, &y});
  if (x.dim() == 1 && y.dim() == 1) return vdot(c, x, y);
  const Tensor product = mul(c, x, y);
  return sum(c, product, {dim}, false, std::nullopt);
}

template <Tensor (*kProduct)(Context&, Tensor, Tensor, Tensor, Factors, bool), bool kInPlace>
OpResult run(Arguments& a) {
  return kProduct(a.context(), a.tensor(0), a.tensor(1), a.tensor(2), {a.number(3), a.number(4)},
                  kInPlace);
}
OpResult run_in_place(Arguments& a) {
  return add_product_(a.context(), a.tensor(0), a.tensor(1), a.tensor(2),
                      {a.number(3), a.number(4)});
}

template <int kAdded>  // Parameters before the first factor.
OpResult run_into(Arguments& a, std::string_view name, const Tensor& out) {
  return product_into(a.context(), name, kAdded == 0 ? Tensor() : a.tensor(0),
                      kAdded == 0 ? 0 : a.number(3), a.tensor(kAdded), a.tensor(kAdded + 1), out);
}

}  // namespace

std::span<const OpDef> product_ops() {
  static constexpr OpDef kOps[] = {
      {"addmv(Tensor input, Tensor mat, Tensor vec, *, number beta=1, number alpha=1)",
       "torch method", run<addmv, false>, kProductOpsSource},
      {"addmv_(Tensor input, Tensor mat, Tensor vec, *, number beta=1, number alpha=1)", "method",
       run<addmv, true>, kProductOpsSource},
      {"addbmm(Tensor input, Tensor batch1, Tensor batch2, *, number beta=1, number alpha=1)",
       "torch method", run<addbmm, false>, kProductOpsSource},
      {"addbmm_(Tensor input, Tensor batch1, Tensor batch2, *, number beta=1, number alpha=1)",
       "method", run<addbmm, true>, kProductOpsSource},
      {"addr(Tensor input, Tensor vec1, Tensor vec2, *, number beta=1, number alpha=1)",
       "torch method", run<addr, false>, kProductOpsSource},
      {"addr_(Tensor input, Tensor vec1, Tensor vec2, *, number beta=1, number alpha=1)", "method",
       run<addr, true>, kProductOpsSource},
      {"addmm_(Tensor input, Tensor mat1, Tensor mat2, *, number beta=1, number alpha=1)", "method",
       run_in_place, kProductOpsSource},
      {"baddbmm_(Tensor input, Tensor batch1, Tensor batch2, *, number beta=1, number alpha=1)",
       "method", run_in_place, kProductOpsSource},
      {"mm(Tensor input, Tensor mat2, *, Tensor out)", "torch",
       [](Arguments& a) { return run_into<0>(a, "mm", a.tensor(2)); }, kProductOpsSource},
      {"bmm(Tensor input, Tensor mat2, *, Tensor out)", "torch",
       [](Arguments& a) { return run_into<0>(a, "bmm", a.tensor(2)); }, kProductOpsSource},
      {"addmm(Tensor input, Tensor mat1, Tensor mat2, *, number beta=1, number alpha=1, Tensor "
       "out)",
       "torch", [](Arguments& a) { return run_into<1>(a, "addmm", a.tensor(5)); },
       kProductOpsSource},
      {"baddbmm(Tensor input, Tensor batch1, Tensor batch2, *, number beta=1, number alpha=1, "
       "Tensor out)",
       "torch", [](Arguments& a) { return run_into<1>(a, "baddbmm", a.tensor(5)); },
       kProductOpsSource},
      {"vdot(Tensor input, Tensor other)", "torch method",
       [](Arguments& a) -> OpResult { return vdot(a.context(), a.tensor(0), a.tensor(1)); },
       kProductOpsSource},
      {"cross(Tensor input, Tensor other, int? dim=None)", "torch method",
       [](Arguments& a) -> OpResult { return cross(a.context(), a.tensor(0), a.tensor(1)); },
       kProductOpsSource},
      {"_linalg_vecdot(Tensor x, Tensor y, int dim)", "torch",
       [](Arguments& a) -> OpResult {
         return vecdot(a.context(), a.tensor(0), a.tensor(1), a.integer(2));
       },
       kProductOpsSource},
      {"_tensordot(Tensor a, Tensor b, int[] dims_a, int[] dims_b)", "torch",
       [](Arguments& a) -> OpResult {
         return tensordot(a.context(), a.tensor(0), a.tensor(1), a.dims(2), a.dims(3));
       },
       kProductOpsSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
