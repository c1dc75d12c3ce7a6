#include "sim/ops/pointwise_ops.h"

#include <fmt/format.h>

#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/op.h"

namespace tidemark::ops {

namespace {

/// Errors: OpError when an in-place operator would have to change the shape or the kind of its tensor.
void check_in_place(const Tensor& self, std::initializer_list<const Tensor*> operands) {
  Dims shape = self.sizes();
  for (const Tensor* t : operands) shape = broadcast(shape, t->sizes());
  if (!(shape == self.sizes())) {
    throw OpError(fmt::format("output with shape {} doesn't match the broadcast shape {}", to_string(self.sizes()),
                              to_string(shape)));
  }
  std::vector<const Tensor*> all(operands);
  all.insert(all.begin(), &self);
  const ScalarType type = result_type(all);
  const bool fits = type == self.dtype() || (is_floating(self.dtype()) && !is_complex(type)) ||
                    is_complex(self.dtype()) || (is_integral(self.dtype()) && !is_differentiable(type));
  if (!fits) {
    throw OpError(fmt::format("result type {} can't be cast to the desired output type {}", info(type).name,
                              info(self.dtype()).name));
  }
}

BackwardFunction add_backward(double alpha) {
  return [alpha](Backward& b) {
    if (b.needs(1)) {
      b.grads[1] = alpha == 1 ? b.grad() : pointwise(b.c, {&b.grad()});
    }
    if (b.needs(0)) b.grads[0] = b.grad();
  };
}

void mul_backward(Backward& b) {
  if (b.needs(1)) b.grads[1] = pointwise(b.c, {&b.grad(), &b.saved[1]});
  if (b.needs(0)) b.grads[0] = pointwise(b.c, {&b.grad(), &b.saved[0]});
}

}  // namespace

Tensor add(Context& c, const Tensor& self, const Tensor& other, double alpha) {
  Op op(c, "add", "AddBackward0", {&self, &other});
  return op.result(pointwise(c, {&self, &other}), add_backward(alpha));
}

Tensor add_(Context& c, const Tensor& self, const Tensor& other, double alpha) {
  Op op(c, "add_", "AddBackward0", {&self, &other});
  check_in_place(self, {&other});
  return op.in_place(self, add_backward(alpha));
}

Tensor mul(Context& c, const Tensor& self, const Tensor& other) {
  Op op(c, "mul", "MulBackward0", {&self, &other});
  op.save_if(op.needs(0), 0, other);
  op.save_if(op.needs(1), 1, self);
  return op.result(pointwise(c, {&self, &other}), mul_backward);
}

Tensor mul_(Context& c, const Tensor& self, const Tensor& other) {
  Op op(c, "mul_", "MulBackward0", {&self, &other});
  check_in_place(self, {&other});
  op.save_if(op.needs(0), 0, other);
  if (op.needs(1)) op.save(1, clone(c, self));
  return op.in_place(self, mul_backward);
}

Tensor relu(Context& c, const Tensor& self) {
  Op op(c, "relu", "ReluBackward0", {&self});
  Tensor out = pointwise(c, {&self});
  op.save(0, out);
  return op.result(std::move(out),
                   [](Backward& b) { b.grads[0] = pointwise(b.c, {&b.grad(), &b.saved[0]}); });
}

Tensor relu_(Context& c, const Tensor& self) {
  Op op(c, "relu_", "ReluBackward0", {&self});
  op.save(0, self);
  return op.in_place(self,
                     [](Backward& b) { b.grads[0] = pointwise(b.c, {&b.grad(), &b.saved[0]}); });
}

std::span<const OpDef> pointwise_ops() {
  static constexpr OpDef kOps[] = {
      {"relu(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return relu(a.context(), a.tensor(0)); },
       "training-semantics.md 2.4"},
      {"relu_(Tensor input)", "torch F method",
       [](Arguments& a) -> OpResult { return relu_(a.context(), a.tensor(0)); },
       "training-semantics.md 2.4"},
      {"relu(Tensor input, bool inplace=False)", "F",
       [](Arguments& a) -> OpResult {
         return a.flag(1) ? relu_(a.context(), a.tensor(0)) : relu(a.context(), a.tensor(0));
       },
       "training-semantics.md 2.4"},
      {"add(operand input, operand other, *, number alpha=1)", "torch method",
       [](Arguments& a) -> OpResult {
         return add(a.context(), a.operand(0), a.operand(1), a.number(2));
       },
       "training-semantics.md 2.3"},
      {"add_(Tensor input, operand other, *, number alpha=1)", "method",
       [](Arguments& a) -> OpResult {
         return add_(a.context(), a.tensor(0), a.operand(1), a.number(2));
       },
       "training-semantics.md 2.3"},
      {"mul(operand input, operand other)", "torch method",
       [](Arguments& a) -> OpResult { return mul(a.context(), a.operand(0), a.operand(1)); },
       "training-semantics.md 2.3"},
      {"mul_(Tensor input, operand other)", "method",
       [](Arguments& a) -> OpResult { return mul_(a.context(), a.tensor(0), a.operand(1)); },
       "training-semantics.md 2.3"},
  };
  return kOps;
}

}  // namespace tidemark::ops
