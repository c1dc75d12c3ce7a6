#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/syntax/parser_impl.h"

/// `match` and its patterns.
namespace tidemark::lang {

// A line that begins with the name `match`, goes on as an expression and ends with ':' is nothing
// else: an annotation needs something behind its ':'.
bool Parser::starts_match() const {
  if (kind() != Tok::kName || names_.text(current().name) != "match") return false;
  if (next_kind() == Tok::kColon) return false;
  for (std::size_t i = at_ + 1; i < tokens_.size(); ++i) {
    if (tokens_[i].kind == Tok::kEnd) return false;
    if (tokens_[i].kind == Tok::kNewline) return tokens_[i - 1].kind == Tok::kColon;
  }
  return false;
}

Stmt* Parser::match_statement() {
  const Nested nested(*this);
  const std::uint32_t begin = take().at.begin;
  Expr* subject = expressions();
  const Place place{begin, last_end()};
  expect(Tok::kColon, "after what 'match' looks at");
  expect(Tok::kNewline, "after 'match'");
  if (kind() != Tok::kIndent) fail(current().at, "expected an indented block after 'match'");
  take();
  std::vector<MatchCase> cases;
  while (kind() != Tok::kDedent && kind() != Tok::kEnd) {
    if (accept(Tok::kNewline)) continue;
    cases.push_back(match_case());
  }
  accept(Tok::kDedent);
  check_reachable(cases);
  return make(MatchStmt{{StmtKind::kMatch, place, false}, subject, seq(cases)});
}

MatchCase Parser::match_case() {
  if (kind() != Tok::kName || names_.text(current().name) != "case")
    fail(current().at, fmt::format("expected 'case', found {}", found()));
  take();
  MatchCase out{case_pattern(), nullptr, {}};
  std::vector<Name> bound;
  check_names(out.pattern, bound);
  if (accept(Tok::kIf)) out.guard = named_expression();
  out.body = block("after the pattern");
  return out;
}

Pattern* Parser::case_pattern() {
  const std::uint32_t begin = current().at.begin;
  std::vector<Pattern*> items = {star_or_pattern()};
  bool is_sequence = false;
  while (accept(Tok::kComma)) {
    is_sequence = true;
    if (kind() == Tok::kColon || kind() == Tok::kIf) break;
    items.push_back(star_or_pattern());
  }
  const bool is_star = text(items[0]->place).starts_with('*');
  if (!is_sequence && is_star)
    fail(items[0]->place, "a starred pattern must be in a sequence", "write a comma after it");
  return is_sequence ? make_sequence(items, {begin, last_end()}) : items[0];
}

Pattern* Parser::star_or_pattern() {
  if (kind() != Tok::kStar) return pattern();
  const std::uint32_t begin = take().at.begin;
  const Token name = expect(Tok::kName, "after '*' in a pattern");
  NameExpr* target = names_.text(name.name) == "_" ? nullptr : make_name(name);
  return make(CapturePattern{{PatternKind::kCapture, {begin, name.at.end}}, nullptr, target});
}

Pattern* Parser::pattern() {
  const Nested nested(*this);
  const std::uint32_t begin = current().at.begin;
  Pattern* out = closed_pattern();
  if (kind() == Tok::kPipe) {
    std::vector<Pattern*> choices = {out};
    while (accept(Tok::kPipe)) choices.push_back(closed_pattern());
    out = make(OrPattern{{PatternKind::kOr, {begin, last_end()}}, seq(choices)});
  }
  if (!accept(Tok::kAs)) return out;
  const Token name = expect(Tok::kName, "after 'as'");
  if (names_.text(name.name) == "_") fail(name.at, "cannot use '_' as a target");
  return make(CapturePattern{{PatternKind::kCapture, {begin, name.at.end}}, out, make_name(name)});
}

Pattern* Parser::closed_pattern() {
  const Token token = current();
  switch (token.kind) {
    case Tok::kName:
      return name_pattern();
    case Tok::kLeftBracket:
      take();
      return sequence_pattern(Tok::kRightBracket);
    case Tok::kLeftParen:
      take();
      return sequence_pattern(Tok::kRightParen);
    case Tok::kLeftBrace:
      return mapping_pattern();
    default:
      return literal_pattern();
  }
}

Pattern* Parser::literal_pattern() {
  const Token token = current();
  Expr* value = pattern_value();
  const bool by_identity =
      token.kind == Tok::kNone || token.kind == Tok::kTrue || token.kind == Tok::kFalse;
  return make(ValuePattern{{PatternKind::kValue, value->place}, value, by_identity});
}

// A literal or a dotted name: what a key of a mapping may be.
Expr* Parser::pattern_value() {
  switch (kind()) {
    case Tok::kName: {
      Expr* value = make_name(take());
      while (accept(Tok::kDot)) {
        const Token member = expect(Tok::kName, "after '.'");
        value = make(AttributeExpr{{ExprKind::kAttribute, {value->place.begin, member.at.end}},
                                   value,
                                   mangled(member.name),
                                   member.at});
      }
      return value;
    }
    case Tok::kNone:
    case Tok::kTrue:
    case Tok::kFalse:
      return atom();
    case Tok::kString: {
      Expr* value = strings();
      if (value->kind != ExprKind::kConstant)
        fail(value->place, "a pattern may only match literals and attributes");
      return value;
    }
    case Tok::kInt:
    case Tok::kFloat:
    case Tok::kMinus:
      return pattern_number();
    default:
      fail(current().at, fmt::format("expected a pattern, found {}", found()));
  }
}

// A number, with a sign or not; or a complex one: its real part, '+' or '-', its imaginary part.
Expr* Parser::pattern_number() {
  const auto is_number = [](Tok tok) { return tok == Tok::kInt || tok == Tok::kFloat; };
  if (kind() == Tok::kMinus && !is_number(next_kind()))
    fail(current().at, fmt::format("expected a pattern, found {}", found()));
  Expr* value = kind() == Tok::kMinus ? factor() : number();
  if (kind() != Tok::kPlus && kind() != Tok::kMinus) return value;
  const BinaryOp op = take().kind == Tok::kPlus ? BinaryOp::kAdd : BinaryOp::kSub;
  const Place at = current().at;
  const std::string_view digits = is_number(kind()) ? text(at) : std::string_view();
  if (!digits.ends_with('j') && !digits.ends_with('J'))
    fail(at, "an imaginary number is required in a complex literal");
  Expr* imaginary = number();
  return make(
      BinaryExpr{{ExprKind::kBinary, {value->place.begin, last_end()}}, op, value, imaginary});
}

Pattern* Parser::name_pattern() {
  const Token token = current();
  Expr* value = pattern_value();
  if (kind() == Tok::kLeftParen) return class_pattern(value);
  if (value->kind == ExprKind::kAttribute)
    return make(ValuePattern{{PatternKind::kValue, value->place}, value, false});
  NameExpr* target = names_.text(token.name) == "_" ? nullptr : static_cast<NameExpr*>(value);
  return make(CapturePattern{{PatternKind::kCapture, token.at}, nullptr, target});
}

Pattern* Parser::class_pattern(Expr* type) {
  take();
  std::vector<Pattern*> positional;
  std::vector<Pattern*> named;
  std::vector<Name> names;
  while (kind() != Tok::kRightParen) {
    if (kind() == Tok::kName && next_kind() == Tok::kAssign) {
      const Token name = take();
      take();
      if (std::find(names.begin(), names.end(), name.name) != names.end()) {
        fail(name.at,
             fmt::format("attribute name repeated in class pattern: {}", names_.text(name.name)));
      }
      names.push_back(name.name);
      named.push_back(pattern());
    } else if (names.empty()) {
      positional.push_back(pattern());
    } else {
      fail(current().at, "positional patterns follow keyword patterns");
    }
    if (!accept(Tok::kComma)) break;
  }
  expect(Tok::kRightParen, "to close '('");
  return make(ClassPattern{{PatternKind::kClass, {type->place.begin, last_end()}},
                           type,
                           seq(positional),
                           seq(names),
                           seq(named)});
}

Pattern* Parser::mapping_pattern() {
  const std::uint32_t begin = take().at.begin;
  std::vector<Expr*> keys;
  std::vector<Pattern*> values;
  NameExpr* rest = nullptr;
  while (kind() != Tok::kRightBrace) {
    if (rest != nullptr) fail(current().at, "nothing can follow '**' in a mapping pattern");
    if (accept(Tok::kDoubleStar)) {
      rest = make_name(expect(Tok::kName, "after '**'"));
    } else {
      const Token token = current();
      keys.push_back(pattern_value());
      if (keys.back()->kind == ExprKind::kName) {
        fail(token.at, "a mapping pattern's key may only be a literal or an attribute",
             "quote it if it is text");
      }
      expect(Tok::kColon, "after a key");
      values.push_back(pattern());
    }
    if (!accept(Tok::kComma)) break;
  }
  expect(Tok::kRightBrace, "to close '{'");
  return make(
      MappingPattern{{PatternKind::kMapping, {begin, last_end()}}, seq(keys), seq(values), rest});
}

// Behind its opening bracket. (a) is a itself.
Pattern* Parser::sequence_pattern(Tok end) {
  const std::uint32_t begin = tokens_[at_ - 1].at.begin;
  std::vector<Pattern*> items;
  bool has_comma = false;
  bool has_star = false;
  while (kind() != end) {
    has_star = has_star || kind() == Tok::kStar;
    items.push_back(star_or_pattern());
    if (!accept(Tok::kComma)) break;
    has_comma = true;
  }
  expect(end, end == Tok::kRightParen ? "to close '('" : "to close '['");
  if (end == Tok::kRightParen && items.size() == 1 && !has_comma && !has_star) return items[0];
  return make_sequence(items, {begin, last_end()});
}

Pattern* Parser::make_sequence(const std::vector<Pattern*>& items, Place place) {
  auto star = static_cast<std::uint32_t>(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!text(items[i]->place).starts_with('*')) continue;
    if (star != items.size())
      fail(items[i]->place, "multiple starred expressions in sequence pattern");
    star = static_cast<std::uint32_t>(i);
  }
  return make(SequencePattern{{PatternKind::kSequence, place}, seq(items), star});
}

// Appends what a pattern binds: no name twice, and the same ones in every choice.
void Parser::check_names(const Pattern* pattern, std::vector<Name>& bound) {
  const auto bind = [&](const NameExpr* target) {
    if (std::find(bound.begin(), bound.end(), target->name) != bound.end()) {
      fail(target->place,
           fmt::format("multiple assignments to name '{}' in pattern", names_.text(target->name)));
    }
    bound.push_back(target->name);
  };
  const auto all = [&](const Seq<Pattern*>& patterns) {
    for (const Pattern* each : patterns) check_names(each, bound);
  };
  switch (pattern->kind) {
    case PatternKind::kValue:
      return;
    case PatternKind::kCapture: {
      const auto* capture = static_cast<const CapturePattern*>(pattern);
      if (capture->inner != nullptr) check_names(capture->inner, bound);
      if (capture->target != nullptr) bind(capture->target);
      return;
    }
    case PatternKind::kSequence:
      all(static_cast<const SequencePattern*>(pattern)->items);
      return;
    case PatternKind::kMapping:
      all(static_cast<const MappingPattern*>(pattern)->values);
      if (const NameExpr* rest = static_cast<const MappingPattern*>(pattern)->rest) bind(rest);
      return;
    case PatternKind::kClass:
      all(static_cast<const ClassPattern*>(pattern)->positional);
      all(static_cast<const ClassPattern*>(pattern)->named);
      return;
    case PatternKind::kOr: {
      const std::vector<Name> before = bound;
      std::vector<Name> first;
      for (const Pattern* choice : static_cast<const OrPattern*>(pattern)->choices) {
        bound = before;
        check_names(choice, bound);
        std::vector<Name> own(bound.begin() + static_cast<std::ptrdiff_t>(before.size()),
                              bound.end());
        std::sort(own.begin(), own.end());
        if (choice == static_cast<const OrPattern*>(pattern)->choices[0]) first = own;
        if (own != first) fail(choice->place, "alternative patterns bind different names");
      }
      return;
    }
  }
}

namespace {

/// A pattern that anything fits, or null: a name or _, or a choice or a named pattern that ends
/// with such a one.
const CapturePattern* always_fits(const Pattern* pattern) {
  if (pattern->kind == PatternKind::kOr) {
    const auto& choices = static_cast<const OrPattern*>(pattern)->choices;
    return always_fits(choices[choices.size - 1]);
  }
  if (pattern->kind != PatternKind::kCapture) return nullptr;
  const auto* capture = static_cast<const CapturePattern*>(pattern);
  return capture->inner == nullptr ? capture : always_fits(capture->inner);
}

}  // namespace

void Parser::check_reachable(const std::vector<MatchCase>& cases) {
  for (std::size_t i = 0; i + 1 < cases.size(); ++i) {
    const CapturePattern* all = cases[i].guard == nullptr ? always_fits(cases[i].pattern) : nullptr;
    if (all == nullptr) continue;
    if (all->target == nullptr) fail(all->place, "wildcard makes remaining patterns unreachable");
    fail(all->place,
         fmt::format("name capture '{}' makes remaining patterns unreachable",
                     names_.text(all->target->name)),
         "a name alone takes anything; write a dotted name or a literal to compare");
  }
}

}  // namespace tidemark::lang
