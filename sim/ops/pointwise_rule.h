#pragma once

#include <cstdint>
#include <optional>
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

/// An element-wise operator of one or two tensors, as data: what its gradients are, from which
/// follows what is saved.
///
/// `self` and `other` are programs in postfix notation for the gradients of the two operands, after
/// PyTorch's derivatives.yaml. Each step allocates what the ATen call at that place allocates;
/// temporaries die in reverse order when the gradient is done. Operands of a call are written in
/// the order in which the compiled PyTorch evaluates them, the last argument first; the order of a
/// call's arguments decides the layout of its result where theirs differ (oracle).
///
///     g  the incoming gradient              z  zeros like it (the program `g` alone hands it on)
///     y  zeros like the second operand
///     s o r  saved self, other, result      0  a 0-dim tensor of the gradient's type on its device
///     1  a Python number                    f  a call of one tensor
///     b  a call of two tensors              c  a comparison of two: bool
///     v  the same, the first of them        k  a contiguous copy, as masked_fill makes of what it
///        being written last                    fills
///     e  a number to the power of a tensor
///     p  a predicate of one: bool           x  a gradient that is refused
///     m  masked_fill_ (or logical_and_)     w  where of a bool, wherever it is written, and two
///        in place: drops its argument          others
///     d  the end of a statement: temporaries die
///     n  takes what was written last and names it     A B C  the first, second, third named
///     j  the conjugate of what was written last: of complex numbers a mark, for which the call
///     that
///        takes it copies it out for as long as it runs
///
/// A gradient of complex numbers is modelled where the program has `j` or hands `g` on, negated or
/// not; of a real operand it is the real part (handle_r_to_c).
///
/// Saved are the tensors that a program mentions: an operand that a single gradient mentions only
/// if that gradient is wanted (two-operand operators). An operator that works in place clones an
/// operand that it overwrites and saves. Source: docs/rules/autograd.md#1,
/// docs/rules/pointwise.md#2.
struct PointwiseRule {
  std::string_view name;        ///< as users write it; the in-place form is NAME_
  std::string_view node;        ///< empty: no gradient exists
  std::string_view parameters;  ///< of the signature
  std::string_view where;       ///< as in OpDef
  std::string_view self;
  std::string_view other{};
  ResultKind result = ResultKind::kPromote;
  std::optional<CastPolicy> cast{};
  bool in_place = true;  ///< NAME_ exists
  std::string_view
      in_place_self{};      ///< another gradient for NAME_ (leaky_relu_ and elu_ use the result)
  bool contiguous = false;  ///< the result is, whatever the operands are
  Releases releases{};      ///< as in OpDef
};

/// Runs a rule out of place. `other` is undefined for operators of one tensor.
/// Errors: OpError with PyTorch's words on shapes and types that do not fit.
Tensor apply(Context& c, const PointwiseRule& rule, Tensor self, Tensor other = {});
/// NAME_: writes into self.
Tensor apply_in_place(Context& c, const PointwiseRule& rule, const Tensor& self, Tensor other = {});
/// Errors: OpError when an in-place operator would have to change the shape or the kind of its
/// tensor.
void check_in_place(const Context& c, const Tensor& self,
                    std::initializer_list<const Tensor*> operands);

/// Evaluates a program. `saved` in the slots other 0, self 1, result 2.
Tensor run_program(Backward& b, std::string_view program);

}  // namespace tidemark::ops
