#pragma once

#include "sim/lang/syntax/ast.h"

/// What the nodes of a tree are made of, once for all that goes over every member of every node:
/// `each_member(node, visit)` calls `visit(member...)` with all of a struct's members, those of its
/// base first. A struct that gets a member gets it here too; a test counts them.
namespace tidemark::lang {

template <class Visit>
void each_member(const Place& p, const Visit& visit) {
  visit(p.begin, p.end);
}
template <class Visit>
void each_member(const Literal& l, const Visit& visit) {
  visit(l.kind, l.bits);
}

// Parts of nodes.

template <class Visit>
void each_member(const JoinedPart& p, const Visit& visit) {
  visit(p.text, p.value, p.conversion, p.spec);
}
template <class Visit>
void each_member(const Comparison& c, const Visit& visit) {
  visit(c.relation, c.right);
}
template <class Visit>
void each_member(const Keyword& k, const Visit& visit) {
  visit(k.name, k.value, k.spread, k.place);
}
template <class Visit>
void each_member(const Clause& c, const Visit& visit) {
  visit(c.target, c.iterable, c.conditions);
}
template <class Visit>
void each_member(const Parameter& p, const Visit& visit) {
  visit(p.name, p.fallback, p.annotation);
}
template <class Visit>
void each_member(const Parameters& p, const Visit& visit) {
  visit(p.positional, p.positional_only, p.keyword_only, p.star, p.double_star, p.star_annotation,
        p.double_star_annotation);
}
template <class Visit>
void each_member(const FunctionNode& f, const Visit& visit) {
  visit(f.name, f.place, f.parameters, f.body, f.value, f.code);
}
template <class Visit>
void each_member(const WithItem& w, const Visit& visit) {
  visit(w.manager, w.target);
}
template <class Visit>
void each_member(const Handler& h, const Visit& visit) {
  visit(h.type, h.target, h.body, h.place);
}
template <class Visit>
void each_member(const ImportedName& i, const Visit& visit) {
  visit(i.module, i.name, i.target, i.whole, i.place);
}
template <class Visit>
void each_member(const MatchCase& m, const Visit& visit) {
  visit(m.pattern, m.guard, m.body);
}
template <class Visit>
void each_member(const Code::Capture& c, const Visit& visit) {
  visit(c.from_cell, c.index);
}
template <class Visit>
void each_member(const Code& c, const Visit& visit) {
  visit(c.form, c.name, c.qualname, c.place, c.file, c.parameters, c.body, c.value, c.comprehension,
        c.slots, c.cells, c.frees, c.captures, c.class_cell, c.generator, c.is_async, c.returns,
        c.own_class_cell);
}
/// All but the memory of the nodes.
template <class Visit>
void each_member(const CodeFile& f, const Visit& visit) {
  visit(f.name, f.text);
}

// Expressions.

template <class Visit>
void each_member(const Expr& e, const Visit& visit) {
  visit(e.kind, e.place);
}
template <class Visit>
void each_member(const NameExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.name, e.access, e.slot);
}
template <class Visit>
void each_member(const ConstantExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.literal);
}
template <class Visit>
void each_member(const JoinedExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.parts);
}
template <class Visit>
void each_member(const SequenceExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.items, e.has_star);
}
template <class Visit>
void each_member(const DictExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.keys, e.values);
}
template <class Visit>
void each_member(const UnaryExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.op, e.operand);
}
template <class Visit>
void each_member(const NotExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.operand);
}
template <class Visit>
void each_member(const BinaryExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.op, e.left, e.right);
}
template <class Visit>
void each_member(const BoolExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.is_or, e.operands);
}
template <class Visit>
void each_member(const CompareExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.left, e.steps);
}
template <class Visit>
void each_member(const ConditionalExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.test, e.body, e.otherwise);
}
template <class Visit>
void each_member(const CallExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.callee, e.arguments, e.keywords, e.keyword_names, e.spread);
}
template <class Visit>
void each_member(const AttributeExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.object, e.name, e.name_place);
}
template <class Visit>
void each_member(const SubscriptExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.object, e.index);
}
template <class Visit>
void each_member(const SliceExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.start, e.stop, e.step);
}
template <class Visit>
void each_member(const StarredExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.value);
}
template <class Visit>
void each_member(const LambdaExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.function);
}
template <class Visit>
void each_member(const ComprehensionExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.form, e.element, e.value, e.clauses, e.code);
}
template <class Visit>
void each_member(const NamedExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.target, e.value);
}

template <class Visit>
void each_member(const YieldExpr& e, const Visit& visit) {
  each_member(static_cast<const Expr&>(e), visit);
  visit(e.value, e.from);
}

// Statements.

template <class Visit>
void each_member(const Stmt& s, const Visit& visit) {
  visit(s.kind, s.place, s.yields);
}
template <class Visit>
void each_member(const ExprStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.value);
}
template <class Visit>
void each_member(const AssignStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.targets, s.value);
}
template <class Visit>
void each_member(const AugAssignStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.op, s.target, s.value);
}
template <class Visit>
void each_member(const AnnotatedStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.target, s.annotation, s.value);
}
template <class Visit>
void each_member(const DeleteStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.targets);
}
template <class Visit>
void each_member(const ReturnStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.value);
}
template <class Visit>
void each_member(const IfStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.test, s.body, s.otherwise);
}
template <class Visit>
void each_member(const WhileStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.before, s.test, s.body, s.otherwise);
}
template <class Visit>
void each_member(const ForStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.target, s.iterable, s.body, s.otherwise);
}
template <class Visit>
void each_member(const FunctionStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.function, s.target, s.decorators);
}
template <class Visit>
void each_member(const ClassStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.target, s.bases, s.body, s.decorators, s.keywords, s.code);
}
template <class Visit>
void each_member(const WithStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.items, s.body);
}
template <class Visit>
void each_member(const TryStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.body, s.handlers, s.otherwise, s.finally, s.takes_import_errors, s.by_group);
}
template <class Visit>
void each_member(const RaiseStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.exception, s.cause);
}
template <class Visit>
void each_member(const AssertStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.test, s.message);
}
template <class Visit>
void each_member(const ImportStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.names);
}
template <class Visit>
void each_member(const ImportFromStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.module, s.level, s.names, s.star);
}
template <class Visit>
void each_member(const YieldStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.value, s.from, s.target);
}
template <class Visit>
void each_member(const NameListStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.names);
}
template <class Visit>
void each_member(const MatchStmt& s, const Visit& visit) {
  each_member(static_cast<const Stmt&>(s), visit);
  visit(s.subject, s.cases);
}

// Patterns.

template <class Visit>
void each_member(const Pattern& p, const Visit& visit) {
  visit(p.kind, p.place);
}
template <class Visit>
void each_member(const ValuePattern& p, const Visit& visit) {
  each_member(static_cast<const Pattern&>(p), visit);
  visit(p.value, p.by_identity);
}
template <class Visit>
void each_member(const CapturePattern& p, const Visit& visit) {
  each_member(static_cast<const Pattern&>(p), visit);
  visit(p.inner, p.target);
}
template <class Visit>
void each_member(const SequencePattern& p, const Visit& visit) {
  each_member(static_cast<const Pattern&>(p), visit);
  visit(p.items, p.star);
}
template <class Visit>
void each_member(const MappingPattern& p, const Visit& visit) {
  each_member(static_cast<const Pattern&>(p), visit);
  visit(p.keys, p.values, p.rest);
}
template <class Visit>
void each_member(const ClassPattern& p, const Visit& visit) {
  each_member(static_cast<const Pattern&>(p), visit);
  visit(p.type, p.positional, p.names, p.named);
}
template <class Visit>
void each_member(const OrPattern& p, const Visit& visit) {
  each_member(static_cast<const Pattern&>(p), visit);
  visit(p.choices);
}

/// Calls `take` with a node as what its kind says it is.
template <class Take>
auto as_own_kind(const Expr& e, const Take& take) {
  switch (e.kind) {
    case ExprKind::kName:
    case ExprKind::kTaken:
      break;
    case ExprKind::kConstant:
      return take(static_cast<const ConstantExpr&>(e));
    case ExprKind::kJoined:
      return take(static_cast<const JoinedExpr&>(e));
    case ExprKind::kTuple:
    case ExprKind::kList:
    case ExprKind::kSet:
      return take(static_cast<const SequenceExpr&>(e));
    case ExprKind::kDict:
      return take(static_cast<const DictExpr&>(e));
    case ExprKind::kUnary:
      return take(static_cast<const UnaryExpr&>(e));
    case ExprKind::kNot:
      return take(static_cast<const NotExpr&>(e));
    case ExprKind::kBinary:
      return take(static_cast<const BinaryExpr&>(e));
    case ExprKind::kBool:
      return take(static_cast<const BoolExpr&>(e));
    case ExprKind::kCompare:
      return take(static_cast<const CompareExpr&>(e));
    case ExprKind::kConditional:
      return take(static_cast<const ConditionalExpr&>(e));
    case ExprKind::kCall:
      return take(static_cast<const CallExpr&>(e));
    case ExprKind::kAttribute:
      return take(static_cast<const AttributeExpr&>(e));
    case ExprKind::kSubscript:
      return take(static_cast<const SubscriptExpr&>(e));
    case ExprKind::kSlice:
      return take(static_cast<const SliceExpr&>(e));
    case ExprKind::kStarred:
      return take(static_cast<const StarredExpr&>(e));
    case ExprKind::kLambda:
      return take(static_cast<const LambdaExpr&>(e));
    case ExprKind::kComprehension:
      return take(static_cast<const ComprehensionExpr&>(e));
    case ExprKind::kNamed:
      return take(static_cast<const NamedExpr&>(e));
    case ExprKind::kYield:
      return take(static_cast<const YieldExpr&>(e));
  }
  return take(static_cast<const NameExpr&>(e));
}
template <class Take>
auto as_own_kind(const Stmt& s, const Take& take) {
  switch (s.kind) {
    case StmtKind::kExpr:
      return take(static_cast<const ExprStmt&>(s));
    case StmtKind::kAssign:
      return take(static_cast<const AssignStmt&>(s));
    case StmtKind::kAugAssign:
      return take(static_cast<const AugAssignStmt&>(s));
    case StmtKind::kAnnotated:
      return take(static_cast<const AnnotatedStmt&>(s));
    case StmtKind::kDelete:
      return take(static_cast<const DeleteStmt&>(s));
    case StmtKind::kReturn:
      return take(static_cast<const ReturnStmt&>(s));
    case StmtKind::kPass:
    case StmtKind::kBreak:
    case StmtKind::kContinue:
      break;
    case StmtKind::kIf:
      return take(static_cast<const IfStmt&>(s));
    case StmtKind::kWhile:
      return take(static_cast<const WhileStmt&>(s));
    case StmtKind::kFor:
      return take(static_cast<const ForStmt&>(s));
    case StmtKind::kFunction:
      return take(static_cast<const FunctionStmt&>(s));
    case StmtKind::kClass:
      return take(static_cast<const ClassStmt&>(s));
    case StmtKind::kWith:
      return take(static_cast<const WithStmt&>(s));
    case StmtKind::kTry:
      return take(static_cast<const TryStmt&>(s));
    case StmtKind::kRaise:
      return take(static_cast<const RaiseStmt&>(s));
    case StmtKind::kAssert:
      return take(static_cast<const AssertStmt&>(s));
    case StmtKind::kImport:
      return take(static_cast<const ImportStmt&>(s));
    case StmtKind::kImportFrom:
      return take(static_cast<const ImportFromStmt&>(s));
    case StmtKind::kGlobal:
    case StmtKind::kNonlocal:
      return take(static_cast<const NameListStmt&>(s));
    case StmtKind::kYield:
      return take(static_cast<const YieldStmt&>(s));
    case StmtKind::kMatch:
      return take(static_cast<const MatchStmt&>(s));
  }
  return take(s);
}
template <class Take>
auto as_own_kind(const Pattern& p, const Take& take) {
  switch (p.kind) {
    case PatternKind::kValue:
      break;
    case PatternKind::kCapture:
      return take(static_cast<const CapturePattern&>(p));
    case PatternKind::kSequence:
      return take(static_cast<const SequencePattern&>(p));
    case PatternKind::kMapping:
      return take(static_cast<const MappingPattern&>(p));
    case PatternKind::kClass:
      return take(static_cast<const ClassPattern&>(p));
    case PatternKind::kOr:
      return take(static_cast<const OrPattern&>(p));
  }
  return take(static_cast<const ValuePattern&>(p));
}

}  // namespace tidemark::lang
