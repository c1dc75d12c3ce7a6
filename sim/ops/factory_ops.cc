#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/ops/checked_sizes.h"
#include "sim/ops/cub.h"
#include "sim/ops/kernels.h"
#include "sim/ops/natives.h"
#include "sim/ops/op.h"

namespace tidemark::ops {

Tensor new_tensor(Context& c, std::string_view name, const Dims& sizes,
                  std::optional<ScalarType> dtype, std::optional<Device> device, bool requires_grad,
                  bool pinned) {
  const LabelScope label(c, name);
  const Device place = device.value_or(c.default_device);
  const ScalarType type = dtype.value_or(c.default_dtype);
  if (pinned && place.is_cuda()) throw OpError("Only dense CPU tensors can be pinned");
  Tensor out =
      pinned ? c.empty_pinned(sizes, contiguous_strides(sizes), type) : c.empty(sizes, type, place);
  out->requires_grad = requires_grad;
  return out;
}

Tensor new_strided(Context& c, const Dims& sizes, const Dims& strides,
                   std::optional<ScalarType> dtype, std::optional<Device> device,
                   bool requires_grad) {
  const LabelScope label(c, "empty_strided");
  Tensor out =
      c.empty_strided(sizes, strides, dtype.value_or(c.default_dtype), device.value_or(kHost));
  out->requires_grad = requires_grad;
  return out;
}
void check_strides(const Dims& sizes, const Dims& strides) {
  if (sizes.size() == strides.size()) return;
  throw OpError(fmt::format("mismatch in length of strides and shape: {} and {}",
                            to_string(strides), to_string(sizes)));
}

Tensor new_like(Context& c, std::string_view name, const Tensor& like,
                std::optional<ScalarType> dtype, std::optional<Device> device, bool requires_grad,
                std::optional<MemoryFormat> format) {
  const LabelScope label(c, name);
  const ScalarType type = dtype.value_or(like.dtype());
  const Device place = device.value_or(like.device());
  const MemoryFormat layout = format.value_or(MemoryFormat::kPreserve);
  const Dims strides = like.is_non_overlapping_and_dense()
                           ? like.strides()
                           : dense_strides_like(like.sizes(), like.strides());
  Tensor out = layout == MemoryFormat::kPreserve
                   ? c.empty_strided(like.sizes(), strides, type, place)
                   : c.empty_in(like.sizes(), layout, type, place);
  out->requires_grad = requires_grad;
  return out;
}

Tensor new_beside(Context& c, std::string_view name, const Tensor& like, const Dims& sizes,
                  std::optional<ScalarType> dtype, std::optional<Device> device,
                  bool requires_grad) {
  const LabelScope label(c, name);
  Tensor out = c.empty(sizes, dtype.value_or(like.dtype()), device.value_or(like.device()));
  out->requires_grad = requires_grad;
  return out;
}

ScalarType type_of_number(Arguments& a, std::size_t i) {
  if (std::holds_alternative<bool>(a.value(i))) return ScalarType::kBool;
  if (std::holds_alternative<std::int64_t>(a.value(i))) return ScalarType::kInt64;
  return a.context().default_dtype;
}
ScalarType type_of_range(Arguments& a, std::initializer_list<std::size_t> numbers) {
  for (const std::size_t i : numbers) {
    if (std::holds_alternative<double>(a.value(i))) return a.context().default_dtype;
  }
  return ScalarType::kInt64;
}

Tensor new_range(Context& c, double start, double end, double step, ScalarType dtype,
                 std::optional<Device> device, bool requires_grad) {
  if (step == 0) throw OpError("step must be nonzero");
  const double count = std::ceil((end - start) / step);
  if (count < 0) throw OpError("upper bound and lower bound inconsistent with step sign");
  constexpr double kTooMany = 9223372036854775808.0;  // 2^63
  if (!(count < kTooMany)) throw OpError("invalid size, possible overflow?");
  return new_tensor(c, "arange", {static_cast<std::int64_t>(count)}, dtype, device, requires_grad);
}

void check_count(std::int64_t n) {
  if (n < 0) throw OpError(fmt::format("n must be non-negative, got {}", n));
}

/// Source: at::native::randperm_out_cuda.
void shuffle(Context& c, const Tensor& out) {
  const std::int64_t n = out.numel();
  const LabelScope label(c, "randperm");
  c.scratch(element_bytes(out.dtype()), out.device());  // whether the type can hold n
  if (n == 0) return;
  // The keys have as many bits as make a tie unlikely.
  const double dn = static_cast<double>(n);
  const double log_threshold = std::log(0.9) * 12;
  const double bits = std::min(64.0, std::ceil(std::log2(dn - (6 * dn * dn + 1) / log_threshold)));
  const ScalarType key = bits <= 32 ? ScalarType::kInt32 : ScalarType::kInt64;
  const Tensor range = c.empty({n}, out.dtype(), out.device());
  const Tensor keys = c.empty({n}, key, out.device());
  const Tensor sorted = c.empty_like(keys);
  c.scratch(sort_bytes(c, n, element_bytes(key), element_bytes(out.dtype()),
                       static_cast<std::int64_t>(bits)),
            out.device());
}

namespace {

/// How many of the numbers in `rows` rows of `columns` lie before the diagonal that begins at
/// column `shift` of the first row. Requires: no number is negative but `shift`.
std::int64_t before_diagonal(std::int64_t rows, std::int64_t columns, std::int64_t shift) {
  const std::int64_t all = numel_of({rows, columns});
  if (all == 0) return 0;
  const std::int64_t at = std::clamp(shift, -rows, columns);
  // The rows that begin at `first` have at + row each, those from `full` on have all columns.
  const std::int64_t first = std::max<std::int64_t>(-at, 0);
  const std::int64_t full = std::min(columns - at, rows);
  const std::int64_t growing = full - first;
  return growing * (first + at) + growing * (growing - 1) / 2 + (rows - full) * columns;
}

void check_triangle(std::int64_t rows, std::int64_t columns) {
  if (rows < 0) throw OpError(fmt::format("row must be non-negative, got{}", rows));
  if (columns < 0) throw OpError(fmt::format("col must be non-negative, got{}", columns));
}

}  // namespace

std::int64_t lower_triangle(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  check_triangle(rows, columns);
  return before_diagonal(rows, columns, plus(offset, 1, "tril_indices"));
}
std::int64_t upper_triangle(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  check_triangle(rows, columns);
  return rows * columns - before_diagonal(rows, columns, offset);
}

Tensor written(Context& c, std::string_view name, const Dims& sizes, const Tensor& out) {
  if (!(out.sizes() == sizes)) {
    throw NotModelled(
        fmt::format("{} into out= of size {} is not modelled where the result has size {}", name,
                    to_string(out.sizes()), to_string(sizes)));
  }
  Op op(c, name, "", {}, {});
  return op.in_place(out, [](Backward& /*b*/) {});
}

}  // namespace tidemark::ops
