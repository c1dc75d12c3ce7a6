#include <fmt/format.h>

#include "sim/ops/complex_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/natives.h"
#include "sim/ops/op.h"

namespace tidemark::ops {

// Products: what records look at before their steps, and the forms that write into a tensor.

namespace {

void check_fits(const Tensor& self, const Dims& sizes, bool in_place) {
  if (!(broadcast(self.sizes(), sizes) == sizes) || (in_place && !(self.sizes() == sizes))) {
    throw OpError(fmt::format("The expanded size of the tensor {} must match the existing size {}",
                              to_string(sizes), to_string(self.sizes())));
  }
}

Dims sizes_of_product(const Tensor& first, const Tensor& second) {
  Dims sizes = first.sizes();
  sizes.back() = second.size(-1);
  return sizes;
}

void check_dtypes(const Tensor& first, const Tensor& second) {
  if (first.dtype() == second.dtype()) return;
  throw OpError(fmt::format("expected batch1 and batch2 to have the same dtype, but got: {} != {}",
                            info(first.dtype()).name, info(second.dtype()).name));
}

}  // namespace

void check_mm(const Tensor& self, const Tensor& mat2) {
  if (self.dim() != 2 || mat2.dim() != 2)
    throw OpError(fmt::format("{} must be a matrix", self.dim() != 2 ? "self" : "mat2"));
  check_product(self, mat2, false);
}

void check_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2) {
  check_product(mat1, mat2, false);
  check_fits(self, sizes_of_product(mat1, mat2), false);
}
void check_addmm_(const Tensor& self, const Tensor& mat1, const Tensor& mat2) {
  check_product(mat1, mat2, false);
  check_fits(self, sizes_of_product(mat1, mat2), true);
}

void check_bmm(const Tensor& self, const Tensor& mat2) {
  if (self.dim() != 3 || mat2.dim() != 3) throw OpError("batch1 and batch2 must be 3D tensors");
  check_product(self, mat2, true);
  check_dtypes(self, mat2);
}

void check_baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2) {
  check_product(batch1, batch2, true);
  check_dtypes(batch1, batch2);
  check_fits(self, sizes_of_product(batch1, batch2), false);
}
void check_baddbmm_(const Tensor& self, const Tensor& batch1, const Tensor& batch2) {
  check_product(batch1, batch2, true);
  check_fits(self, sizes_of_product(batch1, batch2), true);
}

void check_addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, bool in_place) {
  if (batch1.dim() != 3 || batch2.dim() != 3) throw OpError("batch1 and batch2 must be 3D tensors");
  if (batch1.size(0) != batch2.size(0) || batch1.size(2) != batch2.size(1)) {
    throw OpError(fmt::format("Incompatible matrix sizes for bmm ({}x{} and {}x{})", batch1.size(1),
                              batch1.size(2), batch2.size(1), batch2.size(2)));
  }
  check_fits(self, {batch1.size(1), batch2.size(2)}, in_place);
}

void check_mv(const Tensor& self, const Tensor& vec) {
  if (self.dim() == 2 && vec.dim() == 1 && self.size(1) == vec.size(0)) return;
  throw OpError(fmt::format("size mismatch, got input ({}), mat ({}), vec ({})",
                            self.dim() > 0 ? self.size(0) : 0, to_string(self.sizes()),
                            to_string(vec.sizes())));
}

void check_addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, bool in_place) {
  if (mat.dim() != 2 || vec.dim() != 1 || self.dim() > 1 || mat.size(1) != vec.size(0)) {
    throw OpError(fmt::format("size mismatch, got input ({}), mat ({}), vec ({})",
                              to_string(self.sizes()), to_string(mat.sizes()),
                              to_string(vec.sizes())));
  }
  check_fits(self, {mat.size(0)}, in_place);
}

void check_addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, bool in_place) {
  if (vec1.dim() != 1 || vec2.dim() != 1) {
    throw OpError(fmt::format("addr: Expected 1-D argument vec{}, but got {}-D",
                              vec1.dim() != 1 ? 1 : 2, vec1.dim() != 1 ? vec1.dim() : vec2.dim()));
  }
  check_fits(self, {vec1.size(0), vec2.size(0)}, in_place);
}

void check_dot(const Tensor& self, const Tensor& other) {
  if (self.dim() == 1 && other.dim() == 1 && self.numel() == other.numel()) return;
  throw OpError(fmt::format("1D tensors of one size expected, but got {} and {}",
                            to_string(self.sizes()), to_string(other.sizes())));
}

void check_outer(const Tensor& self, const Tensor& vec2) {
  if (self.dim() == 1 && vec2.dim() == 1) return;
  throw OpError(fmt::format("outer: Expected 1-D argument {}, but got {}-D",
                            self.dim() != 1 ? "self" : "vec2",
                            self.dim() != 1 ? self.dim() : vec2.dim()));
}

void check_real_gradient(const Tensor& x) {
  if (!is_complex(x.dtype())) return;
  throw NotModelled(
      "the gradient of a complex vector's product is not modelled; multiply its real and imaginary "
      "parts");
}

Tensor cross_kernel(Context& c, const Tensor& self, const Tensor& other) {
  return c.empty(broadcast(self.sizes(), other.sizes()), result_type(c, {&self, &other}),
                 self.device());
}

namespace {

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

}  // namespace

Tensor mm_out(Context& c, const Tensor& self, const Tensor& mat2, const Tensor& out) {
  return product_into(c, "mm", {}, 0, self, mat2, out);
}
Tensor bmm_out(Context& c, const Tensor& self, const Tensor& mat2, const Tensor& out) {
  return product_into(c, "bmm", {}, 0, self, mat2, out);
}
Tensor addmm_out(Context& c, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                 double beta, const Tensor& out) {
  return product_into(c, "addmm", self, beta, mat1, mat2, out);
}
Tensor baddbmm_out(Context& c, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                   double beta, const Tensor& out) {
  return product_into(c, "baddbmm", self, beta, batch1, batch2, out);
}

}  // namespace tidemark::ops
