#include "sim/lang/syntax/loop_uses.h"

#include <algorithm>

namespace tidemark::lang {

namespace {

/// Goes through every expression of a piece of code, those of functions within it too.
class Walker {
 public:
  virtual ~Walker() = default;

  void body(const Seq<Stmt*>& statements) {
    for (const Stmt* statement : statements) stmt(statement);
  }
  virtual void expr(const Expr* node) { parts(node); }
  /// What is assigned to, or deleted.
  virtual void target(const Expr* node) { expr(node); }
  void function(const FunctionNode* node);
  void code(const Code& code);

 protected:
  void parts(const Expr* node);
  void stmt(const Stmt* node);
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
  parameters(node->parameters);
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

/// All names that are assigned to anywhere in a loop's body.
class Assigned final : public Walker {
 public:
  void target(const Expr* node) override {
    if (node->kind == ExprKind::kName) {
      names.push_back(static_cast<const NameExpr*>(node)->name);
      is_global.push_back(static_cast<const NameExpr*>(node)->access == Access::kGlobal);
    } else if (node->kind == ExprKind::kTuple || node->kind == ExprKind::kList) {
      for (const Expr* item : static_cast<const SequenceExpr*>(node)->items) target(item);
    } else if (node->kind == ExprKind::kStarred) {
      target(static_cast<const StarredExpr*>(node)->value);
    } else {
      expr(node);
    }
  }
  std::vector<Name> names;
  std::vector<bool> is_global;
};

class Looks final : public Walker {
 public:
  Looks(const NameExpr& variable, const LoopSurroundings& surroundings, std::vector<Name> assigned)
      : variable_(variable), surroundings_(surroundings), assigned_(std::move(assigned)) {}

  void expr(const Expr* node) override {
    if (is_followed(node)) return;
    parts(node);
  }
  LoopUses uses;

 protected:
  void name(const NameExpr* node) override {
    if (node->name == variable_.name && uses.obstacle == nullptr) uses.obstacle = node;
  }

 private:
  bool is_followed(const Expr* node) {
    if (node->kind == ExprKind::kBinary) {
      const auto* binary = static_cast<const BinaryExpr*>(node);
      if (binary->op != BinaryOp::kMod) return false;
      const auto plus = shifted(binary->left);
      const auto divisor = constant(binary->right);
      if (!plus || !divisor || *divisor <= 0) return false;
      uses.remainders.push_back({*plus, *divisor});
      return true;
    }
    if (node->kind == ExprKind::kCompare) return compares(static_cast<const CompareExpr*>(node));
    if (node->kind == ExprKind::kCall) return labels(static_cast<const CallExpr*>(node));
    return false;
  }
  bool compares(const CompareExpr* node) {
    if (node->steps.size != 1 || node->steps[0].relation > Relation::kGe) return false;
    for (const bool is_left : {true, false}) {
      const auto plus = shifted(is_left ? node->left : node->steps[0].right);
      const auto bound = constant(is_left ? node->steps[0].right : node->left);
      if (!plus || !bound) continue;
      uses.bounds.push_back(*bound - *plus);
      return true;
    }
    return false;
  }
  /// phase(f"forward {i}"): the name tells of i, and decides nothing.
  bool labels(const CallExpr* node) {
    if (node->callee->kind != ExprKind::kName || node->arguments.size != 1 ||
        !node->keywords.empty() || node->arguments[0]->kind != ExprKind::kJoined ||
        !surroundings_.is_label(*static_cast<const NameExpr*>(node->callee))) {
      return false;
    }
    for (const JoinedPart& part : static_cast<const JoinedExpr*>(node->arguments[0])->parts) {
      if (part.value == nullptr || (shifted(part.value) && part.spec == nullptr)) continue;
      expr(part.value);
      if (part.spec != nullptr) expr(part.spec);
    }
    return true;
  }
  /// i, i + 1, i - 2: what is added.
  std::optional<std::int64_t> shifted(const Expr* node) {
    if (node->kind == ExprKind::kName) {
      const auto* name = static_cast<const NameExpr*>(node);
      const bool is_variable = name->name == variable_.name && name->access == variable_.access &&
                               name->slot == variable_.slot;
      return is_variable ? std::optional<std::int64_t>(0) : std::nullopt;
    }
    if (node->kind != ExprKind::kBinary) return std::nullopt;
    const auto* binary = static_cast<const BinaryExpr*>(node);
    if (binary->op != BinaryOp::kAdd && binary->op != BinaryOp::kSub) return std::nullopt;
    const auto left = shifted(binary->left);
    const auto right = constant(binary->right);
    if (!left || !right || std::abs(*right) > kLargest) return std::nullopt;
    return binary->op == BinaryOp::kAdd ? *left + *right : *left - *right;
  }
  std::optional<std::int64_t> constant(const Expr* node) {
    const auto value = constant_part(node);
    return value && std::abs(*value) <= kLargest ? value : std::nullopt;
  }
  std::optional<std::int64_t> constant_part(const Expr* node) {
    if (node->kind == ExprKind::kConstant) {
      const Value& value = *static_cast<const ConstantExpr*>(node)->value;
      return value.is_int() ? std::optional(value.as_int()) : std::nullopt;
    }
    if (node->kind == ExprKind::kName) {
      const auto* name = static_cast<const NameExpr*>(node);
      const bool is_fixed =
          name->name != variable_.name &&
          std::find(assigned_.begin(), assigned_.end(), name->name) == assigned_.end();
      return is_fixed ? surroundings_.value_of(*name) : std::nullopt;
    }
    if (node->kind != ExprKind::kBinary) return std::nullopt;
    const auto* binary = static_cast<const BinaryExpr*>(node);
    const auto left = constant(binary->left);
    const auto right = constant(binary->right);
    if (!left || !right) return std::nullopt;
    switch (binary->op) {
      case BinaryOp::kAdd:
        return *left + *right;
      case BinaryOp::kSub:
        return *left - *right;
      case BinaryOp::kMul:
        return std::abs(*left) < kFactor && std::abs(*right) < kFactor
                   ? std::optional(*left * *right)
                   : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  static constexpr std::int64_t kLargest = std::int64_t{1} << 61U;
  static constexpr std::int64_t kFactor = std::int64_t{1} << 31U;
  const NameExpr& variable_;
  const LoopSurroundings& surroundings_;
  std::vector<Name> assigned_;
};

class Mentions final : public Walker {
 public:
  explicit Mentions(Name wanted) : wanted_(wanted) {}
  bool found = false;

 protected:
  void name(const NameExpr* node) override { found = found || node->name == wanted_; }

 private:
  Name wanted_;
};

}  // namespace

LoopUses uses_of_loop_variable(const ForStmt& loop, const LoopSurroundings& surroundings) {
  Assigned assigned;
  assigned.body(loop.body);
  const auto* variable = static_cast<const NameExpr*>(loop.target);
  Looks looks(*variable, surroundings, assigned.names);
  looks.body(loop.body);
  return looks.uses;
}

bool mentions(const Code& code, Name name) {
  Mentions mentions(name);
  mentions.code(code);
  return mentions.found;
}

bool assigns(const Code& code, Name name) {
  Assigned assigned;
  assigned.code(code);
  for (std::size_t i = 0; i < assigned.names.size(); ++i) {
    if (assigned.names[i] == name && assigned.is_global[i]) return true;
  }
  return false;
}

}  // namespace tidemark::lang
