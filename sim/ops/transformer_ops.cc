#include "sim/ops/transformer_ops.h"

#include <fmt/format.h>

#include "sim/ops/attention_backends.h"
#include "sim/ops/attention_ops.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/norm_ops.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/softmax_ops.h"

namespace tidemark::ops {

namespace {

bool has_fused_kernel(const Context& c, const Tensor& query, std::int64_t heads) {
  const Tensor split =
      transpose(view(query, {query.size(0), -1, heads, query.size(2) / heads}), 1, 2);
  const Tensor none;
  return select_attention(c, {split, split, split, none}) != AttentionBackend::kMath;
}

Tensor fused(Context& c, const Tensor& query, std::int64_t heads, const AttentionWeights& w) {
  const std::int64_t batch = query.size(0);
  const std::int64_t features = query.size(2);
  // Below autograd the weight asks for no gradient, so that a strided input is not folded for it.
  const Tensor packed = linear(c, query, Context::shallow_copy(w.in_weight), w.in_bias);
  TensorList parts = chunk(c, packed, 3, -1);
  for (Tensor& part : parts)
    part = transpose(c, view(c, part, {batch, -1, heads, features / heads}), 1, 2);
  const Tensor attended =
      scaled_dot_product_attention(c, parts[0], parts[1], parts[2], Tensor(), 0, false, false);
  const Tensor joined = reshape(c, transpose(c, attended, 1, 2), {batch, -1, features});
  return linear(c, joined, w.out_weight, w.out_bias);
}

/// softmax(scores) with what `mask` names left out; the scores are dropped when the result is
/// there. Source: at::native::masked_softmax, masked_softmax_cuda.
void masked_softmax(Context& c, Tensor& scores, const Tensor& mask) {
  constexpr std::int64_t kLongestRow = 1024;  // of the kernel that reads the mask itself
  const Tensor where =
      mask.dtype() == ScalarType::kBool ? mask : to_dtype(c, mask, ScalarType::kBool);
  Tensor out = c.empty_like(scores);
  if (scores.size(-1) > kLongestRow || !where.is_contiguous()) {
    const Tensor filled = c.empty_like(scores);
    out = softmax(c, filled, -1, std::nullopt, false);
  }
  scores = std::move(out);
}

std::pair<Tensor, Tensor> unfused(Context& c, const Tensor& query, std::int64_t heads,
                                  const AttentionWeights& w, const Tensor& mask, bool need_weights,
                                  bool average) {
  const std::int64_t batch = query.size(0);
  const std::int64_t length = query.size(1);
  const std::int64_t features = query.size(2);
  const Dims split{batch * heads, length, features / heads};
  Tensor packed;  // queries, keys and values, biased and scaled
  {
    const Tensor projected = matmul(c, query, transpose(w.in_weight, 0, 1));
    packed = c.empty({3, batch, heads, length, features / heads}, query.dtype(), query.device());
  }
  const auto part = [&](std::int64_t i) { return view(select(packed, 0, i), split); };
  Tensor scores = bmm_kernel(c, part(0), transpose(part(1), 1, 2));
  scores = view(scores, {batch, heads, length, length});
  // Without a mask softmax works in place. Its product with the values is written over the queries.
  if (mask.defined()) masked_softmax(c, scores, mask);
  c.cublas_workspace(query.device());
  if (!need_weights) scores.reset();
  Tensor out;
  {
    const Tensor joined = c.empty({batch, length, features}, query.dtype(), query.device());
    out = linear(c, joined, w.out_weight, w.out_bias);
  }
  if (need_weights && average) scores = sum(c, scores, {1}, false);
  return {std::move(out), std::move(scores)};
}

}  // namespace

std::pair<Tensor, Tensor> native_multi_head_attention(Context& c, const Tensor& query,
                                                      std::int64_t heads,
                                                      const AttentionWeights& weights,
                                                      const Tensor& mask, bool need_weights,
                                                      bool average) {
  if (query.dim() != 3)
    throw OpError(fmt::format("expected 3-D `query`, got {}-D tensor", query.dim()));
  const LabelScope label(c, "_native_multi_head_attention");
  const bool fits = c.rules().fused_encoder_of_any_head || query.size(2) / heads % 8 == 0;
  if (!mask.defined() && !need_weights && query.size(2) % heads == 0 && fits &&
      has_fused_kernel(c, query, heads)) {
    return {fused(c, query, heads, weights), Tensor()};
  }
  return unfused(c, query, heads, weights, mask, need_weights, average);
}

Tensor transformer_encoder_layer(Context& c, const Tensor& src, std::int64_t heads,
                                 const EncoderLayerWeights& w, const Tensor& mask, bool norm_first,
                                 double eps) {
  const LabelScope label(c, "_transformer_encoder_layer_fwd");
  const Dims features{src.size(-1)};
  const auto norm1 = [&](const Tensor& x) {
    return layer_norm(c, x, features, w.norm1_weight, w.norm1_bias, eps);
  };
  const auto norm2 = [&](const Tensor& x) {
    return layer_norm(c, x, features, w.norm2_weight, w.norm2_bias, eps);
  };
  const auto dense = [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
    Dims sizes = x.sizes();
    sizes.back() = weight.size(0);
    const Tensor rows = view(c, x, {-1, x.size(-1)});
    return view(c, addmm(c, bias, rows, t(c, weight)), sizes);
  };
  Tensor x = src;
  if (norm_first) x = norm1(x);
  x = native_multi_head_attention(c, x, heads, w.attention, mask, false, true).first;
  add_(c, x, src);
  if (!norm_first) x = norm1(x);
  const Tensor before = x;
  if (norm_first) x = norm2(x);
  x = [&] {
    // The activation is part of the first product.
    const Tensor hidden = dense(x, w.linear1_weight, w.linear1_bias);
    return dense(hidden, w.linear2_weight, w.linear2_bias);
  }();
  add_(c, x, before);
  if (!norm_first) x = norm2(x);
  return x;
}

OpResult fused_attention_layer(Arguments& a) {
  auto [out, weights] = native_multi_head_attention(
      a.context(), a.tensor(0), a.integer(2), {a.tensor(3), a.tensor(4), a.tensor(5), a.tensor(6)},
      a.optional_tensor(9), a.flag(7), a.flag(8));
  return OpResult::tuple({std::move(out), std::move(weights)});
}

OpResult fused_encoder_layer(Arguments& a) {
  const EncoderLayerWeights w{{a.tensor(3), a.tensor(4), a.tensor(5), a.tensor(6)},
                              a.tensor(10),
                              a.tensor(11),
                              a.tensor(12),
                              a.tensor(13),
                              a.tensor(14),
                              a.tensor(15),
                              a.tensor(16),
                              a.tensor(17)};
  return transformer_encoder_layer(a.context(), a.tensor(0), a.integer(2), w, a.optional_tensor(18),
                                   a.flag(8), a.number(9));
}

}  // namespace tidemark::ops
