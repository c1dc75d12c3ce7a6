#include "sim/ops/cub.h"

#include <algorithm>

#include "sim/ops/kernels.h"
#include "sim/ops/releases.h"
#include "sim/ops/rounding.h"

namespace tidemark::ops {

namespace {

constexpr Bytes kAlignment = 256;
/// Values that one block handles, by generation of the code that runs: compute capability 7.5, 8.x
/// (where two stand, 8.0 apart from 8.6 and 8.9), 9.0 and later. Source: PyTorch 2.11's CUDA 13
/// build, and CUDA 12.4's and 13.2's of 2.6, 2.14 and 2.15, observed at many counts on five
/// devices.
struct Tiles {
  std::int64_t turing;
  std::int64_t ampere;
  std::int64_t ada;
  std::int64_t hopper;
};
constexpr Tiles kSortPairs8And8{2816, 3840, 3840, 4608};
constexpr Tiles kSortPairs4And8{2816, 3072, 3072, 5376};
constexpr Tiles kSortPairs2And8{2816, 3072, 3072, 5632};
constexpr Tiles kSortPairs4And4{11776, 6528, 6528, 6528};
constexpr Tiles kSortKeys8{2816, 3840, 3840, 5760};
constexpr Tiles kSortKeys4{5888, 8064, 8064, 6912};
constexpr Tiles kSelect{640, 2304, 640, 4224};
constexpr Tiles kUnique4{1280, 4608, 1280, 6400};
constexpr Tiles kUniqueByKey8{320, 1792, 320, 4480};
constexpr Tiles kUniqueByKey4{704, 2816, 704, 7168};
constexpr Tiles kScanByKey{2304, 2240, 2304, 2464};

std::int64_t tile_of(const DeviceSpec& spec, const Tiles& tiles) {
  if (spec.compute_capability >= 90) return tiles.hopper;
  if (spec.compute_capability > 80) return tiles.ada;
  return spec.compute_capability == 80 ? tiles.ampere : tiles.turing;
}
/// Of a sort. CUB's first policies for it end with compute capability 8.0.
std::int64_t sort_tile_of(const Context& c, const Tiles& tiles) {
  const bool is_old = c.rules().cub_policies == CubPolicies::kSortsAlone;
  return is_old && c.spec().compute_capability >= 80 ? tiles.ampere : tile_of(c.spec(), tiles);
}
/// Of anything else. CUB's first policies for these know no generation.
std::int64_t other_tile_of(const Context& c, const Tiles& tiles) {
  const bool is_old = c.rules().cub_policies == CubPolicies::kSortsAlone;
  return is_old ? tiles.turing : tile_of(c.spec(), tiles);
}

constexpr Bytes aligned(Bytes bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Descriptors of tiles, 32 more of them than there are, and room to align them and what some
/// toolkits allocate beside them, which is nothing.
Bytes tile_states(const Context& c, std::int64_t count, std::int64_t tile, Bytes width) {
  return aligned(static_cast<Bytes>(ceil_div(count, tile) + 32) * width) +
         c.rules().cub_allocations * kAlignment - 1;
}

}  // namespace

Bytes scan_bytes(const Context& c, std::int64_t count, ScalarType type) {
  constexpr std::int64_t kThreads = 128;
  const Bytes width = element_bytes(type);
  // 15 values of four bytes a thread, as many bytes of larger ones, at most twice as many smaller.
  const std::int64_t each = std::min<std::int64_t>(30, 60 / static_cast<std::int64_t>(width));
  const std::int64_t tile = kThreads * each;
  const bool is_number = !is_half(type) && !is_complex(type);
  if (is_number) return tile_states(c, count, tile, std::max<Bytes>(4, 2 * width));
  // Of types that are C++ classes: a status, a sum and a sum so far a tile, each in its own place.
  const auto tiles = static_cast<Bytes>(ceil_div(count, tile) + 32);
  return aligned(4 * tiles) + 2 * aligned(width * tiles) + 2 * kAlignment - 1;
}

Bytes select_bytes(const Context& c, std::int64_t count) {
  return tile_states(c, count, other_tile_of(c, kSelect), 8);
}

Bytes unique_bytes(const Context& c, std::int64_t count, Bytes width) {
  return tile_states(c, count, other_tile_of(c, width == 8 ? kSelect : kUnique4), 8);
}

Bytes unique_by_key_bytes(const Context& c, std::int64_t count, Bytes width) {
  return tile_states(c, count, other_tile_of(c, width == 8 ? kUniqueByKey8 : kUniqueByKey4),
                     c.rules().cub_unique_by_key_state);
}

Bytes scan_by_key_bytes(const Context& c, std::int64_t count) {
  const std::int64_t tile = other_tile_of(c, kScanByKey);
  const auto last_keys = static_cast<Bytes>(ceil_div(count, tile)) * 16;
  return aligned(static_cast<Bytes>(ceil_div(count, tile) + 32) * 8) + aligned(last_keys) +
         2 * kAlignment - 1;
}

void scan_kernel(Context& c, const Tensor& x, std::int64_t dim) {
  if (x.dim() == 0 || x.numel() == 0 || !x.is_cuda()) return;
  if (x.size(dim) != x.numel()) return;
  c.scratch(scan_bytes(c, x.numel(), x.dtype()), x.device());
}

Bytes sort_bytes(const Context& c, std::int64_t count, Bytes key_width, Bytes value_width,
                 std::int64_t bits) {
  const std::int64_t single = std::max(key_width, value_width) == 8 ? 2304 : 4096;
  if (count <= single) return 1;
  const Tiles* tiles = &kSortPairs8And8;
  if (value_width == 0) {
    tiles = key_width == 8 ? &kSortKeys8 : &kSortKeys4;
  } else if (key_width + value_width == 8) {
    tiles = &kSortPairs4And4;
  } else if (key_width == 4) {
    tiles = &kSortPairs4And8;
  } else if (key_width < 4) {
    tiles = &kSortPairs2And8;
  }
  const std::int64_t passes = ceil_div(bits, 8);
  const auto keys = static_cast<Bytes>(count) * key_width;
  const auto values = static_cast<Bytes>(count) * value_width;
  return (passes > 1 ? aligned(keys) + aligned(values) : 0) + 2048 * static_cast<Bytes>(passes) +
         1024 * static_cast<Bytes>(ceil_div(count, sort_tile_of(c, *tiles))) + 2 * kAlignment - 1;
}

std::int64_t bits_of(std::int64_t n) {
  std::int64_t bits = 0;
  while (n > 0) {
    ++bits;
    n >>= 1;
  }
  return std::max<std::int64_t>(bits, 1);
}

Bytes segmented_sort_bytes(std::int64_t count, Bytes key_width, Bytes value_width) {
  return aligned(static_cast<Bytes>(count) * key_width) +
         aligned(static_cast<Bytes>(count) * value_width) + kAlignment - 1;
}

Bytes count_bytes(const DeviceSpec& spec, std::int64_t count) {
  constexpr std::int64_t kOneTile = 4096;
  if (count <= kOneTile) return 1;
  constexpr int kBlocksPerSlot = 5;
  const int blocks = spec.sm_count * (spec.max_threads_per_sm / 256) * kBlocksPerSlot;
  return aligned(static_cast<Bytes>(blocks) * 4) + kAlignment - 1;
}

Tensor nonzero_kernel(Context& c, const Tensor& x, std::int64_t count) {
  if (!x.is_cuda()) return c.empty({count, x.dim()}, ScalarType::kInt64, x.device());
  const Tensor dense = contiguous(c, x);
  const Tensor found = c.empty({1}, ScalarType::kInt32, x.device());
  Tensor counting = c.scratch(count_bytes(c.spec(), x.numel()), x.device());
  if (c.rules().nonzero_drops_count_first) counting.reset();
  c.read_value(found);
  const Tensor selecting = c.scratch(select_bytes(c, x.numel()), x.device());
  counting.reset();
  return c.empty_strided({count, x.dim()}, {1, std::max<std::int64_t>(count, 1)},
                         ScalarType::kInt64, x.device());
}

}  // namespace tidemark::ops
