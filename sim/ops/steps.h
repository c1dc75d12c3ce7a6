#pragma once

#include <initializer_list>
#include <string_view>

#include "sim/ops/pointwise_rule.h"

namespace tidemark::ops {

/// What the statements of records (sim/ops/records) call. Where gradients are recorded every step is
/// an operator like any other; else it is a kernel, below autograd.
class Steps {
 public:
  explicit Steps(Context& c) : c_(c), records_(c.grad_enabled()) {}

  /// An element-wise operator. `number`: its first Scalar.
  Tensor apply(const PointwiseRule& rule, std::initializer_list<Tensor> operands,
               double number) const;
  /// NAME_: its first operand is written. No memory is asked for.
  void write(const PointwiseRule& rule, std::initializer_list<Tensor> operands) const;
  /// A number on its way through an operator.
  [[nodiscard]] const Tensor& number() const;

  Tensor power_of_number(const Tensor& exponent) const;
  Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) const;
  Tensor masked_fill(const Tensor& x, const Tensor& mask) const;
  void masked_fill_(const Tensor& x, const Tensor& mask) const;
  Tensor type_as(const Tensor& x, const Tensor& like) const;
  Tensor zeros_like(const Tensor& x) const;
  /// As an input of the node is, of which its look alone is kept.
  Tensor zeros_of(const Backward& b, std::size_t input) const;
  Tensor scalar_tensor(double number, const Tensor& like) const;

 private:
  Context& c_;
  bool records_;
  mutable Tensor number_;
};

// ---- checks that records name. Errors: OpError with PyTorch's words.
void check_same_types(Arguments& a);

/// Errors: NotModelled, always.
[[noreturn]] void refuse(const Backward& b, std::string_view why);

}  // namespace tidemark::ops
