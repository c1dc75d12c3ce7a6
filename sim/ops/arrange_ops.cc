#include <fmt/format.h>

#include "sim/ops/checked_sizes.h"
#include "sim/ops/cub.h"
#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

constexpr std::string_view kArrangeOpsSource = "docs/rules/shapes.md#2";
constexpr std::string_view kDrawn = "docs/rules/shapes.md#6";

/// One kernel whose gradient is the same kernel on the gradient: flip, roll, tril, triu.
Tensor rearranged(Context& c, std::string_view name, std::string_view node, const Tensor& self,
                  bool keeps_strides) {
  const auto kernel = [keeps_strides](Context& at, const Tensor& x) {
    return keeps_strides ? at.empty_like(x) : at.empty(x.sizes(), x.dtype(), x.device());
  };
  Op op(c, name, node, {&self});
  return op.result(kernel(c, self), [kernel](Backward& b) { b.grads[0] = kernel(b.c, b.grad()); });
}

void check_matrix(std::string_view name, const Tensor& self) {
  if (self.dim() < 2) {
    throw OpError(fmt::format("{}: input tensor must have at least 2 dimensions", name));
  }
}

/// One dimension after another, each by a kernel of its own.
OpResult roll(Arguments& a) {
  Context& c = a.context();
  const Tensor& self = a.tensor(0);
  if (self.numel() == 0) return clone(c, self, MemoryFormat::kContiguous);
  const std::size_t times = std::max<std::size_t>(a.dims(1).size(), 1);
  const auto kernel = [times](Context& at, const Tensor& x) {
    // One dimension after another, by recursion: what each gave lives until all have returned.
    TensorList rolled;
    Tensor dense = contiguous(at, x);
    for (std::size_t i = 0; i < times; ++i) {
      rolled.push_back(at.empty(x.sizes(), x.dtype(), x.device()));
      dense.reset();
    }
    Tensor out = rolled.back();
    while (!rolled.empty()) rolled.pop_back();
    return out;
  };
  Op op(c, "roll", "RollBackward0", {&self});
  return op.result(kernel(c, self), [kernel](Backward& b) { b.grads[0] = kernel(b.c, b.grad()); });
}

/// The gradient is seen in the repeats' shape and summed over them. Source: torch's
/// repeat_backward.
Tensor repeat(Context& c, const Tensor& self, const Dims& repeats) {
  if (repeats.size() < self.sizes().size()) {
    throw OpError(
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
        "tensor");
  }
  Op op(c, "repeat", "RepeatBackward0", {&self});
  const std::size_t lead = repeats.size() - self.sizes().size();
  Dims sizes = repeats;
  for (std::size_t i = lead; i < sizes.size(); ++i)
    sizes[i] = times(sizes[i], self.sizes()[i - lead], "repeat");
  return op.result(c.empty(sizes, self.dtype(), self.device()),
                   [repeats, lead, own = self.sizes()](Backward& b) {
                     Tensor grad = b.grad();
                     if (numel_of(own) == 0 || b.grad().numel() == 0) {
                       b.grads[0] = zeros(b.c, own, grad.dtype(), grad.device());
                       return;
                     }
                     for (std::size_t i = 0; i < lead; ++i) grad = sum(b.c, grad, {0}, false);
                     Dims split;
                     Dims over;
                     for (std::size_t i = 0; i < own.size(); ++i) {
                       if (repeats[lead + i] != 1) {
                         over.push_back(static_cast<std::int64_t>(split.size()));
                         split.push_back(repeats[lead + i]);
                       }
                       split.push_back(own[i]);
                     }
                     if (over.empty()) {
                       b.grads[0] = grad;
                       return;
                     }
                     const Tensor wide = reshape(b.c, grad, split);
                     b.grads[0] = sum(b.c, wide, over, false);
                   });
}

TensorList meshgrid(Context& c, const TensorList& tensors, bool swap) {
  std::vector<Tensor> order(tensors);
  if (swap && order.size() > 1) std::swap(order[0], order[1]);
  Dims shape;
  for (const Tensor& t : order) shape.push_back(t.numel());
  TensorList out;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Dims sizes = Dims::filled(order.size(), 1);
    sizes[i] = order[i].numel();
    out.push_back(expand(c, view(c, order[i], sizes), shape));
  }
  if (swap && out.size() > 1) {
    for (Tensor& t : out) t = transpose(c, t, 0, 1);
    std::swap(out[0], out[1]);
  }
  return out;
}

template <bool kLower>
OpResult triangle(Arguments& a) {
  const std::string_view name = kLower ? "tril" : "triu";
  check_matrix(name, a.tensor(0));
  return rearranged(a.context(), name, kLower ? "TrilBackward0" : "TriuBackward0", a.tensor(0),
                    false);
}

template <bool kLower>
OpResult triangle_(Arguments& a) {
  const Tensor& self = a.tensor(0);
  check_matrix(kLower ? "tril_" : "triu_", self);
  Op op(a.context(), kLower ? "tril_" : "triu_", kLower ? "TrilBackward0" : "TriuBackward0",
        {&self});
  return op.in_place(self, [](Backward& b) {
    b.grads[0] = b.c.empty(b.grad().sizes(), b.grad().dtype(), b.grad().device());
  });
}

OpResult multinomial(Arguments& a) {
  Context& c = a.context();
  const Tensor& self = a.tensor(0);
  const LabelScope label(c, "multinomial");
  const GradMode off(c, false);
  const std::int64_t count = a.integer(1);
  if (self.dim() < 1 || self.dim() > 2) throw OpError("prob_dist must be 1 or 2 dim");
  if (count <= 0) throw OpError("cannot sample n_sample <= 0 samples");
  if (!a.flag(2) && count > self.size(-1))
    throw OpError("cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  Dims sizes = self.sizes();
  sizes.back() = count;
  Tensor out = c.empty(sizes, ScalarType::kInt64, self.device());
  if (!self.is_cuda()) return out;
  const auto scalar = [&](ScalarType type) { return c.empty({}, type, self.device()); };
  // Where both extremes are there before they are compared, they stay until the end.
  Tensor most;
  Tensor least;
  Tensor valid;
  if (!a.flag(2) || count == 1) {
    // Checks of the distribution, then an exponential race.
    valid = [&] {
      const auto extreme = [&] { return reduce(c, self, {}, false, self.dtype()); };
      const bool both_first = c.rules().multinomial_extremes_first;
      Tensor smallest = extreme();
      Tensor is_positive = both_first ? Tensor() : scalar(ScalarType::kBool);
      Tensor largest = extreme();
      if (both_first) {
        is_positive = scalar(ScalarType::kBool);
        least = std::move(smallest);
        most = std::move(largest);
      }
      const Tensor is_finite = scalar(ScalarType::kBool);
      return scalar(ScalarType::kBool);
    }();
    const Tensor has_zero_row = [&] {
      if (self.dim() == 1) {
        const Tensor total = reduce(c, self, {}, false, self.dtype());
        return scalar(ScalarType::kBool);
      }
      const Tensor totals = reduce(c, self, {1}, false, self.dtype());
      const Tensor is_zero = pointwise(c, {&totals}, ScalarType::kBool);
      return reduce(c, is_zero, {}, false, ScalarType::kBool, 1);
    }();
    scalar(ScalarType::kBool);
    const Tensor race = c.empty_like(self);
    if (count == 1) {
      return out;
    }
    c.empty(sizes, self.dtype(), self.device());
    return out;
  }
  // Sums along each row, searched once a sample. Source: multinomial_with_replacement_kernel_impl.
  const auto rows = [&] { return c.empty(self.sizes(), self.dtype(), self.device()); };
  const Tensor given = rows();
  const Tensor normal = c.rules().multinomial_normalises_in_place ? Tensor() : rows();
  const Tensor sums = rows();
  scan_kernel(c, sums, self.dim() - 1);
  return out;
}

}  // namespace

std::span<const OpDef> arrange_ops() {
  static constexpr OpDef kOps[] = {
      {"flip(Tensor input, int[] *dims)", "torch method",
       [](Arguments& a) -> OpResult {
         for (const std::int64_t d : a.dims(1)) wrap_dim(d, a.tensor(0).dim());
         return rearranged(a.context(), "flip", "FlipBackward0", a.tensor(0), true);
       },
       kArrangeOpsSource},
      {"roll(Tensor input, place[] shifts, int[]? dims=None)", "torch method", roll,
       kArrangeOpsSource},
      {"tril(Tensor input, place diagonal=0)", "torch method", triangle<true>, kArrangeOpsSource},
      {"triu(Tensor input, place diagonal=0)", "torch method", triangle<false>, kArrangeOpsSource},
      {"tril_(Tensor input, int diagonal=0)", "method", triangle_<true>, kArrangeOpsSource},
      {"triu_(Tensor input, int diagonal=0)", "method", triangle_<false>, kArrangeOpsSource},
      {"repeat(Tensor input, int[] *repeats)", "method",
       [](Arguments& a) -> OpResult { return repeat(a.context(), a.tensor(0), a.dims(1)); },
       kArrangeOpsSource},
      {"tile(Tensor input, int[] *dims)", "torch method",
       [](Arguments& a) -> OpResult {
         Dims repeats = a.dims(1);
         while (repeats.size() < a.tensor(0).sizes().size()) repeats.insert(0, 1);
         return repeat(a.context(), a.tensor(0), repeats);
       },
       kArrangeOpsSource},
      {"multinomial(Tensor input, int num_samples, bool replacement=False, *, generator? "
       "generator=None)",
       "torch method", multinomial, kDrawn},
      {"bernoulli(Tensor input, *, generator? generator=None)", "torch method",
       [](Arguments& a) -> OpResult {
         Context& c = a.context();
         const Tensor& self = a.tensor(0);
         Op op(c, "bernoulli", "BernoulliBackward0", {&self});
         return op.result(c.empty_like(self),
                          [](Backward& b) { b.grads[0] = zeros_like(b.c, b.grad()); });
       },
       kDrawn},
      {"bernoulli(Tensor input, float p, *, generator? generator=None)", "torch method",
       [](Arguments& a) -> OpResult {
         Context& c = a.context();
         const LabelScope label(c, "bernoulli");
         return c.empty(a.tensor(0).sizes(), a.tensor(0).dtype(), a.tensor(0).device());
       },
       kDrawn},
      {"meshgrid(Tensor[] *tensors, *, str indexing='ij')", "torch",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(meshgrid(a.context(), a.tensors(0), a.text(1) == "xy"));
       },
       kArrangeOpsSource},
      {"meshgrid(Tensor a, Tensor b, *, str indexing='ij')", "torch",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(
             meshgrid(a.context(), {a.tensor(0), a.tensor(1)}, a.text(2) == "xy"));
       },
       kArrangeOpsSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
