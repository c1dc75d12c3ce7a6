#include "sim/lang/runtime/condition.h"

#include <algorithm>
#include <utility>

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

/// Whether something in a loop's body, at any depth, ends that loop. A `break` of a loop within
/// does not; what functions within do is theirs.
bool has_exit(const Seq<Stmt*>& body, const CodeFile& file, bool is_own = true) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt* statement) {
    const auto within = [&](const Seq<Stmt*>& part) { return has_exit(part, file, is_own); };
    const auto deeper = [&](const Seq<Stmt*>& part) { return has_exit(part, file, false); };
    switch (statement->kind) {
      case StmtKind::kBreak:
        return is_own;
      case StmtKind::kReturn:
      case StmtKind::kRaise:
        return true;
      case StmtKind::kIf: {
        const auto* branch = static_cast<const IfStmt*>(statement);
        return within(branch->body) || within(branch->otherwise);
      }
      case StmtKind::kWhile: {
        const auto* loop = static_cast<const WhileStmt*>(statement);
        return deeper(loop->body) || within(loop->otherwise);
      }
      case StmtKind::kFor: {
        const auto* loop = static_cast<const ForStmt*>(statement);
        return deeper(loop->body) || within(loop->otherwise);
      }
      case StmtKind::kWith:
        return within(static_cast<const WithStmt*>(statement)->body);
      case StmtKind::kTry: {
        const auto* attempt = static_cast<const TryStmt*>(statement);
        return within(attempt->body) || within(attempt->otherwise) || within(attempt->finally) ||
               std::any_of(attempt->handlers.begin(), attempt->handlers.end(),
                           [&](const Handler& handler) { return within(handler.body); });
      }
      case StmtKind::kMatch: {
        const auto& cases = static_cast<const MatchStmt*>(statement)->cases;
        return std::any_of(cases.begin(), cases.end(),
                           [&](const MatchCase& choice) { return within(choice.body); });
      }
      default:
        return is_exit(statement, file);
    }
  });
}

std::string_view text_of(const Expr* expression, const CodeFile& file) {
  const Place place = expression->place;
  return view(file.text).substr(place.begin, place.end - place.begin);
}

/// Whether `body` sets what `other` counts up: who waits for a better loss counts the steps without
/// one.
bool sets_back(const Seq<Stmt*>& body, const Seq<Stmt*>& other, const CodeFile& file) {
  const auto sets = [&](const Expr* counter) {
    return std::any_of(body.begin(), body.end(), [&](const Stmt* statement) {
      if (statement->kind != StmtKind::kAssign) return false;
      const auto& targets = static_cast<const AssignStmt*>(statement)->targets;
      return std::any_of(targets.begin(), targets.end(), [&](const Expr* target) {
        return text_of(target, file) == text_of(counter, file);
      });
    });
  };
  return std::any_of(other.begin(), other.end(), [&](const Stmt* statement) {
    return statement->kind == StmtKind::kAugAssign &&
           sets(static_cast<const AugAssignStmt*>(statement)->target);
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

  void in_loop(const Seq<Stmt*>& body) {
    const bool was_in_loop = std::exchange(is_in_loop_, true);
    in_body(body);
    is_in_loop_ = was_in_loop;
  }

  void in_statement(const Stmt* statement) {
    switch (statement->kind) {
      case StmtKind::kIf: {
        const auto* branch = static_cast<const IfStmt*>(statement);
        test(branch->test, goes_on_in_body(*branch));
        in_body(branch->body);
        in_body(branch->otherwise);
        return;
      }
      case StmtKind::kWhile: {
        const auto* loop = static_cast<const WhileStmt*>(statement);
        if (holds(loop->test->place, at_)) {
          const bool may_leave = has_exit(loop->body, *code_.file);
          found_ = {true, !may_leave, may_leave};
          in_expression(loop->test, true);
        }
        in_loop(loop->body);
        in_body(loop->otherwise);
        return;
      }
      case StmtKind::kFor:
        in_loop(static_cast<const ForStmt*>(statement)->body);
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

  /// Whether the program goes on in the body rather than otherwise. What leaves comes first, then
  /// what leaves a loop further within, then what counts up to it.
  [[nodiscard]] bool goes_on_in_body(const IfStmt& branch) const {
    const CodeFile& file = *code_.file;
    const bool leaves_body = leaves(branch.body, file);
    const bool leaves_otherwise = leaves(branch.otherwise, file);
    if (leaves_body != leaves_otherwise) return leaves_otherwise;
    if (leaves_body) return false;
    const bool may_leave_body = is_in_loop_ && has_exit(branch.body, file);
    const bool may_leave_otherwise = is_in_loop_ && has_exit(branch.otherwise, file);
    if (may_leave_body != may_leave_otherwise) return may_leave_otherwise;
    return sets_back(branch.body, branch.otherwise, file) &&
           !sets_back(branch.otherwise, branch.body, file);
  }

  void test(const Expr* expression, bool wanted) {
    if (!holds(expression->place, at_)) return;
    found_ = {wanted, false, false};
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
      if (choice->operands.size > 1 && !choice->is_or) {
        found_.is_endless = false;
        found_.has_exit = false;
      }
      for (const Expr* operand : choice->operands) in_expression(operand, wanted);
    }
  }

  const Code& code_;
  const Place at_;
  bool is_in_loop_ = false;
  Condition found_;
};

}  // namespace

Condition condition_at(const Code& code, Place at) { return Finder(code, at).find(); }

}  // namespace tidemark::lang
