#include <algorithm>
#include <array>

#include "sim/ops/kernels.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

struct Axis {
  std::int64_t size;
  std::int64_t stride;  ///< in elements
};
struct Axes {
  std::array<Axis, Dims::kMaxDims> items;
  std::size_t count = 0;
  void add(Axis axis) { items[count++] = axis; }
};

/// The reduced (or the kept) dimensions from inner to outer, neighbours merged where they lie in
/// memory as one.
Axes merged_axes(const Tensor& in, const std::array<bool, Dims::kMaxDims>& reduced, bool which) {
  Axes axes;
  std::array<std::size_t, Dims::kMaxDims> order{};
  std::size_t n = 0;
  for (std::size_t i = in.sizes().size(); i-- > 0;) {
    if (reduced[i] == which && in.sizes()[i] != 1) order[n++] = i;
  }
  std::stable_sort(order.begin(), order.begin() + n,
                   [&](std::size_t a, std::size_t b) { return in.strides()[a] < in.strides()[b]; });
  for (std::size_t k = 0; k < n; ++k) {
    const Axis axis{in.sizes()[order[k]], in.strides()[order[k]]};
    if (axes.count > 0) {
      Axis& last = axes.items[axes.count - 1];
      if (last.size * last.stride == axis.stride) {
        last.size *= axis.size;
        continue;
      }
    }
    axes.add(axis);
  }
  return axes;
}

std::int64_t floor_power_of_two(std::int64_t x) {
  std::int64_t p = 1;
  while (p * 2 <= x) p *= 2;
  return p;
}
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

ReductionScratch reduction_scratch(Context& c, const Tensor& in, const Dims& dims,
                                   Bytes accumulator) {
  if (!in.is_cuda() || in.numel() == 0) return {};
  std::array<bool, Dims::kMaxDims> is_reduced{};
  if (dims.empty()) {
    is_reduced.fill(true);
  } else {
    for (const std::int64_t d : dims)
      is_reduced[static_cast<std::size_t>(wrap_dim(d, in.dim()))] = true;
  }
  const Axes reduced = merged_axes(in, is_reduced, true);
  const Axes kept = merged_axes(in, is_reduced, false);
  std::int64_t values = 1;
  std::int64_t outputs = 1;
  for (std::size_t i = 0; i < reduced.count; ++i) values *= reduced.items[i].size;
  for (std::size_t i = 0; i < kept.count; ++i) outputs *= kept.items[i].size;
  const bool fast =
      kept.count == 0 || (reduced.count > 0 && reduced.items[0].stride < kept.items[0].stride);

  std::int64_t d0 = fast ? values : outputs;
  const std::int64_t d1 = fast ? outputs : values;
  std::int64_t vec = 1;
  if (fast) {
    if (reduced.count == 1 && reduced.items[0].stride == 1 && d0 >= 128) d0 /= 4;
  } else if (kept.items[0].stride == 1) {
    vec = 4;
    const auto divide = [&vec](std::int64_t n) {
      while (n % vec != 0) vec /= 2;
    };
    divide(in->offset);
    divide(kept.items[0].size);
    for (std::size_t i = 1; i < kept.count; ++i) divide(kept.items[i].stride);
    for (std::size_t i = 0; i < reduced.count; ++i) divide(reduced.items[i].stride);
    d0 /= vec;
  }
  const std::int64_t most = (in.dtype() == ScalarType::kComplex128 ? 256 : 512) / vec;
  const auto power = [most](std::int64_t x) { return floor_power_of_two(std::min(x, most)); };
  std::int64_t width = std::min<std::int64_t>(power(d0), 32);
  const std::int64_t height = std::min(power(d1), most / width);
  width = std::min(power(d0), most / height);
  const std::int64_t threads = width * height;
  const std::int64_t lanes = fast ? width : 1;
  std::int64_t per_thread = ceil_div(values, lanes);
  const bool split_rows = per_thread >= std::min<std::int64_t>(16 * height, 256);
  if (split_rows) per_thread = ceil_div(values, lanes * height);
  const std::int64_t grid = ceil_div(outputs / vec, (fast ? 1 : width) * (split_rows ? 1 : height));
  const std::int64_t target = c.spec().sm_count * (c.spec().max_threads_per_sm / threads);
  if (!split_rows || per_thread < 256 || grid > target) return {};
  const std::int64_t blocks = std::max(std::min(ceil_div(target, grid), ceil_div(per_thread, 16)),
                                       ceil_div(per_thread, 256));
  if (blocks <= 1) return {};
  ReductionScratch scratch;
  scratch.partials = c.scratch(
      accumulator * static_cast<Bytes>(outputs * blocks * (fast ? 1 : width * vec)), in.device());
  scratch.semaphores = c.scratch(4 * static_cast<Bytes>(grid), in.device());
  return scratch;
}

Tensor reduce(Context& c, const Tensor& x, const Dims& dims, bool keepdim, ScalarType dtype,
              Bytes accumulator) {
  std::array<bool, Dims::kMaxDims> reduced{};
  if (dims.empty()) reduced.fill(true);
  for (const std::int64_t d : dims) reduced[static_cast<std::size_t>(wrap_dim(d, x.dim()))] = true;
  Dims sizes;
  for (std::size_t i = 0; i < x.sizes().size(); ++i) {
    if (!reduced[i]) {
      sizes.push_back(x.sizes()[i]);
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  Tensor out = c.empty(sizes, dtype, x.device());
  if (accumulator == 0) {
    const ScalarType type = accumulate_type(is_floating(dtype) ? promote(x.dtype(), dtype) : dtype);
    accumulator = element_bytes(type) <= 4 ? 4 : element_bytes(type);
  }
  const ReductionScratch scratch = reduction_scratch(c, x, dims, accumulator);
  return out;
}

Tensor sum(Context& c, const Tensor& x, const Dims& dims, bool keepdim) {
  return reduce(c, x, dims, keepdim, x.dtype());
}

Tensor sum_to(Context& c, const Tensor& x, const Dims& sizes) {
  if (x.sizes() == sizes) return x;
  const std::size_t lead = x.sizes().size() - sizes.size();
  Dims dims;
  for (std::size_t i = 0; i < x.sizes().size(); ++i) {
    if (i < lead || (sizes[i - lead] == 1 && x.sizes()[i] != 1)) {
      dims.push_back(static_cast<std::int64_t>(i));
    }
  }
  // `sum` is on autocast's list of operators that give float32: backward under autocast, too.
  const bool widened = c.thread().autocast.enabled &&
                       (x.dtype() == ScalarType::kFloat16 || x.dtype() == ScalarType::kBFloat16);
  const ScalarType type = widened ? ScalarType::kFloat32 : x.dtype();
  if (sizes.empty()) return reduce(c, x, dims, false, type);
  Tensor out = reduce(c, x, dims, true, type);
  // The view holds its base, so that the engine does not count it as the only owner.
  return lead > 0 ? as_view(out, view(out, sizes)) : out;
}

}  // namespace tidemark::ops
