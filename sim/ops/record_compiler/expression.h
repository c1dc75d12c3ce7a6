#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/source.h"

namespace tidemark::ops::records {

/// What a gradient is written as, read. Operators are calls: "a * b" is mul(a, b).
struct Expression {
  enum class Kind : std::uint8_t { kName, kNumber, kText, kCall, kChoice };
  Kind kind = Kind::kName;
  std::string text;        ///< a name, a text, a number as it is written, or what is called
  double number = 0;       ///< kNumber
  bool is_method = false;  ///< x.f(y): C++ has x before it looks at y
  /// Of a call. Of a choice `x if a < b else y`: x, y, and the comparison as a call.
  std::vector<Expression> parts;
  SourceSpan at;
};

/// One statement of a function: `name = value`, or a value alone.
struct Statement {
  std::string name;  ///< empty: none
  Expression value;
};

/// Reads the whole text. Errors: InputError with line and column.
Statement read_statement(const std::shared_ptr<const SourceText>& source);

/// Whether the expression has the name outside of zeros_like(), sizes() and numel(), which keep
/// a tensor's look alone.
bool mentions(const Expression& expression, std::string_view name);

}  // namespace tidemark::ops::records
