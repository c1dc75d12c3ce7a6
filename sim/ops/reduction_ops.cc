#include "sim/ops/reduction_ops.h"

#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/natives.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/steps.h"

namespace tidemark::ops {

std::vector<bool> reduced_dims(const Dims& dims, std::int64_t rank) {
  std::vector<bool> out(static_cast<std::size_t>(rank), dims.empty());
  for (const std::int64_t d : dims) {
    const auto i = static_cast<std::size_t>(wrap_dim(d, rank));
    if (i >= out.size()) continue;
    if (out[i]) throw OpError(fmt::format("dim {} appears multiple times in the list of dims", i));
    out[i] = true;
  }
  return out;
}

namespace {

/// Bytes of a partial value of sums and products.
Bytes accumulator_of(ScalarType type) { return element_bytes(accumulate_type(type)); }
/// Value and index (max, argmax).
constexpr Bytes kPairAccumulator = 16;

/// The gradient of a sum: the incoming one seen in the input's shape, no memory.
Tensor expanded(const Tensor& grad, const Dims& dims, bool keepdim, const Dims& sizes) {
  // A reduction of everything: what has no dimensions is expanded as it is, with strides of 0.
  if (dims.empty() && !keepdim) return expand(grad, sizes);
  return expand(restore_dims(grad, dims, keepdim, static_cast<std::int64_t>(sizes.size())), sizes);
}

/// The kernel of sum and prod. Half types go to float32 results without a cast; every other change
/// of type casts first.
Tensor accumulate_kernel(Context& c, const Tensor& x, const Dims& dims, bool keepdim,
                         std::optional<ScalarType> dtype) {
  ScalarType out_type = dtype.value_or(x.dtype());
  if (!dtype && !is_differentiable(out_type)) out_type = ScalarType::kInt64;
  const bool direct =
      x.dtype() == out_type || (is_half(x.dtype()) && out_type == ScalarType::kFloat32);
  if (direct) return reduce(c, x, dims, keepdim, out_type);
  Tensor out = c.empty(reduced_sizes(x, dims, keepdim), out_type, x.device());
  const Tensor cast = to_dtype(c, x, out_type);
  const ReductionScratch scratch = reduction_scratch(c, cast, dims, accumulator_of(out_type));
  return out;
}

}  // namespace

Tensor restore_dims(const Tensor& reduced, const Dims& dims, bool keepdim, std::int64_t rank) {
  if (keepdim || rank == 0) return reduced;
  const std::vector<bool> lost = reduced_dims(dims, rank);
  Tensor out = reduced;
  for (std::size_t i = 0; i < lost.size(); ++i) {
    if (lost[i]) out = unsqueeze(out, static_cast<std::int64_t>(i));
  }
  return out;
}

Tensor sum_kernel(Context& c, const Tensor& x, const Dims& dims, bool keepdim,
                  std::optional<ScalarType> dtype) {
  return accumulate_kernel(c, x, dims, keepdim, dtype);
}

std::optional<ScalarType> fp32_by_argument(const AutocastScope& cast, const Tensor& self,
                                           std::optional<ScalarType> dtype) {
  const bool eligible =
      self.is_cuda() && is_floating(self.dtype()) && self.dtype() != ScalarType::kFloat64;
  return cast.active() && eligible && !dtype ? ScalarType::kFloat32 : dtype;
}

Tensor sum(Context& c, const Tensor& self, const Dims& dims, bool keepdim,
           std::optional<ScalarType> dtype) {
  return dims.empty() && !keepdim ? sum(c, self, dtype)
                                  : sum_dim_IntList(c, self, dims, keepdim, dtype);
}
Tensor mean(Context& c, const Tensor& self, const Dims& dims, bool keepdim) {
  return dims.empty() && !keepdim ? mean(c, self, {}) : mean_dim(c, self, dims, keepdim, {});
}

Tensor Steps::accumulated(const Tensor& x, const Dims& dims, bool keepdim,
                          std::optional<ScalarType> dtype) const {
  return accumulate_kernel(c_, x, dims, keepdim, dtype);
}

Tensor Steps::averaged(const Tensor& x, const Dims& dims, bool keepdim,
                       std::optional<ScalarType> dtype) const {
  const ScalarType type = dtype.value_or(x.dtype());
  if (!is_differentiable(type)) {
    throw OpError(
        fmt::format("mean(): could not infer output dtype. Input dtype must be either a floating "
                    "point or complex dtype. Got: {}",
                    info(type).name));
  }
  return accumulate_kernel(c_, x, dims, keepdim, type);
}

Tensor Steps::expanded(const Tensor& x, const Dims& dims, bool keepdim, const Dims& sizes) const {
  return records_ ? recorded_expand(c_, x, dims, keepdim, sizes)
                  : ops::expanded(x, dims, keepdim, sizes);
}

Tensor Steps::nonzero(const Tensor& x) const { return nonzero_kernel(c_, x); }

namespace {

/// What a thread keeps of what it has seen for a variance: mean, squares and two counts. Source:
/// WelfordData in SharedReduceOps.h.
Bytes moments_bytes(ScalarType type) { return 4 * element_bytes(accumulate_type(type)); }

}  // namespace

Tensor Steps::moments(const Tensor& x, const Dims& dims, bool keepdim, bool is_root) const {
  return reduce(c_, x, dims, keepdim, x.dtype(), moments_bytes(x.dtype()), is_root);
}

Tensor Steps::positions(const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) const {
  if (dim) return reduce(c_, x, {*dim}, keepdim, ScalarType::kInt64, kPairAccumulator, false);
  Dims sizes;
  if (keepdim) sizes = Dims::filled(x.sizes().size(), 1);
  Tensor out = c_.empty(sizes, ScalarType::kInt64, x.device());
  const Tensor flat = ops::reshape(c_, x, Dims{-1});
  { const ReductionScratch scratch = reduction_scratch(c_, flat, {}, kPairAccumulator, false); }
  return out;
}

}  // namespace tidemark::ops
