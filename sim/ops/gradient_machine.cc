#include "sim/ops/gradient_machine.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "sim/base/check.h"
#include "sim/ops/complex_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/pointwise_ops.h"

namespace tidemark::ops {

namespace {

bool compares(double number, Comparison comparison, double to) {
  switch (comparison) {
    case Comparison::kEqual:
      return number == to;
    case Comparison::kNotEqual:
      return number != to;
    case Comparison::kLess:
      return number < to;
    case Comparison::kLessEqual:
      return number <= to;
    case Comparison::kMore:
      return number > to;
    case Comparison::kMoreEqual:
      return number >= to;
  }
  return false;
}

/// A gradient under way. What its steps make dies in reverse order at the end.
class Machine {
 public:
  Machine(Backward& b, const PointwiseRule& rule, double number)
      : b_(b), rule_(rule), number_(number) {}
  ~Machine() {
    while (count_ > 0) made_[--count_].reset();
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Tensor run(const Gradient& gradient) {
    const auto steps = step_table().subspan(gradient.first, gradient.count);
    const bool records = b_.c.grad_enabled();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (step.kind == StepKind::kSkip || (step.kind == StepKind::kSkipUnless && !holds(step))) {
        skip(steps.subspan(i + 1, step.extra));
        i += step.extra;
      } else if (step.kind != StepKind::kSkipUnless) {
        execute(step, records);
      }
    }
    Tensor out = at(gradient.place);
    for (std::size_t i = 0; i < count_; ++i) {
      if (made_[i] == out) made_[i].reset();
    }
    return out;
  }

 private:
  [[nodiscard]] const Tensor& at(std::size_t place) const {
    if (place < Step::kMostInputs) return b_.saved[rule_.slots[place]];
    if (place == Step::kResult) return b_.saved[rule_.inputs];
    if (place == Step::kGrad) return b_.grad();
    if (place == Step::kNumber) return wrapped();
    return made_[place - Step::kFirstMade];
  }
  [[nodiscard]] const Tensor& wrapped() const {
    if (!wrapped_.defined()) wrapped_ = b_.c.number(ScalarType::kFloat64);
    return wrapped_;
  }
  [[nodiscard]] const Tensor& operand(const Step& step, std::size_t i) const {
    return at(step.operands[i]);
  }
  [[nodiscard]] bool holds(const Step& step) const {
    return compares(number_, static_cast<Comparison>(step.operands[0]), step.offset);
  }
  /// What is left out makes nothing, and keeps its place.
  void skip(std::span<const Step> steps) {
    for (const Step& step : steps) count_ += makes(step.kind) ? 1U : 0U;
  }
  static bool makes(StepKind kind) {
    return kind != StepKind::kWrite && kind != StepKind::kDrop && kind != StepKind::kSkip &&
           kind != StepKind::kSkipUnless && kind != StepKind::kRefuse;
  }

  void execute(const Step& step, bool records) {
    switch (step.kind) {
      case StepKind::kWrite:
        if (records) write(step);
        return;
      case StepKind::kDrop:
        made_[step.operands[0] - Step::kFirstMade].reset();
        return;
      case StepKind::kRefuse:
        throw NotModelled(fmt::format("the gradient of {} is not modelled: {}", b_.node.name,
                                      refusal(step.extra)));
      default:
        TIDEMARK_CHECK(count_ < made_.size(), "a gradient of too many steps");
        made_[count_] = records ? recorded(step) : made(step);
        ++count_;
    }
  }

  /// Below autograd: what a kernel makes.
  Tensor made(const Step& step) {
    Context& c = b_.c;
    switch (step.kind) {
      case StepKind::kPowerOfNumber: {
        Tensor out = pointwise(c, {&operand(step, 0)});
        // The base goes to the device as a scalar of its own type, for the length of the call.
        c.scratch(8, out.device());
        return out;
      }
      case StepKind::kChoose: {
        const Tensor& x = operand(step, 1);
        const Tensor& y = operand(step, 2);
        return pointwise(c, {&operand(step, 0), &x, &y}, result_type(c, {&x, &y}));
      }
      case StepKind::kMaskedFill:
        return clone_in(c, operand(step, 0), MemoryFormat::kContiguous);
      case StepKind::kApply:
        return computed(step);
      default:
        return plain(step);
    }
  }
  Tensor computed(const Step& step) {
    Context& c = b_.c;
    const Tensor& x = operand(step, 0);
    const bool is_truth = step.result == ResultKind::kBool;
    if (step.count == 1)
      return is_truth ? pointwise(c, {&x}, ScalarType::kBool) : pointwise(c, {&x});
    const Tensor& y = operand(step, 1);
    return is_truth ? pointwise(c, {&x, &y}, ScalarType::kBool) : pointwise(c, {&x, &y});
  }
  /// What has no history either way.
  Tensor plain(const Step& step) {
    Context& c = b_.c;
    switch (step.kind) {
      case StepKind::kConjugate:
        return conjugate_view(operand(step, 0));
      case StepKind::kCast:
        return to_dtype(c, operand(step, 0), operand(step, 1).dtype());
      case StepKind::kEither:
        return operand(step, 0).defined() ? operand(step, 0) : operand(step, 1);
      case StepKind::kZerosLike:
        return zeros_like(c, b_.grad());
      case StepKind::kZerosOf: {
        const Edge& edge = b_.node.next[step.operands[0]];
        const GradMetadata& to = edge.node->metadata[edge.input_nr];
        return zeros(c, to.sizes, to.dtype, to.device);
      }
      case StepKind::kScalarTensor: {
        const Tensor& like = operand(step, 0);
        return c.empty({}, like.dtype(), like.device());
      }
      default:
        return operand(step, 0);
    }
  }

  /// The same by operators that record their own gradients.
  Tensor recorded(const Step& step) {
    Context& c = b_.c;
    switch (step.kind) {
      case StepKind::kPowerOfNumber:
        return pow_of_number(c, wrapped(), 2, operand(step, 0));
      case StepKind::kChoose:
        return where(c, operand(step, 0), operand(step, 1), operand(step, 2));
      case StepKind::kMaskedFill:
        return masked_fill(c, operand(step, 0), operand(step, 1), wrapped());
      case StepKind::kApply: {
        const bool is_turned = step.extra != 0;
        const Tensor& x = operand(step, is_turned ? 1 : 0);
        const Tensor other = step.count > 1 ? operand(step, is_turned ? 0 : 1) : Tensor();
        return apply(c, rule_of(step), x, other, step.scale * number_ + step.offset);
      }
      default:
        return plain(step);
    }
  }
  void write(const Step& step) {
    const Tensor& x = operand(step, 0);
    if (step.rule == Step::kNoRule) {
      masked_fill_(b_.c, x, operand(step, 1), wrapped());
      return;
    }
    apply_in_place(b_.c, rule_of(step), x, step.count > 1 ? operand(step, 1) : Tensor());
  }
  static const PointwiseRule& rule_of(const Step& step) { return pointwise_table()[step.rule]; }

  Backward& b_;
  const PointwiseRule& rule_;
  const double number_;
  mutable Tensor wrapped_;  ///< a number on its way through an operator, once one is asked for
  std::array<Tensor, 24> made_;
  std::size_t count_ = 0;
};

}  // namespace

Tensor run_gradient(Backward& b, const PointwiseRule& rule, std::size_t input, bool in_place,
                    double number) {
  const bool is_own = in_place && input == 0;
  const Gradient& gradient = is_own ? rule.in_place_self
                             : b.c.grad_enabled() && rule.of_graph[input].exists
                                 ? rule.of_graph[input]
                                 : rule.gradients[input];
  if (gradient.hands_on()) return b.grad();
  b.saved.resize(rule.inputs + 1U);
  Machine machine(b, rule, number);
  return machine.run(gradient);
}

}  // namespace tidemark::ops
