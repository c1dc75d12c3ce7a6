#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "sim/lang/parser_impl.h"

namespace tidemark::lang {

namespace {

struct OperatorLevel {
  int level = 0;  // 0: not a binary operator
  BinaryOp op{};
};

constexpr int kLowestLevel = 1;

OperatorLevel binary_operator(Tok kind) {
  switch (kind) {
    case Tok::kPipe: return {1, BinaryOp::kOr};
    case Tok::kCaret: return {2, BinaryOp::kXor};
    case Tok::kAmp: return {3, BinaryOp::kAnd};
    case Tok::kShiftLeft: return {4, BinaryOp::kLShift};
    case Tok::kShiftRight: return {4, BinaryOp::kRShift};
    case Tok::kPlus: return {5, BinaryOp::kAdd};
    case Tok::kMinus: return {5, BinaryOp::kSub};
    case Tok::kStar: return {6, BinaryOp::kMul};
    case Tok::kSlash: return {6, BinaryOp::kTrueDiv};
    case Tok::kDoubleSlash: return {6, BinaryOp::kFloorDiv};
    case Tok::kPercent: return {6, BinaryOp::kMod};
    case Tok::kAt: return {6, BinaryOp::kMatMul};
    default: return {};
  }
}

}  // namespace

bool Parser::starts_expression() const {
  switch (kind()) {
    case Tok::kName: case Tok::kInt: case Tok::kFloat: case Tok::kString: case Tok::kLeftParen:
    case Tok::kLeftBracket: case Tok::kLeftBrace: case Tok::kEllipsis: case Tok::kPlus:
    case Tok::kMinus: case Tok::kTilde: case Tok::kNot: case Tok::kLambda: case Tok::kNone:
    case Tok::kTrue: case Tok::kFalse: case Tok::kStar: case Tok::kAwait: case Tok::kYield:
      return true;
    default: return false;
  }
}

void Parser::unsupported(Tok construct) {
  const std::string_view quoted = token_name(construct);
  if (construct == Tok::kYield) {
    fail(current().at, "'yield' must be a statement of its own, or all that is assigned");
  }
  fail(current().at, fmt::format("{} is not supported in model code", quoted));
}

void Parser::unexpected() {
  if (kind() == Tok::kYield || kind() == Tok::kAwait) unsupported(kind());
  if (kind() == Tok::kAssign) {
    fail(current().at, "unexpected '='", "'==' compares, ':=' assigns within an expression");
  }
  fail(current().at, fmt::format("expected an expression, found {}", found()));
}

Expr* Parser::expressions() {
  const std::uint32_t begin = current().at.begin;
  Expr* first = star_or_expression();
  if (kind() != Tok::kComma) {
    if (first->kind == ExprKind::kStarred) {
      fail(first->place, "a starred expression needs a list or tuple around it",
           "write a comma after it for a tuple");
    }
    return first;
  }
  std::vector<Expr*> items = {first};
  bool star = first->kind == ExprKind::kStarred;
  while (accept(Tok::kComma)) {
    if (!starts_expression()) break;
    items.push_back(star_or_expression());
    star = star || items.back()->kind == ExprKind::kStarred;
  }
  return make(SequenceExpr{{ExprKind::kTuple, {begin, last_end()}}, seq(items), star});
}

Expr* Parser::star_or_expression() {
  if (kind() != Tok::kStar) return named_expression();
  const std::uint32_t begin = take().at.begin;
  Expr* value = operation(kLowestLevel);
  return make(StarredExpr{{ExprKind::kStarred, {begin, value->place.end}}, value});
}

Expr* Parser::named_expression() {
  Expr* value = expression();
  if (kind() != Tok::kWalrus) return value;
  if (value->kind != ExprKind::kName) {
    fail(value->place, "':=' can only assign to a name");
  }
  take();
  Expr* assigned = expression();
  return make(NamedExpr{{ExprKind::kNamed, {value->place.begin, assigned->place.end}},
                        static_cast<NameExpr*>(value),
                        assigned});
}

Expr* Parser::expression() {
  const Nested nested(*this);
  if (kind() == Tok::kLambda) return lambda();
  Expr* value = disjunction();
  if (kind() != Tok::kIf) return value;
  take();
  Expr* test = disjunction();
  if (kind() != Tok::kElse) {
    fail(current().at, fmt::format("expected 'else' in a conditional expression, found {}", found()));
  }
  take();
  Expr* otherwise = expression();
  return make(ConditionalExpr{
      {ExprKind::kConditional, {value->place.begin, otherwise->place.end}}, test, value, otherwise});
}

Expr* Parser::lambda() {
  const Token word = take();
  auto* function = make(FunctionNode{names_.intern("<lambda>"), word.at, {}, {}, nullptr, nullptr});
  function->parameters = parameters(Tok::kColon, false);
  expect(Tok::kColon, "after the parameters of 'lambda'");
  function->value = expression();
  function->code = new_code(Code::Form::kLambda, function->name, word.at);
  function->code->parameters = &function->parameters;
  function->code->value = function->value;
  return make(LambdaExpr{{ExprKind::kLambda, {word.at.begin, function->value->place.end}}, function});
}

Expr* Parser::disjunction() {
  Expr* first = conjunction();
  if (kind() != Tok::kOr) return first;
  std::vector<Expr*> operands = {first};
  while (accept(Tok::kOr)) operands.push_back(conjunction());
  return make(BoolExpr{
      {ExprKind::kBool, {first->place.begin, operands.back()->place.end}}, true, seq(operands)});
}

Expr* Parser::conjunction() {
  Expr* first = inversion();
  if (kind() != Tok::kAnd) return first;
  std::vector<Expr*> operands = {first};
  while (accept(Tok::kAnd)) operands.push_back(inversion());
  return make(BoolExpr{
      {ExprKind::kBool, {first->place.begin, operands.back()->place.end}}, false, seq(operands)});
}

Expr* Parser::inversion() {
  if (kind() != Tok::kNot) return comparison();
  const Nested nested(*this);
  const std::uint32_t begin = take().at.begin;
  Expr* operand = inversion();
  return make(NotExpr{{ExprKind::kNot, {begin, operand->place.end}}, operand});
}

Expr* Parser::comparison() {
  Expr* left = operation(kLowestLevel);
  std::vector<Comparison> steps;
  while (true) {
    Relation relation{};
    switch (kind()) {
      case Tok::kEqual: relation = Relation::kEq; break;
      case Tok::kNotEqual: relation = Relation::kNe; break;
      case Tok::kLess: relation = Relation::kLt; break;
      case Tok::kLessEqual: relation = Relation::kLe; break;
      case Tok::kGreater: relation = Relation::kGt; break;
      case Tok::kGreaterEqual: relation = Relation::kGe; break;
      case Tok::kIn: relation = Relation::kIn; break;
      case Tok::kIs: relation = next_kind() == Tok::kNot ? Relation::kIsNot : Relation::kIs; break;
      case Tok::kNot:
        if (next_kind() == Tok::kIn) {
          relation = Relation::kNotIn;
          break;
        }
        [[fallthrough]];
      default:
        if (steps.empty()) return left;
        return make(CompareExpr{
            {ExprKind::kCompare, {left->place.begin, steps.back().right->place.end}},
            left,
            seq(steps)});
    }
    take();
    if (relation == Relation::kIsNot || relation == Relation::kNotIn) take();
    steps.push_back({relation, operation(kLowestLevel)});
  }
}

Expr* Parser::operation(int level) {
  Expr* left = factor();
  std::uint32_t chain = 0;
  while (true) {
    const OperatorLevel found = binary_operator(kind());
    if (found.level < level) return left;
    const Token sign = take();
    // Everything that binds tighter belongs to the right operand.
    Expr* right = found.level < 6 ? operation(found.level + 1) : factor();
    if (++chain > kMaxChain) fail(sign.at, "the expression is too long", "split it into parts");
    if (Expr* joined = found.op == BinaryOp::kMod ? percent_display(left, right) : nullptr) {
      left = joined;
      continue;
    }
    left = make(BinaryExpr{
        {ExprKind::kBinary, {left->place.begin, right->place.end}}, found.op, left, right});
  }
}

Expr* Parser::factor() {
  UnaryOp op{};
  switch (kind()) {
    case Tok::kMinus: op = UnaryOp::kNeg; break;
    case Tok::kPlus: op = UnaryOp::kPos; break;
    case Tok::kTilde: op = UnaryOp::kInvert; break;
    default: return power();
  }
  const Nested nested(*this);
  const std::uint32_t begin = take().at.begin;
  Expr* operand = factor();
  const Place place{begin, operand->place.end};
  if (op == UnaryOp::kNeg && operand->kind == ExprKind::kConstant) {
    const Value& value = *static_cast<ConstantExpr*>(operand)->value;
    if (value.is_int()) return make_constant(Value::integer(-value.as_int()), place);
    if (value.is_float()) return make_constant(Value::real(-value.as_float()), place);
  }
  return make(UnaryExpr{{ExprKind::kUnary, place}, op, operand});
}

Expr* Parser::power() {
  Expr* base = primary();
  if (kind() != Tok::kDoubleStar) return base;
  const Nested nested(*this);
  take();
  Expr* exponent = factor();
  return make(BinaryExpr{
      {ExprKind::kBinary, {base->place.begin, exponent->place.end}}, BinaryOp::kPow, base, exponent});
}

Expr* Parser::primary() {
  Expr* value = atom();
  for (std::uint32_t chain = 0;; ++chain) {
    if (chain > kMaxChain) fail(current().at, "the expression is too long", "split it into parts");
    if (kind() == Tok::kDot) {
      take();
      const Token member = expect(Tok::kName, "after '.'");
      value = make(AttributeExpr{
          {ExprKind::kAttribute, {value->place.begin, member.at.end}}, value, member.name, member.at});
    } else if (kind() == Tok::kLeftParen) {
      value = call(value);
    } else if (kind() == Tok::kLeftBracket) {
      value = subscript(value);
    } else {
      return value;
    }
  }
}

Expr* Parser::atom() {
  const Token token = current();
  switch (token.kind) {
    case Tok::kName: return make_name(take());
    case Tok::kInt:
    case Tok::kFloat: return number();
    case Tok::kString: return strings();
    case Tok::kNone: take(); return make_constant(Value::none(), token.at);
    case Tok::kTrue: take(); return make_constant(Value::boolean(true), token.at);
    case Tok::kFalse: take(); return make_constant(Value::boolean(false), token.at);
    case Tok::kEllipsis: take(); return make_constant(Value::ellipsis(), token.at);
    case Tok::kLeftParen: return parenthesised();
    case Tok::kLeftBracket: return bracketed();
    case Tok::kLeftBrace: return braced();
    default: unexpected();
  }
}

Expr* Parser::number() {
  const Token token = take();
  std::string digits(text(token.at));
  if (digits.find("__") != std::string::npos || digits.back() == '_') {
    fail(token.at, fmt::format("invalid number '{}'", digits));
  }
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  if (token.kind == Tok::kFloat) {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) {
      // Python rounds to infinity or to zero; from_chars leaves the value alone.
      const std::size_t exponent = digits.find_first_of("eE");
      const bool tiny = exponent != std::string::npos && exponent + 1 < digits.size() &&
                        digits[exponent + 1] == '-';
      value = tiny ? 0.0 : HUGE_VAL;
    }
    return make_constant(Value::real(value), token.at);
  }
  int base = 10;
  std::size_t start = 0;
  if (digits.size() > 1 && digits[0] == '0') {
    const char marker = static_cast<char>(digits[1] | 0x20);
    base = marker == 'x' ? 16 : marker == 'o' ? 8 : marker == 'b' ? 2 : 10;
    start = base == 10 ? 0 : 2;
    if (base == 10 && digits.find_first_not_of('0') != std::string::npos) {
      fail(token.at, "leading zeros in decimal numbers are not permitted",
           "an octal number starts with 0o");
    }
  }
  std::int64_t value = 0;
  const char* first = digits.data() + start;
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(first, last, value, base);
  if (error == std::errc::result_out_of_range) {
    fail(token.at, fmt::format("the number {} does not fit 64 bits", digits));
  }
  if (error != std::errc() || end != last) {
    fail(token.at, fmt::format("invalid number '{}'", digits));
  }
  return make_constant(Value::integer(value), token.at);
}

Expr* Parser::parenthesised() {
  const Nested nested(*this);
  const std::uint32_t begin = take().at.begin;
  if (accept(Tok::kRightParen)) {
    return make(SequenceExpr{{ExprKind::kTuple, {begin, last_end()}}, {}, false});
  }
  Expr* first = star_or_expression();
  if (kind() == Tok::kFor) {
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
    if (items.size() == 1 && kind() == Tok::kFor) {
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
      if (first && kind() == Tok::kFor) {
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
  while (kind() == Tok::kFor || kind() == Tok::kAsync) {
    if (kind() == Tok::kAsync) unsupported(Tok::kAsync);
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
  static constexpr std::array<std::string_view, 4> kForms = {"<listcomp>", "<setcomp>", "<dictcomp>",
                                                              "<genexpr>"};
  auto* out = make(ComprehensionExpr{{ExprKind::kComprehension, {begin, last_end()}}, form, element,
                                     value, seq(clauses), nullptr});
  out->code = new_code(form == ComprehensionKind::kGenerator ? Code::Form::kGenerator
                                                             : Code::Form::kComprehension,
                       names_.intern(kForms[static_cast<std::size_t>(form)]), out->place);
  out->code->comprehension = out;
  return out;
}

Expr* Parser::call(Expr* callee) {
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
      keywords.push_back({token.name, value, false, {token.at.begin, value->place.end}});
    } else {
      Expr* argument = nullptr;
      if (accept(Tok::kStar)) {
        Expr* value = expression();
        argument = make(StarredExpr{{ExprKind::kStarred, {token.at.begin, value->place.end}}, value});
        spread = true;
      } else {
        argument = named_expression();
        if (kind() == Tok::kFor) {
          argument = comprehension(ComprehensionKind::kGenerator, argument, nullptr, token.at.begin);
          if (!arguments.empty() || !keywords.empty() || kind() == Tok::kComma) {
            if (kind() != Tok::kComma || next_kind() != Tok::kRightParen || !arguments.empty()) {
              fail(argument->place, "a generator expression must be parenthesized",
                   "it is not the only argument");
            }
          }
        }
        if (kind() == Tok::kAssign) {
          fail(argument->place, "a keyword argument's name must be a plain name",
               "'==' compares");
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
  for (const Keyword& keyword : keywords) names.push_back(keyword.name);
  return make(CallExpr{{ExprKind::kCall, {callee->place.begin, last_end()}}, callee, seq(arguments),
                       seq(keywords), seq(names), spread});
}

Expr* Parser::subscript(Expr* object) {
  const Nested nested(*this);
  take();
  const std::uint32_t begin = current().at.begin;
  Expr* index = subscript_item();
  if (kind() == Tok::kComma || index->kind == ExprKind::kStarred) {
    std::vector<Expr*> items = {index};
    bool star = index->kind == ExprKind::kStarred;
    while (accept(Tok::kComma)) {
      if (kind() == Tok::kRightBracket) break;
      items.push_back(subscript_item());
      star = star || items.back()->kind == ExprKind::kStarred;
    }
    index = make(SequenceExpr{{ExprKind::kTuple, {begin, last_end()}}, seq(items), star});
  }
  if (kind() != Tok::kRightBracket) {
    fail(current().at, fmt::format("expected ',' or ']', found {}", found()));
  }
  take();
  return make(SubscriptExpr{{ExprKind::kSubscript, {object->place.begin, last_end()}}, object, index});
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
