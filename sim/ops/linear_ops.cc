#include "sim/ops/linear_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/autocast.h"
#include "sim/ops/complex_ops.h"
#include "sim/ops/dispatch_mode.h"
#include "sim/ops/families.h"
#include "sim/ops/kernel_shape.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/tracer.h"
#include "sim/ops/window_ops.h"

namespace tidemark::ops {

namespace {

void queue_gemm(Context& c, const Tensor& a, const Tensor& b, const Tensor& out) {
  const auto flops = 2ULL * static_cast<std::uint64_t>(out.numel()) *
                     static_cast<std::uint64_t>(a.sizes().empty() ? 1 : a.size(-1));
  c.launch(out.device(), flops, a.bytes() + b.bytes() + out.bytes(), KernelClass::kMatmul,
           out.dtype());
}

}  // namespace

void launch_gemm(Context& c, const Tensor& a, const Tensor& b, const Tensor& out) {
  queue_gemm(c, a, b, out);
  works_on(c, {&a, &b}, {&out});
}

namespace {

/// A matrix that cuBLAS can read needs one dense dimension and a leading dimension that is large
/// enough.
bool readable(const Tensor& m) {
  // Where a size is 1 the strides below may say nothing.
  if (m.dim() == 2 ? m.is_non_overlapping_and_dense() : m.is_contiguous()) return true;
  const auto rows = m.size(-2);
  const auto columns = m.size(-1);
  return (m.stride(-1) == 1 && m.stride(-2) >= std::max<std::int64_t>(1, columns)) ||
         (m.stride(-2) == 1 && m.stride(-1) >= std::max<std::int64_t>(1, rows));
}
Tensor operand(Context& c, const Tensor& m) {
  return readable(m) ? m : clone_in(c, m, MemoryFormat::kContiguous);
}

/// cuBLAS conjugates what it turns: what it reads by rows is copied first. A matrix that may be
/// read either way is one of rows (bmm) or of columns (mm). Source: prepare_matrix_for_cublas,
/// prepare_batch_matrix_for_cublas; oracle.
bool needs_copy_to_conjugate(const Tensor& m, bool by_columns) {
  const auto fast = [&m](std::int64_t d, std::int64_t other) {
    return m.stride(d) == 1 && m.stride(other) >= std::max<std::int64_t>(1, m.size(d));
  };
  if (m.dim() == 2) return m.is_non_overlapping_and_dense() ? m.is_contiguous() : !fast(-2, -1);
  return by_columns ? fast(-2, -1) : fast(-1, -2);
}

void same_dtype(const Tensor& a, const Tensor& b, std::string_view first, std::string_view second) {
  if (a.dtype() != b.dtype()) {
    throw OpError(fmt::format("expected {} and {} to have the same dtype, but got: {} != {}", first,
                              second, info(a.dtype()).name, info(b.dtype()).name));
  }
}

bool column_major(const Dims& sizes, const Dims& strides) {
  return strides[0] == 1 && strides[1] == sizes[0];
}

/// `added`: what cuBLASLt adds to the product; null: cuBLAS multiplies.
Tensor gemm(Context& c, Tensor out, const Tensor& a, const Tensor& b, const Tensor* added) {
  if (out.numel() == 0 || a.numel() == 0) return out;  // filled with zeros
  // Rows are columns to cuBLAS: a result by rows is the transposed product, whose first factor is
  // `b`. Source: cublasCommonArgs, bmm_out_cuda_impl.
  const bool by_columns = out.dim() == 3
                              ? out.size(-1) == 1
                              : !out.is_contiguous() && column_major(out.sizes(), out.strides());
  const auto factor = [&](const Tensor& m) {
    const bool copied = m->is_conj && readable(m) && needs_copy_to_conjugate(m, by_columns);
    return copied ? clone(c, m) : operand(c, m);
  };
  const Tensor first = factor(by_columns ? a : b);
  const Tensor second = factor(by_columns ? b : a);
  const Tensor& rows = by_columns ? first : second;
  const Tensor& columns = by_columns ? second : first;
  if (added == nullptr) {
    c.cublas_workspace(out.device());
    launch_gemm(c, rows, columns, out);
    return out;
  }
  c.cublaslt_workspace(out.device());
  queue_gemm(c, rows, columns, out);
  works_on(c, {&rows, &columns, added}, {&out}, "by=cublaslt");
  return out;
}

}  // namespace

/// The kernel of a product of matrices looks at the types when its output is there already.
void types_of_kernel(Context& c, const Tensor& a, const Tensor& b, std::string_view first,
                     std::string_view second) {
  Tensor out;
  if (a.dtype() != b.dtype()) out = c.empty({a.size(0), b.size(1)}, a.dtype(), a.device());
  same_dtype(a, b, first, second);
}

Tensor mm_kernel(Context& c, const Tensor& a, const Tensor& b) {
  const KernelScope kernel(c, KernelKind::kProduct, {&a, &b});
  return kernel.gives(
      gemm(c, c.empty({a.size(0), b.size(1)}, a.dtype(), a.device()), a, b, nullptr));
}

void multiply_into(Context& c, const Tensor& out, const Tensor& a, const Tensor& b) {
  gemm(c, out, a, b, nullptr);
}

Tensor baddbmm_kernel(Context& c, const Tensor& a, const Tensor& b) {
  const KernelScope kernel(c, KernelKind::kProduct, {&a, &b});
  Tensor out = c.empty({a.size(0), a.size(1), b.size(2)}, a.dtype(), a.device());
  return kernel.gives(gemm(c, std::move(out), a, b, nullptr));
}

Tensor bmm_kernel(Context& c, const Tensor& a, const Tensor& b) {
  if (a.size(2) == 1 && c.rules().bmm_of_one_multiplies) {
    const KernelScope kernel(c, KernelKind::kProduct, {&a, &b});
    return kernel.gives(c.empty({a.size(0), a.size(1), b.size(2)}, a.dtype(), a.device()));
  }
  return baddbmm_kernel(c, a, b);
}

void check_product(const Tensor& first, const Tensor& second, bool batched) {
  if (batched) {
    for (const auto& [tensor, name] : {std::pair{&first, "batch1"}, std::pair{&second, "batch2"}}) {
      if (tensor->dim() != 3) throw OpError(fmt::format("{} must be a 3D tensor", name));
    }
    if (first.size(0) == second.size(0) && first.size(2) == second.size(1)) return;
    throw OpError(
        fmt::format("Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but "
                    "got: [{}, {}].",
                    first.size(0), first.size(2), second.size(0), second.size(1)));
  }
  for (const auto& [tensor, name] : {std::pair{&first, "mat1"}, std::pair{&second, "mat2"}}) {
    if (tensor->dim() != 2)
      throw OpError(fmt::format("{} must be a matrix, got {}-D tensor", name, tensor->dim()));
  }
  if (first.size(1) == second.size(0)) return;
  throw OpError(fmt::format("mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})",
                            first.size(0), first.size(1), second.size(0), second.size(1)));
}

namespace {

/// cuBLASLt adds the bias: its epilogue one row to every row, its product a matrix. `sizes`: the
/// result's; `inner`: over how many products each element is summed. Source:
/// docs/rules/products.md#1.
bool adds_by_cublaslt(const Context& c, const Tensor& self, const Dims& sizes, std::int64_t inner,
                      double beta) {
  if (inner <= 1 || sizes[1] <= 1 || !self.is_contiguous() || !is_floating(self.dtype()))
    return false;
  const bool several = sizes[0] > 1;
  const AddmmBias bias = c.rules().addmm_bias;
  const bool is_vector = self.dim() == 1 && self.size(0) == sizes[1];
  const bool is_row = self.dim() == 2 && self.size(0) == 1 && self.size(1) == sizes[1];
  if (beta == 1 && (is_vector || (is_row && bias != AddmmBias::kVector))) {
    return several || bias != AddmmBias::kRowToSeveral;
  }
  return c.rules().half_addmm_by_cublaslt && is_half(self.dtype()) && several && beta != 0 &&
         self.sizes() == sizes;
}

}  // namespace

void add_product_kernel(Context& c, const Tensor& out, const Tensor& self, const Tensor& a,
                        const Tensor& b, double beta) {
  const bool is_own = out.impl() == self.impl();
  const bool by_lt =
      !is_own && out.dim() == 2 && adds_by_cublaslt(c, self, out.sizes(), a.size(1), beta);
  gemm(c, out, a, b, by_lt ? &self : nullptr);
}

Tensor addmm_kernel(Context& c, const Tensor& self, const Tensor& a, const Tensor& b, double beta) {
  const Dims sizes{a.size(0), b.size(1)};
  return gemm(c, c.empty(sizes, a.dtype(), a.device()), a, b,
              adds_by_cublaslt(c, self, sizes, a.size(1), beta) ? &self : nullptr);
}

/// A vector that repeats one number is copied, and a matrix that cuBLAS cannot read. Source:
/// addmv_out_cuda.
Tensor mv_kernel(Context& c, const Tensor& matrix, const Tensor& vector, Tensor out) {
  if (!out.defined()) out = c.empty({matrix.size(0)}, matrix.dtype(), matrix.device());
  if (out.numel() == 0 || matrix.numel() == 0) return out;  // filled with zeros
  const Tensor dense =
      vector.stride(0) == 0 ? clone_in(c, vector, MemoryFormat::kContiguous) : vector;
  const Tensor read = operand(c, matrix);
  c.cublas_workspace(out.device());
  return out;
}

void mv_into(Context& c, const Tensor& out, const Tensor& matrix, const Tensor& vector) {
  mv_kernel(c, matrix, vector, out);
}

void product_workspace(Context& c, const Tensor& x, std::int64_t products) {
  c.cublas_workspace(x.device(), products);
}

namespace {

/// Folding the batch of the larger operand into its rows beats a batched product. Source:
/// at::native::should_fold.
bool should_fold(const Tensor& tensor1, const Tensor& tensor2) {
  const bool first_larger = tensor1.dim() >= tensor2.dim();
  const Tensor& larger = first_larger ? tensor1 : tensor2;
  const Tensor& smaller = first_larger ? tensor2 : tensor1;
  if (larger.dim() < 3 || smaller.dim() > 2) return false;
  // A view made under no_grad still says what its base says.
  if (smaller.requires_grad() ||
      (smaller->view_base && Tensor(smaller->view_base).requires_grad())) {
    return true;
  }
  if (tensor1.dim() == 2) return false;
  const Tensor view = first_larger ? larger : transpose(larger, -1, -2);
  if (view.numel() == 0) return true;
  for (std::int64_t i = 0; i + 2 < view.dim(); ++i) {
    if (view.stride(i) != view.stride(i + 1) * view.size(i + 1)) return false;
  }
  return true;
}

Tensor matmul_folded(Context& c, const Tensor& tensor1, const Tensor& tensor2) {
  const bool turn = tensor2.dim() > tensor1.dim();
  const Tensor t1 = turn ? transpose(c, tensor2, -1, -2) : tensor1;
  const Tensor t2 = !turn ? tensor2 : tensor1.dim() == 2 ? t(c, tensor1) : tensor1;
  Dims out = t1.sizes();
  out.pop_back();
  const std::int64_t rows = numel_of(out);
  const bool matrix = t2.dim() == 2;
  if (matrix) out.push_back(t2.size(1));
  const Tensor folded = reshape(c, t1, {rows, t1.size(-1)});
  Tensor product = unsafe_view(c, matrix ? mm(c, folded, t2) : mv(c, folded, t2), out);
  if (turn && matrix)
    return contiguous(c, transpose(c, product, -1, -2), MemoryFormat::kContiguous);
  return product;
}

Dims batch_of(const Tensor& tensor) {
  Dims batch = tensor.sizes();
  for (int i = 0; i < 2 && !batch.empty(); ++i) batch.pop_back();
  return batch;
}

Tensor matmul_batched(Context& c, const Tensor& tensor1, const Tensor& tensor2) {
  const std::int64_t d1 = tensor1.dim();
  const std::int64_t d2 = tensor2.dim();
  const std::int64_t n = d1 > 1 ? tensor1.size(-2) : 1;
  const std::int64_t m1 = tensor1.size(-1);
  const std::int64_t m2 = d2 > 1 ? tensor2.size(-2) : tensor2.size(-1);
  const std::int64_t p = d2 > 1 ? tensor2.size(-1) : 1;
  const Dims batch1 = batch_of(tensor1);
  const Dims batch2 = batch_of(tensor2);
  if (d1 == 3 && d2 == 3 && batch1[0] != batch2[0]) {
    if (batch1[0] == 1 && tensor1.requires_grad())
      return matmul(c, squeeze(c, tensor1, 0), tensor2);
    if (batch2[0] == 1 && tensor2.requires_grad())
      return matmul(c, tensor1, squeeze(c, tensor2, 0));
  }
  Dims out = broadcast(batch1, batch2);
  const std::int64_t count = numel_of(out);
  const auto with = [&out](std::initializer_list<std::int64_t> tail) {
    Dims dims = out;
    for (const std::int64_t s : tail) dims.push_back(s);
    return dims;
  };
  const Tensor left = reshape(c, expand(c, tensor1, with({n, m1})), {count, n, m1});
  Tensor right;
  if (d2 == 1) {
    right = unsqueeze(c, reshape(c, expand(c, tensor2, with({m2})), {count, m2}), 2);
  } else {
    right = reshape(c, expand(c, tensor2, with({m2, p})), {count, m2, p});
  }
  if (d1 > 1) out.push_back(n);
  if (d2 > 1) out.push_back(p);
  Tensor product = bmm(c, left, right);
  if (d2 == 1) product = squeeze(c, product, -1);
  return unsafe_view(c, product, out);
}

}  // namespace

Tensor matmul(Context& c, Tensor tensor1, Tensor tensor2) {
  const AutocastScope cast(c, CastPolicy::kLowPrecision, {&tensor1, &tensor2});
  const std::int64_t d1 = tensor1.dim();
  const std::int64_t d2 = tensor2.dim();
  if (d1 == 0 || d2 == 0) {
    throw OpError(fmt::format(
        "both arguments to matmul need to be at least 1D, but they are {}D and {}D", d1, d2));
  }
  const std::int64_t inner = d2 == 1 ? tensor2.size(0) : tensor2.size(-2);
  if (tensor1.size(-1) != inner) {
    throw OpError(fmt::format("mat1 and mat2 shapes cannot be multiplied ({} and {})",
                              to_string(tensor1.sizes()), to_string(tensor2.sizes())));
  }
  if (d1 == 1 && d2 == 1) return dot(c, tensor1, tensor2);
  if (d1 == 2 && d2 == 1) return mv(c, tensor1, tensor2);
  if (d1 == 1 && d2 == 2) return squeeze_(c, mm(c, unsqueeze(c, tensor1, 0), tensor2), 0);
  if (d1 == 2 && d2 == 2) return mm(c, tensor1, tensor2);
  if (should_fold(tensor1, tensor2)) return matmul_folded(c, tensor1, tensor2);
  return matmul_batched(c, tensor1, tensor2);
}

Tensor linear(Context& c, Tensor input, Tensor weight, Tensor bias) {
  const AutocastScope cast(c, CastPolicy::kLowPrecision, {&input, &weight, &bias});
  if (weight.dim() == 2 && input.dim() >= 1 && input.size(-1) != weight.size(1)) {
    const std::int64_t rows = input.numel() / std::max<std::int64_t>(1, input.size(-1));
    throw OpError(fmt::format("mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})", rows,
                              input.size(-1), weight.size(1), weight.size(0)));
  }
  if (bias.defined() && input.dim() == 2) return addmm(c, bias, input, t(c, weight));
  if (bias.defined() && input.dim() >= 1 && input.is_contiguous()) {
    Dims out = input.sizes();
    out.back() = weight.size(0);
    const Tensor rows = reshape(c, input, {-1, input.size(-1)});
    const Tensor product = addmm(c, bias, rows, t(c, weight));
    return c.rules().linear_gives_views ? view(c, product, out) : unsafe_view(c, product, out);
  }
  Tensor product = matmul(c, input, t(c, weight));
  if (!bias.defined()) return product;
  return is_dispatching(c) ? add(c, product, bias) : add_(c, product, bias);
}

}  // namespace tidemark::ops
