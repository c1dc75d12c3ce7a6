#include "sim/lang/runtime/condition.h"

#include <algorithm>
#include <utility>
#include <vector>

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

bool has_exit(const Seq<Stmt*>& body, const CodeFile& file) { return exits_of(body, file) > 0; }

/// Walks to the test that holds a place.
class Finder {
 public:
  Finder(const Code& code, Place at, const std::function<bool(const ForStmt&)>& is_endless)
      : code_(code), at_(at), is_endless_(is_endless) {}

  Condition find() {
    if (code_.value != nullptr) in_expression(code_.value, false);
    in_body(code_.body);
    return found_;
  }

 private:
  void in_body(const Seq<Stmt*>& body) {
    for (const Stmt* statement : body) in_statement(statement);
  }

  void in_loop(const Stmt& loop, const Seq<Stmt*>& body) {
    loops_.push_back({&loop, &body});
    in_body(body);
    loops_.pop_back();
  }

  /// Whether a loop without an end of its own can be left by `dropped` alone.
  [[nodiscard]] bool only_leaves(const Seq<Stmt*>& dropped) const {
    for (std::size_t i = loops_.size(); i-- > 0;) {
      const auto& [loop, body] = loops_[i];
      const std::size_t here = exits_of(dropped, *code_.file, i + 1 == loops_.size());
      if (here == 0 || here != exits_of(*body, *code_.file) || loop->yields) continue;
      if (loop->kind == StmtKind::kWhile ? is_always_true(static_cast<const WhileStmt*>(loop)->test)
                                         : is_endless_(*static_cast<const ForStmt*>(loop)))
        return true;
    }
    return false;
  }

  void in_statement(const Stmt* statement) {
    switch (statement->kind) {
      case StmtKind::kIf: {
        const auto* branch = static_cast<const IfStmt*>(statement);
        const bool wanted = goes_on_in_body(*branch);
        test(branch->test, wanted);
        if (is_decisive_ && holds(branch->test->place, at_) && !loops_.empty())
          found_.is_endless = only_leaves(wanted ? branch->otherwise : branch->body);
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
        in_loop(*loop, loop->body);
        in_body(loop->otherwise);
        return;
      }
      case StmtKind::kFor:
        in_loop(*statement, static_cast<const ForStmt*>(statement)->body);
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
    const bool may_leave_body = !loops_.empty() && has_exit(branch.body, file);
    const bool may_leave_otherwise = !loops_.empty() && has_exit(branch.otherwise, file);
    if (may_leave_body != may_leave_otherwise) return may_leave_otherwise;
    return sets_back(branch.body, branch.otherwise, file) &&
           !sets_back(branch.otherwise, branch.body, file);
  }

  void test(const Expr* expression, bool wanted) {
    if (!holds(expression->place, at_)) return;
    found_ = {wanted, false, false};
    is_decisive_ = true;
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
      if (choice->is_or != wanted) is_decisive_ = false;
      if (choice->operands.size > 1 && !choice->is_or) {
        found_.is_endless = false;
        found_.has_exit = false;
      }
      for (const Expr* operand : choice->operands) in_expression(operand, wanted);
    }
  }

  const Code& code_;
  const Place at_;
  const std::function<bool(const ForStmt&)>& is_endless_;
  struct Loop {
    const Stmt* node;
    const Seq<Stmt*>* body;
  };
  std::vector<Loop> loops_;   // around the statement
  bool is_decisive_ = false;  // the operand at the place decides the whole test as it is wanted
  Condition found_;
};

}  // namespace

std::size_t exits_of(const Seq<Stmt*>& body, const CodeFile& file, bool is_own) {
  std::size_t out = 0;
  const auto within = [&](const Seq<Stmt*>& part) { out += exits_of(part, file, is_own); };
  const auto deeper = [&](const Seq<Stmt*>& part) { out += exits_of(part, file, false); };
  for (const Stmt* statement : body) {
    switch (statement->kind) {
      case StmtKind::kBreak:
        out += is_own ? 1 : 0;
        break;
      case StmtKind::kReturn:
      case StmtKind::kRaise:
        ++out;
        break;
      case StmtKind::kIf:
        within(static_cast<const IfStmt*>(statement)->body);
        within(static_cast<const IfStmt*>(statement)->otherwise);
        break;
      case StmtKind::kWhile:
        deeper(static_cast<const WhileStmt*>(statement)->body);
        within(static_cast<const WhileStmt*>(statement)->otherwise);
        break;
      case StmtKind::kFor:
        deeper(static_cast<const ForStmt*>(statement)->body);
        within(static_cast<const ForStmt*>(statement)->otherwise);
        break;
      case StmtKind::kWith:
        within(static_cast<const WithStmt*>(statement)->body);
        break;
      case StmtKind::kTry: {
        const auto* attempt = static_cast<const TryStmt*>(statement);
        within(attempt->body);
        for (const Handler& handler : attempt->handlers) within(handler.body);
        within(attempt->otherwise);
        within(attempt->finally);
        break;
      }
      case StmtKind::kMatch:
        for (const MatchCase& each : static_cast<const MatchStmt*>(statement)->cases)
          within(each.body);
        break;
      default:
        if (is_exit(statement, file)) ++out;
        break;
    }
  }
  return out;
}

bool is_always_true(const Expr* test) {
  if (test->kind != ExprKind::kConstant) return false;
  const Literal& literal = static_cast<const ConstantExpr*>(test)->literal;
  const bool is_number =
      literal.kind == Literal::Kind::kBool || literal.kind == Literal::Kind::kInt;
  return is_number && literal.integer() != 0;
}

Condition condition_at(const Code& code, Place at,
                       const std::function<bool(const ForStmt& loop)>& is_endless) {
  return Finder(code, at, is_endless).find();
}

}  // namespace tidemark::lang
