#pragma once

#include "sim/lang/runtime/frame.h"
#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

inline bool only_raises(const IfStmt& branch) {
  return branch.body.size == 1 && (*branch.body.begin())->kind == StmtKind::kRaise;
}

/// `if len(found) > n: raise ...` in a call that took a bound for how many are found: it shows no
/// fault. The first such check of a call settles it. Numbers are compared in the check, or a name
/// is asked that may hold what came of that. Notes what it does. Requires: only_raises(branch).
bool is_fault_of_bound(Interp& in, const Frame& frame, const IfStmt& branch, bool chosen);

}  // namespace tidemark::lang
