#include <utility>

#include "sim/ops/activation_ops.h"
#include "sim/ops/attention_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/softmax_ops.h"

namespace tidemark::ops {

Tensor safe_softmax(Context& c, const Tensor& self, std::int64_t dim) {
  const bool in_place = c.rules().attention_softmax == AttentionSoftmax::kSafeInPlace;
  Op op(c, "_safe_softmax", "SafeSoftmaxBackward0", {&self});
  Tensor out = c.empty(self.sizes(), self.dtype(), self.device());
  contiguous(c, self);
  {
    const Tensor plain = in_place ? Tensor() : out;
    const Tensor infinity = in_place ? Tensor() : c.empty({}, out.dtype(), out.device());
    const Tensor masked = pointwise(c, {&self}, ScalarType::kBool);
    const Tensor rows = reduce(c, masked, {dim}, true, ScalarType::kBool, 1);
    const Tensor zero = c.empty({}, out.dtype(), out.device());
    if (!in_place) out = pointwise(c, {&rows, &zero, &plain}, out.dtype());
  }
  op.save(0, out);
  return op.result(std::move(out), [dim](Backward& b) {
    const Tensor& grad = b.grad();
    if (b.c.grad_enabled()) {
      b.grads[0] = _softmax_backward_data(b.c, grad, b.saved[0], dim, b.saved[0].dtype());
      return;
    }
    b.grads[0] = b.c.empty(grad.sizes(), grad.dtype(), grad.device());
    const Tensor product = pointwise(b.c, {&grad, &b.saved[0]});
    contiguous(b.c, product);
  });
}

namespace {

Tensor causal_mask(Context& c, std::int64_t queries, std::int64_t keys, ScalarType dtype,
                   Device device) {
  Tensor triangle;
  {
    const Tensor ones = c.empty({queries, keys}, ScalarType::kBool, device);
    triangle = c.empty_like(ones);
  }
  return additive_mask(c, triangle, dtype);
}

/// x.repeat_interleave(count, -3): an expanded view copied.
Tensor repeat_heads(Context& c, const Tensor& x, std::int64_t count) {
  const std::int64_t heads = x.dim() - 3;
  const Tensor wide = unsqueeze(c, x, heads + 1);
  Dims sizes = wide.sizes();
  sizes[static_cast<std::size_t>(heads) + 1] = count;
  return flatten(c, clone(c, expand(c, wide, sizes), MemoryFormat::kContiguous), heads, heads + 1);
}

/// The result and the probabilities, in the inputs' type.
std::pair<Tensor, Tensor> attend(Context& c, const Tensor& query, const Tensor& key,
                                 const Tensor& value, Tensor mask, double dropout_p, bool causal,
                                 bool enable_gqa) {
  const bool plain = c.rules().attention_softmax == AttentionSoftmax::kPlain;
  const bool half = !plain && is_half(query.dtype());
  const Tensor scale = number_tensor(c);
  const Tensor q_wide = half ? to(c, query, ScalarType::kFloat32) : query;
  const Tensor k_wide = half ? to(c, key, ScalarType::kFloat32) : key;
  const Tensor v_wide = half ? to(c, value, ScalarType::kFloat32) : value;
  Tensor added = std::move(mask);
  const Tensor q = mul(c, q_wide, scale);
  if (causal) added = causal_mask(c, q.size(-2), k_wide.size(-2), q.dtype(), q.device());
  Tensor v = v_wide;
  Tensor k = k_wide;
  if (enable_gqa && q.size(-3) != k.size(-3)) {
    const std::int64_t count = q.size(-3) / k.size(-3);
    k = repeat_heads(c, k_wide, count);
    v = repeat_heads(c, v_wide, count);
  }
  Tensor scores = matmul(c, q, mul(c, transpose(c, k, -2, -1), scale));
  if (added.defined()) add_(c, scores, added);
  scores = plain ? softmax(c, scores, -1, std::nullopt, false) : safe_softmax(c, scores, -1);
  if (dropout_p > 0) scores = dropout(c, scores, dropout_p, true);
  // The members of the result are made from the last to the first.
  Tensor probabilities = to(c, scores, query.dtype());
  return {to(c, matmul(c, scores, v), query.dtype()), std::move(probabilities)};
}

}  // namespace

Tensor attention_math(Context& c, const Tensor& query, const Tensor& key, const Tensor& value,
                      Tensor mask, double dropout_p, bool causal, bool enable_gqa) {
  auto [out, probabilities] =
      attend(c, query, key, value, std::move(mask), dropout_p, causal, enable_gqa);
  probabilities.reset();
  return std::move(out);
}

}  // namespace tidemark::ops
