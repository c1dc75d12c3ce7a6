#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

// What nn.MultiheadAttention and nn.TransformerEncoderLayer run in evaluation without gradients:
// one operator each. Source: docs/rules/attention.md#6.

struct AttentionWeights {
  Tensor in_weight;
  Tensor in_bias;
  Tensor out_weight;
  Tensor out_bias;
};

/// Self-attention of [batch, length, features]. `mask`: undefined, [batch, length] or the shape of
/// the scores. The second is the attention weights, undefined unless wanted.
std::pair<Tensor, Tensor> native_multi_head_attention(Context& c, const Tensor& query,
                                                      std::int64_t heads,
                                                      const AttentionWeights& weights,
                                                      const Tensor& mask, bool need_weights,
                                                      bool average);

struct EncoderLayerWeights {
  AttentionWeights attention;
  Tensor norm1_weight;
  Tensor norm1_bias;
  Tensor norm2_weight;
  Tensor norm2_bias;
  Tensor linear1_weight;
  Tensor linear1_bias;
  Tensor linear2_weight;
  Tensor linear2_bias;
};
Tensor transformer_encoder_layer(Context& c, const Tensor& src, std::int64_t heads,
                                 const EncoderLayerWeights& weights, const Tensor& mask,
                                 bool norm_first, double eps);

}  // namespace tidemark::ops
