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

constexpr std::size_t kOther = 0;
constexpr std::size_t kSelf = 1;
constexpr std::size_t kResult = 2;

bool mentions(std::string_view program, char what) {
  return program.find(what) != std::string_view::npos;
}

/// Whether a tensor is to be saved, given which gradients are wanted.
bool is_saved(std::string_view self, std::string_view other, char what, bool needs_self,
              bool needs_other) {
  const bool by_self = mentions(self, what);
  const bool by_other = mentions(other, what);
  if (by_self && by_other) return true;
  return (by_self && needs_self) || (by_other && needs_other);
}

ScalarType type_of(const Context& c, ResultKind kind, const Tensor& self, const Tensor& other) {
  if (kind == ResultKind::kBool) return ScalarType::kBool;
  const ScalarType type =
      other.defined() ? result_type(c, {&self, &other}) : result_type(c, {&self});
  if (kind == ResultKind::kFloat && !is_differentiable(type)) return c.default_dtype;
  if (kind == ResultKind::kIntegral && is_differentiable(type)) {
    throw OpError(
        fmt::format("this bitwise operator is not implemented for '{}': it takes integers and bool",
                    info(type).name));
  }
  return type;
}

/// The tensors of a program under way: operands on the stack, everything allocated in `made`.
class Machine {
 public:
  explicit Machine(Backward& b) : b_(b), number_(b.c.number(ScalarType::kFloat64)) {}
  ~Machine() {
    for (Tensor& t : stack_) t.reset();
    for (Tensor& t : named_) t.reset();
    while (count_ > 0) made_[--count_].reset();
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Tensor run(std::string_view program) {
    for (const char step : program) execute(step);
    TIDEMARK_CHECK(depth_ == 1, "a pointwise program leaves one tensor");
    Tensor out = std::move(stack_[0]);
    for (std::size_t i = 0; i < count_; ++i) {
      if (made_[i] == out) made_[i].reset();
    }
    return out;
  }

 private:
  void push(Tensor t) { stack_[depth_++] = std::move(t); }
  Tensor pop() { return std::move(stack_[--depth_]); }
  void push_made(Tensor t) {
    TIDEMARK_CHECK(count_ < made_.size(), "a pointwise program of too many steps");
    made_[count_++] = t;
    push(std::move(t));
  }

  [[nodiscard]] bool is_kept(const Tensor& t) const {
    return std::find(stack_.begin(), stack_.begin() + depth_, t) != stack_.begin() + depth_ ||
           std::find(named_.begin(), named_.end(), t) != named_.end();
  }

  void execute(char step) {
    Context& c = b_.c;
    switch (step) {
      case 'g':
        push(b_.grad());
        return;
      case 's':
        push(b_.saved[kSelf]);
        return;
      case 'o':
        push(b_.saved[kOther]);
        return;
      case 'r':
        push(b_.saved[kResult]);
        return;
      case '1':
        push(number_);
        return;
      case 'z':
        push_made(zeros_like(c, b_.grad()));
        return;
      case 'y': {
        const Edge& edge = b_.node.next[1];
        const GradMetadata& to = edge.node->metadata[edge.input_nr];
        push_made(zeros(c, to.sizes, to.dtype, to.device));
        return;
      }
      case '0':
        push_made(c.empty({}, b_.grad().dtype(), b_.grad().device()));
        return;
      case 'j':
        stack_[depth_ - 1] = conjugate_view(stack_[depth_ - 1]);
        return;
      case 'f': {
        const Tensor x = pop();
        push_made(pointwise(c, {&x}));
        return;
      }
      case 'e': {
        const Tensor x = pop();
        push_made(pointwise(c, {&x}));
        // The base goes to the device as a scalar of its own type, for the length of the call.
        c.scratch(8, x.device());
        return;
      }
      case 'p': {
        const Tensor x = pop();
        push_made(pointwise(c, {&x}, ScalarType::kBool));
        return;
      }
      case 'b': {
        const Tensor y = pop();
        const Tensor x = pop();
        push_made(pointwise(c, {&x, &y}));
        return;
      }
      case 'v': {
        const Tensor x = pop();
        const Tensor y = pop();
        push_made(pointwise(c, {&x, &y}));
        return;
      }
      case 'k': {
        const Tensor x = pop();
        push_made(clone_in(c, x, MemoryFormat::kContiguous));
        return;
      }
      case 'c': {
        const Tensor y = pop();
        const Tensor x = pop();
        push_made(pointwise(c, {&x, &y}, ScalarType::kBool));
        return;
      }
      case 'm':
        pop();
        return;
      case 'x':
        throw NotModelled(fmt::format(
            "the gradient of {} is not modelled: PyTorch makes a zero without memory of it; detach "
            "its result",
            b_.node.name));
      case 'w': {
        std::array<Tensor, 3> all{pop(), pop(), pop()};
        std::stable_partition(all.begin(), all.end(),
                              [](const Tensor& t) { return t.dtype() == ScalarType::kBool; });
        std::vector<const Tensor*> values;
        for (const Tensor& t : all) {
          if (t.dtype() != ScalarType::kBool) values.push_back(&t);
        }
        push_made(pointwise(c, {&all[0], &all[1], &all[2]}, result_type(b_.c, values)));
        return;
      }
      case 'd': {
        for (std::size_t i = count_; i-- > 0;) {
          if (!is_kept(made_[i])) made_[i].reset();
        }
        return;
      }
      case 'n':
        named_[names_++] = pop();
        return;
      case 'A':
      case 'B':
      case 'C':
        push(named_[static_cast<std::size_t>(step - 'A')]);
        return;
      default:
        TIDEMARK_CHECK(false, "an unknown step of a pointwise program");
    }
  }

  Backward& b_;
  Tensor number_;
  std::array<Tensor, 8> stack_;
  std::array<Tensor, 3> named_;
  std::array<Tensor, 16> made_;
  std::size_t depth_ = 0;
  std::size_t names_ = 0;
  std::size_t count_ = 0;
};

void save_all(Op& op, std::string_view self_program, std::string_view other_program,
              const Tensor& self, const Tensor& other) {
  const auto saved = [&](char what) {
    return is_saved(self_program, other_program, what, op.needs(0), op.needs(1));
  };
  op.save_if(other.defined() && saved('o'), kOther, other);
  op.save_if(saved('s'), kSelf, self);
}

/// A result is saved whichever of the gradients that mention it are wanted. Source: torch's
/// gen_variable_type: inputs alone are guarded.
void save_result(Op& op, std::string_view self_program, std::string_view other_program,
                 const Tensor& result) {
  op.save_if(mentions(self_program, 'r') || mentions(other_program, 'r'), kResult, result);
}

bool takes_complex(std::string_view program) {
  return program.empty() || program == "g" || program == "gf" || mentions(program, 'j');
}

/// |x| of complex numbers: computed as complex, then made real.
Tensor complex_abs(Context& c, const Tensor& self) {
  Op op(c, "abs", "AbsBackward0", {&self});
  op.save(kSelf, self);
  Tensor out = c.empty_like(self, real_type(self.dtype()));
  pointwise(c, {&self});
  return op.result(std::move(out), [](Backward& b) {
    const Tensor sign = pointwise(b.c, {&b.saved[kSelf]});
    b.grads[0] = pointwise(b.c, {&b.grad(), &sign});
  });
}

auto backward_of(std::string_view self_program, std::string_view other_program) {
  return [self_program, other_program](Backward& b) {
    if (b.needs(1)) b.grads[1] = run_program(b, other_program);
    if (b.needs(0)) b.grads[0] = run_program(b, self_program);
  };
}

/// The same where the result is complex and an operand may be real.
BackwardFunction complex_backward_of(const Op& op, const PointwiseRule& rule,
                                     std::string_view self_program, const Tensor& self,
                                     const Tensor& other) {
  if ((op.needs(0) && !takes_complex(self_program)) ||
      (op.needs(1) && !takes_complex(rule.other))) {
    throw NotModelled(
        fmt::format("the gradient of {} of complex tensors is not modelled; work on x.real and "
                    "x.imag",
                    rule.name));
  }
  return [self_program, other_program = rule.other, t0 = self.dtype(),
          t1 = other.defined() ? other.dtype() : self.dtype()](Backward& b) {
    if (b.needs(1)) b.grads[1] = real_gradient(run_program(b, other_program), t1);
    if (b.needs(0)) b.grads[0] = real_gradient(run_program(b, self_program), t0);
  };
}

}  // namespace

Tensor run_program(Backward& b, std::string_view program) {
  if (program == "g") return b.grad();
  b.saved.resize(3);
  Machine machine(b);
  return machine.run(program);
}

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

Tensor apply(Context& c, const PointwiseRule& rule, Tensor self, Tensor other) {
  std::optional<AutocastScope> cast;
  if (rule.cast) {
    if (other.defined()) {
      cast.emplace(c, *rule.cast, std::initializer_list<Tensor*>{&self, &other});
    } else {
      cast.emplace(c, *rule.cast, std::initializer_list<Tensor*>{&self});
    }
  }
  const ScalarType type = type_of(c, rule.result, self, other);
  const auto compute = [&] {
    if (rule.contiguous) {
      const KernelScope kernel(c, KernelKind::kPointwise, {&self});
      const Dims shape = other.defined() ? broadcast(self.sizes(), other.sizes()) : self.sizes();
      return kernel.gives(c.empty_in(shape, MemoryFormat::kContiguous, type, self.device()));
    }
    return other.defined() ? pointwise(c, {&self, &other}, type) : pointwise(c, {&self}, type);
  };
  if (rule.node.empty() || !is_differentiable(type)) {
    Op op(c, rule.name, rule.node, {}, {&self, &other});
    return op.result(compute(), nullptr);
  }
  if (is_complex(self.dtype()) && rule.name.starts_with("abs")) return complex_abs(c, self);
  Op op(c, rule.name, rule.node, {&self, &other});
  save_all(op, rule.self, rule.other, self, other);
  Tensor out = compute();
  save_result(op, rule.self, rule.other, out);
  if (is_complex(type) && op.records()) {
    return op.result(std::move(out), complex_backward_of(op, rule, rule.self, self, other));
  }
  return op.result(std::move(out), backward_of(rule.self, rule.other));
}

Tensor apply_in_place(Context& c, const PointwiseRule& rule, const Tensor& self, Tensor other) {
  if (self.is_sparse()) {
    const LabelScope label(c, rule.name);
    scale_sparse_in_place(c, self);
    return self;
  }
  if (rule.node.empty() || rule.result == ResultKind::kBool) {
    Op op(c, rule.name, rule.node, {}, {&self, &other});
    if (other.defined()) check_in_place(c, self, {&other});
    return self;
  }
  const std::string_view self_program = rule.in_place_self.empty() ? rule.self : rule.in_place_self;
  Op op(c, rule.name, rule.node, {&self, &other});
  if (other.defined()) {
    check_in_place(c, self, {&other});
  } else if (rule.result == ResultKind::kFloat && !is_differentiable(self.dtype())) {
    throw OpError(fmt::format("result type Float can't be cast to the desired output type {}",
                              info(self.dtype()).name));
  }
  const bool keeps_self = is_saved(self_program, rule.other, 's', op.needs(0), op.needs(1));
  save_all(op, self_program, rule.other, keeps_self && op.records() ? clone(c, self) : self, other);
  save_result(op, self_program, rule.other, self);
  if (is_complex(self.dtype()) && op.records()) {
    return op.in_place(self, complex_backward_of(op, rule, self_program, self, other));
  }
  return op.in_place(self, backward_of(self_program, rule.other));
}

}  // namespace tidemark::ops
