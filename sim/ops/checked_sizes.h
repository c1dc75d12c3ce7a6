#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/bytes.h"
#include "sim/ops/tensor.h"

namespace tidemark::ops {

/// What is computed of numbers that a program gives may pass 64 bits: then it is refused, where C++
/// would go on with any number. Of sizes that a tensor has, products fit.
///
/// Errors: OpError, with `what` it was computed for.
inline std::int64_t times(std::int64_t a, std::int64_t b, std::string_view what) {
  const auto product = checked_multiply(a, b);
  if (!product) throw OpError(std::string(what) + ": integer multiplication overflow");
  return *product;
}
inline std::int64_t plus(std::int64_t a, std::int64_t b, std::string_view what) {
  const auto sum = checked_add(a, b);
  if (!sum) throw OpError(std::string(what) + ": integer addition overflow");
  return *sum;
}

/// How many numbers a window of `kernel`, `dilation` apart, reaches over.
inline std::int64_t reach_of(std::int64_t kernel, std::int64_t dilation, std::string_view what) {
  return plus(times(plus(kernel, -1, what), dilation, what), 1, what);
}

}  // namespace tidemark::ops
