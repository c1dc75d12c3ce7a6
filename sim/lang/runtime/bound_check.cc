#include "sim/lang/runtime/bound_check.h"

#include <algorithm>

#include "sim/lang/runtime/notes.h"

namespace tidemark::lang {
namespace {

bool may_count(const Expr& test) {
  if (test.kind != ExprKind::kCompare) return test.kind == ExprKind::kName;
  const auto& steps = static_cast<const CompareExpr&>(test).steps;
  return std::all_of(steps.begin(), steps.end(), [](const Comparison& step) {
    return step.relation >= Relation::kLt && step.relation <= Relation::kGe;
  });
}

}  // namespace

bool is_fault_of_bound(Interp& in, const Frame& frame, const IfStmt& branch, bool chosen) {
  Notes* notes = in.options().notes;
  if (notes == nullptr || !notes->assumed_size_in(frame) || !may_count(*branch.test)) return false;
  notes->assume_size_in(nullptr);
  if (chosen) note(in, "a check of how many are chosen is taken to find no fault");
  return chosen;
}

}  // namespace tidemark::lang
