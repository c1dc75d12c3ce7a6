#include "sim/ops/sparse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_rule.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

Tensor sparse_of(const Tensor& like, Tensor indices, Tensor values) {
  Tensor out = Context::shallow_copy(like);
  *out->sparse = {std::move(indices), std::move(values)};
  return out;
}

/// Sparse plus sparse: indices and values of both, one after another.
Tensor joined(Context& c, const Tensor& a, const Tensor& b) {
  Tensor indices = cat_kernel(c, {a->sparse->indices, b->sparse->indices}, 1);
  Tensor values = cat_kernel(c, {a->sparse->values, b->sparse->values}, 0);
  return sparse_of(a, std::move(indices), std::move(values));
}

/// The former values go first, then the former indices.
void replace_parts(const Tensor& x, Tensor indices, Tensor values) {
  x->sparse->values = std::move(values);
  x->sparse->indices = std::move(indices);
}

}  // namespace

void check_takes_sparse(std::string_view name, const Tensor& x) {
  static constexpr std::array<std::string_view, 2> kTakes{"add_", "clone"};
  if (!x.is_sparse() || std::find(kTakes.begin(), kTakes.end(), name) != kTakes.end()) return;
  throw NotModelled(fmt::format(
      "{} of a sparse gradient is not modelled: how many entries it is left with depends "
      "on values; make the table with sparse=False",
      name));
}

Tensor make_sparse(const Dims& sizes, Tensor indices, Tensor values) {
  Ref<TensorImpl> impl = make_ref<TensorImpl>();
  impl->sizes = sizes;
  impl->strides = Dims::filled(sizes.size(), 0);
  impl->dtype = values.dtype();
  impl->device = values.device();
  impl->sparse = new TensorImpl::Sparse{std::move(indices), std::move(values)};
  return Tensor(std::move(impl));
}

const TensorImpl::Sparse& parts_of(const Tensor& x) {
  if (!x.is_sparse()) {
    throw OpError("expected a sparse tensor, but got one of the layout torch.strided");
  }
  return *x->sparse;
}

namespace {

/// Source: add_out_dense_sparse_cuda: flatten_indices, then index_add_ (oracle).
void add_entries(Context& c, const Tensor& dense, const TensorImpl::Sparse& parts) {
  if (parts.values.numel() == 0) return;
  const Tensor values = to_dtype(c, parts.values, dense.dtype());
  const bool is_flat = parts.indices.size(0) == 1;
  if (!is_flat) c.empty({parts.indices.size(1)}, ScalarType::kInt64, dense.device());
}

}  // namespace

Tensor add_sparse_to_dense(Context& c, const Tensor& dense, const Tensor& sparse, double alpha,
                           bool in_place) {
  const TensorImpl::Sparse& parts = parts_of(sparse);
  if (!(dense.sizes() == sparse.sizes())) {
    throw OpError(fmt::format(
        "add: expected 'self' and 'other' to have same size, but self has size {} while other has "
        "size {} (FYI: dense-sparse addition does not currently support broadcasting)",
        to_string(dense.sizes()), to_string(sparse.sizes())));
  }
  if (parts.values.dtype() != dense.dtype()) {
    throw NotModelled("dense + sparse of another type is not modelled; make both of one type");
  }
  Op op(c, "add_", "AddBackward0", {&dense, &sparse});
  Tensor out = in_place ? dense : clone(c, dense);
  add_entries(c, out, parts);
  const auto backward = [alpha](Backward& b) {
    if (b.needs(0)) b.grads[0] = b.grad();
    if (!b.needs(1)) return;
    b.grads[1] = alpha == 1 ? b.grad() : pointwise(b.c, {&b.grad()});
  };
  return in_place ? op.in_place(dense, backward) : op.result(std::move(out), backward);
}

Tensor dense_of(Context& c, const Tensor& x) {
  const TensorImpl::Sparse& parts = parts_of(x);
  if (x.requires_grad() && c.grad_enabled()) {
    throw NotModelled(
        "the gradient of to_dense() is not modelled; call it on the tensor's detach()");
  }
  Tensor out = zeros(c, x.sizes(), x.dtype(), x.device());
  add_entries(c, out, parts);
  return out;
}

Tensor clone_sparse(Context& c, const Tensor& x) {
  Tensor values = clone(c, x->sparse->values);
  Tensor indices = clone(c, x->sparse->indices);
  return sparse_of(x, std::move(indices), std::move(values));
}

void scale_sparse_in_place(Context& c, const Tensor& x) {
  Tensor indices = clone(c, x->sparse->indices);
  Tensor values = clone(c, x->sparse->values);
  replace_parts(x, std::move(indices), std::move(values));
}

void clear_sparse_in_place(Context& c, const Tensor& x) {
  TensorImpl::Sparse& parts = *x->sparse;
  Dims values = parts.values.sizes();
  values[0] = 0;
  parts.indices =
      c.empty({parts.indices.size(0), 0}, parts.indices.dtype(), parts.indices.device());
  parts.values = c.empty(values, parts.values.dtype(), parts.values.device());
}

void add_sparse_in_place(Context& c, const Tensor& x, const Tensor& other) {
  Tensor indices = cat_kernel(c, {x->sparse->indices, other->sparse->indices}, 1);
  Tensor values = cat_kernel(c, {x->sparse->values, other->sparse->values}, 0);
  replace_parts(x, std::move(indices), std::move(values));
}

Tensor add_gradients_sparse(Context& c, Tensor stored, Tensor incoming) {
  if (stored.is_sparse() && incoming.is_sparse()) return joined(c, stored, incoming);
  const Tensor& dense = stored.is_sparse() ? incoming : stored;
  if (stored.is_sparse() && incoming->use_count() == 1 && incoming->storage->use_count() == 1) {
    return incoming;
  }
  return clone(c, dense);
}

Tensor keep_sparse_gradient(Context& c, const Tensor& grad, std::uint32_t expected_references) {
  const TensorImpl::Sparse& parts = *grad->sparse;
  if (parts.indices.is_contiguous() && parts.values.is_contiguous() &&
      grad->use_count() <= expected_references && parts.values->use_count() <= 1) {
    return Context::shallow_copy(grad);
  }
  return clone_sparse(c, grad);
}

Tensor accumulate_sparse_gradient(Context& c, const Tensor& before, const Tensor& grad) {
  if (!before.is_sparse()) return {};
  if (!grad.is_sparse()) return clone(c, grad);
  return joined(c, before, grad);
}

}  // namespace tidemark::ops
