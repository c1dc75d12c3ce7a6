#pragma once

#include <functional>

#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// What a condition of which nobody knows the value is taken for: the program goes on as if nothing
/// had happened. An assertion holds. Not taken is a branch that leaves (break, continue, return,
/// raise, exit), then one that may leave a loop, then one that counts up what the other sets: early
/// stopping does not stop. A loop with another bound runs up to it. Anything else is false.
struct Condition {
  bool wanted = false;
  /// A `while` of which nothing else is the end, or what alone leaves a loop without one.
  bool is_endless = false;
  bool has_exit = false;  ///< a `while` whose body may leave it
};

/// The condition at a place of a piece of code: all of a test, or one operand of it. Cost: linear
/// in the code.
/// `is_endless` says of a `for` that runs whether it goes over something that has no end.
Condition condition_at(const Code& code, Place at,
                       const std::function<bool(const ForStmt& loop)>& is_endless);

/// How many statements in a loop's body, at any depth, end that loop. A `break` of a loop within
/// does not; what functions within do is theirs. Cost: linear in the body.
std::size_t exits_of(const Seq<Stmt*>& body, const CodeFile& file, bool is_own = true);
/// A literal that is true: of `while True`.
bool is_always_true(const Expr* test);

}  // namespace tidemark::lang
