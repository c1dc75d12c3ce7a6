#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/ops/parts.h"
#include "sim/ops/registry.h"

namespace tidemark::ops {

// C++ that does the steps of records (`dispatch`): docs/adr/0012 has the reasons.

// ---- batch_norm_ops.cc: torch.batch_norm_stats and its kin
TensorList batch_norm_stats(Context& c, const Tensor& input);
TensorList batch_norm_gather_stats(Context& c, const Tensor& input);
Tensor batch_norm_elemt(Context& c, const Tensor& input);
// ---- convolution_ops.cc
Tensor convolved(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                 std::int64_t spatial, const Dims& stride, const Dims& padding,
                 const Dims& dilation, std::int64_t groups);
Tensor convolved_padded(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        std::int64_t spatial, const Dims& stride, const std::string& padding,
                        const Dims& dilation, std::int64_t groups);
Tensor convolved_back(Context& c, const Tensor& input, const Tensor& weight, const Tensor& bias,
                      std::int64_t spatial, const Dims& stride, const Dims& padding,
                      const Dims& output_padding, std::int64_t groups, const Dims& dilation);
// ---- unpooling_ops.cc
Tensor max_unpool(Context& c, const Tensor& self, const Tensor& indices, const Dims& spatial);
Tensor affine_grid(Context& c, const Tensor& theta, const Dims& size, bool align_corners);
Tensor weight_norm(Context& c, const Tensor& v, const Tensor& g);
// ---- window_ops.cc
Tensor unfold(Context& c, const Tensor& self, std::int64_t dim, std::int64_t size,
              std::int64_t step);
Tensor unfold_backward(Context& c, const Tensor& self, const Dims& sizes, std::int64_t dim,
                       std::int64_t size, std::int64_t step);
Tensor as_strided(Context& c, const Tensor& self, const Dims& sizes, const Dims& strides,
                  std::optional<std::int64_t> offset);
OpResult turned_in_place(Context& c, const Tensor& self, std::int64_t d0, std::int64_t d1,
                         std::string_view name);
// ---- arrange_ops.cc
TensorList meshgrid(Context& c, const TensorList& tensors, bool swap);
// ---- repeating_ops.cc
Tensor repeat_by(Context& c, const Tensor& given, const Tensor& repeats,
                 std::optional<std::int64_t> dim, std::optional<std::int64_t> output_size);
Tensor repeated_places(Context& c, const Tensor& given, std::optional<std::int64_t> output_size);
Tensor repeat_each(Context& c, const Tensor& given, std::int64_t repeats,
                   std::optional<std::int64_t> dim, std::optional<std::int64_t> output_size);
// ---- complex_ops.cc
Tensor complex(Context& c, const Tensor& real, const Tensor& imag);
Tensor polar(Context& c, const Tensor& length, const Tensor& angle);
Tensor view_as_real(Context& c, const Tensor& self);
Tensor view_as_complex(Context& c, const Tensor& self);
Tensor part_of(Context& c, const Tensor& self, std::int64_t index);
Tensor conj(Context& c, const Tensor& self);
Tensor conj_resolved(Context& c, const Tensor& self);
Tensor angle(Context& c, const Tensor& self);
// ---- linalg_ops.cc
Tensor solve_triangular(Context& c, const Tensor& matrix, const Tensor& right);
Tensor inverse(Context& c, const Tensor& matrix);
Tensor solve(Context& c, const Tensor& matrix, const Tensor& right, bool from_right);
Tensor det(Context& c, const Tensor& matrix);
Tensor checked_infos(Context& c, const Tensor& infos);
// ---- sparse_ops.cc
Tensor sparse_coo(Context& c, const Tensor& indices, const Tensor& values, const Dims& sizes);
Tensor indices_of(Context& c, const Tensor& x);
Tensor values_of(Context& c, const Tensor& x);
Tensor dense_of(Context& c, const Tensor& x);
// ---- distance_ops.cc
Tensor cdist(Context& c, Tensor x1, Tensor x2, double p, const std::string& mode);
Tensor pdist(Context& c, Tensor x, double p);
// ---- grouped_product_ops.cc
Tensor grouped_mm(Context& c, const Tensor& a, const Tensor& b, const Tensor& offs,
                  const Tensor& bias, std::optional<ScalarType> out_dtype);
// ---- scatter_ops.cc
TensorList columns_of_nonzero(Context& c, const Tensor& self);
// ---- scatter_reduce_ops.cc
Tensor reduced_write(Context& c, const Tensor& self, std::int64_t dim, const Tensor& index,
                     const Tensor& source, const std::string& reduce, bool include_self,
                     bool by_rows, bool in_place);
// ---- scattered_copies.cc
Tensor values_put(Context& c, const Tensor& self, const Tensor& index, const Tensor& source,
                  bool accumulate, bool in_place);
Tensor block_diag(Context& c, const TensorList& tensors);
// ---- sort_ops.cc
Tensor unique_consecutive(Context& c, const Tensor& self);
Tensor unique(Context& c, const Tensor& self);
// ---- counting_ops.cc
OpResult searched(Context& c, std::string_view name, const Tensor& values, const Tensor& boundaries,
                  bool narrow);
OpResult histc(Context& c, const Tensor& self, std::int64_t bins, double min, double max);

}  // namespace tidemark::ops
