#include <fmt/format.h>

#include "sim/ops/checked_sizes.h"
#include "sim/ops/cub.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

/// One dimension after another, each by a kernel of its own.
OpResult rolled(Arguments& a) {
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

OpResult drawn_of_rows(Arguments& a) {
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

OpResult meshgrid_of_two(Arguments& a) {
  return OpResult::tuple(meshgrid(a.context(), {a.tensor(0), a.tensor(1)}, a.text(2) == "xy"));
}

}  // namespace tidemark::ops
