#include "sim/lang/syntax/yields.h"

#include <fmt/format.h>

#include "sim/lang/syntax/walker.h"

namespace tidemark::lang {

namespace {

class YieldFinder final : public Walker {
 public:
  void expr(const Expr* node) override {
    if (node->kind == ExprKind::kYield) found = true;
    if (node->kind == ExprKind::kLambda) {
      const Parameters& given = *static_cast<const LambdaExpr*>(node)->function->parameters;
      for (const Parameter& each : given.positional) maybe_expr(each.fallback);
      for (const Parameter& each : given.keyword_only) maybe_expr(each.fallback);
    } else if (!found) {
      parts(node);
    }
  }
  bool found = false;

 private:
  void maybe_expr(const Expr* node) {
    if (node != nullptr) expr(node);
  }
};

}  // namespace

bool has_yield(const Expr* node) {
  YieldFinder finder;
  finder.expr(node);
  return finder.found;
}

NameExpr* YieldSpreader::hidden(Place at) {
  return make(NameExpr{{ExprKind::kName, at}, names_.intern(fmt::format(".y{}", count_++))});
}

NameExpr YieldSpreader::like(const NameExpr& of, ExprKind kind) {
  NameExpr out{{kind, of.place}, of.name};
  return out;
}

void YieldSpreader::put(Expr* target, Expr* value, Statements& out) {
  out.push_back(make(AssignStmt{
      {StmtKind::kAssign, value->place, true}, tree_.make_seq(std::vector<Expr*>{target}), value}));
}

void YieldSpreader::branch(Expr* test, const Statements& body, const Statements& otherwise,
                           Statements& out) {
  out.push_back(make(IfStmt{
      {StmtKind::kIf, test->place, true}, test, tree_.make_seq(body), tree_.make_seq(otherwise)}));
}

Expr* YieldSpreader::spilled(Expr* node, Statements& out) {
  if (node->kind == ExprKind::kConstant || node->kind == ExprKind::kTaken) return node;
  if (node->kind == ExprKind::kStarred) {
    // What it spreads is asked for now.
    Expr* list = make(SequenceExpr{
        {ExprKind::kList, node->place}, tree_.make_seq(std::vector<Expr*>{node}), true});
    return make(StarredExpr{{ExprKind::kStarred, node->place}, spilled(list, out)});
  }
  NameExpr* target = hidden(node->place);
  put(target, node, out);
  return taken(target);
}

void YieldSpreader::operands(const std::vector<Expr**>& parts, Statements& out) {
  std::size_t end = parts.size();
  while (end > 0 && (*parts[end - 1] == nullptr || !has_yield(*parts[end - 1]))) --end;
  for (std::size_t i = 0; i < end; ++i) {
    if (*parts[i] == nullptr) continue;
    *parts[i] = lifted(*parts[i], out);
    if (i + 1 < end) *parts[i] = spilled(*parts[i], out);
  }
}

Expr* YieldSpreader::yielded(const YieldExpr* node, Statements& out) {
  Expr* value = node->value == nullptr ? nullptr : lifted(node->value, out);
  NameExpr* target = hidden(node->place);
  out.push_back(make(YieldStmt{{StmtKind::kYield, node->place, true}, value, node->from, target}));
  return taken(target);
}

Expr* YieldSpreader::choice(ConditionalExpr* node, Statements& out) {
  NameExpr* result = hidden(node->place);
  Expr* test = lifted(node->test, out);
  Statements body;
  put(result, lifted(node->body, body), body);
  Statements otherwise;
  put(make(like(*result, ExprKind::kName)), lifted(node->otherwise, otherwise), otherwise);
  branch(test, body, otherwise, out);
  return taken(result);
}

void YieldSpreader::operand_of(const BoolExpr* node, std::size_t index, NameExpr* result,
                               Statements& out) {
  Expr* operand = node->operands[index];
  put(make(like(*result, ExprKind::kName)), lifted(operand, out), out);
  if (index + 1 == node->operands.size) return;
  Statements body;
  body.push_back(make(DeleteStmt{{StmtKind::kDelete, operand->place, true},
                                 tree_.make_seq(std::vector<Expr*>{read(result)})}));
  operand_of(node, index + 1, result, body);
  Expr* test = read(result);
  test->place = operand->place;
  if (node->is_or) test = make(NotExpr{{ExprKind::kNot, operand->place}, test});
  branch(test, body, {}, out);
}

// left RELATION right, then the next one where it holds: the middle operand is evaluated once.
void YieldSpreader::step_of(const CompareExpr* node, std::size_t index, NameExpr* left,
                            NameExpr* result, Statements& out) {
  const Comparison& step = node->steps[index];
  const bool is_last = index + 1 == node->steps.size;
  NameExpr* right = hidden(step.right->place);
  put(right, lifted(step.right, out), out);
  Expr* compared = make(CompareExpr{{ExprKind::kCompare, node->place},
                                    taken(left),
                                    tree_.make_seq(std::vector<Comparison>{
                                        {step.relation, is_last ? taken(right) : read(right)}})});
  put(make(like(*result, ExprKind::kName)), compared, out);
  if (is_last) return;
  const auto drop = [&](const NameExpr* name) {
    return make(DeleteStmt{{StmtKind::kDelete, node->place, true},
                           tree_.make_seq(std::vector<Expr*>{read(name)})});
  };
  Statements body = {drop(result)};
  step_of(node, index + 1, right, result, body);
  branch(read(result), body, {drop(right)}, out);
}

void YieldSpreader::parameters(const FunctionNode* node, std::vector<Expr**>& parts) {
  for (Parameter& each : node->parameters->positional) parts.push_back(&each.fallback);
  for (Parameter& each : node->parameters->keyword_only) parts.push_back(&each.fallback);
}

Expr* YieldSpreader::lifted(Expr* node, Statements& out) {
  if (!has_yield(node)) return node;
  std::vector<Expr**> parts;
  switch (node->kind) {
    case ExprKind::kYield:
      return yielded(static_cast<YieldExpr*>(node), out);
    case ExprKind::kConditional:
      return choice(static_cast<ConditionalExpr*>(node), out);
    case ExprKind::kBool: {
      NameExpr* result = hidden(node->place);
      operand_of(static_cast<BoolExpr*>(node), 0, result, out);
      return taken(result);
    }
    case ExprKind::kCompare: {
      auto* compare = static_cast<CompareExpr*>(node);
      if (compare->steps.size == 1) {
        parts = {&compare->left, &compare->steps[0].right};
        break;
      }
      NameExpr* left = hidden(compare->left->place);
      NameExpr* result = hidden(node->place);
      put(left, lifted(compare->left, out), out);
      step_of(compare, 0, left, result, out);
      return taken(result);
    }
    case ExprKind::kTuple:
    case ExprKind::kList:
    case ExprKind::kSet:
      for (Expr*& item : static_cast<SequenceExpr*>(node)->items) parts.push_back(&item);
      break;
    case ExprKind::kDict: {
      auto* dict = static_cast<DictExpr*>(node);
      for (std::size_t i = 0; i < dict->values.size; ++i) {
        parts.push_back(&dict->keys[i]);
        parts.push_back(&dict->values[i]);
      }
      break;
    }
    case ExprKind::kJoined: {
      auto* joined = static_cast<JoinedExpr*>(node);
      std::size_t end = joined->parts.size;
      const auto yields = [](const JoinedPart& part) {
        return (part.value != nullptr && has_yield(part.value)) ||
               (part.spec != nullptr && has_yield(part.spec));
      };
      while (!yields(joined->parts[end - 1])) --end;
      for (std::size_t i = 0; i < end; ++i) {
        JoinedPart& part = joined->parts[i];
        if (part.value == nullptr) continue;
        operands({&part.value, &part.spec}, out);
        if (i + 1 == end) break;
        // It is formatted before the next part is evaluated.
        Expr* text = make(JoinedExpr{{ExprKind::kJoined, part.value->place},
                                     tree_.make_seq(std::vector<JoinedPart>{part})});
        part = {{}, spilled(text, out), 0, nullptr};
      }
      return node;
    }
    case ExprKind::kUnary:
      parts = {&static_cast<UnaryExpr*>(node)->operand};
      break;
    case ExprKind::kNot:
      parts = {&static_cast<NotExpr*>(node)->operand};
      break;
    case ExprKind::kBinary:
      parts = {&static_cast<BinaryExpr*>(node)->left, &static_cast<BinaryExpr*>(node)->right};
      break;
    case ExprKind::kCall: {
      auto* call = static_cast<CallExpr*>(node);
      parts.push_back(&call->callee);
      for (Expr*& argument : call->arguments) parts.push_back(&argument);
      for (Keyword& keyword : call->keywords) parts.push_back(&keyword.value);
      break;
    }
    case ExprKind::kAttribute:
      parts = {&static_cast<AttributeExpr*>(node)->object};
      break;
    case ExprKind::kSubscript:
      parts = {&static_cast<SubscriptExpr*>(node)->object,
               &static_cast<SubscriptExpr*>(node)->index};
      break;
    case ExprKind::kSlice: {
      auto* slice = static_cast<SliceExpr*>(node);
      parts = {&slice->start, &slice->stop, &slice->step};
      break;
    }
    case ExprKind::kStarred:
      parts = {&static_cast<StarredExpr*>(node)->value};
      break;
    case ExprKind::kNamed:
      parts = {&static_cast<NamedExpr*>(node)->value};
      break;
    case ExprKind::kComprehension:
      parts = {&static_cast<ComprehensionExpr*>(node)->clauses[0].iterable};
      break;
    case ExprKind::kLambda:
      parameters(static_cast<LambdaExpr*>(node)->function, parts);
      break;
    case ExprKind::kName:
    case ExprKind::kTaken:
    case ExprKind::kConstant:
      break;
  }
  operands(parts, out);
  return node;
}

// target = value, where the target's own parts may yield; the value is evaluated already.
void YieldSpreader::store(Expr* target, Expr* value, Statements& out) {
  if (!has_yield(target)) {
    put(target, value, out);
    return;
  }
  if (target->kind != ExprKind::kTuple && target->kind != ExprKind::kList) {
    lifted(target, out);  // an attribute or a subscript keeps its node
    put(target, value, out);
    return;
  }
  auto* sequence = static_cast<SequenceExpr*>(target);
  std::vector<Expr*> inner;
  std::vector<NameExpr*> names;
  for (Expr*& item : sequence->items) {
    Expr*& place = item->kind == ExprKind::kStarred ? static_cast<StarredExpr*>(item)->value : item;
    inner.push_back(place);
    names.push_back(hidden(place->place));
    place = names.back();
  }
  put(target, value, out);
  for (std::size_t i = 0; i < inner.size(); ++i) store(inner[i], taken(names[i]), out);
}

void YieldSpreader::assign(AssignStmt* node, Statements& out) {
  bool in_targets = false;
  for (const Expr* target : node->targets) in_targets = in_targets || has_yield(target);
  if (!in_targets && node->targets.size == 1 && node->value->kind == ExprKind::kYield) {
    const auto* given = static_cast<YieldExpr*>(node->value);
    Expr* value = given->value == nullptr ? nullptr : lifted(given->value, out);
    out.push_back(make(
        YieldStmt{{StmtKind::kYield, node->place, true}, value, given->from, node->targets[0]}));
    return;
  }
  node->value = lifted(node->value, out);
  if (!in_targets) {
    out.push_back(node);
    return;
  }
  NameExpr* value = hidden(node->value->place);
  put(value, node->value, out);
  for (std::size_t i = 0; i < node->targets.size; ++i) {
    const bool is_last = i + 1 == node->targets.size;
    store(node->targets[i], is_last ? taken(value) : read(value), out);
  }
}

void YieldSpreader::augmented(const AugAssignStmt* node, Statements& out) {
  NameExpr* left = hidden(node->target->place);
  NameExpr* object = hidden(node->target->place);
  NameExpr* index = hidden(node->target->place);
  Expr* target = node->target;
  if (target->kind == ExprKind::kName) {
    put(left, read(static_cast<NameExpr*>(target)), out);
  } else if (target->kind == ExprKind::kAttribute) {
    auto* attribute = static_cast<AttributeExpr*>(target);
    put(object, lifted(attribute->object, out), out);
    AttributeExpr now = *attribute;
    now.object = read(object);
    put(left, make(now), out);
    attribute->object = taken(object);
  } else {
    auto* subscript = static_cast<SubscriptExpr*>(target);
    operands({&subscript->object, &subscript->index}, out);
    put(object, subscript->object, out);
    put(index, subscript->index, out);
    SubscriptExpr now = *subscript;
    now.object = read(object);
    now.index = read(index);
    put(left, make(now), out);
    subscript->object = taken(object);
    subscript->index = taken(index);
  }
  AugAssignStmt now = *node;
  now.target = read(left);
  now.value = lifted(node->value, out);
  out.push_back(make(now));
  put(target, taken(left), out);
}

void YieldSpreader::check(const AssertStmt* node, Statements& out) {
  Expr* test = lifted(node->test, out);
  AssertStmt now = *node;
  now.test = test;
  if (node->message == nullptr || !has_yield(node->message)) {
    out.push_back(make(now));
    return;
  }
  Statements failed;
  now.message = lifted(node->message, failed);
  now.test = make(ConstantExpr{{ExprKind::kConstant, test->place}, Literal::of(false)});
  failed.push_back(make(now));
  branch(make(NotExpr{{ExprKind::kNot, test->place}, test}), failed, {}, out);
}

void YieldSpreader::loop(ForStmt* node, Statements& out) {
  node->iterable = lifted(node->iterable, out);
  if (has_yield(node->target)) {
    NameExpr* item = hidden(node->target->place);
    Statements body;
    store(node->target, taken(item), body);
    body.insert(body.end(), node->body.begin(), node->body.end());
    node->target = item;
    node->body = tree_.make_seq(body);
  }
  out.push_back(node);
}

// What stands in a later item is evaluated inside those before it.
void YieldSpreader::with(WithStmt* node, Statements& out) {
  node->items[0].manager = lifted(node->items[0].manager, out);
  for (std::size_t i = 1; i < node->items.size; ++i) {
    if (!has_yield(node->items[i].manager)) continue;
    const std::vector<WithItem> before(node->items.begin(), node->items.begin() + i);
    const std::vector<WithItem> after(node->items.begin() + i, node->items.end());
    WithStmt* inner =
        make(WithStmt{{StmtKind::kWith, node->place, true}, tree_.make_seq(after), node->body});
    Statements body;
    with(inner, body);
    node->items = tree_.make_seq(before);
    node->body = tree_.make_seq(body);
    break;
  }
  out.push_back(node);
}

void YieldSpreader::statement(Stmt* node, Statements& out) {
  node->yields = true;
  switch (node->kind) {
    case StmtKind::kExpr: {
      auto* expression = static_cast<ExprStmt*>(node);
      if (expression->value->kind == ExprKind::kYield) {
        const auto* given = static_cast<YieldExpr*>(expression->value);
        Expr* value = given->value == nullptr ? nullptr : lifted(given->value, out);
        out.push_back(
            make(YieldStmt{{StmtKind::kYield, node->place, true}, value, given->from, nullptr}));
        return;
      }
      expression->value = lifted(expression->value, out);
      break;
    }
    case StmtKind::kAssign:
      return assign(static_cast<AssignStmt*>(node), out);
    case StmtKind::kAugAssign:
      return augmented(static_cast<AugAssignStmt*>(node), out);
    case StmtKind::kAnnotated: {
      auto* annotated = static_cast<AnnotatedStmt*>(node);
      if (annotated->value == nullptr) break;
      annotated->value = lifted(annotated->value, out);
      if (!has_yield(annotated->target)) break;
      annotated->value = spilled(annotated->value, out);
      lifted(annotated->target, out);
      break;
    }
    case StmtKind::kDelete: {
      std::vector<Expr**> parts;
      for (Expr* target : static_cast<DeleteStmt*>(node)->targets) {
        lifted(target, out);
        out.push_back(make(DeleteStmt{{StmtKind::kDelete, node->place, true},
                                      tree_.make_seq(std::vector<Expr*>{target})}));
      }
      return;
    }
    case StmtKind::kReturn:
      if (Expr*& value = static_cast<ReturnStmt*>(node)->value; value != nullptr)
        value = lifted(value, out);
      break;
    case StmtKind::kRaise:
      operands({&static_cast<RaiseStmt*>(node)->exception, &static_cast<RaiseStmt*>(node)->cause},
               out);
      break;
    case StmtKind::kAssert:
      return check(static_cast<AssertStmt*>(node), out);
    case StmtKind::kIf:
      static_cast<IfStmt*>(node)->test = lifted(static_cast<IfStmt*>(node)->test, out);
      break;
    case StmtKind::kWhile: {
      auto* loop = static_cast<WhileStmt*>(node);
      Statements before;
      loop->test = lifted(loop->test, before);
      loop->before = tree_.make_seq(before);
      break;
    }
    case StmtKind::kFor:
      return loop(static_cast<ForStmt*>(node), out);
    case StmtKind::kWith:
      return with(static_cast<WithStmt*>(node), out);
    case StmtKind::kMatch:
      static_cast<MatchStmt*>(node)->subject = lifted(static_cast<MatchStmt*>(node)->subject, out);
      break;
    case StmtKind::kFunction: {
      auto* definition = static_cast<FunctionStmt*>(node);
      std::vector<Expr**> parts;
      for (Expr*& each : definition->decorators) parts.push_back(&each);
      parameters(definition->function, parts);
      operands(parts, out);
      break;
    }
    case StmtKind::kClass: {
      auto* definition = static_cast<ClassStmt*>(node);
      std::vector<Expr**> parts;
      for (Expr*& each : definition->decorators) parts.push_back(&each);
      for (Expr*& each : definition->bases) parts.push_back(&each);
      for (Keyword& each : definition->keywords) parts.push_back(&each.value);
      operands(parts, out);
      break;
    }
    case StmtKind::kTry:
    case StmtKind::kPass:
    case StmtKind::kBreak:
    case StmtKind::kContinue:
    case StmtKind::kImport:
    case StmtKind::kImportFrom:
    case StmtKind::kGlobal:
    case StmtKind::kNonlocal:
    case StmtKind::kYield:
      break;
  }
  out.push_back(node);
}

}  // namespace tidemark::lang
