#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/ops/complex_ops.h"
#include "sim/ops/composite_ops.h"
#include "sim/ops/contraction_ops.h"
#include "sim/ops/copy_slices.h"
#include "sim/ops/cub.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/parts.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/registry.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/type_view.h"

namespace tidemark::ops {

// C++ that the steps of records call by name: sim/ops/records/natives.yaml lists it all.

// ---- kernels: new tensors of the device of `like`, and of its type where none is given
inline Tensor empty(Context& c, const Dims& sizes, const Tensor& like,
                    std::optional<ScalarType> type = {}) {
  return c.empty(sizes, type.value_or(like.dtype()), like.device());
}
inline Tensor empty_in(Context& c, const Dims& sizes, MemoryFormat format, const Tensor& like,
                       std::optional<ScalarType> type = {}) {
  return c.empty_in(sizes, format, type.value_or(like.dtype()), like.device());
}
/// As x lies, where it is dense.
inline Tensor empty_as(Context& c, const Tensor& x, std::optional<ScalarType> type = {}) {
  return c.empty_like(x, type.value_or(x.dtype()));
}
inline Tensor new_zeros(Context& c, const Dims& sizes, const Tensor& like) {
  return zeros(c, sizes, like.dtype(), like.device());
}
inline Tensor contiguous_copy(Context& c, const Tensor& x) {
  return clone_in(c, x, MemoryFormat::kContiguous);
}
inline Tensor copy_in(Context& c, const Tensor& x, MemoryFormat format) {
  return clone_in(c, x, format);
}
/// x itself where it is so already.
inline Tensor dense(Context& c, const Tensor& x) { return contiguous(c, x); }
inline Tensor in_format(Context& c, const Tensor& x, MemoryFormat format) {
  return contiguous_kernel(c, x, format);
}
inline Tensor as_type(Context& c, const Tensor& x, ScalarType type) { return to_dtype(c, x, type); }
/// A view where possible, else a copy.
inline Tensor flat_of(Context& c, const Tensor& x) { return reshape_kernel(c, x, {-1}); }
inline Tensor summed(Context& c, const Tensor& x) { return sum_kernel(c, x, {}, false); }
inline Tensor reduced_as(Context& c, const Tensor& x, const Dims& dims, bool keepdim,
                         ScalarType type) {
  return reduce(c, x, dims, keepdim, type);
}
/// What a reduction that is split over thread blocks takes; `bytes`: of one partial value.
inline ReductionScratch reduction_buffers(Context& c, const Tensor& x, const Dims& dims,
                                          std::int64_t bytes, bool converts = true) {
  return reduction_scratch(c, x, dims, static_cast<Bytes>(bytes), converts);
}
/// What sorting rows into results of such strides takes, and topk's search of rows of `length`:
/// sort_ops.cc.
void sort_into(Context& c, const Tensor& x, std::int64_t dim, const Dims& strides);
void topk_scratch(Context& c, const Tensor& x, std::int64_t length);
/// What counting `count` places one after another takes.
void scan_buffer(Context& c, std::int64_t count, const Tensor& like);
inline Tensor positions_of(Context& c, const Tensor& mask, std::int64_t count) {
  return nonzero_kernel(c, mask, count);
}
/// What is made while it lives is filed under that operator.
inline LabelScope label(Context& c, std::string_view name) { return LabelScope(c, name); }

// ---- new tensors, as programs ask for them: filed under `name`; `pinned`: in pinned host memory
Tensor new_tensor(Context& c, std::string_view name, const Dims& sizes,
                  std::optional<ScalarType> dtype, std::optional<Device> device, bool requires_grad,
                  bool pinned = false);
Tensor new_strided(Context& c, const Dims& sizes, const Dims& strides,
                   std::optional<ScalarType> dtype, std::optional<Device> device,
                   bool requires_grad);
/// As `like` lies, unless a format is given.
Tensor new_like(Context& c, std::string_view name, const Tensor& like,
                std::optional<ScalarType> dtype, std::optional<Device> device, bool requires_grad,
                std::optional<MemoryFormat> format);
/// Of the type and device of `like` where none is given.
Tensor new_beside(Context& c, std::string_view name, const Tensor& like, const Dims& sizes,
                  std::optional<ScalarType> dtype, std::optional<Device> device,
                  bool requires_grad);
Tensor new_range(Context& c, double start, double end, double step, ScalarType dtype,
                 std::optional<Device> device, bool requires_grad);
/// The type that a number is written in: of itself; of a range, which floats make one of floats.
ScalarType type_of_number(Arguments& a, std::size_t i);
ScalarType type_of_range(Arguments& a, std::initializer_list<std::size_t> numbers);
/// What drawing and sorting keys takes.
void shuffle(Context& c, const Tensor& out);
/// What NAME(..., out=tensor) does to a tensor of the result's size. Errors: NotModelled for
/// another size.
Tensor written(Context& c, std::string_view name, const Dims& sizes, const Tensor& out);
/// How many places the triangles have.
std::int64_t lower_triangle(std::int64_t rows, std::int64_t columns, std::int64_t offset);
std::int64_t upper_triangle(std::int64_t rows, std::int64_t columns, std::int64_t offset);

// ---- chosen by masks
inline ScalarType common_type(Context& c, const Tensor& x, const Tensor& y) {
  return result_type(c, {&x, &y});
}
inline Tensor chosen(Context& c, const Tensor& condition, const Tensor& x, const Tensor& y,
                     ScalarType type) {
  return pointwise(c, {&condition, &x, &y}, type);
}
/// A Python number as a tensor beside `other`: number_operands.cc. A tensor stays as it is.
Tensor on_device(Context& c, const Tensor& x, const Tensor& other, const Tensor& condition);
/// Nothing is recorded while it lives.
inline GradMode no_gradients(Context& c) { return GradMode(c, false); }

// ---- operators: they record gradients of their own where gradients are recorded
/// The incoming gradient at the places that won.
inline Tensor max_pool_double_backward(Context& c, const Tensor& grad, const Tensor& indices,
                                       std::int64_t dims) {
  return gathered_at(c, grad, indices, dims);
}
/// How many are true: the host reads it.
inline std::int64_t count_true(Context& c, const Tensor& mask) { return c.count_nonzero(mask); }
/// Code is being compiled: it takes PyTorch's decompositions.
inline bool is_compiled(Context& c) { return c.tracer != nullptr; }
Tensor reshaped(Context& c, const Tensor& x, const Dims& sizes);
inline Tensor to_type(Context& c, const Tensor& x, ScalarType type) {
  return c.grad_enabled() ? to(c, x, type) : to_dtype(c, x, type);
}
/// x.type_as(other), device and all.
Tensor to_type_of(Context& c, const Tensor& x, const Tensor& other);
inline Tensor sum_to_size(Context& c, const Tensor& x, const Dims& sizes) {
  return c.grad_enabled() ? recorded_sum_to(c, x, sizes) : sum_to(c, x, sizes);
}
/// The dimensions of one element that squeeze took (`dim`: that one) are put back, one by one,
/// which decides their strides. Source: torch's unsqueeze_to.
Tensor unsqueeze_to(Context& c, const Tensor& x, const Dims& sizes,
                    std::optional<std::int64_t> dim = {});
inline Tensor resolve_conj(Context& c, const Tensor& x) { return resolved(c, x); }
/// Gradients of pieces joined again (of rows: stacked); pieces that nothing reached become zeros
/// first. `sizes`: of what was split.
Tensor join_pieces(Context& c, const TensorList& grads, const Dims& sizes,
                   const std::vector<std::int64_t>& lengths, std::int64_t dim, ScalarType type,
                   Device device);
Tensor join_rows(Context& c, const TensorList& grads, const Dims& sizes, std::int64_t dim,
                 ScalarType type, Device device);
/// Zeros with the gradient at the places that won.
Tensor value_selecting_reduction_backward(Context& c, const Tensor& grad, std::int64_t dim,
                                          const Tensor& indices, const Dims& sizes, bool keepdim);
inline Tensor cast_to(Context& c, const Tensor& x, ScalarType type) { return to(c, x, type); }
inline ScalarType default_dtype(Context& c) { return c.default_dtype; }
/// Errors: OpError, always: "derivative for aten::NAME is not implemented".
[[noreturn]] Tensor no_derivative(Context& c, const Tensor& grad, std::string_view name);
Tensor detached(Context& c, const Tensor& x);
Tensor repeat_backward(Context& c, const Tensor& grad, const Dims& sizes, const Dims& repeats);

// ---- of numbers, sizes and looks alone
inline std::int64_t minimum_of(std::int64_t x, std::int64_t y) { return std::min(x, y); }
inline std::int64_t maximum_of(std::int64_t x, std::int64_t y) { return std::max(x, y); }
inline std::int64_t absolute(std::int64_t x) { return x < 0 ? -x : x; }
/// A place of a slice, brought into what there is.
inline std::int64_t clamped_place(std::int64_t place, std::int64_t size) {
  return std::min(std::max<std::int64_t>(place < 0 ? place + size : place, 0), size);
}
Dims broadcast_of(const TensorList& tensors);
inline bool can_view(const Tensor& x, const Dims& sizes) {
  return view_strides(x.sizes(), x.strides(), sizes).has_value();
}
/// Sizes after a reduction over `dims` (none: over all). Errors: OpError for one named twice.
Dims reduced_sizes(const Tensor& x, const Dims& dims, bool keepdim);
Dims sizes_without(const Tensor& x, std::int64_t dim, bool keepdim);
/// Whether one of them has more than one element.
bool reduces_any(const Tensor& x, const Dims& dims);
Dims flattened_sizes(const Tensor& x, std::int64_t start, std::int64_t end);
Dims unflattened_sizes(const Tensor& x, std::int64_t dim, const Dims& sizes);
Dims squeezed_sizes(const Tensor& x);
Dims squeezed_strides(const Tensor& x);
Dims order_moved(std::int64_t rank, const Dims& source, const Dims& destination);
Dims inverse_permutation(const Dims& dims, std::int64_t rank);
/// Lengths of pieces of `size`, the last one of what is left.
std::vector<std::int64_t> even_lengths(std::int64_t size, std::int64_t total);
std::vector<std::int64_t> starts_of(const std::vector<std::int64_t>& lengths);
Dims diag_embed_sizes(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
Dims repeated_sizes(const Tensor& x, const Dims& repeats);
Dims with_leading_ones(const Dims& dims, std::int64_t rank);
/// 0 to 3.
inline std::int64_t quarter_turns(std::int64_t k) { return ((k % 4) + 4) % 4; }
inline std::int64_t accumulator_bytes(const Tensor& x) {
  return static_cast<std::int64_t>(element_bytes(accumulate_type(x.dtype())));
}
/// 1 for what has no dimensions.
inline std::int64_t size_at(const Tensor& x, std::int64_t dim) {
  return x.dim() == 0 ? 1 : x.size(dim);
}
Dims sizes_with(const Tensor& x, std::int64_t dim, std::int64_t size);
/// Where none is given: 0 of vectors and of three dimensions, else 1. Source: F._get_softmax_dim.
std::int64_t softmax_dim(const Tensor& x, std::optional<std::int64_t> dim);
/// Halves on a GPU: one kernel reads float16 and gives float32.
inline bool goes_to_float32(const Tensor& x, std::optional<ScalarType> type) {
  return x.is_cuda() && x.dtype() == ScalarType::kFloat16 && type == ScalarType::kFloat32;
}
/// The dimension that is reduced; none: all.
Dims dims_of_optional(std::optional<std::int64_t> dim, const Tensor& x);
Dims sizes_of_extremes(const Tensor& x, std::optional<std::int64_t> dim, bool keepdim);
/// All dimensions but one.
Dims others_than(const Tensor& x, std::int64_t dim);
/// What halves are added up in.
inline ScalarType wide_type(ScalarType type) { return is_half(type) ? ScalarType::kFloat32 : type; }
/// Requires: it is given.
inline std::int64_t given(std::optional<std::int64_t> x) { return *x; }
/// Its sizes broadcast with another tensor's, but for those along `dim`.
Dims sizes_beside(const Tensor& x, const Tensor& other, std::int64_t dim);
/// Sizes of what windows give. Errors: OpError with PyTorch's words. Source:
/// at::native::pooling_output_shape.
Dims pooled_sizes(const Tensor& x, const Dims& kernel, const Dims& stride, const Dims& padding,
                  const Dims& dilation, bool ceil_mode);
Dims adaptive_sizes(const Tensor& x, const Dims& output);
bool is_one_window(const Tensor& x, const Dims& output);
/// A window of one dimension as one of two, so many rows high.
inline Dims in_rows(const Dims& window, std::int64_t height) { return {height, window[0]}; }
inline Dims stride_or(const Dims& stride, const Dims& kernel) {
  return stride.empty() ? kernel : stride;
}
/// Of channels_last where there is one window.
Dims marked_strides(const Tensor& x);
/// [n, c, 1, 1]
Dims one_a_channel(const Tensor& x);
/// Of prelu's weight beside its input.
Dims prelu_sizes(const Tensor& x, const Tensor& weight);
inline ScalarType type_or(std::optional<ScalarType> type, ScalarType other) {
  return type.value_or(other);
}
inline MemoryFormat format_or(std::optional<MemoryFormat> format, MemoryFormat other) {
  return format.value_or(other);
}
/// Of a running sum: integers become int64.
inline ScalarType scan_type(std::optional<ScalarType> type, ScalarType of) {
  return type.value_or(is_differentiable(of) ? of : ScalarType::kInt64);
}
inline double order_or_two(std::optional<double> p) { return p.value_or(2); }
/// Errors: NotModelled for another one than "fro".
double order_named(std::string_view p);
/// int[N]?: none where it is not given.
Dims optional_dims_of(const Arguments& a, std::size_t i, std::size_t count);

// ---- views: without memory, below autograd
inline Tensor viewed(const Tensor& x, const Dims& sizes) { return view(x, sizes); }
inline Tensor transposed(const Tensor& x, std::int64_t a, std::int64_t b) {
  return transpose(x, a, b);
}
inline Tensor permuted(const Tensor& x, const Dims& dims) { return permute(x, dims); }
inline Tensor expanded_to(const Tensor& x, const Dims& sizes) { return expand(x, sizes); }
inline Tensor unsqueezed(const Tensor& x, std::int64_t dim) { return unsqueeze(x, dim); }
inline Tensor squeezed(const Tensor& x, std::int64_t dim) { return squeeze(x, dim); }
inline Tensor narrowed(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length,
                       std::int64_t step = 1) {
  return narrow(x, dim, start, length, step);
}
inline Tensor selected(const Tensor& x, std::int64_t dim, std::int64_t index) {
  return select(x, dim, index);
}
inline Tensor strided(const Tensor& x, const Dims& sizes, const Dims& strides) {
  return Context::alias(x, sizes, strides, x->offset);
}

// ---- what is refused. Errors: OpError with PyTorch's words, or NotModelled.
void check_matrix_or_less(const Tensor& x);
void check_at_least_matrix(const Tensor& x, std::string_view name);
void check_dims(const Tensor& x, const Dims& dims);
void check_slice(const Tensor& x, std::int64_t step);
void check_flatten(const Tensor& x, std::int64_t start, std::int64_t end);
void check_split(std::int64_t size, std::int64_t total);
void check_split_sizes(const std::vector<std::int64_t>& lengths, std::int64_t total,
                       std::int64_t dim);
void check_chunks(std::int64_t chunks);
void check_sections(std::int64_t sections);
void check_not_empty(const Tensor& x, std::string_view name);
void check_floating(const Tensor& x, std::string_view name);
void check_scan_in_place(const Tensor& x, std::string_view name);
void check_turn(const Dims& dims);
void check_rank_at_least(const Tensor& x, std::int64_t least);
void check_mm(const Tensor& self, const Tensor& mat2);
void check_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2);
void check_addmm_(const Tensor& self, const Tensor& mat1, const Tensor& mat2);
void check_bmm(const Tensor& self, const Tensor& mat2);
void check_baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2);
void check_baddbmm_(const Tensor& self, const Tensor& batch1, const Tensor& batch2);
void check_addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, bool in_place);
void check_mv(const Tensor& self, const Tensor& vec);
void check_addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, bool in_place);
void check_addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, bool in_place);
void check_dot(const Tensor& self, const Tensor& other);
void check_outer(const Tensor& self, const Tensor& vec2);
/// Of a product whose gradient is known for real numbers alone. Errors: NotModelled.
void check_real_gradient(const Tensor& x);
void check_strides(const Dims& sizes, const Dims& strides);
void check_count(std::int64_t n);
void check_condition(const Tensor& condition);
void check_masked_fill(const Tensor& mask);
void check_masked_fill_(const Tensor& self, const Tensor& mask);
void check_diag(const Tensor& x);
void check_topk(const Tensor& x, std::int64_t k, std::int64_t dim);
void check_mode(const Tensor& x, std::int64_t dim);
void check_softmax(const Tensor& x, std::optional<ScalarType> type, std::string_view name);
void check_has_extremes(const Tensor& x);
void check_matrix(const Tensor& x);
void check_renorm(const Tensor& x, std::int64_t dim);
void check_gather(const Tensor& x, std::int64_t dim, const Tensor& index);
void check_index_select(const Tensor& x, std::int64_t dim, const Tensor& index);
void check_take(const Tensor& index);
void check_take_along(const Tensor& x, const Tensor& index);
void check_mask(const Tensor& mask, std::string_view name);
void check_write(const Tensor& x, std::int64_t dim, const Tensor& index, std::string_view name);
void check_write_of(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view name);
void check_masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source);
void check_pool_rank(const Tensor& x, std::int64_t spatial, std::string_view name);
void check_probability(double p);
void check_glu(const Tensor& x, std::int64_t dim);
void check_prelu(const Tensor& x, const Tensor& weight);
void check_features(const Tensor& x);
void check_repeats(const Tensor& x, const Dims& repeats);

}  // namespace tidemark::ops
