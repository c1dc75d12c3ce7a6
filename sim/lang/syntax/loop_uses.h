#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// How the body of a `for i in range(...)` looks at i: what decides whether two turns may do the
/// same.
struct LoopUses {
  /// (i + plus) % divisor.
  struct Remainder {
    std::int64_t plus = 0;
    std::int64_t divisor = 1;
  };
  std::vector<Remainder> remainders;
  /// i is compared with these: what a comparison says may change from `bound` - 1 to `bound` and
  /// from there to `bound` + 1, and nowhere else.
  std::vector<std::int64_t> bounds;
  /// What looks at i in another way; null: nothing. (Names of phases and marks are no look.)
  const Expr* obstacle = nullptr;
};

/// What the analysis has to know of the running program.
struct LoopSurroundings {
  /// The value of a name that the loop does not assign, where it is a whole number.
  std::function<std::optional<std::int64_t>(const NameExpr&)> value_of;
  /// Whether this is phase or mark of the marks' module.
  std::function<bool(const NameExpr&)> is_label;
};

/// Cost: linear in the body's text.
LoopUses uses_of_loop_variable(const ForStmt& loop, const LoopSurroundings& surroundings);

/// Whether a function's own text mentions a name.
bool mentions(const Code& code, Name name);
/// Whether it assigns a global of that name.
bool assigns(const Code& code, Name name);

}  // namespace tidemark::lang
