#include "sim/lang/runtime/condition.h"

#include <algorithm>

namespace tidemark::lang {

namespace {

bool holds(Place outer, Place inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

/// exit(), quit(), sys.exit(), os._exit().
bool is_exit(const Stmt* statement, const CodeFile& file) {
  if (statement->kind != StmtKind::kExpr) return false;
  const Expr* value = static_cast<const ExprStmt*>(statement)->value;
  if (value == nullptr || value->kind != ExprKind::kCall) return false;
  const Place callee = static_cast<const CallExpr*>(value)->callee->place;
  const std::string_view text = view(file.text).substr(callee.begin, callee.end - callee.begin);
  return text == "exit" || text == "quit" || text == "sys.exit" || text == "os._exit";
}

bool leaves(const Seq<Stmt*>& body, const CodeFile& file) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt* statement) {
    switch (statement->kind) {
      case StmtKind::kBreak:
      case StmtKind::kContinue:
      case StmtKind::kReturn:
      case StmtKind::kRaise:
        return true;
      default:
        return is_exit(statement, file);
    }
  });
}

/// Walks to the test that holds a place.
class Finder {
 public:
  Finder(const Code& code, Place at) : code_(code), at_(at) {}

  Condition find() {
    if (code_.value != nullptr) in_expression(code_.value, false);
    in_body(code_.body);
    return found_;
  }

 private:
  void in_body(const Seq<Stmt*>& body) {
    for (const Stmt* statement : body) in_statement(statement);
  }

  void in_statement(const Stmt* statement) {
    switch (statement->kind) {
      case StmtKind::kIf: {
        const auto* branch = static_cast<const IfStmt*>(statement);
        const bool leaves_otherwise = leaves(branch->otherwise, *code_.file);
        test(branch->test, leaves_otherwise && !leaves(branch->body, *code_.file));
        in_body(branch->body);
        in_body(branch->otherwise);
        return;
      }
      case StmtKind::kWhile: {
        const auto* loop = static_cast<const WhileStmt*>(statement);
        if (holds(loop->test->place, at_)) {
          found_ = {true, true};
          in_expression(loop->test, true);
        }
        in_body(loop->body);
        in_body(loop->otherwise);
        return;
      }
      case StmtKind::kFor:
        in_body(static_cast<const ForStmt*>(statement)->body);
        in_body(static_cast<const ForStmt*>(statement)->otherwise);
        return;
      case StmtKind::kWith:
        in_body(static_cast<const WithStmt*>(statement)->body);
        return;
      case StmtKind::kTry: {
        const auto* attempt = static_cast<const TryStmt*>(statement);
        in_body(attempt->body);
        for (const Handler& handler : attempt->handlers) in_body(handler.body);
        in_body(attempt->otherwise);
        in_body(attempt->finally);
        return;
      }
      case StmtKind::kMatch:
        for (const MatchCase& choice : static_cast<const MatchStmt*>(statement)->cases)
          in_body(choice.body);
        return;
      case StmtKind::kAssert:
        test(static_cast<const AssertStmt*>(statement)->test, true);
        return;
      default:
        return;
    }
  }

  void test(const Expr* expression, bool wanted) {
    if (!holds(expression->place, at_)) return;
    found_ = {wanted, false};
    in_expression(expression, wanted);
  }

  /// Down to the operand at the place: `not` turns what is wanted, and beside another operand of
  /// `and` a loop has a bound.
  void in_expression(const Expr* expression, bool wanted) {
    if (!holds(expression->place, at_)) return;
    if (expression->kind == ExprKind::kNot) {
      // What is decided at its own place is the operand: `not` of anything is known.
      found_.wanted = !wanted;
      in_expression(static_cast<const NotExpr*>(expression)->operand, !wanted);
      return;
    }
    if (expression->kind == ExprKind::kBool) {
      const auto* choice = static_cast<const BoolExpr*>(expression);
      if (choice->operands.size > 1 && !choice->is_or) found_.is_endless = false;
      for (const Expr* operand : choice->operands) in_expression(operand, wanted);
    }
  }

  const Code& code_;
  const Place at_;
  Condition found_;
};

}  // namespace

Condition condition_at(const Code& code, Place at) { return Finder(code, at).find(); }

}  // namespace tidemark::lang
