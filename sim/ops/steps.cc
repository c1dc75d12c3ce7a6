#include "sim/ops/steps.h"

#include <bit>

#include <fmt/format.h>

#include "sim/ops/kernels.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/recorded_gradients.h"
#include "sim/ops/recorded_kernels.h"
#include "sim/ops/reduction_ops.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

Tensor Steps::apply(const PointwiseRule& rule, std::initializer_list<Tensor> operands,
                    double number) const {
  const Tensor* const given = operands.begin();
  if (records_) {
    const Tensor other = operands.size() > 1 ? given[1] : Tensor();
    const Tensor third = operands.size() > 2 ? given[2] : Tensor();
    return ops::apply(c_, rule, given[0], other, number, third);
  }
  const auto read = [&](std::size_t i) { return &given[rule.reads[i]]; };
  const bool is_truth = rule.result == ResultKind::kBool;
  switch (operands.size()) {
    case 1: {
      // Integers become numbers with a point.
      const bool changes =
          rule.result == ResultKind::kFloat && !is_differentiable(read(0)->dtype());
      if (changes) return pointwise(c_, {read(0)}, c_.default_dtype);
      return is_truth ? pointwise(c_, {read(0)}, ScalarType::kBool) : pointwise(c_, {read(0)});
    }
    case 2:
      return is_truth ? pointwise(c_, {read(0), read(1)}, ScalarType::kBool)
                      : pointwise(c_, {read(0), read(1)});
    default:
      return pointwise(c_, {read(0), read(1), read(2)});
  }
}

void Steps::write(const PointwiseRule& rule, std::initializer_list<Tensor> operands,
                  double number) const {
  if (!records_) return;
  const Tensor* const given = operands.begin();
  apply_in_place(c_, rule, given[0], operands.size() > 1 ? given[1] : Tensor(), number);
}

const Tensor& Steps::number() const {
  if (!number_.defined()) number_ = c_.number(ScalarType::kFloat64);
  return number_;
}
Tensor Steps::integer() const { return number_tensor(c_, ScalarType::kInt64); }

Tensor Steps::number_over(const Tensor& x) const {
  if (!records_) return pointwise(c_, {&number(), &x});
  return div_(c_, c_.empty_like(x), x);
}
Tensor Steps::power_of_number(const Tensor& exponent) const {
  if (records_) return pow_of_number(c_, number(), 2, exponent);
  Tensor out = pointwise(c_, {&exponent});
  // The base goes to the device as a scalar of its own type, for the length of the call.
  c_.scratch(8, out.device());
  return out;
}

Tensor Steps::where(const Tensor& condition, const Tensor& x, const Tensor& y) const {
  if (records_) return ops::where(c_, condition, x, y);
  return pointwise(c_, {&condition, &x, &y}, result_type(c_, {&x, &y}));
}

Tensor Steps::masked_fill(const Tensor& x, const Tensor& mask) const {
  if (records_) return ops::masked_fill(c_, x, mask, number());
  return clone_in(c_, x, MemoryFormat::kContiguous);
}
void Steps::masked_fill_(const Tensor& x, const Tensor& mask) const {
  if (records_) ops::masked_fill_(c_, x, mask, number());
}

Tensor Steps::type_as(const Tensor& x, const Tensor& like) const {
  return records_ ? to(c_, x, like.dtype()) : to_dtype(c_, x, like.dtype());
}

Tensor Steps::zeros_like(const Tensor& x) const { return ops::zeros_like(c_, x); }
Tensor Steps::zeros_of(const Backward& b, std::size_t input) const {
  const Edge& edge = b.node.next[input];
  const GradMetadata& of = edge.node->metadata[edge.input_nr];
  return ops::zeros(c_, of.sizes, of.dtype, of.device);
}
Tensor Steps::scalar_tensor(double /*number*/, const Tensor& like) const {
  return c_.empty({}, like.dtype(), like.device());
}

Tensor Steps::ones(const Dims& sizes, const Tensor& like) const {
  return c_.empty(sizes, like.dtype(), like.device());
}
Tensor Steps::zeros(const Tensor& x) const { return dense_like(x); }
Tensor Steps::like(const Tensor& x) const { return c_.empty_like(x); }
Tensor Steps::dense_like(const Tensor& x) const {
  return c_.empty(x.sizes(), x.dtype(), x.device());
}

Tensor Steps::reduced(const Tensor& loss, Reduction reduction) const {
  if (records_) return apply_reduction(c_, loss, reduction);
  return reduction == Reduction::kNone ? loss : reduce(c_, loss, {}, false, loss.dtype());
}
Tensor Steps::reduced_into(const Tensor& loss, const Tensor& errors) const {
  if (!errors.defined()) return reduced_in_place(c_, loss);
  const ReductionScratch scratch =
      reduction_scratch(c_, errors, {}, element_bytes(accumulate_type(errors.dtype())));
  return reduced_in_place(c_, loss);
}
Tensor Steps::mse_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target,
                                Reduction reduction) const {
  return records_ ? recorded_mse(c_, grad, self, target, reduction) : dense_like(self);
}

Tensor Steps::reshape(const Tensor& x, const Dims& sizes) const {
  return ops::reshape(c_, x, sizes);  // a view that keeps its base, with gradients or without
}
Tensor Steps::expand(const Tensor& x, const Dims& sizes) const { return ops::expand(c_, x, sizes); }
Tensor Steps::unsqueeze(const Tensor& x, double dim) const {
  return ops::unsqueeze(c_, x, static_cast<std::int64_t>(dim));
}
Tensor Steps::sum(const Tensor& x, const Dims& dims, bool keepdim) const {
  return records_ ? ops::sum(c_, x, dims, keepdim, {}) : sum_kernel(c_, x, dims, keepdim);
}

Tensor Steps::mean(const Tensor& x, const Dims& dims, bool keepdim) const {
  return records_ ? ops::mean(c_, x, dims, keepdim) : reduce(c_, x, dims, keepdim, x.dtype());
}
Tensor Steps::norm(const Tensor& x, double p, const Dims& dims, bool keepdim) const {
  return at_norm(c_, x, p, dims, keepdim, {});
}
Tensor Steps::largest(const Tensor& x, const Dims& dims, bool keepdim) const {
  return reduce(c_, x, dims, keepdim, x.dtype(), element_bytes(x.dtype()));
}
Tensor Steps::truths(const Tensor& x, const Dims& dims, bool keepdim) const {
  const bool is_byte = x.dtype() == ScalarType::kUInt8;
  return reduce(c_, x, dims, keepdim, is_byte ? x.dtype() : ScalarType::kBool, 1);
}
Tensor Steps::restored(const Tensor& x, const Dims& dims, bool keepdim, const Tensor& like) const {
  if (dims.empty()) return x;
  return records_ ? recorded_restore(c_, x, dims, keepdim, like.dim())
                  : restore_dims(x, dims, keepdim, like.dim());
}

Tensor Steps::sum_of_channels(const Tensor& x, bool keepdim) const {
  Tensor out = sum(x, {0}, keepdim);
  const std::int64_t last = keepdim ? 1 : 0;
  for (std::int64_t dim = out.dim() - 1; dim > last; --dim) out = sum(out, {dim}, keepdim);
  return out;
}
Tensor Steps::beside_channels(const Tensor& x, const Tensor& target) const {
  Tensor out = x;
  while (out.dim() < target.dim() - 1) out = unsqueeze(out, 1);
  return out.dim() == target.dim() - 1 ? unsqueeze(out, 0) : out;
}
Tensor Steps::over_channels(const Tensor& x, const Tensor& target) const {
  Tensor out = x;
  while (out.dim() < target.dim() - 1) out = unsqueeze(out, 1);
  return expand_as(out, target);
}

void broadcast_together(Context& c, Tensor& first, Tensor& second) {
  const Dims shape = broadcast(first.sizes(), second.sizes());
  if (!(first.sizes() == shape)) first = expand(c, first, shape);
  if (!(second.sizes() == shape)) second = expand(c, second, shape);
}

unsigned given_of(const TensorList& made) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < made.size(); ++i) bits |= made[i].defined() ? 1U << i : 0U;
  return bits;
}
const Tensor& gradient_of(const Backward& b, std::size_t which) {
  static const Tensor kNone;
  return which < b.incoming.size() ? b.incoming[which] : kNone;
}
const Tensor& incoming(const Backward& b, unsigned given, std::size_t which) {
  static const Tensor kNone;
  if (((given >> which) & 1U) == 0) return kNone;
  return b.incoming[static_cast<std::size_t>(std::popcount(given & ((1U << which) - 1U)))];
}

void refuse(const Backward& b, std::string_view why) {
  throw NotModelled(fmt::format("the gradient of {} is not modelled: {}", b.node.name, why));
}

}  // namespace tidemark::ops
