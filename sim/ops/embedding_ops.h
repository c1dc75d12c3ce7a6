#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// Look-up of rows. Source: docs/rules/indexing.md#1.

struct EmbeddingOptions {
  std::int64_t padding_idx = -1;
  bool scale_grad_by_freq = false;
  bool sparse = false;
};
Tensor embedding(Context& c, const Tensor& weight, const Tensor& indices,
                 const EmbeddingOptions& options);

/// The gradient of a table of `rows` rows, of which `indices` were looked up. Source:
/// at::native::embedding_dense_backward_cuda.
Tensor embedding_dense_backward(Context& c, const Tensor& incoming, const Tensor& indices,
                                std::int64_t rows, const EmbeddingOptions& options);

struct BagOptions : EmbeddingOptions {
  bool max = false;
  bool mean = false;
  bool include_last_offset = false;
};
/// `offsets`: where each bag begins; `weights`: one a looked up row, or undefined.
Tensor embedding_bag(Context& c, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                     const Tensor& weights, const BagOptions& options);

/// Each row that `indices` name once, as embedding_renorm_ looks for them: temporaries alone.
/// Source: at::native::embedding_renorm_cuda_; oracle.
void find_unique_rows(Context& c, const Tensor& indices);

}  // namespace tidemark::ops
