#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/ops/dispatched.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

Tensor repeat_each(Context& c, const Tensor& given, std::int64_t repeats,
                   std::optional<std::int64_t> dim, std::optional<std::int64_t> output_size) {
  if (repeats < 0) throw OpError("Repeats must be non-negative");
  const Tensor self = dim ? given : flatten(c, given, 0, -1);
  const std::int64_t d = wrap_dim(dim.value_or(0), self.dim());
  const std::int64_t length = self.dim() == 0 ? 1 : self.size(d);
  if (output_size && *output_size != length * repeats) {
    throw OpError(fmt::format("repeat_interleave: Invalid output_size, expected {} but got {}",
                              length * repeats, *output_size));
  }
  Dims wide = self.sizes();
  wide.insert(static_cast<std::size_t>(d) + 1, repeats);
  const Tensor expanded = expand(c, unsqueeze(c, self, d + 1), wide);
  const Tensor copied = clone(c, expanded, MemoryFormat::kContiguous);
  return flatten(c, copied, d, d + 1);
}

namespace {

/// How many places there are in all; PyTorch reads the last sum, and looks for negative ones.
std::int64_t total_of(Context& c, const Tensor& given, const Tensor& repeats, const Tensor& sums) {
  const auto known = c.look_at(given);
  if (!known) {
    throw NotModelled(
        "repeat_interleave by numbers that are not known decides a size; give output_size");
  }
  c.read_value(sums);
  const Tensor are_natural = pointwise(c, {&repeats}, ScalarType::kBool);
  c.read_value(all(c, are_natural, {}, false));
  if (std::ranges::any_of(known->whole, [](std::int64_t n) { return n < 0; })) {
    throw OpError("repeats can not be negative");
  }
  return std::accumulate(known->whole.begin(), known->whole.end(), std::int64_t{0});
}

}  // namespace

/// The number of each place, as often as it says there.
Tensor repeated_places(Context& c, const Tensor& given, std::optional<std::int64_t> output_size) {
  if (given.dim() != 1) throw OpError("repeat_interleave only accept 1D vector as repeat");
  if (given.dtype() != ScalarType::kInt64 && given.dtype() != ScalarType::kInt32) {
    if (given.is_cuda())
      throw OpError(fmt::format("\"repeat_interleave_cuda\" not implemented for '{}'",
                                info(given.dtype()).name));
    throw OpError("repeats has to be Long or Int tensor");
  }
  if (given.numel() == 0) return c.empty({0}, given.dtype(), given.device());
  const Tensor repeats = contiguous(c, given);
  const Tensor sums = cumsum(c, given, 0, std::nullopt);
  const std::int64_t total = output_size ? *output_size : total_of(c, given, repeats, sums);
  return c.empty({total}, given.dtype(), given.device());
}

Tensor repeat_by(Context& c, const Tensor& given, const Tensor& repeats,
                 std::optional<std::int64_t> dim, std::optional<std::int64_t> output_size) {
  const Tensor self = dim ? given : flatten(c, given, 0, -1);
  const std::int64_t d = wrap_dim(dim.value_or(0), self.dim());
  const std::int64_t length = self.dim() == 0 ? 1 : self.size(d);
  Tensor each = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1)) {
    each = expand(c, reshape(c, repeats, {1}), {length});
  } else if (repeats.dim() != 1) {
    throw OpError("repeats must be 0-dim or 1-dim tensor");
  } else if (repeats.size(0) != length) {
    throw OpError(fmt::format(
        "repeats must have the same size as input along dim, but got repeats.size(0) = {} and "
        "input.size({}) = {}",
        repeats.size(0), d, length));
  }
  return index_select(c, self, d, repeated_places(c, each, output_size));
}

}  // namespace tidemark::ops
