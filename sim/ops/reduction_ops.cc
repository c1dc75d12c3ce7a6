#include "sim/ops/reduction_ops.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/ops/autocast.h"
#include "sim/ops/cub.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/steps.h"

namespace tidemark::ops {

namespace {

/// Bytes of a partial value of sums and products.
Bytes accumulator_of(ScalarType type) { return element_bytes(accumulate_type(type)); }
/// Value and index (max, argmax).
constexpr Bytes kPairAccumulator = 16;

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

/// The gradient of a sum: the incoming one seen in the input's shape, no memory.
Tensor expanded(const Tensor& grad, const Dims& dims, bool keepdim, const Dims& sizes) {
  // A reduction of everything: what has no dimensions is expanded as it is, with strides of 0.
  if (dims.empty() && !keepdim) return expand(grad, sizes);
  return expand(restore_dims(grad, dims, keepdim, static_cast<std::int64_t>(sizes.size())), sizes);
}

Dims sizes_after(const Tensor& x, const std::vector<bool>& reduced, bool keepdim) {
  Dims sizes;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      sizes.push_back(x.sizes()[i]);
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  return sizes;
}

/// The kernel of sum and prod. Half types go to float32 results without a cast; every other change
/// of type casts first.
Tensor accumulate_kernel(Context& c, const Tensor& x, const Dims& dims, bool keepdim,
                         std::optional<ScalarType> dtype) {
  const std::vector<bool> reduced = reduced_dims(dims, x.dim());
  ScalarType out_type = dtype.value_or(x.dtype());
  if (!dtype && !is_differentiable(out_type)) out_type = ScalarType::kInt64;
  const bool direct =
      x.dtype() == out_type || (is_half(x.dtype()) && out_type == ScalarType::kFloat32);
  if (direct) return reduce(c, x, dims, keepdim, out_type);
  Tensor out = c.empty(sizes_after(x, reduced, keepdim), out_type, x.device());
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

/// Gradient of the variance. Source: torch::autograd::generated::details::var_backward.
Tensor var_backward(Context& c, const Tensor& grad, const Tensor& self, const Dims& dims,
                    bool keepdim) {
  const Tensor centre = reduce(c, self, dims, true, self.dtype());
  const Tensor difference = pointwise(c, {&self, &centre});
  const Tensor scaled_from = restore_dims(grad, dims, keepdim, self.dim());
  const Tensor scaled = pointwise(c, {&scaled_from});
  return pointwise(c, {&scaled, &difference});
}

Tensor std_to_var(Context& c, const Tensor& grad, const Tensor& result) {
  const Tensor twice = pointwise(c, {&result});
  Tensor out = pointwise(c, {&grad, &twice});
  pointwise(c, {&result}, ScalarType::kBool);
  return out;
}

}  // namespace

Tensor Steps::moments(const Tensor& x, const Dims& dims, bool keepdim, bool is_root) const {
  return reduce(c_, x, dims, keepdim, x.dtype(), moments_bytes(x.dtype()), is_root);
}

TensorList var_mean(Context& c, const Tensor& self, const Dims& dims, bool keepdim, bool root) {
  Op op(c, root ? "std_mean" : "var_mean", root ? "StdMeanBackward0" : "VarMeanBackward0", {&self});
  op.save(0, self);
  const std::vector<bool> reduced = reduced_dims(dims, self.dim());
  Dims sizes;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      sizes.push_back(self.sizes()[i]);
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  TensorList out{c.empty(sizes, self.dtype(), self.device()),
                 c.empty(sizes, self.dtype(), self.device())};
  {
    const ReductionScratch scratch =
        reduction_scratch(c, self, dims, moments_bytes(self.dtype()), false);
  }
  if (root) op.save(1, out[0]);
  op.results_of(out, [dims, keepdim, root](Backward& b) {
    const Tensor& x = b.saved[0];
    Tensor gradient;
    if (b.grad(0).defined()) {
      const Tensor grad = root ? std_to_var(b.c, b.grad(0), b.saved[1]) : b.grad(0);
      gradient = var_backward(b.c, grad, x, dims, keepdim);
    }
    if (b.grad(1).defined()) {
      const Tensor wide = expanded(b.grad(1), dims, keepdim, x.sizes());
      Tensor of_mean = pointwise(b.c, {&wide});
      gradient = gradient.defined() ? pointwise(b.c, {&gradient, &of_mean}) : of_mean;
    }
    b.grads[0] = std::move(gradient);
  });
  return out;
}

Tensor norm_gradient(Context& c, const Tensor& incoming, const Tensor& result, const Tensor& self,
                     double p, const Dims& dims, bool keepdim) {
  // The norm of everything stays a scalar: it does not raise the type of what it meets.
  const bool whole = dims.empty();
  const Tensor grad = whole ? incoming : restore_dims(incoming, dims, keepdim, self.dim());
  const Tensor norm = whole ? result : restore_dims(result, dims, keepdim, self.dim());
  const auto is_zero = [&c](const Tensor& t) { return pointwise(c, {&t}, ScalarType::kBool); };
  if (p == 0) return {};
  if (p == 1) {
    const Tensor sign = pointwise(c, {&self});
    return pointwise(c, {&sign, &grad});
  }
  if (p == 2) {
    const Tensor direction = pointwise(c, {&self, &norm});
    const Tensor mask = is_zero(norm);
    return pointwise(c, {&grad, &direction});
  }
  if (std::isinf(p)) {
    const Tensor magnitude = pointwise(c, {&self});
    const Tensor mask = [&] {
      const Tensor nan = pointwise(c, {&magnitude}, ScalarType::kBool);
      const Tensor equal = pointwise(c, {&magnitude, &norm}, ScalarType::kBool);
      return pointwise(c, {&equal, &nan});
    }();
    const Tensor count = sum_kernel(c, mask, dims, true);
    const Tensor share = pointwise(c, {&grad, &count});
    const Tensor masked = pointwise(c, {&share, &mask});
    const Tensor sign = pointwise(c, {&self});
    return pointwise(c, {&sign, &masked});
  }
  const Tensor scaled = [&] {
    const Tensor power = pointwise(c, {&self});
    const Tensor mask = p < 1 ? is_zero(self) : Tensor();
    const Tensor sign = p < 2 ? pointwise(c, {&self}) : self;
    return pointwise(c, {&sign, &power});
  }();
  if (p < 1) {
    const Tensor norm_power = pointwise(c, {&norm});
    const Tensor product = pointwise(c, {&scaled, &grad});
    return pointwise(c, {&product, &norm_power});
  }
  const Tensor scale = [&] {
    const Tensor power = pointwise(c, {&norm});
    return pointwise(c, {&grad, &power});
  }();
  is_zero(norm);
  return pointwise(c, {&scaled, &scale});
}

namespace {

/// Over dimensions of one element alone nothing is reduced: magnitudes, of what was cast first.
/// Source: linalg_vector_norm_out of ATen/native/ReduceOps.cpp.
Tensor norm_kernel(Context& c, const Tensor& x, const Dims& dims, bool keepdim, ScalarType dtype) {
  const std::vector<bool> reduced = reduced_dims(dims, x.dim());
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i] && x.sizes()[i] != 1) return accumulate_kernel(c, x, dims, keepdim, dtype);
  }
  Tensor out = c.empty(sizes_after(x, reduced, keepdim), dtype, x.device());
  if (x.dtype() != dtype) to_dtype(c, x, dtype);
  return out;
}

}  // namespace

Tensor vector_norm(Context& c, Tensor self, double ord, const Dims& dims, bool keepdim,
                   std::optional<ScalarType> dtype) {
  const AutocastScope cast(c, CastPolicy::kFp32, {});
  dtype = fp32_by_argument(cast, self, dtype);
  if (!is_differentiable(self.dtype())) {
    throw OpError(fmt::format(
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}",
        info(self.dtype()).name));
  }
  Op op(c, "linalg_vector_norm", "LinalgVectorNormBackward0", {&self});
  op.save(0, self);
  Tensor out = norm_kernel(c, self, dims, keepdim, dtype.value_or(self.dtype()));
  op.save(1, out);
  return op.result(std::move(out), [ord, dims, keepdim](Backward& b) {
    b.grads[0] = b.c.grad_enabled()
                     ? recorded_norm(b, b.saved[0], b.saved[1], ord, dims, keepdim)
                     : norm_gradient(b.c, b.grad(), b.saved[1], b.saved[0], ord, dims, keepdim);
  });
}

namespace {

/// "fro", "nuc", numbers, infinities.
double order_of(const Arguments& a, std::size_t i) {
  if (const auto* text = std::get_if<std::string>(&a.value(i))) {
    if (*text == "fro") return 2;
    throw NotModelled("the norm '" + *text + "' is not modelled; 'fro' and numbers are");
  }
  return a.is_none(i) ? 2 : a.number(i);
}

}  // namespace

OpResult norm_of_arguments(Arguments& a) {
  return vector_norm(a.context(), a.tensor(0), order_of(a, 1), a.optional_dims(2).value_or(Dims{}),
                     a.flag(3), a.dtype(4));
}

Tensor norm(Context& c, const Tensor& self, double p, const Dims& dims, bool keepdim) {
  const AutocastScope cast(c, CastPolicy::kFp32, {});
  const std::optional<ScalarType> dtype = fp32_by_argument(cast, self, std::nullopt);
  Op op(c, "norm", dtype ? "NormBackward3" : "NormBackward1", {&self});
  op.save(0, self);
  Tensor out = norm_kernel(c, self, dims, keepdim, dtype.value_or(self.dtype()));
  op.save(1, out);
  return op.result(std::move(out), [p, dims, keepdim](Backward& b) {
    const Tensor& x = b.saved[0];
    const ScalarType wanted = b.grad().dtype();
    const Tensor cast_x = x.dtype() == wanted ? x : to_dtype(b.c, x, wanted);
    b.grads[0] = norm_gradient(b.c, b.grad(), b.saved[1], cast_x, p, dims, keepdim);
  });
}

Tensor extreme(Context& c, std::string_view name, const Tensor& self) {
  if (self.numel() == 0) {
    throw OpError(
        fmt::format("{}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                    "the reduction dim with the 'dim' argument.",
                    name));
  }
  Op op(c, name, name == "max" ? "MaxBackward1" : "MinBackward1", {&self});
  op.save(0, self);
  Tensor out = c.empty({}, self.dtype(), self.device());
  {
    const Tensor dense = contiguous(c, self);
    const ReductionScratch scratch = reduction_scratch(c, dense, {}, element_bytes(self.dtype()));
  }
  op.save(1, out);
  return op.result(std::move(out), [](Backward& b) {
    b.grads[0] = evenly_distributed(b.c, b.grad(), b.saved[0], b.saved[1]);
  });
}

Tensor value_selecting_backward(Backward& b, const Dims& sizes) {
  return zeros(b.c, sizes, b.grad().dtype(), b.grad().device());
}

Tensor evenly_distributed(Context& c, const Tensor& grad, const Tensor& input,
                          const Tensor& value) {
  const Tensor nan = pointwise(c, {&input}, ScalarType::kBool);
  const Tensor value_nan = pointwise(c, {&value}, ScalarType::kBool);
  const Tensor mask = pointwise(c, {&input, &value}, ScalarType::kBool);
  const Tensor count = sum_kernel(c, mask, {}, false);
  const Tensor share = pointwise(c, {&grad, &count}, grad.dtype());
  return pointwise(c, {&mask, &share});
}

TensorList extreme_along(Context& c, std::string_view name, const Tensor& self, std::int64_t dim,
                         bool keepdim) {
  const std::int64_t d = wrap_dim(dim, self.dim());
  Op op(c, name, name == "max" ? "MaxBackward0" : "MinBackward0", {&self});
  Dims sizes = self.sizes();
  if (!sizes.empty()) {
    sizes[static_cast<std::size_t>(d)] = 1;
    if (!keepdim) sizes.erase(static_cast<std::size_t>(d));
  }
  TensorList out{c.empty(sizes, self.dtype(), self.device()),
                 c.empty(sizes, ScalarType::kInt64, self.device())};
  if (self.dim() > 0) {
    const ReductionScratch scratch = reduction_scratch(c, self, {d}, kPairAccumulator, false);
  }
  op.save(0, out[1]);
  op.results_of(out, [all = self.sizes(), d, keepdim](Backward& b) {
    b.grads[0] = value_selecting_backward(b, all);
    if (!b.c.grad_enabled()) return;
    const auto beside = [&](const Tensor& x) {
      return keepdim || all.empty() ? x : unsqueeze(b.c, x, d);
    };
    const Tensor grad = beside(b.grad());
    b.grads[0] = recorded_linear(
        b.c, "scatter_", "ScatterBackward0", grad, {}, false, {beside(b.saved[0])},
        std::move(b.grads[0]),
        [d](Backward& second) { return gather(second.c, second.grad(), d, second.saved[0]); });
  });
  return out;
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

namespace {

Tensor scan(Context& c, const Tensor& self, std::int64_t dim, ScalarType type) {
  Tensor out = c.empty(self.sizes(), type, self.device());
  const Tensor cast = to_dtype(c, self, type);
  const Tensor dense = contiguous(c, cast);
  scan_kernel(c, dense, dim);
  return out;
}

ScalarType scan_type(const AutocastScope& cast, const Tensor& self,
                     std::optional<ScalarType> dtype) {
  dtype = fp32_by_argument(cast, self, dtype);
  if (dtype) return *dtype;
  return is_differentiable(self.dtype()) ? self.dtype() : ScalarType::kInt64;
}

/// cumsum from the other end. Source: torch's reversed_cumsum.
Tensor reversed_cumsum(Context& c, const Tensor& x, std::int64_t dim) {
  const Tensor flipped = c.empty_like(x);
  const Tensor sums = scan(c, flipped, dim, x.dtype());
  return c.empty_like(sums);
}

}  // namespace

namespace {

BackwardFunction cumsum_backward(std::int64_t dim, ScalarType type) {
  return [dim, type](Backward& b) {
    const Tensor grad = to_dtype(b.c, b.grad(), type);
    const bool single = grad.numel() <= 1 || grad.size(dim) == 1;
    b.grads[0] = single ? grad : reversed_cumsum(b.c, grad, dim);
  };
}

BackwardFunction cumprod_backward(std::int64_t dim) {
  return [dim](Backward& b) {
    const Tensor& input = b.saved[0];
    const Tensor grad = to_dtype(b.c, b.grad(), input.dtype());
    if (input.numel() <= 1) {
      b.grads[0] = grad;
      return;
    }
    const Tensor product = pointwise(b.c, {&b.saved[1], &grad});
    if (input.size(dim) == 1) {
      b.grads[0] = grad;
      return;
    }
    const Tensor is_zero = pointwise(b.c, {&input}, ScalarType::kBool);
    reduce(b.c, is_zero, {}, false, ScalarType::kBool, 1);
    const Tensor sums = reversed_cumsum(b.c, product, dim);
    b.grads[0] = pointwise(b.c, {&sums, &input});
  };
}

/// The scan reads and writes the same memory.
void scan_in_place(Context& c, std::string_view name, const Tensor& self, std::int64_t dim) {
  if (!self.is_contiguous()) {
    throw NotModelled(fmt::format(
        "{} of a tensor that is not contiguous is not modelled; use the operator without the "
        "underscore",
        name));
  }
  scan_kernel(c, self, dim);
}

}  // namespace

Tensor cumsum(Context& c, Tensor self, std::int64_t dim, std::optional<ScalarType> dtype) {
  const AutocastScope cast(c, CastPolicy::kFp32, {});
  const std::int64_t d = wrap_dim(dim, self.dim());
  Op op(c, "cumsum", "CumsumBackward0", {&self});
  return op.result(scan(c, self, d, scan_type(cast, self, dtype)),
                   cumsum_backward(d, self.dtype()));
}

Tensor cumsum_(Context& c, const Tensor& self, std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, self.dim());
  Op op(c, "cumsum_", "CumsumBackward0", {&self});
  scan_in_place(c, "cumsum_", self, d);
  return op.in_place(self, cumsum_backward(d, self.dtype()));
}

Tensor cumprod(Context& c, Tensor self, std::int64_t dim, std::optional<ScalarType> dtype) {
  const AutocastScope cast(c, CastPolicy::kFp32, {});
  const std::int64_t d = wrap_dim(dim, self.dim());
  Op op(c, "cumprod", "CumprodBackward0", {&self});
  op.save(0, self);
  Tensor out = scan(c, self, d, scan_type(cast, self, dtype));
  op.save(1, out);
  return op.result(std::move(out), cumprod_backward(d));
}

Tensor cumprod_(Context& c, const Tensor& self, std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, self.dim());
  Op op(c, "cumprod_", "CumprodBackward0", {&self});
  if (op.records()) op.save(0, clone(c, self));
  scan_in_place(c, "cumprod_", self, d);
  op.save(1, self);
  return op.in_place(self, cumprod_backward(d));
}

}  // namespace tidemark::ops
