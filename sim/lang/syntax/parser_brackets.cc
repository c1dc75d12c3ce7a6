#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/lang/syntax/parser_impl.h"
#include "sim/lang/syntax/yields.h"

/// What stands in brackets: displays, comprehensions, calls, subscripts.
namespace tidemark::lang {

Expr* Parser::parenthesised() {
  const Nested nested(*this);
  const std::uint32_t begin = take().at.begin;
  if (accept(Tok::kRightParen)) {
    return make(SequenceExpr{{ExprKind::kTuple, {begin, last_end()}}, {}, false});
  }
  if (kind() == Tok::kYield) {
    Expr* given = yield_expression();
    expect(Tok::kRightParen, "to close '('");
    return given;
  }
  Expr* first = star_or_expression();
  if (at_clause()) {
    Expr* generator = comprehension(ComprehensionKind::kGenerator, first, nullptr, begin);
    expect(Tok::kRightParen, "to close '('");
    generator->place.end = last_end();
    return generator;
  }
  if (kind() == Tok::kRightParen && first->kind != ExprKind::kStarred) {
    take();
    return first;
  }
  std::vector<Expr*> items = {first};
  bool star = first->kind == ExprKind::kStarred;
  while (accept(Tok::kComma)) {
    if (kind() == Tok::kRightParen) break;
    items.push_back(star_or_expression());
    star = star || items.back()->kind == ExprKind::kStarred;
  }
  if (items.size() == 1 && star && tokens_[at_ - 1].kind != Tok::kComma) {
    fail(first->place, "a starred expression needs a list or tuple around it",
         "write a comma after it for a tuple");
  }
  expect(Tok::kRightParen, "to close '('");
  return make(SequenceExpr{{ExprKind::kTuple, {begin, last_end()}}, seq(items), star});
}

Expr* Parser::bracketed() {
  const Nested nested(*this);
  const std::uint32_t begin = take().at.begin;
  std::vector<Expr*> items;
  bool star = false;
  while (kind() != Tok::kRightBracket) {
    items.push_back(star_or_expression());
    star = star || items.back()->kind == ExprKind::kStarred;
    if (items.size() == 1 && at_clause()) {
      Expr* list = comprehension(ComprehensionKind::kList, items[0], nullptr, begin);
      expect(Tok::kRightBracket, "to close '['");
      list->place.end = last_end();
      return list;
    }
    if (!accept(Tok::kComma)) break;
  }
  expect(Tok::kRightBracket, "to close '['");
  return make(SequenceExpr{{ExprKind::kList, {begin, last_end()}}, seq(items), star});
}

Expr* Parser::braced() {
  const Nested nested(*this);
  const std::uint32_t begin = take().at.begin;
  std::vector<Expr*> keys;
  std::vector<Expr*> values;
  bool is_dict = kind() == Tok::kRightBrace || kind() == Tok::kDoubleStar;
  bool star = false;
  bool first = true;
  while (kind() != Tok::kRightBrace) {
    if (is_dict && accept(Tok::kDoubleStar)) {
      keys.push_back(nullptr);
      values.push_back(operation(kLowestLevel));
    } else {
      Expr* key = star_or_expression();
      if (first) is_dict = kind() == Tok::kColon;
      keys.push_back(key);
      star = star || key->kind == ExprKind::kStarred;
      if (is_dict) {
        expect(Tok::kColon, "after a dict's key");
        values.push_back(expression());
      }
      if (first && at_clause()) {
        Expr* out = comprehension(is_dict ? ComprehensionKind::kDict : ComprehensionKind::kSet, key,
                                  is_dict ? values[0] : nullptr, begin);
        expect(Tok::kRightBrace, "to close '{'");
        out->place.end = last_end();
        return out;
      }
    }
    first = false;
    if (!accept(Tok::kComma)) break;
  }
  expect(Tok::kRightBrace, "to close '{'");
  const Place place{begin, last_end()};
  if (is_dict) return make(DictExpr{{ExprKind::kDict, place}, seq(keys), seq(values)});
  return make(SequenceExpr{{ExprKind::kSet, place}, seq(keys), star});
}

Expr* Parser::comprehension(ComprehensionKind form, Expr* element, Expr* value,
                            std::uint32_t begin) {
  if (element->kind == ExprKind::kStarred) {
    fail(element->place, "a comprehension cannot unpack with '*'");
  }
  std::vector<Clause> clauses;
  while (at_clause()) {
    if (accept(Tok::kAsync) && kind() != Tok::kFor)
      fail(current().at, fmt::format("expected 'for' after 'async', found {}", found()));
    take();
    Clause clause{};
    clause.target = target_list(Tok::kIn);
    expect(Tok::kIn, "in a comprehension");
    clause.iterable = disjunction();
    if (kind() == Tok::kComma && form == ComprehensionKind::kList) {
      fail(current().at, "expected ']' or 'for', found ','", "put the tuple in parentheses");
    }
    std::vector<Expr*> conditions;
    while (accept(Tok::kIf)) {
      Expr* condition = disjunction();
      if (kind() == Tok::kWalrus) {
        fail(current().at, "put ':=' in parentheses here");
      }
      conditions.push_back(condition);
    }
    clause.conditions = seq(conditions);
    clauses.push_back(clause);
  }
  static constexpr std::array<std::string_view, 4> kForms = {"<listcomp>", "<setcomp>",
                                                             "<dictcomp>", "<genexpr>"};
  for (Expr* part : {element, value}) {
    if (part != nullptr && has_yield(part)) fail(part->place, "'yield' inside a comprehension");
  }
  for (std::size_t i = 0; i < clauses.size(); ++i) {
    if (i > 0 && has_yield(clauses[i].iterable))
      fail(clauses[i].iterable->place, "'yield' inside a comprehension");
    for (const Expr* condition : clauses[i].conditions) {
      if (has_yield(condition)) fail(condition->place, "'yield' inside a comprehension");
    }
  }
  auto* out = make(ComprehensionExpr{{ExprKind::kComprehension, {begin, last_end()}},
                                     form,
                                     element,
                                     value,
                                     seq(clauses),
                                     nullptr});
  out->code = new_code(
      form == ComprehensionKind::kGenerator ? Code::Form::kGenerator : Code::Form::kComprehension,
      names_.intern(kForms[static_cast<std::size_t>(form)]), out->place);
  out->code->comprehension = out;
  return out;
}

Expr* Parser::call(Expr* callee, std::uint32_t begin) {
  const Nested nested(*this);
  const Token open = take();
  std::vector<Expr*> arguments;
  std::vector<Keyword> keywords;
  bool spread = false;
  while (kind() != Tok::kRightParen) {
    const Token token = current();
    if (token.kind == Tok::kDoubleStar) {
      take();
      Expr* value = expression();
      keywords.push_back({{}, value, true, {token.at.begin, value->place.end}});
      spread = true;
    } else if (token.kind == Tok::kName && next_kind() == Tok::kAssign) {
      take();
      take();
      for (const Keyword& keyword : keywords) {
        if (!keyword.spread && keyword.name == token.name) {
          fail(token.at, fmt::format("keyword argument repeated: {}", names_.text(token.name)));
        }
      }
      Expr* value = expression();
      keywords.push_back({mangled(token.name), value, false, {token.at.begin, value->place.end}});
    } else {
      Expr* argument = nullptr;
      if (accept(Tok::kStar)) {
        Expr* value = expression();
        argument =
            make(StarredExpr{{ExprKind::kStarred, {token.at.begin, value->place.end}}, value});
        spread = true;
      } else {
        argument = named_expression();
        if (at_clause()) {
          argument =
              comprehension(ComprehensionKind::kGenerator, argument, nullptr, token.at.begin);
          if (!arguments.empty() || !keywords.empty() || kind() == Tok::kComma) {
            if (kind() != Tok::kComma || next_kind() != Tok::kRightParen || !arguments.empty()) {
              fail(argument->place, "a generator expression must be parenthesized",
                   "it is not the only argument");
            }
          }
        }
        if (kind() == Tok::kAssign) {
          fail(argument->place, "a keyword argument's name must be a plain name", "'==' compares");
        }
      }
      const bool starred = argument->kind == ExprKind::kStarred;
      if (!keywords.empty() && !(starred && !keywords.back().spread)) {
        const bool after_spread = std::any_of(keywords.begin(), keywords.end(),
                                              [](const Keyword& k) { return k.spread; });
        if (!starred || after_spread) {
          fail(argument->place, after_spread
                                    ? "positional argument follows keyword argument unpacking"
                                    : "positional argument follows keyword argument");
        }
      }
      arguments.push_back(argument);
    }
    if (!accept(Tok::kComma)) break;
  }
  if (kind() != Tok::kRightParen) {
    const bool broken = kind() == Tok::kEnd || kind() == Tok::kNewline;
    fail(broken ? open.at : current().at,
         broken ? "'(' was never closed" : fmt::format("expected ',' or ')', found {}", found()));
  }
  take();
  std::vector<Name> names;
  names.reserve(keywords.size());
  for (const Keyword& keyword : keywords) names.push_back(keyword.name);
  return make(CallExpr{
      {ExprKind::kCall, since(begin)}, callee, seq(arguments), seq(keywords), seq(names), spread});
}

Expr* Parser::subscript(Expr* object, std::uint32_t begin) {
  const Nested nested(*this);
  take();
  const std::uint32_t first = current().at.begin;
  Expr* index = subscript_item();
  if (kind() == Tok::kComma || index->kind == ExprKind::kStarred) {
    std::vector<Expr*> items = {index};
    bool star = index->kind == ExprKind::kStarred;
    while (accept(Tok::kComma)) {
      if (kind() == Tok::kRightBracket) break;
      items.push_back(subscript_item());
      star = star || items.back()->kind == ExprKind::kStarred;
    }
    index = make(SequenceExpr{{ExprKind::kTuple, since(first)}, seq(items), star});
  }
  if (kind() != Tok::kRightBracket) {
    fail(current().at, fmt::format("expected ',' or ']', found {}", found()));
  }
  take();
  return make(SubscriptExpr{{ExprKind::kSubscript, since(begin)}, object, index});
}

Expr* Parser::subscript_item() {
  const std::uint32_t begin = current().at.begin;
  const auto part = [&]() -> Expr* {
    const bool absent =
        kind() == Tok::kColon || kind() == Tok::kComma || kind() == Tok::kRightBracket;
    return absent ? nullptr : expression();
  };
  Expr* start = nullptr;
  if (kind() != Tok::kColon) {
    start = star_or_expression();
    if (kind() != Tok::kColon) return start;
  }
  take();
  Expr* stop = part();
  Expr* step = accept(Tok::kColon) ? part() : nullptr;
  return make(SliceExpr{{ExprKind::kSlice, {begin, last_end()}}, start, stop, step});
}

}  // namespace tidemark::lang
