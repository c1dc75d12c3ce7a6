#include <fmt/format.h>

#include "sim/lang/syntax/parser_impl.h"
#include "sim/lang/syntax/yields.h"

namespace tidemark::lang {

Token Parser::expect(Tok wanted, std::string_view where) {
  if (kind() == wanted) return take();
  fail(current().at, fmt::format("expected {} {}, found {}", token_name(wanted), where, found()));
}

std::string Parser::found() const {
  const Token& token = current();
  if (token.kind == Tok::kName) return fmt::format("'{}'", names_.text(token.name));
  return std::string(token_name(token.kind));
}

void Parser::note(Place at, std::string message, std::string hint) {
  if (problems_.size() >= InputError::kMaxProblems) return;
  SourceSpan span = span_of(tree_.source, at);
  // What follows from a problem that the tokens already had is no news.
  for (std::size_t i = first_problem_; i < first_problem_ + lexer_problems_; ++i) {
    const Problem& known_problem = problems_[i];
    if (known_problem.at.line == span.line) return;
    if (known_problem.message.ends_with("was never closed") && known_problem.at.line < span.line)
      return;
  }
  problems_.push_back({std::move(span), {}, std::move(message), std::move(hint)});
}

void Parser::fail(Place at, std::string message, std::string hint) {
  note(at, std::move(message), std::move(hint));
  throw SyntaxFailure{};
}

Expr* Parser::make_constant(Literal literal, Place at) {
  return make(ConstantExpr{{ExprKind::kConstant, at}, literal});
}

JoinedPart Parser::text_part(std::string_view text) {
  return {names_.intern(text), nullptr, 0, nullptr};
}

Code* Parser::new_code(Code::Form form, Name name, Place place) {
  Code* code = make(Code{});
  code->form = form;
  code->name = name;
  code->place = place;
  code->file = &tree_.file;
  if (tree_.code == nullptr) tree_.code = code;
  ++tree_.codes;
  return code;
}

void Parser::file(Bodies bodies) {
  first_problem_ = problems_.size();
  tokens_ = tokenize(tree_.source, whole(*tree_.source), names_, problems_, bodies);
  lexer_problems_ = problems_.size() - first_problem_;
  Code* module = new_code(Code::Form::kModule, names_.intern("<module>"), {});
  std::vector<Stmt*> body;
  while (kind() != Tok::kEnd) guarded_statement(body);
  tree_.body = seq(body);
  module->body = tree_.body;
}

void Parser::single_expression() {
  tokens_ = tokenize_expression(tree_.source, whole(*tree_.source), names_, problems_);
  Code* module = new_code(Code::Form::kModule, names_.intern("<module>"), {});
  try {
    tree_.expression = expressions();
    if (kind() != Tok::kEnd) {
      fail(current().at, fmt::format("expected the end of the expression, found {}", found()));
    }
  } catch (const SyntaxFailure&) {
    tree_.expression = nullptr;
  }
  module->value = tree_.expression;
}

// After a problem: to the end of the statement, with the block below it when there is one.
void Parser::resynchronise() {
  while (kind() != Tok::kEnd && kind() != Tok::kNewline && kind() != Tok::kDedent) take();
  if (kind() == Tok::kNewline) take();
  if (kind() != Tok::kIndent) return;
  std::uint32_t levels = 0;
  do {
    if (kind() == Tok::kIndent) ++levels;
    if (kind() == Tok::kDedent) --levels;
    take();
  } while (levels > 0 && kind() != Tok::kEnd);
}

void Parser::guarded_statement(std::vector<Stmt*>& out) {
  const std::size_t before = at_;
  const std::uint32_t depth = depth_;
  const std::uint32_t loops = loops_;
  const std::uint32_t functions = functions_;
  const std::uint32_t yields = yields_;
  try {
    statement(out);
  } catch (const SyntaxFailure&) {
    yields_ = yields;
    depth_ = depth;
    loops_ = loops;
    functions_ = functions;
    resynchronise();
    if (at_ == before) take();
  }
}

void Parser::statement(std::vector<Stmt*>& out) {
  const std::uint32_t yields = yields_;
  const std::size_t before = out.size();
  if (!any_statement(out) || yields_ == yields || out.size() == before) return;
  Stmt* const compound = out.back();
  out.pop_back();
  YieldSpreader(tree_, names_).statement(compound, out);
}

// Whether it is a statement that holds others; a line of simple ones is ready.
bool Parser::any_statement(std::vector<Stmt*>& out) {
  switch (kind()) {
    case Tok::kIf:
      out.push_back(if_statement());
      return true;
    case Tok::kWhile:
      out.push_back(while_statement());
      return true;
    case Tok::kFor:
      out.push_back(for_statement());
      return true;
    case Tok::kTry:
      out.push_back(try_statement());
      return true;
    case Tok::kWith:
      out.push_back(with_statement());
      return true;
    case Tok::kDef:
      out.push_back(function_statement({}));
      return true;
    case Tok::kClass:
      out.push_back(class_statement({}));
      return true;
    case Tok::kAt:
      out.push_back(decorated());
      return true;
    case Tok::kAsync:
      out.push_back(async_statement());
      return true;
    case Tok::kIndent:
      fail(current().at, "unexpected indent");
    case Tok::kDedent:
    case Tok::kNewline:
      take();
      return true;
    case Tok::kElif:
    case Tok::kElse:
    case Tok::kExcept:
    case Tok::kFinally:
      fail(current().at, fmt::format("{} without a statement it belongs to", found()));
    default:
      if (!starts_match()) {
        simple_line(out);
        return false;
      }
      out.push_back(match_statement());
      return true;
  }
}

void Parser::simple_line(std::vector<Stmt*>& out) {
  while (true) {
    const std::uint32_t yields = yields_;
    Stmt* const simple = simple_statement();
    if (yields_ == yields) {
      out.push_back(simple);
    } else {
      YieldSpreader(tree_, names_).statement(simple, out);
    }
    if (!accept(Tok::kSemicolon)) break;
    if (kind() == Tok::kNewline || kind() == Tok::kEnd) break;
  }
  if (kind() == Tok::kEnd) return;
  if (kind() != Tok::kNewline) {
    const Token& last = tokens_[at_ == 0 ? 0 : at_ - 1];
    if (last.kind == Tok::kName &&
        (names_.text(last.name) == "print" || names_.text(last.name) == "exec")) {
      fail(last.at, fmt::format("missing parentheses in call to '{}'", names_.text(last.name)));
    }
    fail(current().at, fmt::format("expected the end of the statement, found {}", found()));
  }
  take();
}

Stmt* Parser::simple_statement() {
  const Token token = current();
  const auto place = [&] { return Place{token.at.begin, last_end()}; };
  switch (token.kind) {
    case Tok::kPass:
      take();
      return make(Stmt{StmtKind::kPass, token.at, false});
    case Tok::kBreak:
    case Tok::kContinue:
      if (loops_ == 0) fail(token.at, fmt::format("{} outside a loop", token_name(token.kind)));
      take();
      return make(Stmt{token.kind == Tok::kBreak ? StmtKind::kBreak : StmtKind::kContinue, token.at,
                       false});
    case Tok::kReturn: {
      if (functions_ == 0) fail(token.at, "'return' outside a function");
      take();
      Expr* value = starts_expression() ? expressions() : nullptr;
      return make(ReturnStmt{{StmtKind::kReturn, place(), false}, value});
    }
    case Tok::kRaise: {
      take();
      Expr* exception = starts_expression() ? expression() : nullptr;
      Expr* cause = exception != nullptr && accept(Tok::kFrom) ? expression() : nullptr;
      return make(RaiseStmt{{StmtKind::kRaise, place(), false}, exception, cause});
    }
    case Tok::kAssert: {
      take();
      Expr* test = expression();
      Expr* message = accept(Tok::kComma) ? expression() : nullptr;
      return make(AssertStmt{{StmtKind::kAssert, place(), false}, test, message});
    }
    case Tok::kDel: {
      take();
      std::vector<Expr*> targets;
      do {
        if (!starts_expression()) break;
        targets.push_back(primary());
        check_target(targets.back(), "delete");
      } while (accept(Tok::kComma));
      if (targets.empty())
        fail(current().at, fmt::format("expected what to delete, found {}", found()));
      return make(DeleteStmt{{StmtKind::kDelete, place(), false}, seq(targets)});
    }
    case Tok::kImport:
      return import_statement();
    case Tok::kFrom:
      return import_from_statement();
    case Tok::kGlobal:
      return name_list_statement(StmtKind::kGlobal);
    case Tok::kNonlocal:
      return name_list_statement(StmtKind::kNonlocal);
    default:
      return expression_statement();
  }
}

Stmt* Parser::expression_statement() {
  const std::uint32_t begin = current().at.begin;
  const auto place = [&] { return Place{begin, last_end()}; };
  Expr* value = yield_or_expressions();
  if (value->kind == ExprKind::kNamed && value->place.begin == begin) {
    fail(value->place, "':=' cannot stand alone", "'=' assigns");
  }
  static constexpr std::pair<Tok, BinaryOp> kInPlace[] = {
      {Tok::kPlusAssign, BinaryOp::kAdd},         {Tok::kMinusAssign, BinaryOp::kSub},
      {Tok::kStarAssign, BinaryOp::kMul},         {Tok::kAtAssign, BinaryOp::kMatMul},
      {Tok::kSlashAssign, BinaryOp::kTrueDiv},    {Tok::kDoubleSlashAssign, BinaryOp::kFloorDiv},
      {Tok::kPercentAssign, BinaryOp::kMod},      {Tok::kDoubleStarAssign, BinaryOp::kPow},
      {Tok::kShiftLeftAssign, BinaryOp::kLShift}, {Tok::kShiftRightAssign, BinaryOp::kRShift},
      {Tok::kAmpAssign, BinaryOp::kAnd},          {Tok::kPipeAssign, BinaryOp::kOr},
      {Tok::kCaretAssign, BinaryOp::kXor},
  };
  for (const auto& [token, op] : kInPlace) {
    if (kind() != token) continue;
    if (value->kind != ExprKind::kName && value->kind != ExprKind::kAttribute &&
        value->kind != ExprKind::kSubscript) {
      fail(value->place, fmt::format("{} needs a name, an attribute or a subscript before it",
                                     token_name(token)));
    }
    take();
    Expr* operand = yield_or_expressions();
    return make(AugAssignStmt{{StmtKind::kAugAssign, place(), false}, op, value, operand});
  }
  if (kind() == Tok::kColon) {
    if (value->kind != ExprKind::kName && value->kind != ExprKind::kAttribute &&
        value->kind != ExprKind::kSubscript) {
      fail(current().at, "unexpected ':'");
    }
    take();
    Expr* annotation = expression();
    Expr* assigned = accept(Tok::kAssign) ? yield_or_expressions() : nullptr;
    return make(AnnotatedStmt{{StmtKind::kAnnotated, place(), false}, value, annotation, assigned});
  }
  if (kind() != Tok::kAssign) return make(ExprStmt{{StmtKind::kExpr, place(), false}, value});
  std::vector<Expr*> targets;
  while (accept(Tok::kAssign)) {
    check_target(value, "assign to");
    targets.push_back(value);
    value = yield_or_expressions();
  }
  return make(AssignStmt{{StmtKind::kAssign, place(), false}, seq(targets), value});
}

Expr* Parser::yield_expression() {
  const Token word = take();
  if (functions_ == 0) fail(word.at, "'yield' outside a function");
  ++yields_;
  const bool from = accept(Tok::kFrom);
  Expr* value = from ? expression() : starts_expression() ? expressions() : nullptr;
  return make(YieldExpr{{ExprKind::kYield, {word.at.begin, last_end()}}, value, from});
}

void Parser::check_target(Expr* target, std::string_view what, bool allow_star) {
  switch (target->kind) {
    case ExprKind::kName:
    case ExprKind::kAttribute:
    case ExprKind::kSubscript:
      return;
    case ExprKind::kTuple:
    case ExprKind::kList: {
      bool star = false;
      for (Expr* item : static_cast<SequenceExpr*>(target)->items) {
        if (item->kind == ExprKind::kStarred) {
          if (star) fail(item->place, "two starred names in one assignment");
          star = true;
        }
        check_target(item, what, what == "assign to");
      }
      return;
    }
    case ExprKind::kStarred:
      if (allow_star) {
        check_target(static_cast<StarredExpr*>(target)->value, what);
        return;
      }
      fail(target->place, "a starred target must be in a list or tuple");
    default:
      break;
  }
  const auto word = [&]() -> std::string_view {
    switch (target->kind) {
      case ExprKind::kConstant: {
        const std::string_view spelled = text(target->place);
        if (spelled == "None" || spelled == "True" || spelled == "False") return spelled;
        return "a literal";
      }
      case ExprKind::kCall:
        return "a function call";
      case ExprKind::kCompare:
        return "a comparison";
      case ExprKind::kLambda:
        return "a lambda";
      case ExprKind::kConditional:
        return "a conditional expression";
      case ExprKind::kJoined:
        return "an f-string";
      case ExprKind::kDict:
      case ExprKind::kSet:
        return "a dict or set display";
      case ExprKind::kComprehension:
        return "a comprehension";
      default:
        return "an expression";
    }
  }();
  fail(target->place, fmt::format("cannot {} {}", what, word));
}

Expr* Parser::target_list(Tok end) {
  const std::uint32_t begin = current().at.begin;
  std::vector<Expr*> items;
  bool tuple = false;
  bool star = false;
  do {
    if (kind() == end || !starts_expression()) break;
    if (kind() == Tok::kStar) {
      const std::uint32_t at = take().at.begin;
      Expr* value = primary();
      items.push_back(make(StarredExpr{{ExprKind::kStarred, {at, value->place.end}}, value}));
      star = true;
    } else {
      items.push_back(primary());
    }
    tuple = tuple || kind() == Tok::kComma;
  } while (accept(Tok::kComma));
  if (items.empty())
    fail(current().at, fmt::format("expected a name to assign to, found {}", found()));
  Expr* target = items[0];
  if (tuple) {
    target = make(SequenceExpr{{ExprKind::kTuple, {begin, last_end()}}, seq(items), star});
  }
  check_target(target, "assign to");
  return target;
}

Seq<Stmt*> Parser::block(std::string_view after) {
  const Nested nested(*this);
  expect(Tok::kColon, after);
  std::vector<Stmt*> body;
  if (kind() != Tok::kNewline) {
    simple_line(body);
    return seq(body);
  }
  take();
  if (kind() != Tok::kIndent) {
    fail(current().at, fmt::format("expected an indented block {}", after));
  }
  take();
  while (kind() != Tok::kDedent && kind() != Tok::kEnd) guarded_statement(body);
  accept(Tok::kDedent);
  return seq(body);
}

Seq<Stmt*> Parser::else_block() {
  if (!accept(Tok::kElse)) return {};
  return block("after 'else'");
}

Stmt* Parser::if_statement() {
  std::vector<IfStmt*> chain;
  const std::uint32_t yields = yields_;
  do {
    const std::uint32_t begin = take().at.begin;
    Expr* test = named_expression();
    if (kind() == Tok::kAssign) {
      fail(current().at, "unexpected '=' in a condition", "'==' compares");
    }
    const Place place{begin, last_end()};
    const Seq<Stmt*> body = block("after the condition");
    chain.push_back(make(IfStmt{{StmtKind::kIf, place, false}, test, body, {}}));
    if (chain.size() > 200) fail(place, "too many 'elif' (200 at most)");
  } while (kind() == Tok::kElif);
  chain.back()->otherwise = else_block();
  for (std::size_t i = chain.size() - 1; i > 0; --i) {
    std::vector<Stmt*> otherwise;
    if (yields_ != yields) {
      YieldSpreader(tree_, names_).statement(chain[i], otherwise);
    } else {
      otherwise.push_back(chain[i]);
    }
    chain[i - 1]->otherwise = seq(otherwise);
  }
  return chain[0];
}

Stmt* Parser::while_statement() {
  const std::uint32_t begin = take().at.begin;
  Expr* test = named_expression();
  const Place place{begin, last_end()};
  ++loops_;
  const Seq<Stmt*> body = block("after the condition");
  --loops_;
  return make(WhileStmt{{StmtKind::kWhile, place, false}, {}, test, body, else_block()});
}

Stmt* Parser::for_statement() {
  const std::uint32_t begin = take().at.begin;
  Expr* target = target_list(Tok::kIn);
  expect(Tok::kIn, "after the target of 'for'");
  Expr* iterable = expressions();
  const Place place{begin, last_end()};
  ++loops_;
  const Seq<Stmt*> body = block("after what 'for' goes through");
  --loops_;
  return make(ForStmt{{StmtKind::kFor, place, false}, target, iterable, body, else_block()});
}

bool Parser::takes_import_error(const Expr* type) const {
  if (type == nullptr) return true;
  if (type->kind == ExprKind::kTuple) {
    const Seq<Expr*>& types = static_cast<const SequenceExpr*>(type)->items;
    return std::any_of(types.begin(), types.end(),
                       [this](const Expr* each) { return takes_import_error(each); });
  }
  if (type->kind != ExprKind::kName) return false;
  const std::string_view name = names_.text(static_cast<const NameExpr*>(type)->name);
  return name == "ImportError" || name == "ModuleNotFoundError" || name == "Exception" ||
         name == "BaseException";
}

Stmt* Parser::try_statement() {
  const Token word = take();
  const Seq<Stmt*> body = block("after 'try'");
  std::vector<Handler> handlers;
  bool by_group = false;
  while (kind() == Tok::kExcept) {
    const std::uint32_t begin = take().at.begin;
    const Place at = current().at;
    const bool has_star = accept(Tok::kStar);
    if (!handlers.empty() && has_star != by_group)
      fail(at, "cannot have both 'except' and 'except*' on the same 'try'");
    if (has_star && kind() == Tok::kColon) fail(at, "expected one or more exception types");
    by_group = has_star;
    Handler handler{};
    if (kind() != Tok::kColon) {
      handler.type = expression();
      if (accept(Tok::kAs)) handler.target = make_name(expect(Tok::kName, "after 'as'"));
    }
    handler.place = {begin, last_end()};
    if (!handlers.empty() && handlers.back().type == nullptr) {
      fail(handlers.back().place, "an 'except' for everything must be the last one");
    }
    handler.body = block("after 'except'");
    handlers.push_back(handler);
  }
  Seq<Stmt*> otherwise;
  if (!handlers.empty()) otherwise = else_block();
  Seq<Stmt*> finally;
  if (accept(Tok::kFinally)) {
    finally = block("after 'finally'");
  } else if (handlers.empty()) {
    fail(word.at, "'try' needs an 'except' or a 'finally'");
  }
  const bool takes_import_errors =
      std::any_of(handlers.begin(), handlers.end(),
                  [this](const Handler& handler) { return takes_import_error(handler.type); });
  return make(TryStmt{{StmtKind::kTry, word.at, false},
                      body,
                      seq(handlers),
                      otherwise,
                      finally,
                      takes_import_errors,
                      by_group});
}

// Whether the parenthesis at hand holds `with` items rather than one expression: whether ':'
// follows it.
bool Parser::parenthesised_with() {
  if (kind() != Tok::kLeftParen) return false;
  std::uint32_t open = 0;
  for (std::size_t i = at_; i < tokens_.size(); ++i) {
    switch (tokens_[i].kind) {
      case Tok::kLeftParen:
      case Tok::kLeftBracket:
      case Tok::kLeftBrace:
        ++open;
        break;
      case Tok::kRightParen:
      case Tok::kRightBracket:
      case Tok::kRightBrace:
        if (--open == 0) return i + 1 < tokens_.size() && tokens_[i + 1].kind == Tok::kColon;
        break;
      case Tok::kEnd:
      case Tok::kNewline:
        return false;
      default:
        break;
    }
  }
  return false;
}

Stmt* Parser::with_statement() {
  const std::uint32_t begin = take().at.begin;
  const bool parenthesised = parenthesised_with();
  if (parenthesised) take();
  std::vector<WithItem> items;
  do {
    if (parenthesised && kind() == Tok::kRightParen) break;
    WithItem item{named_expression(), nullptr};
    if (accept(Tok::kAs)) {
      item.target = primary();
      check_target(item.target, "assign to");
    }
    items.push_back(item);
  } while (accept(Tok::kComma));
  if (parenthesised) expect(Tok::kRightParen, "to close '('");
  const Place place{begin, last_end()};
  return make(
      WithStmt{{StmtKind::kWith, place, false}, seq(items), block("after the items of 'with'")});
}

std::shared_ptr<SyntaxTree> parse_module(std::shared_ptr<const SourceText> source, Names& names,
                                         std::vector<Problem>& problems) {
  return parse_module(std::move(source), names, problems, Bodies::kAtOnce);
}

std::shared_ptr<SyntaxTree> parse_module(std::shared_ptr<const SourceText> source, Names& names,
                                         std::vector<Problem>& problems, Bodies bodies) {
  auto tree = std::make_shared<SyntaxTree>(std::move(source));
  Parser(*tree, names, problems).file(bodies);
  return tree;
}

std::shared_ptr<SyntaxTree> parse_expression(std::shared_ptr<const SourceText> source, Names& names,
                                             std::vector<Problem>& problems) {
  auto tree = std::make_shared<SyntaxTree>(std::move(source));
  Parser(*tree, names, problems).single_expression();
  return tree;
}

}  // namespace tidemark::lang
