#include <fmt/format.h>

#include "sim/ops/autocast.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/op.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

struct Padding {
  Tensor length;
  Tensor ones;
};
/// The squared lengths of the rows, and ones: beside the columns, they make one product of all
/// squared distances.
Padding padding_of(Context& c, const Tensor& x) {
  Padding out;
  {
    const Tensor squares = pointwise(c, {&x});
    out.length = sum(c, squares, {-1}, true);
  }
  out.ones = c.empty(out.length.sizes(), out.length.dtype(), out.length.device());
  return out;
}

Dims shared_batch(const Tensor& x1, const Tensor& x2) {
  const auto leading = [](const Tensor& x) {
    return Dims(std::span(x.sizes().begin(), x.sizes().end() - 2));
  };
  return broadcast(leading(x1), leading(x2));
}
Dims with_tail(Dims batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

/// x with its last two dimensions behind one for all others, and a contiguous copy where needed.
Tensor as_batch(Context& c, const Tensor& x, const Dims& batch) {
  const Tensor wide = expand(c, x, with_tail(batch, x.size(-2), x.size(-1)));
  return view(c, contiguous(c, wide, MemoryFormat::kContiguous),
              {numel_of(batch), x.size(-2), x.size(-1)});
}

Tensor product(Context& c, const Tensor& a, const Tensor& b) {
  return a.dim() == 2 ? mm_kernel(c, a, b) : bmm_kernel(c, a, b);
}

/// Requires: two or three dimensions. Source: at::native::_euclidean_dist and its backward.
Tensor euclidean_distance(Context& c, const Tensor& x1, const Tensor& x2) {
  Op op(c, "_euclidean_dist", "EuclideanDistBackward0", {&x1, &x2});
  op.save(0, x1);
  op.save(1, x2);
  Tensor out = [&] {
    Padding first = padding_of(c, x1);
    Padding second = padding_of(c, x2);
    const Tensor left = [&] {
      const Tensor doubled = pointwise(c, {&x1});
      Tensor joined = cat_kernel(c, {doubled, first.length, first.ones}, -1);
      first.ones.reset();
      first.length.reset();
      return joined;
    }();
    const Tensor right = [&] {
      Tensor joined = cat_kernel(c, {x2, second.ones, second.length}, -1);
      second.length.reset();
      second.ones.reset();
      return joined;
    }();
    return product(c, left, transpose(right, -1, -2));
  }();
  op.save(2, out);
  return op.result(std::move(out), [](Backward& b) {
    Context& bc = b.c;
    const Tensor& x = b.saved[0];
    const Tensor& y = b.saved[1];
    const Tensor& result = b.saved[2];
    const Tensor ratio = pointwise(bc, {&b.grad(), &result});
    pointwise(bc, {&result}, ScalarType::kBool);
    const Tensor to_y = product(bc, ratio, y);
    const Tensor x_sum = sum(bc, ratio, {-1}, true);
    const Tensor x_scaled = pointwise(bc, {&x, &x_sum});
    Tensor x_grad = pointwise(bc, {&x_scaled, &to_y});
    const Tensor to_x = product(bc, transpose(ratio, -1, -2), x);
    const Tensor y_sum = sum(bc, ratio, {-2}, false);
    const Tensor column = unsqueeze(y_sum, -1);
    const Tensor y_scaled = pointwise(bc, {&y, &column});
    Tensor y_grad = pointwise(bc, {&y_scaled, &to_x});
    b.grads[0] = std::move(x_grad);
    b.grads[1] = std::move(y_grad);
  });
}

/// The gradient of one side: a value for every pair and column, summed over the other side's rows.
Tensor pair_gradient(Context& c, const Tensor& x1, const Tensor& x2) {
  const Dims batch = shared_batch(x1, x2);
  const Tensor dense1 = contiguous(c, x1);
  const Tensor dense2 = contiguous(c, x2);
  const std::int64_t count = numel_of(batch);
  const Tensor out = c.empty({count, x1.size(-2), x1.size(-1)}, x1.dtype(), x1.device());
  const Tensor buffer =
      c.empty({count, x2.size(-2), x1.size(-2), x1.size(-1)}, x1.dtype(), x1.device());
  reduction_scratch(c, buffer, {1}, element_bytes(accumulate_type(x1.dtype())));
  return view(out, with_tail(batch, x1.size(-2), x1.size(-1)));
}

/// Source: at::native::_cdist_forward and its backward.
Tensor pairwise_distances(Context& c, const Tensor& x1, const Tensor& x2) {
  Op op(c, "_cdist_forward", "CdistBackward0", {&x1, &x2});
  op.save(0, x1);
  op.save(1, x2);
  const Dims batch = shared_batch(x1, x2);
  const Tensor dense1 = contiguous(c, expand(x1, with_tail(batch, x1.size(-2), x1.size(-1))));
  const Tensor dense2 = contiguous(c, expand(x2, with_tail(batch, x2.size(-2), x2.size(-1))));
  Tensor out = c.empty(with_tail(batch, x1.size(-2), x2.size(-2)), x1.dtype(), x1.device());
  op.save(2, out);
  return op.result(std::move(out), [](Backward& b) {
    const Tensor& x = b.saved[0];
    const Tensor& y = b.saved[1];
    if (b.needs(0)) {
      const Tensor grad = contiguous(b.c, b.grad());
      b.grads[0] = pair_gradient(b.c, x, y);
    }
    if (b.needs(1)) {
      const Tensor result = contiguous(b.c, transpose(b.saved[2], -1, -2));
      const Tensor grad = contiguous(b.c, transpose(b.grad(), -1, -2));
      b.grads[1] = pair_gradient(b.c, y, x);
    }
  });
}

}  // namespace

/// `mode`: "use_mm_for_euclid_dist_if_necessary" and its like.
Tensor cdist(Context& c, Tensor x1, Tensor x2, double p, const std::string& mode) {
  if (x1.dim() < 2 || x2.dim() < 2) {
    throw OpError(fmt::format("cdist only supports at least 2D tensors, X{} got: {}D",
                              x1.dim() < 2 ? 1 : 2, x1.dim() < 2 ? x1.dim() : x2.dim()));
  }
  if (x1.size(-1) != x2.size(-1)) {
    throw OpError(fmt::format("X1 and X2 must have the same number of columns. X1: {} X2: {}",
                              x1.size(-1), x2.size(-1)));
  }
  const AutocastScope cast(c, CastPolicy::kFp32, {&x1, &x2});
  const bool by_product =
      p == 2 &&
      (mode == "use_mm_for_euclid_dist" ||
       (mode == "use_mm_for_euclid_dist_if_necessary" && (x1.size(-2) > 25 || x2.size(-2) > 25)));
  if (!by_product) {
    if (p == 0) {
      throw NotModelled("cdist with p=0 is not modelled; use another p");
    }
    return pairwise_distances(c, x1, x2);
  }
  const Dims batch = shared_batch(x1, x2);
  const Tensor first = as_batch(c, x1, batch);
  const Tensor second = as_batch(c, x2, batch);
  // One of each is taken as it is, the copies left unused.
  const bool alone = numel_of(batch) == 1 && x1.dim() <= 3 && x1.dim() == x2.dim();
  const Tensor distance =
      alone ? euclidean_distance(c, x1, x2) : euclidean_distance(c, first, second);
  return view(c, distance, with_tail(batch, x1.size(-2), x2.size(-2)));
}

Tensor pdist(Context& c, Tensor x, double p) {
  if (x.dim() != 2) {
    throw OpError(fmt::format("pdist only supports 2D tensors, got: {}D", x.dim()));
  }
  const AutocastScope cast(c, CastPolicy::kFp32, {&x});
  if (p == 0) throw NotModelled("pdist with p=0 is not modelled; use another p");
  const Tensor dense = contiguous(c, x, MemoryFormat::kContiguous);
  const std::int64_t n = dense.size(0);
  Op op(c, "_pdist_forward", "PdistBackward0", {&dense});
  op.save(0, dense);
  Tensor out = c.empty({n * (n - 1) / 2}, dense.dtype(), dense.device());
  op.save(1, out);
  return op.result(std::move(out), [n](Backward& b) {
    const Tensor& saved = b.saved[0];
    b.grads[0] = b.c.empty(saved.sizes(), saved.dtype(), saved.device());
    const Tensor buffer = b.c.empty({std::max<std::int64_t>(n - 1, 0), n, saved.size(1)},
                                    saved.dtype(), saved.device());
    reduction_scratch(b.c, buffer, {0}, element_bytes(accumulate_type(saved.dtype())));
  });
}

}  // namespace tidemark::ops
