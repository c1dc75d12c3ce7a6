#include "sim/ops/print_ops.h"

#include <cmath>
#include <optional>
#include <utility>

#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/values/view.h"

namespace tidemark::ops {

namespace {

constexpr std::int64_t kThreshold = 1000;
constexpr std::int64_t kEdge = 3;

/// The first and last three along each dimension.
Tensor summarised(Context& c, const Tensor& x) {
  if (x.dim() == 0) return x;
  const std::int64_t length = x.size(0);
  if (x.dim() == 1) {
    if (length <= 2 * kEdge) return x;
    return cat_kernel(c, {narrow(x, 0, 0, kEdge), narrow(x, 0, length - kEdge, kEdge)}, 0);
  }
  TensorList rows;
  for (std::int64_t i = 0; i < length; ++i) {
    if (length > 2 * kEdge && i >= kEdge && i < length - kEdge) continue;
    rows.push_back(summarised(c, select(x, 0, i)));
  }
  Tensor out = stack_kernel(c, rows, 0);
  // A Python list lets its last go first.
  while (!rows.empty()) rows.pop_back();
  return out;
}

/// Notes which elements are shown: finite ones that are not zero. All of numbers that nobody knows
/// are taken to be.
void note_shown(const Context& c, const Tensor& numbers, const Tensor& mask) {
  if (!c.count_unknown) return;
  const std::optional<Numbers> known = c.look_at(numbers);
  Numbers shown;
  shown.dtype = ScalarType::kBool;
  shown.resize(static_cast<std::size_t>(mask.numel()));
  for (std::size_t i = 0; i < shown.size(); ++i)
    shown.whole[i] = !known || (std::isfinite(known->at(i)) && known->at(i) != 0) ? 1 : 0;
  note_numbers(mask, std::move(shown));
}

}  // namespace

void print_kernels(Context& c, const Tensor& x) {
  if (!x.is_cuda() || x.numel() == 0 || x.is_sparse()) return;
  const GradMode off(c, false);
  const LabelScope label(c, "print");
  const Tensor shown = x.numel() > kThreshold ? summarised(c, x) : x;
  if (!is_floating(shown.dtype())) return;
  const Tensor flat = reshape(c, shown, Dims{shown.numel()});
  Tensor mask;
  {
    Tensor finite = isfinite(c, flat);
    Tensor not_zero = binary(c, "ne", flat, number_tensor(c, ScalarType::kInt64));
    mask = binary(c, "bitwise_and", finite, not_zero);
    finite.reset();
    not_zero.reset();
  }
  note_shown(c, flat, mask);
  masked_select(c, flat, mask);
}

}  // namespace tidemark::ops
