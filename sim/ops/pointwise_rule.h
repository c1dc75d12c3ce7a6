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

/// A text among an operator's options as the number that its gradients compare.
constexpr double text_code(std::string_view text) {
  std::uint32_t code = 0;
  for (const char c : text) code = (code * 31 + static_cast<unsigned char>(c)) % 1048573;
  return code;
}

/// Computes the gradient of one input from what `b` has: the incoming gradient, and what was saved.
/// `number`: the rule's first Scalar.
using GradientFunction = Tensor (*)(Backward& b, double number);

/// The gradient of one input.
struct Gradient {
  GradientFunction run = nullptr;  ///< none: the incoming gradient itself, if it exists
  std::uint8_t mentions = 0;       ///< a bit for each input, and one for the result
  bool exists = false;
  bool takes_complex = false;
  [[nodiscard]] bool hands_on() const { return exists && run == nullptr; }
  [[nodiscard]] bool mentions_place(std::size_t place) const {
    return ((mentions >> place) & 1U) != 0;
  }
};

/// An element-wise operator, compiled from its record (sim/ops/records). Saved are the tensors that
/// its gradients mention: an input that one of several gradients mentions only if that one is
/// wanted. An operator that works in place clones an input that it overwrites and saves. Source:
/// docs/rules/autograd.md#1, docs/rules/pointwise.md#2.
struct PointwiseRule {
  static constexpr std::size_t kMostInputs = 3;
  static constexpr std::size_t kResult = kMostInputs;  ///< its place among what gradients mention
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
  /// All gradients at once, where the record has one formula for them.
  void (*all)(Backward& b, double number) = nullptr;
  Releases releases{};
};

// ---- what record_compiler made
std::span<const PointwiseRule> pointwise_table();
std::span<const std::uint16_t> pointwise_names();  ///< numbers of rules in the order of their names

/// Requires: there is one, of the default release where releases differ.
const PointwiseRule& pointwise_rule(std::string_view name);
/// The one of the PyTorch that runs. Requires: there is one.
const PointwiseRule& pointwise_rule(const Context& c, std::string_view name);
/// nullptr: there is none.
const PointwiseRule* find_pointwise_rule(const Context& c, std::string_view name);

/// Runs a rule out of place. `other` and `third` are undefined for operators of fewer tensors.
/// `number`: the rule's first Scalar, where its gradients ask for it.
/// Errors: OpError with PyTorch's words on shapes and types that do not fit.
Tensor apply(Context& c, const PointwiseRule& rule, Tensor self, Tensor other = {},
             double number = 0, Tensor third = {});
/// NAME_: writes into self.
Tensor apply_in_place(Context& c, const PointwiseRule& rule, const Tensor& self, Tensor other = {},
                      double number = 0, Tensor third = {});
/// Errors: OpError when an in-place operator would have to change the shape or the kind of its
/// tensor.
void check_in_place(const Context& c, const Tensor& self,
                    std::initializer_list<const Tensor*> operands);

}  // namespace tidemark::ops
