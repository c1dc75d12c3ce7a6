#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "sim/ops/autocast.h"
#include "sim/ops/registry.h"

namespace tidemark::ops {

/// Type of an element-wise result.
enum class ResultKind : std::uint8_t {
  kPromote,  ///< torch.result_type of the operands
  kFloat,    ///< the same, integers become float32
  kBool,
  kIntegral,  ///< the same, for integers and bool only
};

/// What a step of a gradient does.
enum class StepKind : std::uint8_t {
  kApply,          ///< an element-wise operator: a new tensor
  kPowerOfNumber,  ///< a number to the power of a tensor: its base goes to the device meanwhile
  kChoose,         ///< where(condition, x, y)
  kMaskedFill,     ///< a contiguous copy, filled
  kWrite,          ///< an operator in place: nothing is made, the result is its first operand
  kCast,           ///< the first operand in the type of the second
  kConjugate,      ///< of complex numbers a mark; the call that takes it copies it out
  kZerosLike,      ///< zeros of the gradient's shape
  kZerosOf,        ///< zeros as an input is; the operand is its number
  kScalarTensor,   ///< a 0-dim tensor on the device
  kAlias,          ///< the first operand under one more name: the end of a branch
  kEither,         ///< what the branch that was gone gave
  kDrop,           ///< the first operand dies: the end of a statement
  kSkipUnless,     ///< goes on behind `extra` steps unless the number stands so to `offset`
  kSkip,           ///< goes on behind `extra` steps
  kRefuse,         ///< no such gradient; `extra` is the text that says why
};
/// How kSkipUnless compares: operand 0.
enum class Comparison : std::uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kMore, kMoreEqual };

/// One step. Operands are places: inputs (by their number), then those of the enum below, then what
/// steps have made, in order.
struct Step {
  static constexpr std::size_t kMostInputs = 3;
  static constexpr std::uint16_t kNoRule = 0xffff;
  enum Place : std::uint8_t { kResult = kMostInputs, kGrad, kNumber, kFirstMade };
  StepKind kind;
  ResultKind result = ResultKind::kPromote;
  std::uint8_t count = 0;
  std::array<std::uint8_t, 3> operands{};
  std::uint16_t rule = kNoRule;  ///< the operator that it is, in the table of rules
  std::uint16_t extra = 0;
  float scale = 0;   ///< the number that the operator is given: the rule's own, times this,
  float offset = 0;  ///< and this
};

/// The gradient of one input: steps and the place of what they make.
struct Gradient {
  std::uint16_t first = 0;  ///< in the table of steps
  std::uint16_t count = 0;
  std::uint8_t place = 0;
  std::uint8_t mentions = 0;  ///< a bit for each input, and one for the result (Step::kResult)
  bool exists = false;
  bool takes_complex = false;
  [[nodiscard]] bool hands_on() const { return exists && count == 0 && place == Step::kGrad; }
  [[nodiscard]] bool mentions_place(std::size_t place_of) const {
    return ((mentions >> place_of) & 1U) != 0;
  }
};

/// An element-wise operator, compiled from its record (sim/ops/records). Saved are the tensors that
/// its gradients mention: an input that one of several gradients mentions only if that one is
/// wanted. An operator that works in place clones an input that it overwrites and saves. Source:
/// docs/rules/autograd.md#1, docs/rules/pointwise.md#2.
struct PointwiseRule {
  std::string_view name;   ///< "add.Tensor": the operator's, and which of its forms
  std::string_view label;  ///< the operator's name alone
  std::string_view node;   ///< empty: no gradient exists
  std::uint8_t inputs = 1;
  ResultKind result = ResultKind::kPromote;
  std::optional<CastPolicy> cast{};
  bool contiguous = false;              ///< the result is, whatever the inputs are
  bool takes_out = false;               ///< NAME(..., out=tensor) exists
  std::array<std::uint8_t, 3> reads{};  ///< inputs in the order in which the kernel has them
  std::array<std::uint8_t, 3> slots{};  ///< by input: where autograd keeps it
  std::array<std::uint8_t, 3> order{};  ///< inputs as their gradients are computed
  std::array<Gradient, 3> gradients{};  ///< by input
  std::array<Gradient, 3> of_graph{};   ///< in their place while the gradient's own is recorded
  Gradient in_place_self{};             ///< another gradient for NAME_
  Releases releases{};
};

// ---- what record_compiler made
std::span<const PointwiseRule> pointwise_table();
std::span<const std::uint16_t> pointwise_names();  ///< numbers of rules in the order of their names
std::span<const Step> step_table();
std::string_view refusal(std::uint16_t number);

/// Requires: there is one, of the default release where releases differ.
const PointwiseRule& pointwise_rule(std::string_view name);
/// The one of the PyTorch that runs. Requires: there is one.
const PointwiseRule& pointwise_rule(const Context& c, std::string_view name);
/// nullptr: there is none.
const PointwiseRule* find_pointwise_rule(const Context& c, std::string_view name);

/// Runs a rule out of place. `other` is undefined for operators of one tensor. `number`: the
/// rule's first Scalar, where its gradients ask for it.
/// Errors: OpError with PyTorch's words on shapes and types that do not fit.
Tensor apply(Context& c, const PointwiseRule& rule, Tensor self, Tensor other = {},
             double number = 0);
/// NAME_: writes into self.
Tensor apply_in_place(Context& c, const PointwiseRule& rule, const Tensor& self, Tensor other = {},
                      double number = 0);
/// Errors: OpError when an in-place operator would have to change the shape or the kind of its
/// tensor.
void check_in_place(const Context& c, const Tensor& self,
                    std::initializer_list<const Tensor*> operands);

}  // namespace tidemark::ops
