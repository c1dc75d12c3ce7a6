#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

/// Which implementation runs scaled_dot_product_attention.
enum class AttentionBackend : std::uint8_t { kMath, kFlash, kEfficient, kCudnn };

/// One call of scaled_dot_product_attention: [batch, heads, length, head size] each.
struct AttentionCall {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  const Tensor& mask;  ///< may be undefined
  double dropout = 0;
  bool causal = false;
  bool enable_gqa = false;
};

/// The first of PyTorch's order for this device whose gates let the call pass. Errors: OpError when
/// none is left. Source: at::native's sdp_utils.cpp; docs/rules/attention.md#1.
AttentionBackend select_attention(const Context& c, const AttentionCall& call);

/// In how many parts flash attention cuts the keys. 1: no accumulators.
/// Source: num_splits_heuristic; docs/rules/attention.md#2.2.
std::int64_t flash_splits(const Context& c, std::int64_t batch, std::int64_t heads,
                          std::int64_t queries, std::int64_t keys, std::int64_t head_size);

/// Bytes of the workspace of memory-efficient attention's backward. Source:
/// docs/rules/attention.md#3.2.
Bytes efficient_workspace(const Context& c, bool half, std::int64_t batch, std::int64_t heads,
                          std::int64_t queries, std::int64_t keys, std::int64_t head_size);

}  // namespace tidemark::ops
