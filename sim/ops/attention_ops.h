#pragma once

#include <array>
#include <optional>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Source: docs/rules/attention.md.

/// F.scaled_dot_product_attention. `mask` may be undefined. Errors: OpError with PyTorch's words.
Tensor scaled_dot_product_attention(Context& c, Tensor query, Tensor key, Tensor value, Tensor mask,
                                    double dropout, bool causal, bool enable_gqa);

/// What flash attention's kernels give, without history: the result, the logarithms of the sums of
/// its softmax, and where its random numbers began.
struct FlashResult {
  Tensor out, lse, seed, offset;
};
/// Of tensors (batch, heads, length, head size), the last a multiple of 8. Source:
/// at::native::_scaled_dot_product_flash_attention_cuda.
FlashResult flash_forward(Context& c, const Tensor& query, const Tensor& key, const Tensor& value,
                          double dropout);
/// Of query, key and value.
using AttentionGradients = std::array<Tensor, 3>;
AttentionGradients flash_backward(Context& c, const Tensor& incoming, const Tensor& query,
                                  const Tensor& key, const Tensor& value, const Tensor& result);
/// The same of memory-efficient kernels. Source: at::native::_efficient_attention_forward.
FlashResult efficient_forward(Context& c, const Tensor& query, const Tensor& key,
                              const Tensor& value, double dropout, bool want_lse);
AttentionGradients efficient_backward(Context& c, const Tensor& incoming, const Tensor& query,
                                      const Tensor& key, const Tensor& value, const Tensor& result);

/// The math path: made of other operators.
Tensor attention_math(Context& c, const Tensor& query, const Tensor& key, const Tensor& value,
                      Tensor mask, double dropout, bool causal, bool enable_gqa);
/// torch._safe_softmax: rows that are masked as a whole become zeros.
Tensor safe_softmax(Context& c, const Tensor& self, std::int64_t dim);
/// A bool mask as one that is added; others as they are.
Tensor additive_mask(Context& c, const Tensor& mask, ScalarType dtype);

}  // namespace tidemark::ops
