#include <limits>

#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/reduction_ops.h"

namespace tidemark::ops {

namespace {

constexpr std::string_view kReductionTableSource = "docs/rules/reductions.md#1, #2";

Dims dims_or_all(const Arguments& a, std::size_t i) { return a.optional_dims(i).value_or(Dims{}); }

std::optional<std::int64_t> dim_of(const Arguments& a, std::size_t i) {
  return a.optional_integer(i);
}

template <bool kMax>
OpResult arg_extreme(Arguments& a) {
  return argmax(a.context(), kMax ? "argmax" : "argmin", a.tensor(0), dim_of(a, 1), a.flag(2));
}

template <bool kMax>
OpResult whole(Arguments& a) {
  return extreme(a.context(), kMax ? "max" : "min", a.tensor(0));
}

template <bool kMax>
OpResult along(Arguments& a) {
  const std::string_view name = kMax ? "max" : "min";
  return OpResult::named(name, "values indices",
                         extreme_along(a.context(), name, a.tensor(0), a.integer(1), a.flag(2)));
}

template <bool kMax>
OpResult elementwise(Arguments& a) {
  return binary(a.context(), kMax ? "maximum" : "minimum", a.tensor(0), a.tensor(1));
}

/// "fro", "nuc", numbers, infinities.
double order_of(const Arguments& a, std::size_t i) {
  if (const auto* text = std::get_if<std::string>(&a.value(i))) {
    if (*text == "fro") return 2;
    throw NotModelled("the norm '" + *text + "' is not modelled; 'fro' and numbers are");
  }
  return a.is_none(i) ? 2 : a.number(i);
}

OpResult run_norm(Arguments& a) {
  return vector_norm(a.context(), a.tensor(0), order_of(a, 1), dims_or_all(a, 2), a.flag(3),
                     a.dtype(4));
}

template <bool kRoot>
OpResult variance(Arguments& a) {
  const Dims dims = dims_or_all(a, 1);
  return kRoot ? std(a.context(), a.tensor(0), dims, a.flag(3))
               : var(a.context(), a.tensor(0), dims, a.flag(3));
}

/// The older form: unbiased where the newer one has correction.
template <bool kRoot>
OpResult variance_unbiased(Arguments& a) {
  return kRoot ? std(a.context(), a.tensor(0), {}, false)
               : var(a.context(), a.tensor(0), {}, false);
}

template <bool kRoot>
OpResult variance_and_mean(Arguments& a) {
  return OpResult::tuple(var_mean(a.context(), a.tensor(0), dims_or_all(a, 1), a.flag(3), kRoot));
}

}  // namespace

std::span<const OpDef> reduction_ops() {
  static constexpr OpDef kOps[] = {
      {"sum(Tensor input, *, dtype? dtype=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return sum(a.context(), a.tensor(0), {}, false, a.dtype(1));
       },
       kReductionTableSource},
      {"sum(Tensor input, int[]? *dim, bool keepdim=False, *, dtype? dtype=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return sum(a.context(), a.tensor(0), dims_or_all(a, 1), a.flag(2), a.dtype(3));
       },
       kReductionTableSource},
      {"mean(Tensor input, *, dtype? dtype=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return mean(a.context(), a.tensor(0), {}, false, a.dtype(1));
       },
       kReductionTableSource},
      {"mean(Tensor input, int[]? *dim, bool keepdim=False, *, dtype? dtype=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return mean(a.context(), a.tensor(0), dims_or_all(a, 1), a.flag(2), a.dtype(3));
       },
       kReductionTableSource},
      {"prod(Tensor input, *, dtype? dtype=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return prod(a.context(), a.tensor(0), {}, false, a.dtype(1));
       },
       kReductionTableSource},
      {"prod(Tensor input, int dim, bool keepdim=False, *, dtype? dtype=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return prod(a.context(), a.tensor(0), a.integer(1), a.flag(2), a.dtype(3));
       },
       kReductionTableSource},
      {"var(Tensor input, int[]? dim=None, number unbiased=True, bool keepdim=False)",
       "torch method", variance<false>, kReductionTableSource},
      {"var(Tensor input, int[]? dim=None, *, number? correction=1, bool keepdim=False)",
       "torch method", variance<false>, kReductionTableSource},
      {"var(Tensor input, bool unbiased)", "torch method", variance_unbiased<false>,
       kReductionTableSource},
      {"std(Tensor input, int[]? dim=None, number unbiased=True, bool keepdim=False)",
       "torch method", variance<true>, kReductionTableSource},
      {"std(Tensor input, int[]? dim=None, *, number? correction=1, bool keepdim=False)",
       "torch method", variance<true>, kReductionTableSource},
      {"std(Tensor input, bool unbiased)", "torch method", variance_unbiased<true>,
       kReductionTableSource},
      {"var_mean(Tensor input, int[]? dim=None, number unbiased=True, bool keepdim=False)", "torch",
       variance_and_mean<false>, kReductionTableSource},
      {"var_mean(Tensor input, int[]? dim=None, *, number? correction=1, bool keepdim=False)",
       "torch", variance_and_mean<false>, kReductionTableSource},
      {"std_mean(Tensor input, int[]? dim=None, number unbiased=True, bool keepdim=False)", "torch",
       variance_and_mean<true>, kReductionTableSource},
      {"std_mean(Tensor input, int[]? dim=None, *, number? correction=1, bool keepdim=False)",
       "torch", variance_and_mean<true>, kReductionTableSource},
      {"norm(Tensor input, number? p=2, int[]? dim=None, bool keepdim=False, dtype? dtype=None)",
       "torch method", run_norm, kReductionTableSource},
      {"norm(Tensor input, str p, int[]? dim=None, bool keepdim=False, dtype? dtype=None)",
       "torch method", run_norm, kReductionTableSource},
      {"vector_norm(Tensor input, number ord=2, int[]? dim=None, bool keepdim=False, *, dtype? "
       "dtype=None)",
       "linalg", run_norm, kReductionTableSource},
      {"linalg_vector_norm(Tensor input, number ord=2, int[]? dim=None, bool keepdim=False, *, "
       "dtype? dtype=None)",
       "torch", run_norm, kReductionTableSource},
      {"max(Tensor input)", "torch method", whole<true>, kReductionTableSource},
      {"max(Tensor input, int dim, bool keepdim=False)", "torch method", along<true>,
       kReductionTableSource},
      {"max(Tensor input, Tensor other)", "torch method", elementwise<true>, kReductionTableSource},
      {"min(Tensor input)", "torch method", whole<false>, kReductionTableSource},
      {"min(Tensor input, int dim, bool keepdim=False)", "torch method", along<false>,
       kReductionTableSource},
      {"min(Tensor input, Tensor other)", "torch method", elementwise<false>,
       kReductionTableSource},
      {"argmax(Tensor input, int? dim=None, bool keepdim=False)", "torch method", arg_extreme<true>,
       kReductionTableSource},
      {"argmin(Tensor input, int? dim=None, bool keepdim=False)", "torch method",
       arg_extreme<false>, kReductionTableSource},
      {"cumsum(Tensor input, int dim, *, dtype? dtype=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return cumsum(a.context(), a.tensor(0), a.integer(1), a.dtype(2));
       },
       kReductionTableSource},
      {"cumsum_(Tensor input, int dim)", "method",
       [](Arguments& a) -> OpResult { return cumsum_(a.context(), a.tensor(0), a.integer(1)); },
       kReductionTableSource},
      {"cumprod_(Tensor input, int dim)", "method",
       [](Arguments& a) -> OpResult { return cumprod_(a.context(), a.tensor(0), a.integer(1)); },
       kReductionTableSource},
      {"cumprod(Tensor input, int dim, *, dtype? dtype=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return cumprod(a.context(), a.tensor(0), a.integer(1), a.dtype(2));
       },
       kReductionTableSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
