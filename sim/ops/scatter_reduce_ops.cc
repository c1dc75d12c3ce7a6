#include <fmt/format.h>

#include "sim/ops/cub.h"
#include "sim/ops/dispatched.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"

namespace tidemark::ops {

namespace {

/// Slots of what scatter_reduce and index_reduce save.
enum Slot : std::size_t { kIndex, kSelf, kSource_, kResult };

struct Writing {
  std::string reduce;
  bool include_self;
  bool by_rows;  ///< index_reduce: the index is a vector of rows
};

/// The copy that scatter and its like write into.
Tensor dense_copy(Context& c, const Tensor& x) { return clone_in(c, x, MemoryFormat::kContiguous); }
Tensor equal_values(Context& c, const Tensor& x, const Tensor& y) {
  return pointwise(c, {&x, &y}, ScalarType::kBool);
}
Tensor taken(Context& c, const Tensor& from, const Tensor& like) {
  return c.empty(like.sizes(), from.dtype(), from.device());
}

/// The mean: how many values went to each place, once more for what each place gets.
void mean_backward(Backward& b) {
  Context& c = b.c;
  const Tensor& grad = b.grad();
  const Tensor& source = b.saved[kSource_];
  Tensor count = zeros_like(c, grad);
  {
    const Tensor ones = c.empty_like(source);
    count = dense_copy(c, count);
  }
  pointwise(c, {&count}, ScalarType::kBool);
  b.grads[0] = pointwise(c, {&grad, &count});
  const Tensor count_there = taken(c, count, source);
  const Tensor grad_there = taken(c, grad, source);
  b.grads[1] = pointwise(c, {&grad_there, &count_there});
}

/// Extremes: the gradient is shared evenly by all that are equal to the result.
void extreme_backward(Backward& b, const Writing& writing) {
  Context& c = b.c;
  const Tensor& grad = b.grad();
  const Tensor& result = b.saved[kResult];
  const Tensor& self = b.saved[kSelf];
  const Tensor& source = b.saved[kSource_];
  const Tensor value = taken(c, result, source);
  const auto as_number = [&c](const Tensor& x, const Tensor& y) {
    const Tensor flag = equal_values(c, x, y);
    return to_dtype(c, flag, x.dtype());
  };
  const Tensor self_is_result = as_number(self, result);
  const Tensor source_is_result = as_number(source, value);
  const Tensor count = dense_copy(c, self_is_result);
  const Tensor share = pointwise(c, {&grad, &count});
  if (writing.by_rows) {
    b.grads[0] = pointwise(c, {&self_is_result, &share});
    const Tensor share_there = taken(c, share, source);
    b.grads[1] = pointwise(c, {&source_is_result, &share_there});
    return;
  }
  {
    const Tensor flag = equal_values(c, self, result);
    b.grads[0] = pointwise(c, {&flag, &share}, grad.dtype());
  }
  const Tensor share_there = taken(c, share, source);
  const Tensor flag = equal_values(c, source, value);
  b.grads[1] = pointwise(c, {&flag, &share_there}, grad.dtype());
}

void reduce_backward(Backward& b, const Writing& writing) {
  if (writing.reduce == "prod") {
    throw NotModelled(fmt::format(
        "the gradient of {} with reduce='prod' is not modelled; use 'sum' of logarithms",
        writing.by_rows ? "index_reduce" : "scatter_reduce"));
  }
  if (writing.reduce == "sum") {
    b.grads[0] = b.grad();
    b.grads[1] = taken(b.c, b.grad(), b.saved[kIndex]);
  } else if (writing.reduce == "mean") {
    mean_backward(b);
  } else {
    extreme_backward(b, writing);
  }
  if (writing.include_self) return;
  b.grads[0] = writing.by_rows ? clone(b.c, b.grads[0]) : dense_copy(b.c, b.grads[0]);
}

Tensor scatter_reduce(Context& c, const Tensor& self, std::int64_t dim, const Tensor& index,
                      const Tensor& source, Writing writing, bool in_place) {
  wrap_dim(dim, self.dim());
  const std::string_view name = writing.by_rows ? "index_reduce" : "scatter_reduce";
  const bool known = writing.reduce == "mean" || writing.reduce == "amax" ||
                     writing.reduce == "amin" || writing.reduce == "prod" ||
                     (writing.reduce == "sum" && !writing.by_rows);
  if (!known) {
    throw OpError(
        fmt::format("{}(): reduce argument must be either sum, prod, mean, amax or amin, "
                    "got {}",
                    name, writing.reduce));
  }
  if (self.dtype() != source.dtype()) {
    throw OpError(fmt::format("{}(): Expected self.dtype to be equal to src.dtype", name));
  }
  Op op(c, name, writing.by_rows ? "IndexReduceBackward0" : "ScatterReduceBackward0",
        {&self, &source}, {&index});
  op.save(kIndex, index);
  op.save(kSelf, in_place && op.records() ? clone(c, self) : self);
  op.save(kSource_, source);
  Tensor out = in_place ? self : dense_copy(c, self);
  if (writing.reduce == "mean") {
    // Ones to count with: kept while scatter_reduce works, gone once index_reduce has added them
    // up.
    const auto make_ones = [&] { return c.empty(source.sizes(), self.dtype(), self.device()); };
    const Tensor ones = writing.by_rows ? Tensor() : make_ones();
    const Tensor count = clone(c, self);
    if (writing.by_rows) make_ones();
    pointwise(c, {&count}, ScalarType::kBool);
  }
  op.save(kResult, out);
  const auto backward = [writing](Backward& b) {
    b.saved.resize(4);
    reduce_backward(b, writing);
  };
  return in_place ? op.in_place(self, backward) : op.result(std::move(out), backward);
}

}  // namespace

Tensor reduced_write(Context& c, const Tensor& self, std::int64_t dim, const Tensor& index,
                     const Tensor& source, const std::string& reduce, bool include_self,
                     bool by_rows, bool in_place) {
  return scatter_reduce(c, self, dim, index, source, {reduce, include_self, by_rows}, in_place);
}

}  // namespace tidemark::ops
