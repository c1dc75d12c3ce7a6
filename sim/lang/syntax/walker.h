#pragma once

#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

/// Goes through every statement and expression of a piece of code, those of functions within it
/// too. Annotations, which nothing evaluates, are left out.
class Walker {
 public:
  virtual ~Walker() = default;

  void body(const Seq<Stmt*>& statements) {
    for (const Stmt* statement : statements) stmt(statement);
  }
  /// Each goes into the node's parts; what overrides it calls it for that.
  virtual void stmt(const Stmt* node);
  virtual void expr(const Expr* node) { parts(node); }
  /// What is assigned to, or deleted.
  virtual void target(const Expr* node) { expr(node); }
  void function(const FunctionNode* node);
  void code(const Code& code);

 protected:
  void parts(const Expr* node);
  virtual void name(const NameExpr* /*node*/) {}

 private:
  void all(const Seq<Expr*>& nodes) {
    for (const Expr* node : nodes) maybe(node);
  }
  void maybe(const Expr* node) {
    if (node != nullptr) expr(node);
  }
  void parameters(const Parameters& given);
  void comprehension(const ComprehensionExpr* node);
};

}  // namespace tidemark::lang
