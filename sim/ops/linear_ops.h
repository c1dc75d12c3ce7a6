#pragma once

#include <string_view>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Matrix products: what the records of products make (sim/ops/records/products.yaml), and their
// kernels. Source: docs/rules/products.md#1, #2, #4.

/// Errors: OpError, in PyTorch's words, where they are no matrices, or batches, that fit each
/// other.
void check_product(const Tensor& first, const Tensor& second, bool batched);
Tensor mm(Context& c, Tensor self, Tensor mat2);
/// beta * self + mat1 @ mat2. Errors: OpError with PyTorch's words and both shapes.
Tensor addmm(Context& c, Tensor self, Tensor mat1, Tensor mat2, double beta = 1, double alpha = 1);
Tensor bmm(Context& c, Tensor self, Tensor mat2);
Tensor mv(Context& c, Tensor self, Tensor vec);
Tensor dot(Context& c, Tensor self, Tensor tensor);
Tensor matmul(Context& c, Tensor tensor1, Tensor tensor2);
/// F.linear; `bias` may be undefined.
Tensor linear(Context& c, Tensor input, Tensor weight, Tensor bias);

/// A matrix whose columns lie densely behind each other.
inline bool is_column_major(const Dims& sizes, const Dims& strides) {
  return strides[0] == 1 && strides[1] == sizes[0];
}

/// The GEMM below autograd: operands that cuBLAS cannot read are copied after the output was made,
/// the workspace is there.
Tensor mm_kernel(Context& c, const Tensor& a, const Tensor& b);
Tensor bmm_kernel(Context& c, const Tensor& a, const Tensor& b);
/// The clock's part of a product that is `out`.
void launch_gemm(Context& c, const Tensor& a, const Tensor& b, const Tensor& out);
/// The same of batches, though the release multiplies by element where one product is summed.
Tensor baddbmm_kernel(Context& c, const Tensor& a, const Tensor& b);
/// The same for matrices or batches of them, into `out`.
void multiply_into(Context& c, const Tensor& out, const Tensor& a, const Tensor& b);
/// beta * self + a @ b, of matrices. `self`: what is broadcast to the result.
Tensor addmm_kernel(Context& c, const Tensor& self, const Tensor& a, const Tensor& b, double beta);
/// Refuses matrices of two types when the product's output is there already.
void types_of_kernel(Context& c, const Tensor& a, const Tensor& b, std::string_view first,
                     std::string_view second);
/// The same, of beta * self + a @ b.
void add_product_kernel(Context& c, const Tensor& out, const Tensor& self, const Tensor& a,
                        const Tensor& b, double beta);
/// A matrix with a vector, into `out` where there is one.
Tensor mv_kernel(Context& c, const Tensor& matrix, const Tensor& vector, Tensor out = {});
void mv_into(Context& c, const Tensor& out, const Tensor& matrix, const Tensor& vector);
/// What cuBLAS works in on the device of `x`, asked for so often as it multiplies.
void product_workspace(Context& c, const Tensor& x, std::int64_t products);
/// Of vectors of three, element by element.
Tensor cross_kernel(Context& c, const Tensor& self, const Tensor& other);

/// torch.NAME(..., out=out). Errors: OpError where a gradient is recorded, or `out` does not fit.
Tensor mm_out(Context& c, const Tensor& self, const Tensor& mat2, const Tensor& out);
Tensor bmm_out(Context& c, const Tensor& self, const Tensor& mat2, const Tensor& out);
Tensor addmm_out(Context& c, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                 double beta, const Tensor& out);
Tensor baddbmm_out(Context& c, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                   double beta, const Tensor& out);

}  // namespace tidemark::ops
