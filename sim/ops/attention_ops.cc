#include "sim/ops/attention_ops.h"

#include <fmt/format.h>

#include "sim/ops/attention_backends.h"
#include "sim/ops/autocast.h"
#include "sim/ops/cudnn.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernel_shape.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/padding_ops.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/rounding.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

void launch(Context& c, const Tensor& query, const Tensor& key, int products) {
  const std::uint64_t flops = 2 * static_cast<std::uint64_t>(products) *
                              static_cast<std::uint64_t>(query.numel()) *
                              static_cast<std::uint64_t>(key.size(2));
  c.launch(query.device(), flops, query.bytes() + 2 * key.bytes(), KernelClass::kAttention,
           query.dtype());
}

bool any_requires_grad(const Context& c, const Tensor& q, const Tensor& k, const Tensor& v) {
  return c.grad_enabled() && (q.requires_grad() || k.requires_grad() || v.requires_grad());
}

/// Views with length and heads swapped: what the kernels read.
Tensor heads_inside(const Tensor& x) { return transpose(x, 1, 2); }

// ---- flash

/// fp32 accumulators hold the head size rounded up to what the kernel's tiles cover.
std::int64_t rounded_head(std::int64_t d) { return d <= 128 ? round_up(d, 32) : round_up(d, 64); }

/// Gradients of query, key and value, made whether wanted or not; those that are not go last.
/// Compiled code takes the results apart itself.
void give(Backward& b, AttentionGradients gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (b.needs(i) || b.c.tracer != nullptr) b.grads[i] = std::move(gradients[i]);
    gradients[i].reset();
  }
}

}  // namespace

AttentionGradients flash_backward(Context& c, const Tensor& incoming, const Tensor& query,
                                  const Tensor& key, const Tensor& value, const Tensor& result) {
  const Tensor q = heads_inside(query);
  const Tensor k = heads_inside(key);
  const Tensor v = heads_inside(value);
  const std::int64_t batch = q.size(0);
  const std::int64_t queries = q.size(1);
  const std::int64_t heads = q.size(2);
  const std::int64_t d = q.size(3);
  const Device device = q.device();
  const Tensor grad = contiguous(c, heads_inside(incoming));
  const Tensor out = contiguous(c, heads_inside(result));
  Tensor dq = c.empty_like(q);
  Tensor dk = c.empty_like(k);
  Tensor dv = c.empty_like(v);
  const std::int64_t rows = round_up(queries, 128);
  const Tensor softmax_d = c.empty({batch, heads, rows}, ScalarType::kFloat32, device);
  const std::int64_t parts =
      c.backends.deterministic ? (c.spec().sm_count + batch * heads - 1) / (batch * heads) : 1;
  const Tensor dq_sum =
      c.empty({parts, batch, rows, heads, rounded_head(d)}, ScalarType::kFloat32, device);
  Tensor dk_all;
  Tensor dv_all;
  if (k.size(2) != heads) {
    const Dims all{batch, k.size(1), heads, d};
    dk_all = c.empty(all, q.dtype(), device);
    dv_all = c.empty(all, q.dtype(), device);
    const Dims grouped{batch, k.size(1), k.size(2), heads / k.size(2), d};
    for (const Tensor* t : {&dk_all, &dv_all}) {
      const ReductionScratch scratch = reduction_scratch(c, view(*t, grouped), {3}, 4);
    }
  }
  launch(c, query, key, 5);
  works_on(c, {&q, &k, &v, &grad}, {&dq, &dk, &dv});
  return {heads_inside(dq), heads_inside(dk), heads_inside(dv)};
}

FlashResult flash_forward(Context& c, const Tensor& query, const Tensor& key, const Tensor& value,
                          double dropout) {
  const Tensor q = heads_inside(query);
  const Device device = query.device();
  const std::int64_t batch = q.size(0);
  std::int64_t queries = q.size(1);
  std::int64_t heads = q.size(2);
  const std::int64_t d = q.size(3);
  Tensor out = c.empty_like(q);
  Tensor lse = c.empty({batch, heads, queries}, ScalarType::kFloat32, device);
  // A single query of grouped heads is computed as several queries of the shared heads.
  if (queries == 1 && heads > key.size(1) && dropout == 0) {
    queries = heads / key.size(1);
    heads = key.size(1);
  }
  Tensor lse_parts;
  Tensor out_parts;
  if (dropout == 0) {
    const std::int64_t splits = flash_splits(c, batch, heads, queries, key.size(2), d);
    if (splits > 1) {
      lse_parts = c.empty({splits, batch, heads, queries}, ScalarType::kFloat32, device);
      out_parts =
          c.empty({splits, batch, heads, queries, rounded_head(d)}, ScalarType::kFloat32, device);
    }
  }
  Tensor rng_state;
  Tensor unused;
  if (c.rules().flash_attention_seed) {
    rng_state = c.empty({2}, ScalarType::kUInt64, device);
    unused = c.empty({}, ScalarType::kUInt64, device);
    if (dropout > 0) rng_state = c.empty({2}, ScalarType::kUInt64, device);
  }
  launch(c, query, key, 2);
  works_on(c, {&query, &key, &value}, {&out});
  if (!c.rules().flash_parts_die_in_order) out_parts.reset();
  lse_parts.reset();
  out_parts.reset();
  return {heads_inside(out), std::move(lse), std::move(rng_state), std::move(unused)};
}

FlashResult efficient_forward(Context& c, const Tensor& query, const Tensor& key,
                              const Tensor& value, double dropout, bool want_lse) {
  const Tensor q = heads_inside(query);
  const Device device = query.device();
  const Dims sizes{q.size(0), q.size(1), q.size(2), value.size(3)};
  Tensor seed;
  Tensor offset;
  if (dropout == 0 && c.rules().efficient_attention_seed) {
    seed = c.empty({}, ScalarType::kInt64, device);
    offset = c.empty({}, ScalarType::kInt64, device);
  }
  Tensor out = c.empty(sizes, query.dtype(), device);
  Tensor lse = c.empty({q.size(0), q.size(2), want_lse ? round_up(q.size(1), 32) : 0},
                       ScalarType::kFloat32, device);
  if (value.size(3) > 128 && query.dtype() != ScalarType::kFloat32) {
    // The kernel for large heads keeps its fp32 output in memory.
    const Tensor sums = c.empty(sizes, ScalarType::kFloat32, device);
  }
  launch(c, query, key, 2);
  works_on(c, {&query, &key, &value}, {&out});
  return {heads_inside(out), std::move(lse), std::move(seed), std::move(offset)};
}

namespace {

Tensor flash_attention(Context& c, const Tensor& query, const Tensor& key, const Tensor& value,
                       double dropout) {
  Op op(c, "_scaled_dot_product_flash_attention", "ScaledDotProductFlashAttentionBackward0",
        {&query, &key, &value});
  op.save(0, key);
  op.save(1, query);
  op.save(2, value);
  FlashResult made = flash_forward(c, query, key, value, dropout);
  op.save(3, made.lse);
  op.save(4, made.out);
  op.save(5, made.seed);
  op.save(6, made.offset);
  op.results({&made.out}, [](Backward& b) {
    give(b, flash_backward(b.c, b.grad(), b.saved[1], b.saved[0], b.saved[2], b.saved[4]));
  });
  made.lse.reset();
  made.seed.reset();
  made.offset.reset();
  return made.out;
}

/// Head sizes that are no multiple of 8 are padded with zeros, and the result is cut.
Tensor padded_flash_attention(Context& c, const Tensor& query, const Tensor& key,
                              const Tensor& value, double dropout) {
  const std::int64_t d = query.size(-1);
  if (d % 8 == 0) return flash_attention(c, query, key, value, dropout);
  const Pads pad{0, 8 - d % 8};
  const Tensor q = constant_pad(c, query, pad);
  const Tensor k = constant_pad(c, key, pad);
  const Tensor v = constant_pad(c, value, pad);
  const Tensor out = flash_attention(c, q, k, v, dropout);
  return slice(c, out, -1, 0, d, 1);
}

// ---- memory-efficient

/// Where `mask` is defined, `mask_grad` becomes its gradient.
AttentionGradients efficient_gradients(Context& c, const Tensor& incoming, const Tensor& query,
                                       const Tensor& key, const Tensor& value, const Tensor& result,
                                       const Tensor& mask, Tensor& mask_grad) {
  const Tensor q = heads_inside(query);
  const Tensor k = heads_inside(key);
  const Tensor v = heads_inside(value);
  const Tensor grad = contiguous(c, heads_inside(incoming));
  const Tensor out = heads_inside(result);
  const ScalarType dtype = q.dtype();
  const Device device = q.device();
  Tensor dq = c.empty(q.sizes(), dtype, device);
  Tensor dk = c.empty(k.sizes(), dtype, device);
  Tensor dv = c.empty(v.sizes(), dtype, device);
  // Of each head of the queries, to be summed by group.
  const bool is_grouped = q.size(2) != k.size(2);
  Tensor wide_dk;
  Tensor wide_dv;
  if (is_grouped) {
    wide_dk = c.empty({k.size(0), k.size(1), q.size(2), k.size(3)}, dtype, device);
    wide_dv = c.empty({v.size(0), v.size(1), q.size(2), v.size(3)}, dtype, device);
  }
  if (mask.defined()) {
    Dims sizes = mask.sizes();
    sizes.back() = round_up(sizes.back(), 16);
    mask_grad = narrow(c.empty(sizes, mask.dtype(), device), -1, 0, mask.size(-1));
  }
  const std::int64_t batch = q.size(0);
  const std::int64_t queries = q.size(1);
  const std::int64_t heads = q.size(2);
  Tensor workspace;
  {
    Tensor delta;
    if (is_half(dtype)) {
      delta = c.empty({batch, heads, queries}, ScalarType::kFloat32, device);
    } else {
      const Tensor product = pointwise(c, {&grad, &out});
      const Tensor rows = sum(c, product, {-1}, false);
      delta = contiguous(c, transpose(rows, -2, -1));
    }
    workspace = c.scratch(
        efficient_workspace(c, is_half(dtype), batch, heads, queries, k.size(1), v.size(3)),
        device);
  }
  workspace.reset();
  launch(c, query, key, 5);
  works_on(c, {&q, &k, &v, &grad}, {&dq, &dk, &dv});
  return {heads_inside(dq), heads_inside(dk), heads_inside(dv)};
}

Tensor efficient_attention(Context& c, const Tensor& query, const Tensor& key, const Tensor& value,
                           const Tensor& mask, double dropout, bool want_lse) {
  Op op(c, "_scaled_dot_product_efficient_attention", "ScaledDotProductEfficientAttentionBackward0",
        {&query, &key, &value, &mask});
  op.save(0, mask);
  op.save(1, key);
  op.save(2, query);
  op.save(3, value);
  FlashResult made = efficient_forward(c, query, key, value, dropout, want_lse);
  op.save(4, made.lse);
  op.save(5, made.out);
  op.save(6, made.offset);
  op.save(7, made.seed);
  op.results({&made.out}, [](Backward& b) {
    const Tensor mask_now = b.needs(3) ? b.saved[0] : Tensor();
    Tensor mask_grad;
    give(b, efficient_gradients(b.c, b.grad(), b.saved[2], b.saved[1], b.saved[3], b.saved[5],
                                mask_now, mask_grad));
    if (mask_now.defined()) b.grads[3] = std::move(mask_grad);
  });
  made.lse.reset();
  made.seed.reset();
  made.offset.reset();
  return made.out;
}

}  // namespace

AttentionGradients efficient_backward(Context& c, const Tensor& incoming, const Tensor& query,
                                      const Tensor& key, const Tensor& value,
                                      const Tensor& result) {
  Tensor none;
  return efficient_gradients(c, incoming, query, key, value, result, Tensor(), none);
}

namespace {

/// Masks whose rows do not lie at multiples of 8 values are copied into rows that do.
/// Source: at::native's preprocess_mask.
Tensor aligned_mask(Context& c, const Tensor& mask, const Tensor& query, const Tensor& key) {
  constexpr std::int64_t kAlignment = 8;
  bool aligned = mask.stride(-1) == 1;
  for (std::int64_t i = 0; i + 1 < mask.dim(); ++i)
    aligned = aligned && mask.stride(i) % kAlignment == 0;
  const Dims sizes{query.size(0), query.size(1), query.size(2), key.size(2)};
  if (aligned) return expand(c, mask, sizes);
  const std::int64_t last = mask.size(-1);
  const Tensor padded = constant_pad(c, mask, {0, kAlignment - last % kAlignment});
  return expand(c, slice(c, padded, -1, 0, last, 1), sizes);
}

// ---- cuDNN

AttentionGradients cudnn_gradients(Backward& b) {
  Context& c = b.c;
  const Tensor& q = b.saved[2];
  Tensor dq = c.empty_like(q);
  Tensor dk = c.empty_like(b.saved[1]);
  Tensor dv = c.empty_like(b.saved[3]);
  {
    // The front end's own part: fp32 sums of dq and of the softmax; the plan's part comes with it.
    const auto rows = static_cast<Bytes>(q.size(0) * q.size(1) * q.size(2));
    const Bytes front = 4 * rows * static_cast<Bytes>(q.size(3) + 1);
    const Tensor workspace =
        c.scratch(front + cudnn_bytes(CudnnBuffer::kAttentionBackward), q.device());
  }
  launch(c, q, b.saved[1], 5);
  works_on(c, {&q, &b.saved[1], &b.saved[3], &b.grad()}, {&dq, &dk, &dv});
  return {std::move(dq), std::move(dk), std::move(dv)};
}

/// Output with the dimensions in the order in which the query's lie in memory.
Dims strides_like_query(const Tensor& query, const Dims& sizes) {
  return dense_strides_like(sizes, query.strides());
}

Tensor cudnn_attention(Context& c, const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor& mask, bool want_lse) {
  Op op(c, "_scaled_dot_product_cudnn_attention", "ScaledDotProductCudnnAttentionBackward0",
        {&query, &key, &value}, {&mask});
  op.save(0, mask);
  op.save(1, key);
  op.save(2, query);
  op.save(3, value);
  const Device device = query.device();
  Tensor seed = c.empty({}, ScalarType::kInt64, device);
  Tensor offset = c.empty({}, ScalarType::kInt64, device);
  const Dims sizes{query.size(0), query.size(1), query.size(2), value.size(3)};
  Tensor out = c.empty_strided(sizes, strides_like_query(query, sizes), query.dtype(), device);
  Tensor stats;
  if (want_lse) {
    stats = c.empty({query.size(0), query.size(1), query.size(2), 1}, ScalarType::kFloat32, device);
  }
  { const Tensor workspace = cudnn_buffer(c, CudnnBuffer::kAttentionForward, device); }
  launch(c, query, key, 2);
  works_on(c, {&query, &key, &value}, {&out});
  op.save(4, stats);
  op.save(5, out);
  op.save(6, offset);
  op.save(7, seed);
  op.results({&out}, [](Backward& b) { give(b, cudnn_gradients(b)); });
  stats.reset();
  seed.reset();
  offset.reset();
  return out;
}

void validate(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal) {
  if (q.dtype() != k.dtype() || q.dtype() != v.dtype()) {
    throw OpError(
        fmt::format("Expected query, key, and value to have the same dtype, but got query.dtype: "
                    "{} key.dtype: {} and value.dtype: {} instead.",
                    info(q.dtype()).name, info(k.dtype()).name, info(v.dtype()).name));
  }
  if (q.dim() < 2 || k.dim() < 2 || v.dim() < 2) {
    throw OpError(
        fmt::format("Expected query, key, and value to all be  at least 2 dimensional, but got "
                    "query.dim: {}, key.dim: {} and value.dim: {} instead.",
                    q.dim(), k.dim(), v.dim()));
  }
  if (!mask.defined()) return;
  if (causal)
    throw OpError(
        "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  if (mask.dtype() != ScalarType::kBool && mask.dtype() != q.dtype() &&
      mask.dtype() != ScalarType::kFloat32) {
    throw OpError(
        fmt::format("Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                    "attn_mask.dtype: {} and  query.dtype: {} instead.",
                    info(mask.dtype()).name, info(q.dtype()).name));
  }
}

/// Nothing comes out, or there is nothing to look at.
bool has_nothing(const Tensor& query, const Tensor& key, const Tensor& value) {
  Dims out = query.sizes();
  out.back() = value.size(-1);
  return numel_of(out) == 0 || key.size(-2) == 0;
}

/// Zeros that hang on all three in the graph.
Tensor attention_of_nothing(Context& c, const Tensor& query, const Tensor& key,
                            const Tensor& value) {
  Dims sizes = query.sizes();
  sizes.back() = value.size(-1);
  const Tensor zero = zeros(c, sizes, query.dtype(), query.device());
  const Tensor of_value = sum(c, value, {}, false, std::nullopt);
  const Tensor of_key = sum(c, key, {}, false, std::nullopt);
  const Tensor of_query = sum(c, query, {}, false, std::nullopt);
  const Tensor two = add(c, of_query, of_key);
  const Tensor all = add(c, two, of_value);
  return add(c, zero, mul(c, all, number_tensor(c)));
}

}  // namespace

Tensor additive_mask(Context& c, const Tensor& mask, ScalarType dtype) {
  if (!mask.defined() || mask.dtype() != ScalarType::kBool) return mask;
  const auto number = [&] { return c.empty({}, dtype, mask.device()); };
  switch (c.rules().bool_mask) {
    case BoolMask::kFilled: {
      Tensor added = c.empty_like(mask, dtype);
      const Tensor inverse = pointwise(c, {&mask}, ScalarType::kBool);
      return added;
    }
    case BoolMask::kInverse: {
      const Tensor zero = number();
      const Tensor inverse = pointwise(c, {&mask}, ScalarType::kBool);
      const Tensor minus_infinity = number();
      return pointwise(c, {&inverse, &minus_infinity, &zero}, dtype);
    }
    case BoolMask::kChosen:
      break;
  }
  const Tensor zero = number();
  const Tensor minus_infinity = number();
  const LabelScope label(c, "where");
  return pointwise(c, {&mask, &zero, &minus_infinity}, dtype);
}

Tensor scaled_dot_product_attention(Context& c, Tensor query, Tensor key, Tensor value, Tensor mask,
                                    double dropout, bool causal, bool enable_gqa) {
  const AutocastScope cast(c, CastPolicy::kLowPrecision, {&query, &key, &value, &mask});
  validate(query, key, value, mask, causal);
  if (c.rules().attention_of_nothing_is_zeros && has_nothing(query, key, value)) {
    return attention_of_nothing(c, query, key, value);
  }
  const AttentionBackend backend =
      select_attention(c, {query, key, value, mask, dropout, causal, enable_gqa});
  Tensor added = additive_mask(c, mask, query.dtype());
  const bool want_lse = any_requires_grad(c, query, key, value);
  switch (backend) {
    case AttentionBackend::kFlash:
      return padded_flash_attention(c, query, key, value, dropout);
    case AttentionBackend::kCudnn:
      return cudnn_attention(c, query, key, value, added, want_lse);
    case AttentionBackend::kEfficient:
      if (added.defined()) added = aligned_mask(c, added, query, key);
      return efficient_attention(c, query, key, value, added, dropout, want_lse);
    case AttentionBackend::kMath:
      break;
  }
  return attention_math(c, query, key, value, added, dropout, causal, enable_gqa);
}

}  // namespace tidemark::ops
