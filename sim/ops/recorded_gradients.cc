#include "sim/ops/recorded_gradients.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "sim/ops/kernels.h"
#include "sim/ops/linear_ops.h"
#include "sim/ops/op.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/pointwise_rule.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/softmax_ops.h"

namespace tidemark::ops {

namespace {

/// Nodes of C++ functions that make their gradients by operators where gradients are recorded. All
/// element-wise records do, too.
constexpr std::string_view kHaveGradients[] = {
    "AddmmBackward0",
    "AliasBackward0",
    "AvgPool2DBackward0",
    "AvgPoolBackwardBackward0",
    "BmmBackward0",
    "CatBackward0",
    "CloneBackward0",
    "ConvolutionBackward0",
    "CopyBackwards",
    "DotBackward0",
    "ExpandBackward0",
    "LinalgVectorNormBackward0",
    "LogSoftmaxBackward0",
    "LogSoftmaxBackwardDataBackward0",
    "MaskedFillBackward0",
    "MmBackward0",
    "PermuteBackward0",
    "MaxPool2DWithIndicesBackward0",
    "SelectBackward0",
    "SelectBackwardBackward0",
    "SliceBackward0",
    "SliceBackwardBackward0",
    "SoftmaxBackward0",
    "SoftmaxBackwardDataBackward0",
    "SplitBackward0",
    "SplitWithSizesBackward0",
    "SqueezeBackward0",
    "SqueezeBackward1",
    "StackBackward0",
    "TBackward0",
    "ToCopyBackward0",
    "TransposeBackward0",
    "UnbindBackward0",
    "UnsafeViewBackward0",
    "UnsqueezeBackward0",
    "ViewBackward0",
    "WhereBackward0",
    "NativeDropoutBackward0",
    "NllLossBackward0",
    "NllLoss2DBackward0",
    "NllLossBackwardBackward0",
    "NllLoss2DBackwardBackward0",
    "MseLossBackwardBackward0",
    "ConvolutionBackwardBackward0",
    "MaxPoolBackwardBackward0",
    "MaxPool3DWithIndicesBackward0",
    "AvgPool3DBackward0",
    "NativeLayerNormBackward0",
    "CudnnBatchNormBackward0",
    "NativeBatchNormBackward0",
    "RepeatBackward0",
    "EmbeddingBackward0",
    "EmbeddingDenseBackwardBackward0",
    "SafeSoftmaxBackward0",
    "GatherBackward0",
    "ScatterAddBackward0",
    "IndexSelectBackward0",
    "IndexAddBackward0",
    "IndexBackward0",
    "IndexPutImplBackward0",
    "MaxBackward0",
    "MinBackward0",
};

bool is_record(std::string_view node) {
  return std::ranges::any_of(pointwise_table(),
                             [node](const PointwiseRule& rule) { return rule.node == node; });
}

}  // namespace

void check_has_gradient(std::string_view node) {
  if (std::ranges::find(kHaveGradients, node) != std::end(kHaveGradients) || is_record(node))
    return;
  throw NotModelled(
      fmt::format("the gradient of the gradient of {} is not modelled (create_graph=True)", node));
}

Tensor times_number(Context& c, const Tensor& x) { return mul(c, x, number_tensor(c)); }
Tensor over_number(Context& c, const Tensor& x) { return div(c, x, number_tensor(c)); }

Tensor recorded_scale(Context& c, const Tensor& x, double factor) {
  return factor == 1 ? x : times_number(c, x);
}

Tensor recorded_sum_to(Context& c, const Tensor& x, const Dims& sizes) {
  if (sizes.empty()) return sum(c, x, {}, false, {});
  const std::int64_t leading = x.dim() - static_cast<std::int64_t>(sizes.size());
  Dims dims;
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    const bool is_lost = i < leading;
    if (is_lost || (sizes[static_cast<std::size_t>(i - leading)] == 1 && x.size(i) != 1))
      dims.push_back(i);
  }
  const Tensor summed = dims.empty() ? x : sum(c, x, dims, true, {});
  return leading > 0 ? view(c, summed, sizes) : summed;
}

Tensor recorded_restore(Context& c, const Tensor& reduced, const Dims& dims, bool keepdim,
                        std::int64_t rank) {
  if (keepdim || rank == 0 || dims.empty()) return reduced;
  std::vector<std::int64_t> lost;
  for (const std::int64_t dim : dims) lost.push_back(wrap_dim(dim, rank));
  std::sort(lost.begin(), lost.end());
  Tensor out = reduced;
  for (const std::int64_t dim : lost) out = unsqueeze(c, out, dim);
  return out;
}

Tensor recorded_expand(Context& c, const Tensor& grad, const Dims& dims, bool keepdim,
                       const Dims& sizes) {
  const auto rank = static_cast<std::int64_t>(sizes.size());
  return expand(c, recorded_restore(c, grad, dims, keepdim, rank), sizes);
}

Tensor recorded_unsqueeze(Context& c, const Tensor& grad, const Dims& sizes, std::size_t first,
                          std::size_t last) {
  Tensor result = grad;
  for (std::size_t i = first; i < last; ++i) {
    if (sizes[i] == 1) result = unsqueeze(c, result, static_cast<std::int64_t>(i));
  }
  return result;
}

Tensor recorded_slice_backward(Context& c, const Tensor& grad, const Dims& sizes, std::int64_t dim,
                               std::int64_t start, std::int64_t end, std::int64_t step) {
  Op op(c, "slice_backward", "SliceBackwardBackward0", {&grad});
  return op.result(c.empty(sizes, grad.dtype(), grad.device()),
                   [=](Backward& b) { b.grads[0] = slice(b.c, b.grad(), dim, start, end, step); });
}

Tensor recorded_select_backward(Context& c, const Tensor& grad, const Dims& sizes, std::int64_t dim,
                                std::int64_t index) {
  Op op(c, "select_backward", "SelectBackwardBackward0", {&grad});
  return op.result(c.empty(sizes, grad.dtype(), grad.device()),
                   [=](Backward& b) { b.grads[0] = select(b.c, b.grad(), dim, index); });
}

namespace {

bool is_column_major(const Dims& sizes, const Dims& strides) {
  return strides[0] == 1 && strides[1] == sizes[0];
}

}  // namespace

Tensor recorded_mm_first(Context& c, const Tensor& grad, const Tensor& mat2, const Dims& sizes,
                         const Dims& strides) {
  if (is_column_major(sizes, strides)) return t(c, mm(c, mat2, t(c, grad)));
  return mm(c, grad, t(c, mat2));
}

Tensor recorded_mm_second(Context& c, const Tensor& grad, const Tensor& mat1, const Dims& sizes,
                          const Dims& strides) {
  if (is_column_major(sizes, strides)) return t(c, mm(c, t(c, grad), mat1));
  return mm(c, t(c, mat1), grad);
}

Tensor recorded_norm(Backward& b, const Tensor& self, const Tensor& result, double p,
                     const Dims& dims, bool keepdim) {
  Context& c = b.c;
  const Tensor grad = recorded_restore(c, b.grad(), dims, keepdim, self.dim());
  const Tensor norm = recorded_restore(c, result, dims, keepdim, self.dim());
  if (p == 1) {
    const Tensor sign = unary(c, "sgn", self);
    return mul(c, sign, grad);
  }
  if (p != 2) throw NotModelled("the gradient of the gradient of this norm is not modelled");
  const Tensor direction = div(c, self, norm);
  const Tensor mask = binary(c, "eq", norm, number_tensor(c));
  masked_fill_(c, direction, mask, number_tensor(c));
  return mul(c, grad, direction);
}

namespace {

/// The gradients of a softmax's gradient, after derivatives.yaml. Slots: the gradient, the output.
void softmax_double_backward(Backward& b, std::int64_t dim) {
  Context& c = b.c;
  const Tensor& grad_output = b.saved[0];
  const Tensor& output = b.saved[1];
  const Tensor grad = to(c, b.grad(), output.dtype());
  if (b.needs(0)) b.grads[0] = recorded_softmax(c, grad, output, dim, false, output.dtype());
  if (!b.needs(1)) return;
  const Tensor by_grad = mul(c, output, grad);
  const Tensor total = sum(c, by_grad, {dim}, true, {});
  const Tensor last = mul(c, grad_output, total);
  const Tensor by_output = mul(c, output, grad_output);
  const Tensor other_total = sum(c, by_output, {dim}, true, {});
  const Tensor middle = mul(c, other_total, grad);
  const Tensor first = mul(c, grad_output, grad);
  const Tensor difference = sub(c, first, middle);
  b.grads[1] = sub(c, difference, last);
}

void log_softmax_double_backward(Backward& b, std::int64_t dim) {
  Context& c = b.c;
  const Tensor& grad_output = b.saved[0];
  const Tensor& output = b.saved[1];
  const Tensor grad = to(c, b.grad(), output.dtype());
  if (b.needs(0)) {
    const Tensor power = unary(c, "exp", output);
    const Tensor product = mul(c, grad, power);
    const Tensor total = sum(c, product, {dim}, true, {});
    b.grads[0] = sub(c, grad, total);
  }
  if (!b.needs(1)) return;
  const Tensor power = unary(c, "exp", output);
  const Tensor total = sum(c, grad_output, {dim}, true, {});
  const Tensor negative = unary(c, "neg", total);
  const Tensor product = mul(c, negative, power);
  const Tensor whole = mul(c, product, grad);
  b.grads[1] = to(c, whole, output.dtype());
}

}  // namespace

Tensor recorded_softmax(Context& c, const Tensor& grad, const Tensor& output, std::int64_t dim,
                        bool log, ScalarType type) {
  Op op(c, log ? "_log_softmax_backward_data" : "_softmax_backward_data",
        log ? "LogSoftmaxBackwardDataBackward0" : "SoftmaxBackwardDataBackward0", {&grad, &output});
  op.save(0, grad);
  op.save(1, output);
  return op.result(softmax_gradient(c, grad, output, log, type), [dim, log](Backward& b) {
    if (log) {
      log_softmax_double_backward(b, dim);
    } else {
      softmax_double_backward(b, dim);
    }
  });
}

}  // namespace tidemark::ops
