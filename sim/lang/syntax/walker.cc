#include "sim/lang/syntax/walker.h"

namespace tidemark::lang {

void Walker::parameters(const Parameters& given) {
  for (const Seq<Parameter>* list : {&given.positional, &given.keyword_only}) {
    for (const Parameter& parameter : *list) {
      expr(parameter.name);
      maybe(parameter.fallback);
    }
  }
  maybe(given.star);
  maybe(given.double_star);
}

void Walker::function(const FunctionNode* node) {
  parameters(*node->parameters);
  body(node->body);
  maybe(node->value);
}

void Walker::code(const Code& code) {
  if (code.parameters != nullptr) parameters(*code.parameters);
  body(code.body);
  maybe(code.value);
  if (code.comprehension != nullptr) comprehension(code.comprehension);
}

void Walker::comprehension(const ComprehensionExpr* node) {
  maybe(node->element);
  maybe(node->value);
  for (const Clause& clause : node->clauses) {
    target(clause.target);
    expr(clause.iterable);
    all(clause.conditions);
  }
}

void Walker::parts(const Expr* node) {
  switch (node->kind) {
    case ExprKind::kName:
    case ExprKind::kTaken:
      name(static_cast<const NameExpr*>(node));
      return;
    case ExprKind::kConstant:
      return;
    case ExprKind::kJoined:
      for (const JoinedPart& part : static_cast<const JoinedExpr*>(node)->parts) {
        maybe(part.value);
        maybe(part.spec);
      }
      return;
    case ExprKind::kTuple:
    case ExprKind::kList:
    case ExprKind::kSet:
      all(static_cast<const SequenceExpr*>(node)->items);
      return;
    case ExprKind::kDict:
      all(static_cast<const DictExpr*>(node)->keys);
      all(static_cast<const DictExpr*>(node)->values);
      return;
    case ExprKind::kUnary:
      expr(static_cast<const UnaryExpr*>(node)->operand);
      return;
    case ExprKind::kNot:
      expr(static_cast<const NotExpr*>(node)->operand);
      return;
    case ExprKind::kBinary:
      expr(static_cast<const BinaryExpr*>(node)->left);
      expr(static_cast<const BinaryExpr*>(node)->right);
      return;
    case ExprKind::kBool:
      all(static_cast<const BoolExpr*>(node)->operands);
      return;
    case ExprKind::kCompare:
      expr(static_cast<const CompareExpr*>(node)->left);
      for (const Comparison& step : static_cast<const CompareExpr*>(node)->steps) expr(step.right);
      return;
    case ExprKind::kConditional:
      expr(static_cast<const ConditionalExpr*>(node)->test);
      expr(static_cast<const ConditionalExpr*>(node)->body);
      expr(static_cast<const ConditionalExpr*>(node)->otherwise);
      return;
    case ExprKind::kCall:
      expr(static_cast<const CallExpr*>(node)->callee);
      all(static_cast<const CallExpr*>(node)->arguments);
      for (const Keyword& keyword : static_cast<const CallExpr*>(node)->keywords)
        expr(keyword.value);
      return;
    case ExprKind::kAttribute:
      expr(static_cast<const AttributeExpr*>(node)->object);
      return;
    case ExprKind::kSubscript:
      expr(static_cast<const SubscriptExpr*>(node)->object);
      expr(static_cast<const SubscriptExpr*>(node)->index);
      return;
    case ExprKind::kSlice:
      maybe(static_cast<const SliceExpr*>(node)->start);
      maybe(static_cast<const SliceExpr*>(node)->stop);
      maybe(static_cast<const SliceExpr*>(node)->step);
      return;
    case ExprKind::kStarred:
      expr(static_cast<const StarredExpr*>(node)->value);
      return;
    case ExprKind::kLambda:
      function(static_cast<const LambdaExpr*>(node)->function);
      return;
    case ExprKind::kComprehension:
      comprehension(static_cast<const ComprehensionExpr*>(node));
      return;
    case ExprKind::kNamed:
      target(static_cast<const NamedExpr*>(node)->target);
      expr(static_cast<const NamedExpr*>(node)->value);
      return;
    case ExprKind::kYield:
      maybe(static_cast<const YieldExpr*>(node)->value);
      return;
  }
}

void Walker::stmt(const Stmt* node) {
  switch (node->kind) {
    case StmtKind::kExpr:
      expr(static_cast<const ExprStmt*>(node)->value);
      return;
    case StmtKind::kAssign:
      for (const Expr* to : static_cast<const AssignStmt*>(node)->targets) target(to);
      expr(static_cast<const AssignStmt*>(node)->value);
      return;
    case StmtKind::kAugAssign:
      target(static_cast<const AugAssignStmt*>(node)->target);
      expr(static_cast<const AugAssignStmt*>(node)->value);
      return;
    case StmtKind::kAnnotated:
      target(static_cast<const AnnotatedStmt*>(node)->target);
      maybe(static_cast<const AnnotatedStmt*>(node)->value);
      return;
    case StmtKind::kDelete:
      for (const Expr* to : static_cast<const DeleteStmt*>(node)->targets) target(to);
      return;
    case StmtKind::kReturn:
      maybe(static_cast<const ReturnStmt*>(node)->value);
      return;
    case StmtKind::kIf:
      expr(static_cast<const IfStmt*>(node)->test);
      body(static_cast<const IfStmt*>(node)->body);
      body(static_cast<const IfStmt*>(node)->otherwise);
      return;
    case StmtKind::kWhile:
      body(static_cast<const WhileStmt*>(node)->before);
      expr(static_cast<const WhileStmt*>(node)->test);
      body(static_cast<const WhileStmt*>(node)->body);
      body(static_cast<const WhileStmt*>(node)->otherwise);
      return;
    case StmtKind::kFor:
      target(static_cast<const ForStmt*>(node)->target);
      expr(static_cast<const ForStmt*>(node)->iterable);
      body(static_cast<const ForStmt*>(node)->body);
      body(static_cast<const ForStmt*>(node)->otherwise);
      return;
    case StmtKind::kFunction:
      target(static_cast<const FunctionStmt*>(node)->target);
      function(static_cast<const FunctionStmt*>(node)->function);
      all(static_cast<const FunctionStmt*>(node)->decorators);
      return;
    case StmtKind::kClass:
      target(static_cast<const ClassStmt*>(node)->target);
      all(static_cast<const ClassStmt*>(node)->bases);
      for (const Keyword& keyword : static_cast<const ClassStmt*>(node)->keywords)
        expr(keyword.value);
      all(static_cast<const ClassStmt*>(node)->decorators);
      body(static_cast<const ClassStmt*>(node)->body);
      return;
    case StmtKind::kWith:
      for (const WithItem& item : static_cast<const WithStmt*>(node)->items) {
        expr(item.manager);
        if (item.target != nullptr) target(item.target);
      }
      body(static_cast<const WithStmt*>(node)->body);
      return;
    case StmtKind::kTry:
      body(static_cast<const TryStmt*>(node)->body);
      for (const Handler& handler : static_cast<const TryStmt*>(node)->handlers) {
        maybe(handler.type);
        if (handler.target != nullptr) target(handler.target);
        body(handler.body);
      }
      body(static_cast<const TryStmt*>(node)->otherwise);
      body(static_cast<const TryStmt*>(node)->finally);
      return;
    case StmtKind::kRaise:
      maybe(static_cast<const RaiseStmt*>(node)->exception);
      maybe(static_cast<const RaiseStmt*>(node)->cause);
      return;
    case StmtKind::kAssert:
      expr(static_cast<const AssertStmt*>(node)->test);
      maybe(static_cast<const AssertStmt*>(node)->message);
      return;
    case StmtKind::kImport:
      for (const ImportedName& entry : static_cast<const ImportStmt*>(node)->names)
        target(entry.target);
      return;
    case StmtKind::kImportFrom:
      for (const ImportedName& entry : static_cast<const ImportFromStmt*>(node)->names)
        target(entry.target);
      return;
    case StmtKind::kYield:
      maybe(static_cast<const YieldStmt*>(node)->value);
      if (static_cast<const YieldStmt*>(node)->target != nullptr)
        target(static_cast<const YieldStmt*>(node)->target);
      return;
    case StmtKind::kMatch:
      expr(static_cast<const MatchStmt*>(node)->subject);
      for (const MatchCase& each : static_cast<const MatchStmt*>(node)->cases) {
        for_each_part(
            each.pattern, [&](const Expr* value) { expr(value); },
            [&](const NameExpr* to) { target(to); });
        maybe(each.guard);
        body(each.body);
      }
      return;
    case StmtKind::kPass:
    case StmtKind::kBreak:
    case StmtKind::kContinue:
    case StmtKind::kGlobal:
    case StmtKind::kNonlocal:
      return;
  }
}

}  // namespace tidemark::lang
