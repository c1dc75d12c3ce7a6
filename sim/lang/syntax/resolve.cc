#include <fmt/format.h>

#include <deque>
#include <utility>

#include "sim/lang/syntax/parser_impl.h"
#include "sim/lang/syntax/scope.h"

namespace tidemark::lang {

namespace {

/// Walks a tree in the order in which CPython compiles it, since locals are laid out (and dropped)
/// in the order in which the compiled code first names them.
class Resolver {
 public:
  Resolver(SyntaxTree& tree, Names& names, const GlobalSlot& globals,
           std::vector<Problem>& problems)
      : tree_(tree), names_(names), globals_(globals), problems_(problems) {}

  void run() {
    enter(tree_.code, nullptr);
    if (tree_.expression != nullptr) expr(tree_.expression);
    block(tree_.body);
    leave();
    finish();
  }

  // The function's frame is laid out anew, with all its variables; what it captures, the class that
  // it is a method of, is as it was.
  void run_body(Code& code) {
    Code module;
    Code around;
    around.form = Code::Form::kClass;
    const Name qualname = code.qualname;
    const Seq<Code::Capture> captures = code.captures;
    const bool is_method = code.class_cell >= 0;
    enter(&module, nullptr);
    if (is_method) enter(&around, nullptr);
    enter(&code, nullptr);
    code.qualname = qualname;
    scope_->uses_super = is_method;
    parameters(*code.parameters);
    block(code.body);
    finish();
    code.captures = captures;
  }

 private:
  void finish() { lay_out_frames(scopes_, tree_, names_, globals_, problems_); }

  void problem(Place at, std::string message) {
    if (problems_.size() < InputError::kMaxProblems) {
      problems_.push_back({span_of(tree_.source, at), {}, std::move(message), {}});
    }
  }

  void enter(Code* code, const char* separator) {
    Scope* parent = scope_;
    scope_ = &scopes_.emplace_back();
    scope_->code = code;
    scope_->parent = parent;
    scope_->comprehension =
        code->form == Code::Form::kComprehension || code->form == Code::Form::kGenerator;
    code->qualname = code->name;
    if (parent != nullptr && !parent->is_module() && separator != nullptr) {
      code->qualname =
          names_.intern(fmt::format("{}{}{}", names_.text(parent->code->qualname),
                                    parent->is_class() ? "." : separator, names_.text(code->name)));
    }
  }
  void leave() { scope_ = scope_->parent; }

  void use(NameExpr* name) {
    scope_->symbol(name->name).used = true;
    scope_->uses.push_back(name);
    if (name->name == known(name::kSuperWord) || name->name == known(name::kClass)) {
      scope_->uses_super = true;
    }
  }
  void bind(NameExpr* name) {
    Symbol& symbol = scope_->symbol(name->name);
    symbol.bound = true;
    scope_->uses.push_back(name);
  }

  void block(const Seq<Stmt*>& statements) {
    for (Stmt* statement : statements) stmt(statement);
  }

  void stmt(Stmt* node) {
    switch (node->kind) {
      case StmtKind::kExpr:
        expr(static_cast<ExprStmt*>(node)->value);
        break;
      case StmtKind::kAssign: {
        const auto* assign = static_cast<AssignStmt*>(node);
        expr(assign->value);
        for (Expr* target : assign->targets) store(target);
        break;
      }
      case StmtKind::kAugAssign: {
        const auto* assign = static_cast<AugAssignStmt*>(node);
        if (assign->target->kind == ExprKind::kName) {
          bind(static_cast<NameExpr*>(assign->target));
        } else {
          expr(assign->target);
        }
        expr(assign->value);
        break;
      }
      case StmtKind::kAnnotated: {
        const auto* annotated = static_cast<AnnotatedStmt*>(node);
        if (scope_->is_class()) expr(annotated->annotation);
        if (annotated->value != nullptr) {
          expr(annotated->value);
          store(annotated->target);
        } else if (annotated->target->kind == ExprKind::kName) {
          // Local to the function; its place in the frame comes with its first use.
          scope_->symbol(static_cast<NameExpr*>(annotated->target)->name).bound = true;
        }
        break;
      }
      case StmtKind::kDelete:
        for (Expr* target : static_cast<DeleteStmt*>(node)->targets) store(target);
        break;
      case StmtKind::kReturn:
        if (auto* value = static_cast<ReturnStmt*>(node)->value) expr(value);
        break;
      case StmtKind::kPass:
      case StmtKind::kBreak:
      case StmtKind::kContinue:
        break;
      case StmtKind::kIf: {
        const auto* branch = static_cast<IfStmt*>(node);
        expr(branch->test);
        block(branch->body);
        block(branch->otherwise);
        break;
      }
      case StmtKind::kWhile: {
        const auto* loop = static_cast<WhileStmt*>(node);
        block(loop->before);
        expr(loop->test);
        block(loop->body);
        block(loop->otherwise);
        break;
      }
      case StmtKind::kFor: {
        const auto* loop = static_cast<ForStmt*>(node);
        expr(loop->iterable);
        store(loop->target);
        block(loop->body);
        block(loop->otherwise);
        break;
      }
      case StmtKind::kFunction: {
        const auto* definition = static_cast<FunctionStmt*>(node);
        for (Expr* decorator : definition->decorators) expr(decorator);
        function(definition->function);
        bind(definition->target);
        break;
      }
      case StmtKind::kClass:
        class_stmt(static_cast<ClassStmt*>(node));
        break;
      case StmtKind::kWith: {
        const auto* with = static_cast<WithStmt*>(node);
        for (const WithItem& item : with->items) {
          expr(item.manager);
          if (item.target != nullptr) store(item.target);
        }
        block(with->body);
        break;
      }
      case StmtKind::kTry: {
        const auto* attempt = static_cast<TryStmt*>(node);
        block(attempt->body);
        block(attempt->otherwise);
        for (const Handler& handler : attempt->handlers) {
          if (handler.type != nullptr) expr(handler.type);
          if (handler.target != nullptr) bind(handler.target);
          block(handler.body);
        }
        block(attempt->finally);
        break;
      }
      case StmtKind::kRaise: {
        const auto* raise = static_cast<RaiseStmt*>(node);
        if (raise->exception != nullptr) expr(raise->exception);
        if (raise->cause != nullptr) expr(raise->cause);
        break;
      }
      case StmtKind::kAssert: {
        const auto* check = static_cast<AssertStmt*>(node);
        expr(check->test);
        if (check->message != nullptr) expr(check->message);
        break;
      }
      case StmtKind::kImport:
        for (const ImportedName& name : static_cast<ImportStmt*>(node)->names) bind(name.target);
        break;
      case StmtKind::kImportFrom:
        for (const ImportedName& name : static_cast<ImportFromStmt*>(node)->names)
          bind(name.target);
        break;
      case StmtKind::kYield: {
        const auto* yield = static_cast<YieldStmt*>(node);
        if (yield->value != nullptr) expr(yield->value);
        if (yield->target != nullptr) store(yield->target);
        break;
      }
      case StmtKind::kMatch:
        match_stmt(static_cast<MatchStmt*>(node));
        break;
      case StmtKind::kGlobal:
      case StmtKind::kNonlocal:
        declare(static_cast<NameListStmt*>(node));
        break;
    }
  }

  // Names are bound once the whole pattern has matched.
  void match_stmt(const MatchStmt* node) {
    expr(node->subject);
    for (const MatchCase& each : node->cases) {
      std::vector<NameExpr*> targets;
      for_each_part(
          each.pattern, [&](Expr* value) { expr(value); },
          [&](NameExpr* target) { targets.push_back(target); });
      for (NameExpr* target : targets) bind(target);
      if (each.guard != nullptr) expr(each.guard);
      block(each.body);
    }
  }

  void declare(const NameListStmt* node) {
    const bool global = node->kind == StmtKind::kGlobal;
    const std::string_view word = global ? "global" : "nonlocal";
    for (const Name name : node->names) {
      Symbol& symbol = scope_->symbol(name);
      const std::string_view text = names_.text(name);
      if (symbol.parameter) {
        problem(node->place, fmt::format("name '{}' is parameter and {}", text, word));
      } else if (symbol.bound || symbol.used) {
        problem(node->place, fmt::format("name '{}' is {} before its {} declaration", text,
                                         symbol.used ? "used" : "assigned to", word));
      }
      if (!global && scope_->is_module()) {
        problem(node->place, "nonlocal declaration not allowed at module level");
      } else {
        (global ? symbol.global : symbol.nonlocal) = true;
      }
    }
  }

  void class_stmt(ClassStmt* node) {
    for (Expr* decorator : node->decorators) expr(decorator);
    enter(node->code, ".<locals>.");
    block(node->body);
    leave();
    for (Expr* base : node->bases) expr(base);
    for (const Keyword& keyword : node->keywords) expr(keyword.value);
    bind(node->target);
  }

  void function(FunctionNode* node) {
    const Parameters& parameters = *node->parameters;
    for (const Parameter& p : parameters.positional) {
      if (p.fallback != nullptr) expr(p.fallback);
    }
    for (const Parameter& p : parameters.keyword_only) {
      if (p.fallback != nullptr) expr(p.fallback);
    }
    enter(node->code, ".<locals>.");
    this->parameters(parameters);
    // A method may turn out to use super().
    if (is_unread(*node->code)) scope_->uses_super = scope_->parent->is_class();
    block(node->body);
    if (node->value != nullptr) expr(node->value);
    leave();
  }

  void parameters(const Parameters& given) {
    for (const Parameter& p : given.positional) parameter(p.name);
    for (const Parameter& p : given.keyword_only) parameter(p.name);
    if (given.star != nullptr) parameter(given.star);
    if (given.double_star != nullptr) parameter(given.double_star);
  }

  void parameter(NameExpr* name) {
    Symbol& symbol = scope_->symbol(name->name);
    symbol.parameter = true;
    symbol.bound = true;
    symbol.slot = static_cast<std::uint32_t>(scope_->slots.size());
    scope_->slots.push_back(name->name);
    scope_->uses.push_back(name);
  }

  void comprehension(ComprehensionExpr* node) {
    enter(node->code, ".<locals>.");
    // The iterator over the first iterable arrives as the only parameter.
    const Name iterator = names_.intern(".0");
    Symbol& symbol = scope_->symbol(iterator);
    symbol.parameter = true;
    symbol.bound = true;
    scope_->slots.push_back(iterator);
    for (std::size_t i = 0; i < node->clauses.size; ++i) {
      const Clause& clause = node->clauses[i];
      if (i > 0) expr(clause.iterable);
      store(clause.target);
      for (Expr* condition : clause.conditions) expr(condition);
    }
    expr(node->element);
    if (node->value != nullptr) expr(node->value);
    leave();
    expr(node->clauses[0].iterable);
  }

  void store(Expr* target) {
    switch (target->kind) {
      case ExprKind::kName:
        bind(static_cast<NameExpr*>(target));
        break;
      case ExprKind::kTuple:
      case ExprKind::kList:
        for (Expr* item : static_cast<SequenceExpr*>(target)->items) store(item);
        break;
      case ExprKind::kStarred:
        store(static_cast<StarredExpr*>(target)->value);
        break;
      default:
        expr(target);
        break;
    }
  }

  void named(NamedExpr* node) {
    expr(node->value);
    // Within a comprehension, := binds in the function around it.
    Scope* inner = scope_;
    Scope* outer = scope_;
    while (outer->comprehension) outer = outer->parent;
    if (outer == inner) {
      bind(node->target);
      return;
    }
    if (outer->is_class()) {
      problem(node->place,
              "assignment expression within a comprehension cannot be used in a class body");
      return;
    }
    outer->symbol(node->target->name).bound = true;
    if (outer->is_module()) {
      for (Scope* scope = inner; scope != outer; scope = scope->parent) {
        scope->symbol(node->target->name).global = true;
      }
    } else {
      for (Scope* scope = inner; scope != outer; scope = scope->parent) {
        scope->symbol(node->target->name).nonlocal = true;
      }
    }
    inner->uses.push_back(node->target);
  }

  void expr(Expr* node) {
    switch (node->kind) {
      case ExprKind::kName:
      case ExprKind::kTaken:
        use(static_cast<NameExpr*>(node));
        break;
      case ExprKind::kConstant:
        break;
      case ExprKind::kJoined:
        for (const JoinedPart& part : static_cast<JoinedExpr*>(node)->parts) {
          if (part.value != nullptr) expr(part.value);
          if (part.spec != nullptr) expr(part.spec);
        }
        break;
      case ExprKind::kTuple:
      case ExprKind::kList:
      case ExprKind::kSet:
        for (Expr* item : static_cast<SequenceExpr*>(node)->items) expr(item);
        break;
      case ExprKind::kDict: {
        const auto* dict = static_cast<DictExpr*>(node);
        for (std::size_t i = 0; i < dict->values.size; ++i) {
          if (dict->keys[i] != nullptr) expr(dict->keys[i]);
          expr(dict->values[i]);
        }
        break;
      }
      case ExprKind::kUnary:
        expr(static_cast<UnaryExpr*>(node)->operand);
        break;
      case ExprKind::kNot:
        expr(static_cast<NotExpr*>(node)->operand);
        break;
      case ExprKind::kBinary: {
        const auto* binary = static_cast<BinaryExpr*>(node);
        expr(binary->left);
        expr(binary->right);
        break;
      }
      case ExprKind::kBool:
        for (Expr* operand : static_cast<BoolExpr*>(node)->operands) expr(operand);
        break;
      case ExprKind::kCompare: {
        const auto* compare = static_cast<CompareExpr*>(node);
        expr(compare->left);
        for (const Comparison& step : compare->steps) expr(step.right);
        break;
      }
      case ExprKind::kConditional: {
        const auto* choice = static_cast<ConditionalExpr*>(node);
        expr(choice->test);
        expr(choice->body);
        expr(choice->otherwise);
        break;
      }
      case ExprKind::kCall: {
        const auto* call = static_cast<CallExpr*>(node);
        expr(call->callee);
        for (Expr* argument : call->arguments) expr(argument);
        for (const Keyword& keyword : call->keywords) expr(keyword.value);
        break;
      }
      case ExprKind::kAttribute:
        expr(static_cast<AttributeExpr*>(node)->object);
        break;
      case ExprKind::kSubscript: {
        const auto* subscript = static_cast<SubscriptExpr*>(node);
        expr(subscript->object);
        expr(subscript->index);
        break;
      }
      case ExprKind::kSlice: {
        const auto* slice = static_cast<SliceExpr*>(node);
        for (Expr* part : {slice->start, slice->stop, slice->step}) {
          if (part != nullptr) expr(part);
        }
        break;
      }
      case ExprKind::kStarred:
        expr(static_cast<StarredExpr*>(node)->value);
        break;
      case ExprKind::kLambda:
        function(static_cast<LambdaExpr*>(node)->function);
        break;
      case ExprKind::kComprehension:
        comprehension(static_cast<ComprehensionExpr*>(node));
        break;
      case ExprKind::kNamed:
        named(static_cast<NamedExpr*>(node));
        break;
      case ExprKind::kYield:
        if (auto* value = static_cast<YieldExpr*>(node)->value) expr(value);
        break;
    }
  }

  SyntaxTree& tree_;
  Names& names_;
  const GlobalSlot& globals_;
  std::vector<Problem>& problems_;
  std::deque<Scope> scopes_;
  Scope* scope_ = nullptr;
};

}  // namespace

void resolve(SyntaxTree& tree, Names& names, const GlobalSlot& globals,
             std::vector<Problem>& problems) {
  Resolver(tree, names, globals, problems).run();
}

void read_body(Code& function, Names& names, const GlobalSlot& globals,
               std::vector<Problem>& problems) {
  const std::size_t before = problems.size();
  SyntaxTree& tree = *function.file->tree;
  Parser(tree, names, problems).function_body(function);
  if (problems.size() == before) Resolver(tree, names, globals, problems).run_body(function);
}

}  // namespace tidemark::lang
