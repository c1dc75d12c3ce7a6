#pragma once

#include <array>
#include <initializer_list>

#include "sim/ops/context.h"

namespace tidemark::ops {

/// The lists of docs/rules/autocast.md#1.
enum class CastPolicy : std::uint8_t {
  kLowPrecision,  ///< to autocast's dtype
  kFp32,
  kPromote,  ///< to the widest among the arguments
};

/// Put at the start of an operator that is on one of autocast's lists. Where autocast is on it
/// replaces the arguments by casts, last argument first, and turns autocast off until the operator
/// ends; then it drops the arguments, first argument first. PyTorch's wrappers do all that; the
/// order in which C++ destroys a function's parameters is the compiler's choice, so it cannot be
/// left to them.
///
///     Tensor linear(Context& c, Tensor input, Tensor weight, Tensor bias) {
///       const AutocastScope cast(c, CastPolicy::kLowPrecision, {&input, &weight, &bias});
class AutocastScope {
 public:
  AutocastScope(Context& c, CastPolicy policy, std::initializer_list<Tensor*> arguments);
  AutocastScope(Context& c, CastPolicy policy, TensorList& arguments);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;
  /// Autocast was on: operators with an optional dtype argument then use fp32 when the caller gave
  /// none.
  [[nodiscard]] bool active() const { return before_; }

 private:
  static constexpr std::size_t kMostArguments = 8;
  Autocast& autocast_;
  bool before_;
  std::array<Tensor*, kMostArguments>
      replaced_{};  // what is to be dropped, up to the first nullptr
};

/// Drops the cached casts. Their order is not defined in PyTorch; here the order of creation.
void clear_autocast_cache(Context& c);

}  // namespace tidemark::ops
