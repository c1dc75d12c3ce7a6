#pragma once

#include <optional>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Source: docs/rules/attention.md.

/// F.scaled_dot_product_attention. `mask` may be undefined. Errors: OpError with PyTorch's words.
Tensor scaled_dot_product_attention(Context& c, Tensor query, Tensor key, Tensor value, Tensor mask,
                                    double dropout, bool causal, bool enable_gqa);

/// The math path: made of other operators.
Tensor attention_math(Context& c, const Tensor& query, const Tensor& key, const Tensor& value,
                      Tensor mask, double dropout, bool causal, bool enable_gqa);
/// torch._safe_softmax: rows that are masked as a whole become zeros.
Tensor safe_softmax(Context& c, const Tensor& self, std::int64_t dim);
/// A bool mask as one that is added; others as they are.
Tensor additive_mask(Context& c, const Tensor& mask, ScalarType dtype);

}  // namespace tidemark::ops
