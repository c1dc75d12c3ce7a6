#include <fmt/format.h>

#include <utility>

#include "sim/lang/syntax/parser_impl.h"

/// Functions, classes, imports, scope declarations.
namespace tidemark::lang {

Stmt* Parser::decorated() {
  const Nested nested(*this);
  std::vector<Expr*> decorators;
  while (accept(Tok::kAt)) {
    decorators.push_back(named_expression());
    expect(Tok::kNewline, "after a decorator");
  }
  if (kind() == Tok::kDef) return function_statement(seq(decorators));
  if (kind() == Tok::kClass) return class_statement(seq(decorators));
  if (kind() == Tok::kAsync && next_kind() == Tok::kDef) {
    take();
    return function_statement(seq(decorators), true);
  }
  fail(current().at, fmt::format("expected 'def' or 'class' after a decorator, found {}", found()));
}

const Parameters* Parser::parameters(Tok end, bool annotations) {
  Parameters out{};
  std::vector<Parameter> positional;
  std::vector<Parameter> keyword_only;
  bool after_star = false;
  std::vector<Name> seen;
  Place annotation;
  const auto parameter_name = [&] {
    const Token token = expect(Tok::kName, "as a parameter");
    for (const Name name : seen) {
      if (name == token.name) {
        fail(token.at, fmt::format("duplicate parameter '{}'", names_.text(name)));
      }
    }
    seen.push_back(token.name);
    annotation = {};
    if (annotations && accept(Tok::kColon)) annotation = star_or_expression()->place;
    return make_name(token);
  };
  while (kind() != end) {
    const Token token = current();
    if (out.double_star != nullptr) fail(token.at, "nothing can follow '**' in the parameters");
    if (accept(Tok::kSlash)) {
      if (after_star || out.positional_only > 0 || positional.empty()) {
        fail(token.at, "'/' must come once, after a parameter and before '*'");
      }
      out.positional_only = static_cast<std::uint32_t>(positional.size());
    } else if (accept(Tok::kDoubleStar)) {
      out.double_star = parameter_name();
      out.double_star_annotation = annotation;
    } else if (accept(Tok::kStar)) {
      if (after_star) fail(token.at, "'*' may appear only once in the parameters");
      after_star = true;
      if (kind() == Tok::kName) {
        out.star = parameter_name();
        out.star_annotation = annotation;
      } else if (kind() != Tok::kComma) {
        fail(token.at, "named parameters must follow a bare '*'");
      }
    } else {
      Parameter parameter{parameter_name(), nullptr, {}};
      parameter.annotation = annotation;
      if (accept(Tok::kAssign)) parameter.fallback = expression();
      std::vector<Parameter>& list = after_star ? keyword_only : positional;
      if (!after_star && parameter.fallback == nullptr && !list.empty() &&
          list.back().fallback != nullptr) {
        fail(parameter.name->place, "a parameter without a default follows one with a default");
      }
      list.push_back(parameter);
    }
    if (!accept(Tok::kComma)) break;
  }
  if (after_star && out.star == nullptr && keyword_only.empty()) {
    fail(current().at, "named parameters must follow a bare '*'");
  }
  out.positional = seq(positional);
  out.keyword_only = seq(keyword_only);
  return make(out);
}

// What `async` and `await` say is read and left out: a call of the function is refused.
Stmt* Parser::async_statement() {
  take();
  switch (kind()) {
    case Tok::kDef:
      return function_statement({}, true);
    case Tok::kFor:
      return for_statement();
    case Tok::kWith:
      return with_statement();
    default:
      fail(current().at,
           fmt::format("expected 'def', 'for' or 'with' after 'async', found {}", found()));
  }
}

Stmt* Parser::function_statement(Seq<Expr*> decorators, bool is_async) {
  const std::uint32_t begin = take().at.begin;
  const Token name = expect(Tok::kName, "after 'def'");
  auto* function = make(FunctionNode{name.name, name.at, nullptr, {}, nullptr, nullptr});
  expect(Tok::kLeftParen, "after the function's name");
  function->parameters = parameters(Tok::kRightParen, true);
  if (kind() != Tok::kRightParen) {
    fail(current().at, fmt::format("expected ',' or ')' after a parameter, found {}", found()));
  }
  take();
  Place returns;
  if (accept(Tok::kArrow)) returns = expression()->place;
  const Place place{begin, last_end()};
  const bool around = std::exchange(in_async_, is_async);
  const std::uint32_t loops = std::exchange(loops_, 0);
  const std::uint32_t yields = std::exchange(yields_, 0);
  ++functions_;
  function->body = block("after the function's parameters");
  --functions_;
  loops_ = loops;
  in_async_ = around;
  function->code = new_code(Code::Form::kFunction, name.name, name.at);
  function->code->is_async = is_async;
  function->code->returns = returns;
  function->code->generator = std::exchange(yields_, yields) > 0;
  function->code->parameters = function->parameters;
  function->code->body = function->body;
  return make(
      FunctionStmt{{StmtKind::kFunction, place, false}, function, make_name(name), decorators});
}

void Parser::function_body(Code& function) {
  const Place lines = function.body.data[0]->place;
  first_problem_ = problems_.size();
  tokens_ = tokenize(tree_.source, lines, names_, problems_);
  lexer_problems_ = problems_.size() - first_problem_;
  functions_ = 1;
  in_async_ = function.is_async;
  const std::string_view path = names_.text(function.qualname);
  const std::size_t dot = path.rfind('.');
  if (dot != std::string_view::npos) {
    const std::string_view owner = path.substr(0, dot);
    class_ = own_part(owner.substr(owner.rfind('.') + 1));
  }
  std::vector<Stmt*> body;
  if (!accept(Tok::kIndent)) note(current().at, "expected an indented block");
  while (kind() != Tok::kDedent && kind() != Tok::kEnd) guarded_statement(body);
  if (problems_.size() > first_problem_) return;
  function.body = seq(body);
  function.generator = yields_ > 0;
}

Stmt* Parser::class_statement(Seq<Expr*> decorators) {
  const std::uint32_t begin = take().at.begin;
  const Token name = expect(Tok::kName, "after 'class'");
  std::vector<Expr*> bases;
  std::vector<Keyword> keywords;
  if (accept(Tok::kLeftParen)) {
    while (kind() != Tok::kRightParen) {
      if (kind() == Tok::kName && next_kind() == Tok::kAssign) {
        const Token keyword = take();
        take();
        Expr* given = expression();
        keywords.push_back({keyword.name, given, false, {keyword.at.begin, last_end()}});
        if (!accept(Tok::kComma)) break;
        continue;
      }
      if (kind() == Tok::kDoubleStar) {
        const Token stars = take();
        keywords.push_back({{}, expression(), true, {stars.at.begin, last_end()}});
      } else {
        bases.push_back(star_or_expression());
      }
      if (!accept(Tok::kComma)) break;
    }
    expect(Tok::kRightParen, "after the class's bases");
  }
  const Place place{begin, last_end()};
  const std::uint32_t loops = std::exchange(loops_, 0);
  const std::uint32_t functions = std::exchange(functions_, 0);
  const std::string_view around = std::exchange(class_, own_part(names_.text(name.name)));
  const Seq<Stmt*> body = block("after the class's name");
  class_ = around;
  loops_ = loops;
  functions_ = functions;
  Code* code = new_code(Code::Form::kClass, name.name, name.at);
  code->body = body;
  return make(ClassStmt{{StmtKind::kClass, place, false},
                        make_name(name),
                        seq(bases),
                        body,
                        decorators,
                        seq(keywords),
                        code});
}

Name Parser::mangled_in_class(Name name) {
  const std::string_view text = names_.text(name);
  if (!text.starts_with("__") || text.ends_with("__")) return name;
  return names_.intern(fmt::format("_{}{}", class_, text));
}

std::string_view Parser::own_part(std::string_view class_name) {
  return class_name.substr(std::min(class_name.find_first_not_of('_'), class_name.size()));
}

std::string Parser::dotted_name(std::vector<Token>* parts) {
  std::string out;
  do {
    const Token part = expect(Tok::kName, "in a module's name");
    parts->push_back(part);
    if (!out.empty()) out += '.';
    out += names_.text(part.name);
  } while (accept(Tok::kDot));
  return out;
}

Stmt* Parser::import_statement() {
  const std::uint32_t begin = take().at.begin;
  std::vector<ImportedName> names;
  do {
    std::vector<Token> parts;
    const std::string module = dotted_name(&parts);
    ImportedName imported{
        names_.intern(module), {}, nullptr, false, {parts[0].at.begin, parts.back().at.end}};
    if (accept(Tok::kAs)) {
      imported.target = make_name(expect(Tok::kName, "after 'as'"));
      imported.whole = true;
    } else {
      imported.target = make_name(parts[0]);
    }
    names.push_back(imported);
  } while (accept(Tok::kComma));
  return make(ImportStmt{{StmtKind::kImport, {begin, last_end()}, false}, seq(names)});
}

Stmt* Parser::import_from_statement() {
  const std::uint32_t begin = take().at.begin;
  std::uint32_t level = 0;
  while (kind() == Tok::kDot || kind() == Tok::kEllipsis)
    level += take().kind == Tok::kDot ? 1U : 3U;
  const bool is_named = level == 0 || kind() != Tok::kImport;
  std::vector<Token> parts;
  const Name module = names_.intern(is_named ? dotted_name(&parts) : std::string());
  expect(Tok::kImport, "after the module's name");
  if (kind() == Tok::kStar) {
    const Token star = take();
    if (functions_ > 0) fail(star.at, "'import *' is only allowed at the top of a file");
    return make(ImportFromStmt{
        {StmtKind::kImportFrom, {begin, last_end()}, false}, module, level, {}, true});
  }
  const bool parenthesised = accept(Tok::kLeftParen);
  std::vector<ImportedName> names;
  do {
    if (parenthesised && kind() == Tok::kRightParen) break;
    const Token token = expect(Tok::kName, "after 'import'");
    ImportedName imported{{}, mangled(token.name), nullptr, false, token.at};
    imported.target =
        accept(Tok::kAs) ? make_name(expect(Tok::kName, "after 'as'")) : make_name(token);
    names.push_back(imported);
  } while (accept(Tok::kComma));
  if (parenthesised) expect(Tok::kRightParen, "to close '('");
  return make(ImportFromStmt{
      {StmtKind::kImportFrom, {begin, last_end()}, false}, module, level, seq(names), false});
}

Stmt* Parser::name_list_statement(StmtKind form) {
  const std::uint32_t begin = take().at.begin;
  std::vector<Name> names;
  do {
    names.push_back(mangled(
        expect(Tok::kName, form == StmtKind::kGlobal ? "after 'global'" : "after 'nonlocal'")
            .name));
  } while (accept(Tok::kComma));
  return make(NameListStmt{{form, {begin, last_end()}, false}, seq(names)});
}

}  // namespace tidemark::lang
