#include <algorithm>
#include <cmath>

#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"

namespace tidemark::ops {

// Copies of many tensors in one kernel, into and out of one buffer: what FSDP fills its collectives
// with. The addresses and sizes travel through a tensor of their own. Source:
// docs/rules/distributed.md#6.

namespace {

constexpr std::int64_t kThreads = 128;
constexpr std::int64_t kBytesPerThread = 16;
constexpr std::int64_t kBytesPerBlock = kThreads * kBytesPerThread;

std::int64_t div_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// What tells a kernel its work: 64-bit numbers, packed on the host and sent.
void send_numbers(Context& c, std::int64_t count, Device device) {
  const LabelScope label(c, "to");
  const Tensor packed = c.empty_pinned({count}, {1}, ScalarType::kInt64);
  const Tensor sent = c.empty({count}, ScalarType::kInt64, device);
  c.copy_across(packed, sent, true);
}

void pass_over(Context& c, const Tensor& buffer) {
  c.launch(buffer.device(), 0, 2 * buffer.bytes(), KernelClass::kElementwise, buffer.dtype());
}

}  // namespace

/// out[i] becomes the i-th part of `input` along a dimension. Source: ATen's
/// split_with_sizes_copy_out_cuda.
OpResult split_with_sizes_copy_into(Arguments& a) {
  Context& c = a.context();
  const LabelScope label(c, "split_with_sizes_copy");
  const TensorList& out = a.tensors(0);
  const Tensor& input = a.tensor(1);
  const std::int64_t dim = wrap_dim(a.integer(2), input.dim());
  const bool is_one_kernel =
      input.is_cuda() && input.is_non_overlapping_and_dense() &&
      std::all_of(out.begin(), out.end(), [&](const Tensor& t) {
        return t.is_non_overlapping_and_dense() && t.dtype() == input.dtype();
      });
  pass_over(c, input);
  if (!is_one_kernel) return OpResult::plain(None{});
  const auto element = static_cast<std::int64_t>(element_bytes(input.dtype()));
  std::int64_t chunks = 1;  // contiguous pieces of each part
  for (std::int64_t d = 0; d < dim; ++d) chunks *= input.size(d);
  const auto piece_bytes = [&](const Tensor& t) { return t.numel() / chunks * element; };
  std::int64_t blocks = 0;
  for (const Tensor& t : out) blocks += div_up(piece_bytes(t), kBytesPerBlock);
  const DeviceSpec& spec = c.spec();
  const std::int64_t most = std::int64_t{2} * spec.sm_count * spec.max_threads_per_sm / kThreads;
  const std::int64_t factor = div_up(blocks * chunks, most);
  const std::int64_t chunks_per_block = std::min(
      static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(factor)))), chunks);
  const std::int64_t rounds = div_up(factor, chunks_per_block);
  std::int64_t launched = 0;
  for (const Tensor& t : out) launched += div_up(piece_bytes(t), kBytesPerBlock * rounds);
  const auto parts = static_cast<std::int64_t>(out.size());
  send_numbers(c, 4 * parts + 1 + launched, input.device());
  return OpResult::plain(None{});
}

/// Each tensor in `count` pieces of its first dimension, the last ones padded; all first pieces,
/// then all second ones. Source: ATen's _chunk_cat_out_cuda.
OpResult chunk_cat_into(Arguments& a) {
  Context& c = a.context();
  const LabelScope label(c, "_chunk_cat");
  const Tensor& out = a.tensor(0);
  const TensorList& tensors = a.tensors(1);
  const std::int64_t count = a.integer(2);
  const Tensor& first = tensors.front();
  const bool is_dense = out.is_cuda() && out.is_non_overlapping_and_dense() &&
                        std::all_of(tensors.begin(), tensors.end(),
                                    [](const Tensor& t) { return t.is_contiguous(); });
  const bool is_widening =
      first.dtype() == ScalarType::kBFloat16 && out.dtype() == ScalarType::kFloat32;
  if (is_dense && (is_widening || first.dtype() == out.dtype())) {
    const auto element = static_cast<std::int64_t>(element_bytes(out.dtype()));
    std::int64_t blocks = 0;
    for (const Tensor& t : tensors) {
      const std::int64_t row = t.size(0) == 0 ? 0 : t.numel() / t.size(0);
      blocks += div_up(div_up(t.size(0), count) * row * element, kBytesPerBlock);
    }
    const auto parts = static_cast<std::int64_t>(tensors.size());
    send_numbers(c, 6 * parts + 2 + blocks, out.device());
    pass_over(c, out);
    return OpResult::plain(None{});
  }
  TensorList pieces;
  for (const Tensor& t : tensors) {
    Dims sizes = t.sizes();
    sizes[0] = div_up(sizes[0], count) * count;
    const Tensor padded = sizes == t.sizes() ? t : c.empty(sizes, t.dtype(), t.device());
    pieces.push_back(reshape_kernel(c, padded, {count, padded.numel() / count}));
  }
  pass_over(c, out);
  return OpResult::plain(None{});
}

}  // namespace tidemark::ops
