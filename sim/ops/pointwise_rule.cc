#include "sim/ops/pointwise_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/check.h"
#include "sim/ops/complex_ops.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/sparse.h"
#include "sim/ops/tracer.h"

namespace tidemark::ops {

namespace {

/// How many gradients there are, and which of them mention a place.
struct Mentions {
  std::size_t gradients = 0;
  std::size_t count = 0;
  std::size_t last = 0;
};
Mentions mentions_of(const PointwiseRule& rule, const Gradient& self, std::size_t place) {
  Mentions out;
  for (std::size_t i = 0; i < rule.inputs; ++i) {
    const Gradient& gradient = i == 0 ? self : rule.gradients[i];
    if (!gradient.exists) continue;
    ++out.gradients;
    if (!gradient.mentions_place(place)) continue;
    ++out.count;
    out.last = i;
  }
  return out;
}

/// Whether an input is to be saved, given which gradients are wanted. Source: torch's
/// gen_variable_type: what a single gradient of several mentions is guarded.
bool is_saved(const Op& op, const PointwiseRule& rule, const Gradient& self, std::size_t input) {
  const Mentions mentions = mentions_of(rule, self, input);
  if (mentions.count == 0) return false;
  return mentions.count > 1 || mentions.gradients == 1 || op.needs(mentions.last);
}

using Operands = std::array<const Tensor*, PointwiseRule::kMostInputs>;

ScalarType type_of(const Context& c, const PointwiseRule& rule, const Operands& operands) {
  const ResultKind kind = rule.result;
  if (kind == ResultKind::kBool) return ScalarType::kBool;
  std::vector<const Tensor*> all;
  for (const Tensor* t : operands) {
    if (t->defined()) all.push_back(t);
  }
  const ScalarType type = result_type(c, all);
  if (kind == ResultKind::kFloat && !is_differentiable(type)) return c.default_dtype;
  if (kind == ResultKind::kIntegral && is_differentiable(type)) {
    throw OpError(
        fmt::format("this bitwise operator is not implemented for '{}': it takes integers and bool",
                    info(type).name));
  }
  return type;
}

void save_inputs(Op& op, const PointwiseRule& rule, const Gradient& self_gradient,
                 const Operands& operands) {
  if (!op.records()) return;
  for (std::size_t i = 0; i < rule.inputs; ++i) {
    const std::size_t input = rule.order[i];
    if (is_saved(op, rule, self_gradient, input)) op.save(rule.slots[input], *operands[input]);
  }
}

/// A result is saved whichever of the gradients that mention it are wanted: inputs alone are
/// guarded.
void save_result(Op& op, const PointwiseRule& rule, const Gradient& self_gradient,
                 const Tensor& result) {
  op.save_if(mentions_of(rule, self_gradient, PointwiseRule::kResult).count > 0, rule.inputs,
             result);
}

/// |x| of complex numbers: computed as complex, then made real.
Tensor complex_abs(Context& c, const Tensor& self) {
  Op op(c, "abs", "AbsBackward0", {&self});
  op.save(0, self);
  const Tensor read = resolved(c, self);
  Tensor out = c.empty_like(read, real_type(self.dtype()));
  pointwise(c, {&read});
  return op.result(std::move(out), [](Backward& b) {
    if (b.c.grad_enabled())
      throw NotModelled("the gradient of the gradient of complex tensors is not modelled");
    const Tensor sign = pointwise(b.c, {&b.saved[0]});
    b.grads[0] = pointwise(b.c, {&b.grad(), &sign});
  });
}

/// What a node keeps of its call. Small enough for std::function to hold in place.
class RuleBackward {
 public:
  RuleBackward(const PointwiseRule* of, float scalar, bool writes, bool lacks = false)
      : rule(of), number(scalar), in_place(writes), lacks_history(lacks) {}

  const PointwiseRule* rule;
  float number;
  bool in_place;
  bool lacks_history;  ///< it keeps a copy of an input it wrote over; PyTorch records that

  void operator()(Backward& b) const {
    if (lacks_history && b.c.grad_enabled()) {
      throw NotModelled(
          fmt::format("the gradient of the gradient of {}_ is not modelled (create_graph=True); "
                      "write it out of place",
                      rule->label));
    }
    b.saved.resize(rule->inputs + 1U);
    if (rule->all != nullptr) return rule->all(b, number);
    for (std::size_t i = 0; i < rule->inputs; ++i) {
      const std::size_t input = rule->order[i];
      if (!b.needs(input)) continue;
      const Gradient& gradient = gradient_of(b.c, input);
      b.grads[input] = gradient.run == nullptr ? b.grad() : gradient.run(b, number);
    }
  }

 private:
  [[nodiscard]] const Gradient& gradient_of(const Context& c, std::size_t input) const {
    if (in_place && input == 0) return rule->in_place_self;
    const bool has_own = c.grad_enabled() && rule->of_graph[input].exists;
    return has_own ? rule->of_graph[input] : rule->gradients[input];
  }
};

/// The same where the result is complex and an input may be real.
BackwardFunction complex_backward(const Op& op, const RuleBackward& backward, const Tensor& self,
                                  const Tensor& other) {
  const PointwiseRule& rule = *backward.rule;
  for (std::size_t i = 0; i < rule.inputs; ++i) {
    const Gradient& gradient = i == 0 && backward.in_place ? rule.in_place_self : rule.gradients[i];
    if (op.needs(i) && !gradient.takes_complex) {
      throw NotModelled(
          fmt::format("the gradient of {} of complex tensors is not modelled; work on x.real and "
                      "x.imag",
                      rule.label));
    }
  }
  return [backward, t0 = self.dtype(),
          t1 = other.defined() ? other.dtype() : self.dtype()](Backward& b) {
    if (b.c.grad_enabled())
      throw NotModelled("the gradient of the gradient of complex tensors is not modelled");
    backward(b);
    for (std::size_t i = 0; i < b.grads.size(); ++i) {
      if (b.grads[i].defined()) b.grads[i] = real_gradient(b.grads[i], i == 0 ? t0 : t1);
    }
  };
}

BackwardFunction backward_of(const Op& op, const RuleBackward& backward, bool is_complex_result,
                             const Tensor& self, const Tensor& other) {
  if (is_complex_result && op.records()) return complex_backward(op, backward, self, other);
  return backward;
}

Tensor compute(Context& c, const PointwiseRule& rule, ScalarType type, const Operands& operands) {
  const Tensor& self = *operands[0];
  const Tensor& other = *operands[1];
  const Tensor& third = *operands[2];
  if (rule.contiguous) {
    const KernelScope kernel(c, KernelKind::kPointwise, {&self});
    const Dims shape = other.defined() ? broadcast(self.sizes(), other.sizes()) : self.sizes();
    return kernel.gives(c.empty_in(shape, MemoryFormat::kContiguous, type, self.device()));
  }
  if (!other.defined()) return pointwise(c, {&self}, type);
  if (third.defined()) return pointwise(c, {&self, &other, &third}, type);
  return rule.reads[0] == 0 ? pointwise(c, {&self, &other}, type)
                            : pointwise(c, {&other, &self}, type);
}

}  // namespace

void check_in_place(const Context& c, const Tensor& self,
                    std::initializer_list<const Tensor*> operands) {
  Dims shape = self.sizes();
  for (const Tensor* t : operands) shape = broadcast(shape, t->sizes());
  if (!(shape == self.sizes())) {
    throw OpError(fmt::format("output with shape {} doesn't match the broadcast shape {}",
                              to_string(self.sizes()), to_string(shape)));
  }
  std::vector<const Tensor*> all(operands);
  all.insert(all.begin(), &self);
  const ScalarType type = result_type(c, all);
  const bool fits = type == self.dtype() || (is_floating(self.dtype()) && !is_complex(type)) ||
                    is_complex(self.dtype()) ||
                    (is_integral(self.dtype()) && !is_differentiable(type));
  if (!fits) {
    throw OpError(fmt::format("result type {} can't be cast to the desired output type {}",
                              info(type).name, info(self.dtype()).name));
  }
}

/// Opens the rule's node, which has an edge for each tensor that the rule takes.
Op opened(Context& c, const PointwiseRule& rule, const Tensor& self, const Tensor& other,
          const Tensor& third) {
  if (rule.inputs == 1) return {c, rule.label, rule.node, {&self}};
  if (rule.inputs == 2) return {c, rule.label, rule.node, {&self, &other}};
  return {c, rule.label, rule.node, {&self, &other, &third}};
}

Tensor apply(Context& c, const PointwiseRule& rule, Tensor self, Tensor other, double number,
             Tensor third) {
  std::optional<AutocastScope> cast;
  if (rule.cast) {
    if (third.defined()) {
      cast.emplace(c, *rule.cast, std::initializer_list<Tensor*>{&self, &other, &third});
    } else if (other.defined()) {
      cast.emplace(c, *rule.cast, std::initializer_list<Tensor*>{&self, &other});
    } else {
      cast.emplace(c, *rule.cast, std::initializer_list<Tensor*>{&self});
    }
  }
  const Operands operands{&self, &other, &third};
  const ScalarType type = type_of(c, rule, operands);
  if (rule.node.empty() || !is_differentiable(type)) {
    Op op(c, rule.label, rule.node, {}, {&self, &other});
    return op.result(compute(c, rule, type, operands), nullptr);
  }
  if (is_complex(self.dtype()) && rule.label.starts_with("abs")) return complex_abs(c, self);
  Op op = opened(c, rule, self, other, third);
  const Gradient& self_gradient = rule.gradients[0];
  save_inputs(op, rule, self_gradient, operands);
  Tensor out = compute(c, rule, type, operands);
  save_result(op, rule, self_gradient, out);
  const RuleBackward backward{&rule, static_cast<float>(number), false};
  return op.result(std::move(out), backward_of(op, backward, is_complex(type), self, other));
}

Tensor apply_in_place(Context& c, const PointwiseRule& rule, const Tensor& self, Tensor other,
                      double number, Tensor third) {
  if (self.is_sparse()) {
    const LabelScope label(c, rule.label);
    scale_sparse_in_place(c, self);
    return self;
  }
  if (rule.node.empty() || rule.result == ResultKind::kBool) {
    Op op(c, rule.label, rule.node, {}, {&self, &other});
    if (other.defined()) check_in_place(c, self, {&other});
    return self;
  }
  Op op = opened(c, rule, self, other, third);
  if (third.defined()) {
    check_in_place(c, self, {&other, &third});
  } else if (other.defined()) {
    check_in_place(c, self, {&other});
  } else if (rule.result == ResultKind::kFloat && !is_differentiable(self.dtype())) {
    throw OpError(fmt::format("result type Float can't be cast to the desired output type {}",
                              info(self.dtype()).name));
  }
  const bool has_own = rule.in_place_self.exists;
  const Gradient& self_gradient = has_own ? rule.in_place_self : rule.gradients[0];
  const bool copies = op.records() && is_saved(op, rule, self_gradient, 0);
  const Tensor kept = copies ? clone(c, self) : self;
  save_inputs(op, rule, self_gradient, {&kept, &other, &third});
  save_result(op, rule, self_gradient, self);
  const RuleBackward backward{&rule, static_cast<float>(number), has_own, copies && op.needs(0)};
  return op.in_place(self, backward_of(op, backward, is_complex(self.dtype()), self, other));
}

}  // namespace tidemark::ops
