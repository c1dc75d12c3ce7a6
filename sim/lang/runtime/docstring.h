#pragma once

#include "sim/lang/runtime/interp.h"
#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// The text that a module, class or function begins with; None: it begins with none.
inline Value docstring(Interp& in, const Seq<Stmt*>& body) {
  if (body.empty() || body[0]->kind != StmtKind::kExpr) return Value::none();
  const Expr* first = static_cast<const ExprStmt*>(body[0])->value;
  if (first->kind != ExprKind::kConstant) return Value::none();
  const Literal& literal = static_cast<const ConstantExpr*>(first)->literal;
  return literal.kind == Literal::Kind::kText ? in.constant(literal) : Value::none();
}

}  // namespace tidemark::lang
