#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/values/view.h"

namespace tidemark::ops {

/// Where values would stand in sorted boundaries: integers, so without history.
OpResult searched(Context& c, std::string_view name, const Tensor& values, const Tensor& boundaries,
                  bool narrow) {
  Op op(c, name, "", {}, {&values, &boundaries});
  Tensor out =
      c.empty(values.sizes(), narrow ? ScalarType::kInt32 : ScalarType::kInt64, values.device());
  const Tensor dense_values = contiguous(c, values);
  const Tensor dense_boundaries = contiguous(c, boundaries);
  return op.result(std::move(out), nullptr);
}

/// Of a number: it becomes a scalar beside the boundaries, of their type. Its place is known where
/// the boundaries are, or where it lies outside of all numbers.
/// Source: at::native::searchsorted_cuda, searchsorted_scalar_tensor.
OpResult searched_number(Arguments& a) {
  Context& c = a.context();
  const Tensor& boundaries = a.tensor(0);
  const double value = a.number(1);
  const bool right = a.flag(3) || (!a.is_none(4) && a.text(4) == "right");
  const bool is_whole = !std::holds_alternative<double>(a.value(1));
  const LabelScope label(c, "searchsorted");
  const ScalarType type = is_whole ? ScalarType::kInt64 : ScalarType::kFloat64;
  const bool widens = !is_whole && is_integral(boundaries.dtype());
  const ScalarType common = widens ? c.default_dtype : boundaries.dtype();
  const Tensor given = c.empty({}, type, boundaries.device());
  Tensor out =
      c.empty({}, a.flag(2) ? ScalarType::kInt32 : ScalarType::kInt64, boundaries.device());
  const Tensor dense = contiguous(c, boundaries);
  const Tensor as_common = type == common ? given : c.empty({}, common, given.device());
  const Tensor converted =
      boundaries.dtype() == common ? dense : c.empty(boundaries.sizes(), common, given.device());
  std::optional<std::int64_t> place;
  if (std::isinf(value) && !right) place = value < 0 ? 0 : boundaries.numel();
  if (const std::optional<Numbers> known = c.look_at(boundaries)) {
    place = 0;
    for (std::size_t i = 0; i < known->size(); ++i)
      *place += right ? known->at(i) <= value : known->at(i) < value;
  }
  if (place) {
    Numbers numbers;
    numbers.dtype = out.dtype();
    numbers.whole = {*place};
    note_numbers(out, std::move(numbers));
  }
  return out;
}

namespace {

/// How many lie in each of equal bins; the last has the end of the range, too.
void note_bins(const Tensor& self, double min, double max, const Tensor& out) {
  const std::int64_t bins = out.numel();
  const Known* known = self->storage ? self->storage->known().get() : nullptr;
  if (known == nullptr || known->is_random || max <= min || bins < 1) return;
  const std::optional<Numbers> numbers = known_numbers(self);
  if (!numbers) return;
  Numbers counts;
  counts.dtype = out.dtype();
  counts.resize(static_cast<std::size_t>(bins));
  for (std::size_t i = 0; i < numbers->size(); ++i) {
    const double x = numbers->at(i);
    if (!(x >= min && x <= max)) continue;
    const auto bin = static_cast<std::int64_t>((x - min) * static_cast<double>(bins) / (max - min));
    const auto at = static_cast<std::size_t>(std::min(bin, bins - 1));
    counts.set(at, counts.at(at) + 1);
  }
  note_numbers(out, std::move(counts));
}

}  // namespace

/// Counts in equal bins; the range is looked up where none is given.
OpResult histc(Context& c, const Tensor& self, std::int64_t bins, double min, double max) {
  Op op(c, "histc", "", {}, {&self});
  Tensor out = c.empty({bins}, self.dtype(), self.device());
  if (min == max && self.numel() > 0) {
    if (c.rules().histc_extremes_first) {
      Tensor least = c.empty({}, self.dtype(), self.device());
      const Tensor most = c.empty({}, self.dtype(), self.device());
      {
        const Tensor dense = contiguous(c, self);
        // Both at once: twice the room for partial values.
        reduction_scratch(c, dense, {}, 2 * element_bytes(self.dtype()));
      }
      least.reset();
    } else {
      for (int extreme = 0; extreme < 2; ++extreme) {
        const Tensor found = c.empty({}, self.dtype(), self.device());
        const Tensor dense = contiguous(c, self);
        const ReductionScratch scratch =
            reduction_scratch(c, dense, {}, element_bytes(self.dtype()));
      }
    }
  }
  note_bins(self, min, max, out);
  return op.result(std::move(out), nullptr);
}

}  // namespace tidemark::ops
