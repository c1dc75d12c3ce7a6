#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/ops/checked_sizes.h"
#include "sim/ops/cub.h"
#include "sim/ops/families.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_rule.h"
#include "sim/ops/sparse.h"

namespace tidemark::ops {

namespace {

constexpr std::string_view kFactoryOpsSource = "docs/rules/shapes.md#5";

/// The common end of a factory's parameters starts at `i`: dtype, device, requires_grad.
/// `pinned`: in pinned host memory.
Tensor make(Arguments& a, std::string_view name, const Dims& sizes, ScalarType fallback,
            std::size_t i, bool pinned = false) {
  Context& c = a.context();
  const LabelScope label(c, name);
  const Device device = a.device(i + 1).value_or(c.default_device);
  const ScalarType dtype = a.dtype(i).value_or(fallback);
  if (pinned && device.is_cuda()) throw OpError("Only dense CPU tensors can be pinned");
  Tensor out = pinned ? c.empty_pinned(sizes, contiguous_strides(sizes), dtype)
                      : c.empty(sizes, dtype, device);
  out->requires_grad = a.flag(i + 2);
  return out;
}

/// The common end of a *_like factory: dtype, device, requires_grad, memory_format.
Tensor make_like(Arguments& a, std::string_view name, std::size_t i) {
  Context& c = a.context();
  const LabelScope label(c, name);
  const Tensor& like = a.tensor(0);
  const ScalarType dtype = a.dtype(i).value_or(like.dtype());
  const Device device = a.device(i + 1).value_or(like.device());
  const MemoryFormat format = a.memory_format(i + 3).value_or(MemoryFormat::kPreserve);
  const Dims strides = like.is_non_overlapping_and_dense()
                           ? like.strides()
                           : dense_strides_like(like.sizes(), like.strides());
  Tensor out = format == MemoryFormat::kPreserve
                   ? c.empty_strided(like.sizes(), strides, dtype, device)
                   : c.empty_in(like.sizes(), format, dtype, device);
  out->requires_grad = a.flag(i + 2);
  return out;
}

Tensor make_new(Arguments& a, std::string_view name, const Dims& sizes, std::size_t i) {
  Context& c = a.context();
  const LabelScope label(c, name);
  const Tensor& like = a.tensor(0);
  Tensor out =
      c.empty(sizes, a.dtype(i).value_or(like.dtype()), a.device(i + 1).value_or(like.device()));
  out->requires_grad = a.flag(i + 2);
  return out;
}

ScalarType type_of_number(Arguments& a, std::size_t i) {
  if (std::holds_alternative<bool>(a.value(i))) return ScalarType::kBool;
  if (std::holds_alternative<std::int64_t>(a.value(i))) return ScalarType::kInt64;
  return a.context().default_dtype;
}

Tensor arange(Arguments& a, double start, double end, double step, bool whole,
              std::size_t options) {
  if (step == 0) throw OpError("step must be nonzero");
  const double count = std::ceil((end - start) / step);
  if (count < 0) throw OpError("upper bound and lower bound inconsistent with step sign");
  constexpr double kTooMany = 9223372036854775808.0;  // 2^63
  if (!(count < kTooMany)) throw OpError("invalid size, possible overflow?");
  return make(a, "arange", {static_cast<std::int64_t>(count)},
              whole ? ScalarType::kInt64 : a.context().default_dtype, options);
}

bool is_whole(const Arguments& a, std::size_t i) {
  return !std::holds_alternative<double>(a.value(i));
}

/// Keys are drawn, sorted with the numbers as values. Source: at::native::randperm_out_cuda.
Tensor randperm(Arguments& a) {
  Context& c = a.context();
  const std::int64_t n = a.integer(0);
  if (n < 0) throw OpError(fmt::format("n must be non-negative, got {}", n));
  Tensor out = make(a, "randperm", {n}, ScalarType::kInt64, 1);
  if (!out.is_cuda()) return out;
  const LabelScope label(c, "randperm");
  c.scratch(element_bytes(out.dtype()), out.device());  // whether the type can hold n
  if (n == 0) return out;
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
  return out;
}

OpResult empty_strided(Arguments& a) {
  Context& c = a.context();
  if (a.dims(0).size() != a.dims(1).size()) {
    throw OpError(fmt::format("mismatch in length of strides and shape: {} and {}",
                              to_string(a.dims(1)), to_string(a.dims(0))));
  }
  const LabelScope label(c, "empty_strided");
  Tensor out = c.empty_strided(a.dims(0), a.dims(1), a.dtype(2).value_or(c.default_dtype),
                               a.device(3).value_or(kHost));
  out->requires_grad = a.flag(4);
  return out;
}

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

/// Rows and columns of the lower (upper) triangle, as two rows of a tensor.
template <bool kLower>
OpResult triangle_indices(Arguments& a) {
  const std::int64_t rows = a.integer(0);
  const std::int64_t columns = a.integer(1);
  const std::int64_t offset = a.integer(2);
  if (rows < 0) throw OpError(fmt::format("row must be non-negative, got{}", rows));
  if (columns < 0) throw OpError(fmt::format("col must be non-negative, got{}", columns));
  const std::int64_t before =
      before_diagonal(rows, columns, kLower ? plus(offset, 1, "tril_indices") : offset);
  const std::int64_t count = kLower ? before : rows * columns - before;
  return make(a, kLower ? "tril_indices" : "triu_indices", {2, count}, ScalarType::kInt64, 3);
}

OpResult overwrite(Arguments& a, const PointwiseRule& rule) {
  return apply_in_place(a.context(), rule, a.tensor(0));
}

OpResult zero(Arguments& a) {
  if (!a.tensor(0).is_sparse()) return overwrite(a, pointwise_rule("zero_"));
  clear_sparse_in_place(a.context(), a.tensor(0));
  return a.tensor(0);
}

OpResult random_values(Arguments& a) { return overwrite(a, pointwise_rule("random_")); }

/// What NAME(..., out=tensor) does to a tensor of the result's size.
OpResult fill(Context& c, std::string_view name, const Dims& sizes, const Tensor& out) {
  if (!(out.sizes() == sizes)) {
    throw NotModelled(
        fmt::format("{} into out= of size {} is not modelled where the result has size {}", name,
                    to_string(out.sizes()), to_string(sizes)));
  }
  Op op(c, name, "", {}, {});
  return op.in_place(out, [](Backward& /*b*/) {});
}

}  // namespace

std::span<const OpDef> factory_ops() {
  static constexpr OpDef kOps[] = {
      {"empty(int[] *size, *, dtype? dtype=None, device? device=None, bool requires_grad=False, "
       "bool pin_memory=False, any layout=None, any memory_format=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return make(a, "empty", a.dims(0), a.context().default_dtype, 1, a.flag(4));
       },
       kFactoryOpsSource},
      {"empty_strided(int[] size, int[] stride, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, any layout=None)",
       "torch", empty_strided, kFactoryOpsSource},
      {"zeros(int[] *size, *, dtype? dtype=None, device? device=None, bool requires_grad=False, "
       "bool pin_memory=False, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return make(a, "zeros", a.dims(0), a.context().default_dtype, 1, a.flag(4));
       },
       kFactoryOpsSource},
      {"ones(int[] *size, *, dtype? dtype=None, device? device=None, bool requires_grad=False, "
       "bool pin_memory=False, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return make(a, "ones", a.dims(0), a.context().default_dtype, 1, a.flag(4));
       },
       kFactoryOpsSource},
      {"rand(int[] *size, *, dtype? dtype=None, device? device=None, bool requires_grad=False, "
       "bool pin_memory=False, generator? generator=None, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return make(a, "rand", a.dims(0), a.context().default_dtype, 1, a.flag(4));
       },
       kFactoryOpsSource},
      {"randn(int[] *size, *, dtype? dtype=None, device? device=None, bool requires_grad=False, "
       "bool pin_memory=False, generator? generator=None, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return make(a, "randn", a.dims(0), a.context().default_dtype, 1, a.flag(4));
       },
       kFactoryOpsSource},
      {"full(int[] size, number fill_value, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult { return make(a, "full", a.dims(0), type_of_number(a, 1), 2); },
       kFactoryOpsSource},
      {"randint(int high, int[] size, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, generator? generator=None, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return make(a, "randint", a.dims(1), ScalarType::kInt64, 2);
       },
       kFactoryOpsSource},
      {"randint(int low, int high, int[] size, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, generator? generator=None, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return make(a, "randint", a.dims(2), ScalarType::kInt64, 3);
       },
       kFactoryOpsSource},
      {"randperm(int n, *, dtype? dtype=None, device? device=None, bool requires_grad=False, "
       "generator? generator=None, any layout=None)",
       "torch", [](Arguments& a) -> OpResult { return randperm(a); }, kFactoryOpsSource},
      {"arange(number end, *, dtype? dtype=None, device? device=None, bool requires_grad=False, "
       "any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult { return arange(a, 0, a.number(0), 1, is_whole(a, 0), 1); },
       kFactoryOpsSource},
      {"arange(number start, number end, number step=1, *, dtype? dtype=None, device? device=None, "
       "bool requires_grad=False, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return arange(a, a.number(0), a.number(1), a.number(2),
                       is_whole(a, 0) && is_whole(a, 1) && is_whole(a, 2), 3);
       },
       kFactoryOpsSource},
      {"linspace(number start, number end, int steps, *, dtype? dtype=None, device? device=None, "
       "bool requires_grad=False, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return make(a, "linspace", {a.integer(2)}, a.context().default_dtype, 3);
       },
       kFactoryOpsSource},
      {"logspace(number start, number end, int steps, float base=10, *, dtype? dtype=None, device? "
       "device=None, bool requires_grad=False, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return make(a, "logspace", {a.integer(2)}, a.context().default_dtype, 4);
       },
       kFactoryOpsSource},
      {"eye(int n, int? m=None, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, any layout=None)",
       "torch",
       [](Arguments& a) -> OpResult {
         return make(a, "eye", {a.integer(0), a.optional_integer(1).value_or(a.integer(0))},
                     a.context().default_dtype, 2);
       },
       kFactoryOpsSource},
      {"eye(int n, int? m=None, *, Tensor out)", "torch",
       [](Arguments& a) -> OpResult {
         return fill(a.context(), "eye",
                     {a.integer(0), a.optional_integer(1).value_or(a.integer(0))}, a.tensor(2));
       },
       kFactoryOpsSource},
      {"tril_indices(int row, int col, int offset=0, *, dtype? dtype=None, device? device=None, "
       "bool requires_grad=False, any layout=None)",
       "torch", triangle_indices<true>, kFactoryOpsSource},
      {"triu_indices(int row, int col, int offset=0, *, dtype? dtype=None, device? device=None, "
       "bool requires_grad=False, any layout=None)",
       "torch", triangle_indices<false>, kFactoryOpsSource},
      {"empty_like(Tensor input, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, memory_format? memory_format=None, any layout=None)",
       "torch", [](Arguments& a) -> OpResult { return make_like(a, "empty_like", 1); },
       kFactoryOpsSource},
      {"zeros_like(Tensor input, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, memory_format? memory_format=None, any layout=None)",
       "torch", [](Arguments& a) -> OpResult { return make_like(a, "zeros_like", 1); },
       kFactoryOpsSource},
      {"ones_like(Tensor input, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, memory_format? memory_format=None, any layout=None)",
       "torch", [](Arguments& a) -> OpResult { return make_like(a, "ones_like", 1); },
       kFactoryOpsSource},
      {"rand_like(Tensor input, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, memory_format? memory_format=None, any layout=None)",
       "torch", [](Arguments& a) -> OpResult { return make_like(a, "rand_like", 1); },
       kFactoryOpsSource},
      {"randn_like(Tensor input, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, memory_format? memory_format=None, any layout=None)",
       "torch", [](Arguments& a) -> OpResult { return make_like(a, "randn_like", 1); },
       kFactoryOpsSource},
      {"full_like(Tensor input, number fill_value, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, memory_format? memory_format=None, any layout=None)",
       "torch", [](Arguments& a) -> OpResult { return make_like(a, "full_like", 2); },
       kFactoryOpsSource},
      {"randint_like(Tensor input, int high, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, memory_format? memory_format=None, any layout=None)",
       "torch", [](Arguments& a) -> OpResult { return make_like(a, "randint_like", 2); },
       kFactoryOpsSource},
      {"randint_like(Tensor input, int low, int high, *, dtype? dtype=None, device? device=None, "
       "bool requires_grad=False, memory_format? memory_format=None, any layout=None)",
       "torch", [](Arguments& a) -> OpResult { return make_like(a, "randint_like", 3); },
       kFactoryOpsSource},
      {"new_empty(Tensor input, int[] *size, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, any layout=None)",
       "method", [](Arguments& a) -> OpResult { return make_new(a, "new_empty", a.dims(1), 2); },
       kFactoryOpsSource},
      {"new_zeros(Tensor input, int[] *size, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, any layout=None)",
       "method", [](Arguments& a) -> OpResult { return make_new(a, "new_zeros", a.dims(1), 2); },
       kFactoryOpsSource},
      {"new_ones(Tensor input, int[] *size, *, dtype? dtype=None, device? device=None, bool "
       "requires_grad=False, any layout=None)",
       "method", [](Arguments& a) -> OpResult { return make_new(a, "new_ones", a.dims(1), 2); },
       kFactoryOpsSource},
      {"new_full(Tensor input, int[] size, number fill_value, *, dtype? dtype=None, device? "
       "device=None, bool requires_grad=False, any layout=None)",
       "method", [](Arguments& a) -> OpResult { return make_new(a, "new_full", a.dims(1), 3); },
       kFactoryOpsSource},
      {"fill_(Tensor input, operand value)", "method",
       [](Arguments& a) -> OpResult {
         return fill_(a.context(), a.tensor(0), a.is_tensor(1) ? a.tensor(1) : Tensor());
       },
       kFactoryOpsSource},
      {"zero_(Tensor input)", "method", zero, kFactoryOpsSource},
      {"normal_(Tensor input, float mean=0, float std=1, *, generator? generator=None)", "method",
       random_values, kFactoryOpsSource},
      {"uniform_(Tensor input, float from=0, float to=1, *, generator? generator=None)", "method",
       random_values, kFactoryOpsSource},
      {"exponential_(Tensor input, float lambd=1, *, generator? generator=None)", "method",
       random_values, kFactoryOpsSource},
      {"random_(Tensor input, *, generator? generator=None)", "method", random_values,
       kFactoryOpsSource},
      {"random_(Tensor input, int to, *, generator? generator=None)", "method", random_values,
       kFactoryOpsSource},
      {"random_(Tensor input, int from, int? to, *, generator? generator=None)", "method",
       random_values, kFactoryOpsSource},
      {"bernoulli_(Tensor input, operand p=0.5, *, generator? generator=None)", "method",
       random_values, kFactoryOpsSource},
      {"geometric_(Tensor input, float p, *, generator? generator=None)", "method", random_values,
       kFactoryOpsSource},
      {"cauchy_(Tensor input, float median=0, float sigma=1, *, generator? generator=None)",
       "method", random_values, kFactoryOpsSource},
      {"log_normal_(Tensor input, float mean=1, float std=2, *, generator? generator=None)",
       "method", random_values, kFactoryOpsSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
