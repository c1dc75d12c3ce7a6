#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/ops/cub.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/embedding_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/natives.h"
#include "sim/ops/op.h"
#include "sim/ops/releases.h"
#include "sim/ops/values/view.h"

namespace tidemark::ops {

namespace {

/// Rows up to here are sorted within one block. Source: should_use_small_sort.
constexpr std::int64_t kSmallSort = 4096;
constexpr std::int64_t kLargeSegment = 1'000'000;
constexpr std::int64_t kFewSegments = 128;

std::int64_t key_bits(ScalarType type) {
  return 8 * static_cast<std::int64_t>(element_bytes(type));
}

/// The temporaries of sorting `count` rows of `length`. Source: Sort.cu, SortStable.cu.
void sort_scratch(Context& c, ScalarType type, Device device, std::int64_t length,
                  std::int64_t count) {
  const std::int64_t all = length * count;
  const Bytes width = element_bytes(type);
  const auto indices = [&](std::int64_t n) { return c.empty({n}, ScalarType::kInt64, device); };
  if (length <= kSmallSort) {
    indices(length);
  } else if (count == 1 || length >= kLargeSegment) {
    const Tensor positions = indices(length);
    for (std::int64_t i = 0; i < count; ++i) {
      c.scratch(sort_bytes(c, length, width, 8, key_bits(type)), device);
    }
  } else if (count < kFewSegments) {
    const Tensor position_and_segment = indices(all);
    const Tensor sorted_pairs = indices(all);
    {
      const Tensor sorted_keys = c.empty({all}, type, device);
      c.scratch(sort_bytes(c, all, width, 8, key_bits(type)), device);
    }
    c.scratch(sort_bytes(c, all, 8, 0, 8), device);
  } else {
    const Tensor positions = indices(all);
    c.scratch(segmented_sort_bytes(all, width, 8), device);
  }
}

/// Strides of a dense tensor with `dim` as the innermost, the others as they lie in memory. Source:
/// at::native::infer_dense_strides_dim_last.
Dims strides_with_last(const Tensor& self, std::int64_t dim) {
  Dims strides = self.strides();
  strides[static_cast<std::size_t>(dim)] = -1;
  std::vector<std::size_t> order;
  order.reserve(strides.size());
  for (std::size_t i = 0; i < strides.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&strides](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= self.sizes()[order[i]];
  }
  return strides;
}

}  // namespace

/// Sorts into results of such strides. Long rows are sorted where they lie one after another: other
/// tensors are copied first, and so are results of another layout.
void sort_into(Context& c, const Tensor& self, std::int64_t d, const Dims& result) {
  if (!self.is_cuda() || self.numel() == 0 || self.dim() == 0) return;
  const std::int64_t length = self.size(d);
  const bool as_it_is =
      length <= kSmallSort || (self.is_non_overlapping_and_dense() && self.stride(d) == 1);
  const Dims strides = as_it_is ? result : strides_with_last(self, d);
  const auto laid_out = [&](bool wanted, ScalarType type) {
    return wanted ? c.empty_strided(self.sizes(), strides, type, self.device()) : Tensor();
  };
  const bool other_layout = !(strides == result);
  const Tensor rows = laid_out(!as_it_is, self.dtype());
  const Tensor values = laid_out(other_layout, self.dtype());
  const Tensor indices = laid_out(other_layout, ScalarType::kInt64);
  sort_scratch(c, self.dtype(), self.device(), length,
               self.numel() / std::max<std::int64_t>(length, 1));
}

namespace {

/// Whether a row is searched by many blocks. Source: TensorTopK.cu, should_use_multiblock.
bool by_many_blocks(std::int64_t rows, std::int64_t length) {
  struct Limit {
    std::int64_t rows;
    std::int64_t length;
  };
  constexpr Limit kLimits[] = {
      {20, 20000}, {40, 10000}, {80, 8000}, {199, 5000}, {799, 3000}, {4000, 800},
  };
  for (const Limit& limit : kLimits) {
    if (rows <= limit.rows) return length >= limit.length;
  }
  return length >= 400;
}

}  // namespace

void topk_scratch(Context& c, const Tensor& self, std::int64_t length) {
  const std::int64_t rows = self.numel() / std::max<std::int64_t>(length, 1);
  if (!by_many_blocks(rows, length)) return;
  constexpr std::int64_t kThreads = 256;
  constexpr std::int64_t kBlocksPerSm = 6;  // 65 536 registers, 40 a thread
  const std::int64_t slots = c.spec().sm_count * kBlocksPerSm * kThreads;
  const std::int64_t per_thread =
      std::clamp<std::int64_t>((self.numel() + slots - 1) / slots, 4, 64);
  const std::int64_t per_block = per_thread * kThreads;
  const std::int64_t blocks = (length + per_block - 1) / per_block * rows;
  const auto buffer = [&](std::int64_t count, std::int64_t width) {
    return c.scratch(static_cast<Bytes>(count * width), self.device());
  };
  const auto width = static_cast<std::int64_t>(element_bytes(self.dtype()));
  const TopkCounters counters = c.rules().topk_counters;
  const std::int64_t wide = counters == TopkCounters::kNarrow ? 1 : 2;
  const Tensor kth_values = buffer(rows, width);
  Tensor finished;
  if (counters != TopkCounters::kDigitSums) finished = buffer(rows, 4);
  const Tensor to_find = buffer(rows, 4 * wide);
  const Tensor desired = buffer(rows, wide * std::max<std::int64_t>(width, 4));
  const Tensor counts = buffer(blocks, 512);
  Tensor digit_sums;
  if (counters == TopkCounters::kDigitSums) digit_sums = buffer(rows, 1024);
  const Tensor within = buffer(blocks, 4);
  const Tensor equal = buffer(blocks, 4);
  c.scratch(scan_by_key_bytes(c, blocks), self.device());
  c.scratch(scan_by_key_bytes(c, blocks), self.device());
}

namespace {

/// Rid of repetitions that follow each other; nullopt: not known.
std::optional<Numbers> distinct(const Context& c, const Tensor& self, bool sorts) {
  std::optional<Numbers> numbers = c.look_at(self);
  if (!numbers) return numbers;
  if (sorts) {
    std::sort(numbers->whole.begin(), numbers->whole.end());
    std::sort(numbers->real.begin(), numbers->real.end());
  }
  numbers->whole.erase(std::unique(numbers->whole.begin(), numbers->whole.end()),
                       numbers->whole.end());
  numbers->real.erase(std::unique(numbers->real.begin(), numbers->real.end()), numbers->real.end());
  return numbers;
}

/// The first values of `out`, as many as there are different ones.
Tensor cut_to_distinct(Context& c, const Tensor& self, const Tensor& out, bool sorts) {
  std::optional<Numbers> numbers = distinct(c, self, sorts);
  std::int64_t count = 1;
  if (numbers) {
    count = static_cast<std::int64_t>(numbers->size());
    numbers->resize(static_cast<std::size_t>(out.numel()));
    note_numbers(out, *std::move(numbers));
  } else if (c.count_unknown) {
    count = c.count_unknown(self);
  }
  return Context::alias(out, {count}, {1}, 0);
}

}  // namespace

/// Sorted and rid of repetitions; where they are not known, one value, zero.
Tensor unique(Context& c, const Tensor& self) {
  Op op(c, "_unique2", "NotImplemented", {}, {&self});
  const std::int64_t n = self.numel();
  const Device device = self.device();
  if (n == 0) return c.empty({0}, self.dtype(), device);
  if (!self.is_cuda()) return cut_to_distinct(c, self, c.empty({n}, self.dtype(), device), true);
  const Bytes width = element_bytes(self.dtype());
  const Tensor dense = contiguous(c, self);
  const Tensor sorted = c.empty({n}, self.dtype(), device);
  c.scratch(sort_bytes(c, n, width, 0, key_bits(self.dtype())), device);
  const Tensor out = c.empty({n}, self.dtype(), device);
  {
    const Tensor count = c.scratch(8, device);
    c.scratch(unique_bytes(c, n, width), device);
  }
  // Cut to size: the storage stays as it was made.
  return op.result(cut_to_distinct(c, self, out, true), nullptr);
}

/// Rid of repetitions that follow each other.
Tensor unique_consecutive(Context& c, const Tensor& self) {
  Op op(c, "unique_consecutive", "NotImplemented", {}, {&self});
  const std::int64_t n = self.numel();
  const Tensor dense = contiguous(c, self);
  Tensor out = c.empty({n}, self.dtype(), self.device());
  if (!self.is_cuda() || n == 0) return out;
  {
    const Tensor count = c.scratch(8, self.device());
    c.scratch(unique_bytes(c, n, element_bytes(self.dtype())), self.device());
  }
  return op.result(cut_to_distinct(c, self, out, false), nullptr);
}

void find_unique_rows(Context& c, const Tensor& indices) {
  if (!indices.is_cuda()) return;
  const std::int64_t n = indices.numel();
  const bool flat = c.rules().embedding_renorm_sorts_flat;
  const Tensor sorted = c.empty_like(indices);
  Tensor order;
  if (flat) {
    order = c.empty({n}, ScalarType::kInt64, indices.device());
    if (n > 1) {
      const Tensor keys = c.empty_like(indices);
      sort_scratch(c, indices.dtype(), indices.device(), n, 1);
    }
  } else {
    const Tensor positions = c.empty_like(indices, ScalarType::kInt64);
    if (n > 1) {
      const std::int64_t length = indices.size(-1);
      sort_scratch(c, indices.dtype(), indices.device(), length,
                   n / std::max<std::int64_t>(length, 1));
    }
  }
  const Tensor unique_rows = c.empty({n}, indices.dtype(), indices.device());
  const Tensor count = c.scratch(8, indices.device());
  c.scratch(unique_bytes(c, n, element_bytes(indices.dtype())), indices.device());
}

}  // namespace tidemark::ops
