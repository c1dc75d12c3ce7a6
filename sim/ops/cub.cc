#include "sim/ops/cub.h"

#include <algorithm>

#include "sim/ops/kernels.h"

namespace tidemark::ops {

namespace {

constexpr Bytes kAlignment = 256;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
Bytes aligned(Bytes bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Bytes scan_bytes(const DeviceSpec& /*spec*/, std::int64_t count, Bytes width) {
  // A word of state for each tile and 32 more, a second allocation of nothing, and room to align the first.
  const std::int64_t tile = width == 4 ? 1920 : 896;
  const std::int64_t tiles = ceil_div(count, tile);
  return aligned(static_cast<Bytes>(tiles + 32) * width * 2) + kAlignment + kAlignment - 1;
}

Bytes scan_by_key_bytes(const DeviceSpec& spec, std::int64_t count, Bytes width) {
  return scan_bytes(spec, count, width);
}
Bytes unique_by_key_bytes(const DeviceSpec& spec, std::int64_t count, Bytes width) {
  return scan_bytes(spec, count, width);
}

void scan_kernel(Context& c, const Tensor& x, std::int64_t dim) {
  if (x.dim() == 0 || x.numel() == 0 || !x.is_cuda()) return;
  if (x.size(dim) != x.numel()) return;
  c.scratch(scan_bytes(c.spec(), x.numel(), element_bytes(x.dtype())), x.device());
}

Bytes sort_bytes(const DeviceSpec& spec, std::int64_t count, Bytes key_width, Bytes value_width,
                 std::int64_t bits) {
  const Bytes wide = std::max(key_width, value_width);
  const std::int64_t single = wide == 8 ? 2304 : 4096;
  if (count <= single) return 1;
  std::int64_t tile = 4608;
  if (spec.compute_capability < 80) {
    tile = 2816;
  } else if (spec.compute_capability < 90) {
    tile = 3840;
  } else if (value_width == 0) {
    tile = 6912;
  } else if (key_width + value_width == 12) {
    tile = 5376;
  }
  const std::int64_t passes = ceil_div(bits, 8);
  const auto keys = static_cast<Bytes>(count) * key_width;
  const auto values = static_cast<Bytes>(count) * value_width;
  return (passes > 1 ? aligned(keys) + aligned(values) : 0) + 2048 * static_cast<Bytes>(passes) +
         kAlignment + 1024 * static_cast<Bytes>(ceil_div(count, tile)) + kAlignment - 1;
}

Tensor nonzero_kernel(Context& c, const Tensor& x) {
  Tensor out = c.empty({0, x.dim()}, ScalarType::kInt64, x.device());
  if (!x.is_cuda() || x.numel() == 0) return out;
  const Tensor count = c.scratch(4, x.device());
  c.scratch(x.numel() < 1000 ? 1 : 21503, x.device());
  c.scratch(scan_bytes(c.spec(), x.numel(), 4), x.device());
  return out;
}

}  // namespace tidemark::ops
