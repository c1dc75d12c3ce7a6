#include "sim/ops/attention_backends.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/ops/releases.h"
#include "sim/ops/rounding.h"

namespace tidemark::ops {

namespace {

/// The last dimension of each is dense; one of one element counts as dense, but not a mask's.
/// Source: sdp_utils_cpp.h, check_last_dim_stride_equals_1_dense.
bool last_dense(const AttentionCall& a) {
  for (const Tensor* t : {&a.query, &a.key, &a.value}) {
    if (t->size(-1) != 1 && t->stride(-1) != 1) return false;
  }
  return !a.mask.defined() || a.mask.stride(-1) == 1;
}

/// Four dimensions, one batch size, and heads that are equal or (for GQA) divide each other.
bool shapes_fit(const AttentionCall& a, bool gqa_supported) {
  if (a.query.dim() != 4 || a.key.dim() != 4 || a.value.dim() != 4) return false;
  for (const Tensor* t : {&a.query, &a.key, &a.value}) {
    if (!t->is_cuda() || t->size(2) == 0) return false;
  }
  const bool one_batch = a.query.size(0) == a.key.size(0) && a.query.size(0) == a.value.size(0);
  const std::int64_t heads = a.query.size(1);
  const bool equal_heads = heads == a.key.size(1) && heads == a.value.size(1);
  const bool grouped =
      a.key.size(1) > 0 && a.key.size(1) == a.value.size(1) && heads % a.key.size(1) == 0;
  return one_batch && (equal_heads || (gqa_supported && a.enable_gqa && grouped));
}

bool wants_gradients(const Context& c, const AttentionCall& a) {
  return c.grad_enabled() &&
         (a.query.requires_grad() || a.key.requires_grad() || a.value.requires_grad());
}

bool can_use_cudnn(const Context& c, const AttentionCall& a) {
  const int cc = c.spec().compute_capability;
  const std::int64_t d = a.query.size(-1);
  const std::int64_t most = cc == 90 ? 256 : 128;
  return c.backends.cudnn_sdp && cc >= 80 && !c.backends.deterministic &&
         is_half(a.query.dtype()) && shapes_fit(a, true) && d % 8 == 0 &&
         a.value.size(-1) % 8 == 0 && d <= most && a.value.size(-1) <= most && a.key.size(2) > 1 &&
         last_dense(a);
}

bool can_use_flash(const Context& c, const AttentionCall& a) {
  const int cc = c.spec().compute_capability;
  const std::int64_t d = a.query.size(-1);
  if (!c.backends.flash_sdp || cc < 80 || cc > 121 || !is_half(a.query.dtype())) return false;
  if (!shapes_fit(a, true) || a.mask.defined() || !last_dense(a)) return false;
  if (a.key.size(-1) != d || a.value.size(-1) != d || d > 256) return false;
  if (a.causal && a.query.size(2) != a.key.size(2)) return false;
  const bool small_memory = cc == 86 || cc == 89 || cc >= 120;
  if (small_memory && wants_gradients(c, a) &&
      ((d > 192 && d <= 224) || (d > 224 && a.dropout != 0))) {
    return false;
  }
  return true;
}

bool can_use_efficient(const Context& c, const AttentionCall& a) {
  const int cc = c.spec().compute_capability;
  const ScalarType type = a.query.dtype();
  const bool half = is_half(type);
  if (!c.backends.mem_efficient_sdp || cc < 50 || cc > 121) return false;
  if (!half && type != ScalarType::kFloat32) return false;
  if (type == ScalarType::kBFloat16 && cc < 80) return false;
  if (!shapes_fit(a, c.rules().efficient_attention_groups) || !last_dense(a)) return false;
  std::int64_t alignment = cc >= 80 ? 4 : 1;
  if (half && cc >= 70) alignment = 8;
  return a.query.size(-1) % alignment == 0 && a.value.size(-1) % alignment == 0 &&
         a.query.size(-1) == a.key.size(-1);
}

bool usable(const Context& c, const AttentionCall& a, AttentionBackend backend) {
  switch (backend) {
    case AttentionBackend::kCudnn:
      return can_use_cudnn(c, a);
    case AttentionBackend::kFlash:
      return can_use_flash(c, a);
    case AttentionBackend::kEfficient:
      return can_use_efficient(c, a);
    case AttentionBackend::kMath:
      return c.backends.math_sdp;
  }
  return false;
}

}  // namespace

AttentionBackend select_attention(const Context& c, const AttentionCall& call) {
  using enum AttentionBackend;
  const int major = c.spec().compute_capability / 10;
  const bool cudnn_first = major == 9 || major == 10;
  const std::array<AttentionBackend, 4> order = cudnn_first
                                                    ? std::array{kCudnn, kFlash, kEfficient, kMath}
                                                    : std::array{kFlash, kEfficient, kMath, kCudnn};
  for (const AttentionBackend backend : order) {
    if (usable(c, call, backend)) return backend;
  }
  throw OpError("No available kernel. Aborting execution.");
}

std::int64_t flash_splits(const Context& c, std::int64_t batch, std::int64_t heads,
                          std::int64_t queries, std::int64_t keys, std::int64_t head_size) {
  const std::int64_t block = head_size <= 64 ? 256 : head_size <= 128 ? 128 : 64;
  const std::int64_t key_blocks = ceil_div(keys, block);
  const std::int64_t work = batch * heads * ceil_div(queries, 64);
  const auto processors =
      static_cast<std::int64_t>(c.rules().flash_blocks_per_sm) * c.spec().sm_count;
  if (static_cast<float>(work) >= 0.8F * static_cast<float>(processors)) return 1;
  const std::int64_t most = std::min({std::int64_t{128}, processors, key_blocks});
  const auto eligible = [&](std::int64_t s) {
    return s == 1 || ceil_div(key_blocks, s) != ceil_div(key_blocks, s - 1);
  };
  const auto efficiency = [&](std::int64_t s) {
    const float waves = static_cast<float>(work * s) / static_cast<float>(processors);
    return waves / std::ceil(waves);
  };
  float best = 0;
  for (std::int64_t s = 1; s <= most; ++s) {
    if (eligible(s)) best = std::max(best, efficiency(s));
  }
  for (std::int64_t s = 1; s <= most; ++s) {
    if (eligible(s) && efficiency(s) >= 0.85F * best) return s;
  }
  return 1;
}

namespace {

/// Tile of the kernel that PyTorch picks for one head size on one family of devices.
struct Tile {
  std::int64_t up_to;  ///< largest head size
  std::int64_t rows;
  std::int64_t columns;
  bool key_sums;  ///< gradients of keys and values are summed in fp32 beside
};
using Tiles = std::array<Tile, 4>;
constexpr std::int64_t kAny = INT64_MAX;

enum class Family : std::uint8_t { kLarge, kOld, kAmpere100K, kBlackwell100K };

constexpr Family family_of(int cc) {
  if (cc >= 120) return Family::kBlackwell100K;
  if (cc == 86 || cc == 89) return Family::kAmpere100K;
  return cc < 80 ? Family::kOld : Family::kLarge;
}

constexpr Tiles tiles_of(Family family, bool half) {
  if (!half) {
    if (family == Family::kLarge) return {{{64, 64, 64, false}, {kAny, 128, 64, false}}};
    return {{{kAny, 64, 64, false}}};
  }
  switch (family) {
    case Family::kLarge:
      return {{{64, 64, 64, false}, {128, 128, 128, false}, {kAny, 128, 64, true}}};
    case Family::kOld:
      return {{{64, 64, 64, false}, {128, 128, 64, false}, {kAny, 128, 64, true}}};
    case Family::kAmpere100K:
      return {
          {{64, 64, 64, false}, {96, 128, 64, false}, {128, 64, 64, true}, {kAny, 128, 64, true}}};
    case Family::kBlackwell100K:
      return {{{64, 64, 64, false}, {128, 64, 64, true}, {kAny, 128, 64, true}}};
  }
  return {};
}

}  // namespace

Bytes efficient_workspace(const Context& c, bool half, std::int64_t batch, std::int64_t heads,
                          std::int64_t queries, std::int64_t keys, std::int64_t head_size) {
  if (batch == 0) return 0;
  const Tiles tiles = tiles_of(family_of(c.spec().compute_capability), half);
  const Tile& tile = *std::find_if(tiles.begin(), tiles.end(),
                                   [&](const Tile& t) { return head_size <= t.up_to; });
  std::int64_t per_head = ceil_div(queries, tile.rows) * ceil_div(head_size, tile.columns) *
                          (16 + 4 * tile.rows * tile.columns);
  if (tile.key_sums) {
    const std::int64_t splits =
        std::max<std::int64_t>(1, std::min(ceil_div(keys, 64), 200 / (batch * heads)));
    per_head += 2 * splits * 64 * round_up(head_size, tile.rows) * 4;
  }
  return static_cast<Bytes>(batch * heads * per_head);
}

}  // namespace tidemark::ops
