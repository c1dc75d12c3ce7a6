#include <fmt/format.h>

#include <algorithm>

#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/op.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/tracer.h"

namespace tidemark::ops {

namespace {

// Many products in one call: the experts of a mixture. Source: docs/rules/products.md#2.4.

/// CUTLASS reads rows of whole 16 bytes.
std::int64_t alignment(const Tensor& m) {
  return 16 / static_cast<std::int64_t>(element_bytes(m.dtype()));
}

void check_strides(const Tensor& m) {
  const bool by_columns =
      m.stride(-2) == 1 && m.stride(-1) >= std::max<std::int64_t>(1, m.size(-2));
  const bool by_rows = m.stride(-1) == 1 && m.stride(-2) >= std::max<std::int64_t>(1, m.size(-1));
  if (!by_columns && !by_rows) {
    throw OpError(fmt::format("Invalid strides/sizes, got {} for strides and {} for sizes",
                              to_string(m.strides()), to_string(m.sizes())));
  }
  if (m.stride(by_columns ? -1 : -2) % alignment(m) != 0) {
    throw OpError("strides should be multiple of 16 bytes");
  }
}

void check(const Tensor& a, const Tensor& b, const Tensor& offs) {
  if (a.dtype() != b.dtype()) {
    throw OpError(fmt::format("expected mat1 and mat2 to have the same dtype, but got: {} != {}",
                              info(a.dtype()).name, info(b.dtype()).name));
  }
  for (const auto& [m, name] : {std::pair{&a, "mat_a"}, std::pair{&b, "mat_b"}}) {
    if (m->dim() != 2 && m->dim() != 3) throw OpError(fmt::format("{} has to be 2 or 3d", name));
  }
  const bool flat = a.dim() == 2 || b.dim() == 2;
  if (!(a.dim() == 2 && b.dim() == 2) && a.size(-1) != b.size(-2)) {
    throw OpError("contraction dimension of mat_a and mat_b must match");
  }
  check_strides(a);
  check_strides(b);
  if (offs.defined() != flat) {
    throw OpError(
        "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d");
  }
  if (!flat) {
    if (a.size(0) != b.size(0)) throw OpError("batched dimension has to match");
    return;
  }
  if (offs.dim() != 1) throw OpError("offs has to be 1D");
  if (offs.dtype() != ScalarType::kInt32) throw OpError("Offsets have to be int32");
  if (a.dim() != b.dim() && (a.dim() == 3 ? a : b).size(0) != offs.size(0)) {
    throw OpError("matrix batch sizes have to match");
  }
}

/// The kernel's arguments and its workspace. An old or consumer GPU, and every type but bfloat16,
/// has a product of its own for each group.
void grouped_scratch(Context& c, const Tensor& a, std::int64_t groups) {
  const int major = c.spec().compute_capability / 10;
  if (a.dtype() != ScalarType::kBFloat16 || (major != 9 && major != 10)) {
    return c.cublas_workspace(a.device());
  }
  // Three pointers, aligned in pairs, three strides and three sizes a group.
  const std::int64_t arguments = (groups + groups % 2) * 24 + groups * 36;
  const Tensor table = c.scratch(static_cast<Bytes>(arguments), a.device());
  // Descriptors of the tiles to be copied, so many a multiprocessor.
  constexpr std::int64_t kTensorMap = 128;  // bytes of a CUtensorMap
  const bool more = c.rules().grouped_mm_more_tensor_maps;
  const std::int64_t maps = major == 9 ? (more ? 5 : 4) : (more ? 54 : 42);
  c.scratch(static_cast<Bytes>(maps * kTensorMap * c.spec().sm_count), a.device());
}

Tensor kernel(Context& c, const Tensor& a, const Tensor& b, const Tensor& offs) {
  check(a, b, offs);
  const KernelScope scope(c, KernelKind::kProduct, {&a, &b});
  const std::int64_t groups = offs.defined() ? offs.size(0) : a.size(0);
  const std::int64_t rows = a.size(-2);
  const std::int64_t columns = b.size(-1);
  const std::int64_t pitch = (columns + alignment(a) - 1) / alignment(a) * alignment(a);
  const bool is_batch = a.dim() == b.dim();
  const Dims sizes = is_batch ? Dims{groups, rows, columns} : Dims{rows, columns};
  const Dims strides = is_batch ? Dims{rows * pitch, pitch, 1} : Dims{pitch, 1};
  Tensor out = c.empty_strided(sizes, strides, a.dtype(), a.device());
  if (a.numel() > 0 && b.numel() > 0) {
    if (a.device().is_cuda()) grouped_scratch(c, a, groups);
    launch_gemm(c, a, b, out);
  }
  return scope.gives(out);
}

bool is_by_columns(const Dims& sizes, const Dims& strides) {
  const auto n = sizes.size();
  return strides[n - 2] == 1 && strides[n - 1] == sizes[n - 2];
}

Tensor turned(const Tensor& m) { return transpose(m, -2, -1); }

Tensor turned_result(const Tensor& m) { return as_view(m, turned(m)); }

Tensor first_gradient(Context& c, const Tensor& grad, const Tensor& b, const Tensor& offs,
                      bool by_columns) {
  return by_columns ? turned_result(kernel(c, b, turned(grad), offs))
                    : kernel(c, grad, turned(b), offs);
}

Tensor second_gradient(Context& c, const Tensor& grad, const Tensor& a, const Tensor& offs,
                       bool by_columns) {
  return by_columns ? turned_result(kernel(c, turned(grad), a, offs))
                    : kernel(c, turned(a), grad, offs);
}

}  // namespace

Tensor grouped_mm(Context& c, const Tensor& a, const Tensor& b, const Tensor& offs,
                  const Tensor& bias, std::optional<ScalarType> out_dtype) {
  if (out_dtype && *out_dtype != a.dtype()) {
    throw OpError("Grouped gemm output dtype must match `mat_a` dtype");
  }
  if (bias.defined()) throw OpError("Bias not supported yet");
  Op op(c, "_grouped_mm", "GroupedMmBackward0", {&a, &b});
  op.save_if(op.needs(0), 0, b);
  if (offs.defined()) op.save_if(op.records(), 1, offs);
  op.save_if(op.needs(1), 2, a);
  return op.result(kernel(c, a, b, offs), [a_by_columns = is_by_columns(a.sizes(), a.strides()),
                                           b_by_columns = is_by_columns(b.sizes(), b.strides()),
                                           grouped = offs.defined()](Backward& back) {
    const Tensor ends = grouped ? back.saved[1] : Tensor();
    if (back.needs(1)) {
      back.grads[1] = second_gradient(back.c, back.grad(), back.saved[2], ends, b_by_columns);
    }
    if (back.needs(0)) {
      back.grads[0] = first_gradient(back.c, back.grad(), back.saved[0], ends, a_by_columns);
    }
  });
}

}  // namespace tidemark::ops
