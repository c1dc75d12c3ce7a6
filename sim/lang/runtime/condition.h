#pragma once

#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// What a condition of which nobody knows the value is taken for: the program goes on as if nothing
/// had happened. An assertion holds. Not taken is a branch that leaves (break, continue, return,
/// raise, exit), then one that may leave a loop, then one that counts up what the other sets: early
/// stopping does not stop. A loop with another bound runs up to it. Anything else is false.
struct Condition {
  bool wanted = false;
  bool is_endless = false;  ///< a `while` of which nothing else is the end
  bool has_exit = false;    ///< a `while` whose body may leave it
};

/// The condition at a place of a piece of code: all of a test, or one operand of it. Cost: linear
/// in the code.
Condition condition_at(const Code& code, Place at);

}  // namespace tidemark::lang
