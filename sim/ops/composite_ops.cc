#include "sim/ops/composite_ops.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::ops {

Tensor diagonal_view(const Tensor& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const auto d1 = static_cast<std::size_t>(wrap_dim(dim1, x.dim()));
  const auto d2 = static_cast<std::size_t>(wrap_dim(dim2, x.dim()));
  if (d1 == d2) {
    throw OpError(fmt::format("diagonal dimensions cannot be identical {}, {}", dim1, dim2));
  }
  Dims sizes = x.sizes();
  Dims strides = x.strides();
  const std::int64_t length = offset >= 0 ? std::min(sizes[d1], sizes[d2] - offset)
                                          : std::min(sizes[d1] + offset, sizes[d2]);
  const std::int64_t step = strides[d1] + strides[d2];
  const std::int64_t start =
      length <= 0 ? 0 : (offset >= 0 ? offset * strides[d2] : -offset * strides[d1]);
  for (const std::size_t d : {std::max(d1, d2), std::min(d1, d2)}) {
    sizes.erase(d);
    strides.erase(d);
  }
  sizes.push_back(std::max<std::int64_t>(length, 0));
  strides.push_back(step);
  return Context::alias(x, sizes, strides, x->offset + start);
}

}  // namespace tidemark::ops
