#pragma once

#include <string_view>
#include <vector>

#include "sim/lang/syntax/ast.h"

/// A `yield` may stand anywhere in an expression, and a generator goes on from where it stood. So
/// what an expression evaluates before a `yield` becomes statements of its own, each into a hidden
/// local: what CPython keeps on the frame's stack.
namespace tidemark::lang {

/// Whether a `yield` stands in an expression, those of lambdas within it apart.
bool has_yield(const Expr* node);

/// Whether a local is one of those; no program can name it.
inline bool is_hidden(std::string_view name) { return name.starts_with(".y"); }

/// Rewrites one statement, in the order in which CPython evaluates it. A hidden local is read once,
/// and empty from then on, so that a value lives as long as on the stack.
class YieldSpreader {
 public:
  YieldSpreader(SyntaxTree& tree, Names& names) : tree_(tree), names_(names) {}
  /// Appends what the statement becomes. A `yield` in the targets of a `with`, in a guard or in an
  /// `except`, which nobody writes, stays: the evaluator refuses it.
  void statement(Stmt* node, std::vector<Stmt*>& out);

 private:
  using Statements = std::vector<Stmt*>;

  template <class T>
  T* make(T node) {
    return tree_.make<T>(node);
  }
  NameExpr* hidden(Place at);
  static NameExpr like(const NameExpr& of, ExprKind kind);
  Expr* taken(const NameExpr* of) { return make(like(*of, ExprKind::kTaken)); }
  Expr* read(const NameExpr* of) { return make(like(*of, ExprKind::kName)); }
  void put(Expr* target, Expr* value, Statements& out);
  void branch(Expr* test, const Statements& body, const Statements& otherwise, Statements& out);

  /// The expression without a `yield` in it; what comes before is appended.
  Expr* lifted(Expr* node, Statements& out);
  /// All of them, as they are evaluated one after another. Null ones are passed over.
  void operands(const std::vector<Expr**>& parts, Statements& out);
  Expr* spilled(Expr* node, Statements& out);
  Expr* yielded(const YieldExpr* node, Statements& out);
  Expr* choice(ConditionalExpr* node, Statements& out);
  void operand_of(const BoolExpr* node, std::size_t index, NameExpr* result, Statements& out);
  void step_of(const CompareExpr* node, std::size_t index, NameExpr* left, NameExpr* result,
               Statements& out);
  static void parameters(const FunctionNode* node, std::vector<Expr**>& parts);

  void store(Expr* target, Expr* value, Statements& out);
  void assign(AssignStmt* node, Statements& out);
  void augmented(const AugAssignStmt* node, Statements& out);
  void check(const AssertStmt* node, Statements& out);
  void loop(ForStmt* node, Statements& out);
  void with(WithStmt* node, Statements& out);

  SyntaxTree& tree_;
  Names& names_;
  std::uint32_t count_ = 0;
};

}  // namespace tidemark::lang
