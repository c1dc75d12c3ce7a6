#include "sim/ops/dispatched.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/sparse.h"

namespace tidemark::ops {

namespace {

/// The numbers of a dense gradient at the places of a sparse tensor's entries: the product with a
/// sparse tensor of ones. Source: at::native::sparse_mask, _mul_dense_sparse_out (oracle).
Tensor values_at(Context& c, const Tensor& grad, const Tensor& indices, const Tensor& values) {
  if (grad.is_sparse()) throw NotModelled("a sparse gradient of sparse_coo_tensor is not modelled");
  Tensor one = c.empty({1}, values.dtype(), values.device());
  Tensor found = c.empty(values.sizes(), grad.dtype(), grad.device());
  const Tensor places = clone(c, indices);
  Tensor out = c.empty(values.sizes(), grad.dtype(), grad.device());
  found.reset();
  one.reset();
  return out;
}

}  // namespace

/// Source: at::sparse_coo_tensor with sizes, whose parts are the tensors given.
Tensor sparse_coo(Context& c, const Tensor& indices, const Tensor& values, const Dims& sizes) {
  if (indices.dim() != 2) throw OpError("indices must be sparse_dim x nnz");
  if (values.dim() != 1 || static_cast<std::int64_t>(sizes.size()) != indices.size(0)) {
    throw NotModelled(
        "sparse_coo_tensor of values with dimensions of their own is not modelled; give one value "
        "an entry");
  }
  if (indices.size(1) != values.size(0)) {
    throw OpError("indices and values must have same nnz");
  }
  Op op(c, "sparse_coo_tensor", "SparseCooTensorWithDimsAndTensorsBackward0", {&values},
        {&indices});
  op.save(0, indices);
  op.save(1, detach(c, values));
  return op.result(
      make_sparse(sizes, Context::shallow_copy(indices), Context::shallow_copy(values)),
      [](Backward& b) { b.grads[0] = values_at(b.c, b.grad(), b.saved[0], b.saved[1]); });
}

Tensor indices_of(Context& /*c*/, const Tensor& x) {
  return Context::shallow_copy(parts_of(x).indices);
}
Tensor values_of(Context& /*c*/, const Tensor& x) {
  return Context::shallow_copy(parts_of(x).values);
}

}  // namespace tidemark::ops
