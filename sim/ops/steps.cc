#include "sim/ops/steps.h"

#include <fmt/format.h>

#include "sim/ops/kernels.h"
#include "sim/ops/pointwise_ops.h"
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
    case 1:
      return is_truth ? pointwise(c_, {read(0)}, ScalarType::kBool) : pointwise(c_, {read(0)});
    case 2:
      return is_truth ? pointwise(c_, {read(0), read(1)}, ScalarType::kBool)
                      : pointwise(c_, {read(0), read(1)});
    default:
      return pointwise(c_, {read(0), read(1), read(2)});
  }
}

void Steps::write(const PointwiseRule& rule, std::initializer_list<Tensor> operands) const {
  if (!records_) return;
  const Tensor* const given = operands.begin();
  apply_in_place(c_, rule, given[0], operands.size() > 1 ? given[1] : Tensor());
}

const Tensor& Steps::number() const {
  if (!number_.defined()) number_ = c_.number(ScalarType::kFloat64);
  return number_;
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
  return zeros(c_, of.sizes, of.dtype, of.device);
}
Tensor Steps::scalar_tensor(double /*number*/, const Tensor& like) const {
  return c_.empty({}, like.dtype(), like.device());
}

void refuse(const Backward& b, std::string_view why) {
  throw NotModelled(fmt::format("the gradient of {} is not modelled: {}", b.node.name, why));
}

}  // namespace tidemark::ops
