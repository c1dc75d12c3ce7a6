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
    "AliasBackward0",
    "AvgPool2DBackward0",
    "AvgPoolBackwardBackward0",
    "CatBackward0",
    "CloneBackward0",
    "ConvolutionBackward0",
    "CopyBackwards",
    "ExpandBackward0",
    "LinalgVectorNormBackward0",
    "LogSoftmaxBackward0",
    "LogSoftmaxBackwardDataBackward0",
    "MaskedFillBackward0",
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

}  // namespace tidemark::ops
