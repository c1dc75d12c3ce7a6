#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "sim/ops/kernels.h"
#include "sim/ops/rounding.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/tracer.h"

namespace tidemark::ops {

namespace {

struct Axis {
  std::int64_t size;
  std::int64_t stride;   ///< of what is read, in elements
  std::int64_t written;  ///< of the result; 0 where it is reduced
};
struct Axes {
  std::array<Axis, Dims::kMaxDims> items;
  std::size_t count = 0;
  std::size_t reduced = 0;  ///< how many of them, the first ones, are
  std::int64_t offset = 0;  ///< of what is read
};

/// Whether an iterator swaps two dimensions: reduced ones come first, the others as the result lies
/// in memory. Source: TensorIteratorBase::reorder_dimensions.
int compare_axes(const Axis& a, const Axis& b) {
  if ((a.written == 0) != (b.written == 0)) return b.written == 0 ? 1 : -1;
  for (const auto& [x, y] : {std::pair(a.written, b.written), std::pair(a.stride, b.stride)}) {
    if (x == 0 || y == 0) continue;
    if (x != y) return x < y ? -1 : 1;
    if (a.size > b.size) return 1;
  }
  return 0;
}

/// The dimensions from inner to outer, neighbours merged where they lie in memory as one.
Axes merged_axes(const Tensor& in, const std::array<bool, Dims::kMaxDims>& reduced) {
  std::array<Axis, Dims::kMaxDims> order{};
  std::size_t n = 0;
  std::int64_t written = 1;
  for (std::size_t i = in.sizes().size(); i-- > 0;) {
    const std::int64_t size = in.sizes()[i];
    if (size == 1) continue;
    order[n++] = {size, in.strides()[i], reduced[i] ? 0 : written};
    if (!reduced[i]) written *= size;
  }
  for (std::size_t i = 1; i < n; ++i) {
    std::size_t at = i;
    for (std::size_t before = i; before-- > 0;) {
      const int comparison = compare_axes(order[before], order[at]);
      if (comparison < 0) break;
      if (comparison == 0) continue;
      std::swap(order[before], order[at]);
      at = before;
    }
  }
  Axes axes;
  axes.offset = in->offset;
  for (std::size_t i = 0; i < n; ++i) {
    Axis* last = axes.count > 0 ? &axes.items[axes.count - 1] : nullptr;
    if (last != nullptr && last->size * last->stride == order[i].stride &&
        last->size * last->written == order[i].written) {
      last->size *= order[i].size;
      continue;
    }
    axes.items[axes.count++] = order[i];
    if (order[i].written == 0) ++axes.reduced;
  }
  return axes;
}

std::int64_t floor_power_of_two(std::int64_t x) {
  std::int64_t p = 1;
  while (p * 2 <= x) p *= 2;
  return p;
}

/// Kernels count bytes in 32 bits.
bool fits_32_bits(const Axes& axes, std::int64_t in_width, std::int64_t out_width) {
  std::int64_t count = 1;
  std::int64_t last_in = 1;
  std::int64_t last_out = 1;
  for (std::size_t i = 0; i < axes.count; ++i) {
    const Axis& axis = axes.items[i];
    count *= axis.size;
    last_in += (axis.size - 1) * axis.stride * in_width;
    last_out += (axis.size - 1) * axis.written * out_width;
  }
  return std::max({count, last_in, last_out}) <= std::numeric_limits<std::int32_t>::max();
}

/// Where a reduction that is too large for one kernel is cut in two. Source:
/// TensorIteratorBase::get_dim_to_split.
std::size_t longest_axis(const Axes& axes, std::int64_t in_width, std::int64_t out_width) {
  std::int64_t longest = -1;
  std::size_t at = 0;
  for (std::size_t i = axes.count; i-- > 0;) {
    const Axis& axis = axes.items[i];
    const std::int64_t extent =
        (axis.size - 1) * std::max(axis.stride * in_width, axis.written * out_width);
    if (extent <= longest) continue;
    longest = extent;
    at = i;
  }
  return at;
}

/// The buffers of one kernel. Source: setReduceConfig.
ReductionScratch kernel_scratch(Context& c, const Tensor& in, const Axes& axes, Bytes accumulator) {
  std::int64_t values = 1;
  std::int64_t outputs = 1;
  for (std::size_t i = 0; i < axes.count; ++i) {
    (i < axes.reduced ? values : outputs) *= axes.items[i].size;
  }
  const Axis* kept = axes.reduced < axes.count ? &axes.items[axes.reduced] : nullptr;
  const bool fast = kept == nullptr || axes.items[0].stride < kept->stride;

  std::int64_t d0 = fast ? values : outputs;
  const std::int64_t d1 = fast ? outputs : values;
  std::int64_t vec = 1;
  if (fast) {
    if (axes.count == 1 && axes.items[0].stride == 1 && d0 >= 128) d0 /= 4;
  } else if (kept->stride == 1) {
    vec = 4;
    const auto divide = [&vec](std::int64_t n) {
      while (n % vec != 0) vec /= 2;
    };
    divide(axes.offset);
    divide(kept->size);
    for (std::size_t i = 0; i < axes.count; ++i) {
      if (i != axes.reduced) divide(axes.items[i].stride);
    }
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

/// Kernel by kernel; the buffers of the last are handed out. Errors: OpError where no axis can be
/// cut. Source: TensorIteratorBase::split.
ReductionScratch scratch_of(Context& c, const Tensor& in, Axes axes, Bytes accumulator,
                            std::int64_t out_width) {
  const auto width = static_cast<std::int64_t>(element_bytes(in.dtype()));
  if (fits_32_bits(axes, width, out_width)) return kernel_scratch(c, in, axes, accumulator);
  const std::size_t at = longest_axis(axes, width, out_width);
  // Where the longest axis in memory is one element, as under an expanded one that is summed up.
  if (axes.items[at].size < 2)
    throw OpError("dim >= 0 && dim < ndim() && shape()[dim] >= 2 INTERNAL ASSERT FAILED");
  Axes first = axes;
  first.items[at].size /= 2;
  axes.items[at].size -= first.items[at].size;
  axes.offset += axes.items[at].stride * first.items[at].size;
  scratch_of(c, in, first, accumulator, out_width);
  return scratch_of(c, in, axes, accumulator, out_width);
}

}  // namespace

ReductionScratch reduction_scratch(Context& c, const Tensor& in, const Dims& dims,
                                   Bytes accumulator, bool converts) {
  if (!in.is_cuda() || in.numel() == 0) return {};
  std::array<bool, Dims::kMaxDims> is_reduced{};
  if (dims.empty()) {
    is_reduced.fill(true);
  } else {
    for (const std::int64_t d : dims)
      is_reduced[static_cast<std::size_t>(wrap_dim(d, in.dim()))] = true;
  }
  const auto out_width = static_cast<std::int64_t>(element_bytes(in.dtype()));
  const Axes axes = merged_axes(in, is_reduced);
  Tensor between;
  if (!converts && !fits_32_bits(axes, out_width, out_width)) {
    std::int64_t results = 1;
    for (std::size_t i = axes.reduced; i < axes.count; ++i) results *= axes.items[i].size;
    between = c.scratch(accumulator * static_cast<Bytes>(results), in.device());
  }
  ReductionScratch scratch = scratch_of(c, in, axes, accumulator, out_width);
  scratch.between = std::move(between);
  return scratch;
}

Tensor reduce(Context& c, const Tensor& x, const Dims& dims, bool keepdim, ScalarType dtype,
              Bytes accumulator, bool converts) {
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
  const KernelScope kernel(c, KernelKind::kReduction, {&x});
  Tensor out = c.empty(sizes, dtype, x.device());
  if (accumulator == 0) {
    const ScalarType type = accumulate_type(is_floating(dtype) ? promote(x.dtype(), dtype) : dtype);
    accumulator = element_bytes(type) <= 4 ? 4 : element_bytes(type);
  }
  const ReductionScratch scratch = reduction_scratch(c, x, dims, accumulator, converts);
  return kernel.gives(std::move(out));
}

namespace {

/// `sum` is on autocast's list of operators that give float32: backward under autocast, too.
ScalarType type_of_sum(const Context& c, const Tensor& x) {
  const bool widened = c.thread().autocast.enabled && x.is_cuda() &&
                       (x.dtype() == ScalarType::kFloat16 || x.dtype() == ScalarType::kBFloat16);
  return widened ? ScalarType::kFloat32 : x.dtype();
}

}  // namespace

Tensor sum(Context& c, const Tensor& x, const Dims& dims, bool keepdim) {
  // What is traced is one node, whose inner sums autocast does not see.
  const ScalarType type = c.tracer != nullptr ? x.dtype() : type_of_sum(c, x);
  return reduce(c, x, dims, keepdim, type);
}

Tensor reduced_in_place(Context& c, const Tensor& full) {
  if (full.numel() == 0) return c.empty({}, full.dtype(), full.device());
  return Context::alias(full, {}, {}, 0);
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
  const ScalarType type = type_of_sum(c, x);
  if (sizes.empty()) return reduce(c, x, dims, false, type);
  Tensor out = reduce(c, x, dims, true, type);
  // The view holds its base, so that the engine does not count it as the only owner.
  return lead > 0 ? as_view(out, view(out, sizes)) : out;
}

}  // namespace tidemark::ops
