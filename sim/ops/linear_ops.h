#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// Matrix products. Source: docs/rules/products.md#1, #2, #4.

/// Errors: OpError, in PyTorch's words, where they are no matrices, or batches, that fit each
/// other.
void check_product(const Tensor& first, const Tensor& second, bool batched);
Tensor mm(Context& c, Tensor self, Tensor mat2);
/// beta * self + mat1 @ mat2. Errors: OpError with PyTorch's words and both shapes.
Tensor addmm(Context& c, Tensor self, Tensor mat1, Tensor mat2, double beta = 1, double alpha = 1);
Tensor bmm(Context& c, Tensor self, Tensor mat2);
Tensor baddbmm(Context& c, Tensor self, Tensor batch1, Tensor batch2, double beta = 1,
               double alpha = 1);
Tensor mv(Context& c, Tensor self, Tensor vec);
Tensor dot(Context& c, Tensor self, Tensor other);
Tensor matmul(Context& c, Tensor tensor1, Tensor tensor2);
/// F.linear; `bias` may be undefined.
Tensor linear(Context& c, Tensor input, Tensor weight, Tensor bias);

/// Gradient of the first (second) factor of a product of matrices, in that factor's own memory
/// order: `sizes` and `strides` are its. Source: mm_mat1_grad, mm_mat2_grad.
Tensor mm_first_gradient(Context& c, const Tensor& grad, const Tensor& mat2, const Dims& sizes,
                         const Dims& strides);
Tensor mm_second_gradient(Context& c, const Tensor& grad, const Tensor& mat1, const Dims& sizes,
                          const Dims& strides);

/// The GEMM below autograd: operands that cuBLAS cannot read are copied after the output was made,
/// the workspace is there.
Tensor mm_kernel(Context& c, const Tensor& a, const Tensor& b);
Tensor bmm_kernel(Context& c, const Tensor& a, const Tensor& b);
/// The clock's part of a product that is `out`.
void launch_gemm(Context& c, const Tensor& a, const Tensor& b, const Tensor& out);
/// The same for matrices or batches of them, into `out`.
void product_kernel(Context& c, const Tensor& out, const Tensor& a, const Tensor& b);
/// The same, of beta * self + a @ b.
void add_product_kernel(Context& c, const Tensor& out, const Tensor& self, const Tensor& a,
                        const Tensor& b, double beta);
/// A matrix with a vector, into `out` where there is one.
Tensor mv_kernel(Context& c, const Tensor& matrix, const Tensor& vector, Tensor out = {});

}  // namespace tidemark::ops
