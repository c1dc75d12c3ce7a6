#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "sim/base/problem.h"
#include "sim/ops/record_compiler/emitter.h"

namespace tidemark::ops::records {

// What the files of the emitter share.

[[noreturn]] inline void fail(const Expression& at, std::string message) {
  throw InputError(Problem{at.at, {}, std::move(message), {}});
}

inline Value number_constant(double number) {
  if (std::isinf(number))
    return {Value::Kind::kNumber, number > 0 ? "HUGE_VAL" : "-HUGE_VAL", number};
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return {Value::Kind::kNumber, std::move(text), number};
}
inline Value unknown_number() { return {Value::Kind::kNumber, "kUnknown", {}, false}; }

struct CallSign {
  std::string_view call;
  std::string_view sign;
};
inline constexpr std::array<CallSign, 6> kComparisonSigns{
    {{"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}}};

/// Functions that `Steps` has besides the operators with records, and how many arguments they take.
struct Primitive {
  std::string_view name;
  std::size_t fewest;
  std::size_t most;
  bool takes_operands = false;  ///< tensors or numbers alike
  bool is_kernel = false;       ///< below autograd alone
};
/// nullptr: there is none.
const Primitive* primitive(std::string_view name);

}  // namespace tidemark::ops::records
