#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "sim/lang/syntax/parser_impl.h"
#include "sim/lang/syntax/yields.h"

namespace tidemark::lang {

namespace {

struct OperatorLevel {
  int level = 0;  // 0: not a binary operator
  BinaryOp op{};
};

OperatorLevel binary_operator(Tok kind) {
  switch (kind) {
    case Tok::kPipe:
      return {1, BinaryOp::kOr};
    case Tok::kCaret:
      return {2, BinaryOp::kXor};
    case Tok::kAmp:
      return {3, BinaryOp::kAnd};
    case Tok::kShiftLeft:
      return {4, BinaryOp::kLShift};
    case Tok::kShiftRight:
      return {4, BinaryOp::kRShift};
    case Tok::kPlus:
      return {5, BinaryOp::kAdd};
    case Tok::kMinus:
      return {5, BinaryOp::kSub};
    case Tok::kStar:
      return {6, BinaryOp::kMul};
    case Tok::kSlash:
      return {6, BinaryOp::kTrueDiv};
    case Tok::kDoubleSlash:
      return {6, BinaryOp::kFloorDiv};
    case Tok::kPercent:
      return {6, BinaryOp::kMod};
    case Tok::kAt:
      return {6, BinaryOp::kMatMul};
    default:
      return {};
  }
}

/// Whether a token is a whole expression, as the one behind it shows: most are.
bool is_alone(Tok token, Tok behind) {
  switch (token) {
    case Tok::kName:
    case Tok::kInt:
    case Tok::kFloat:
    case Tok::kString:
    case Tok::kNone:
    case Tok::kTrue:
    case Tok::kFalse:
      break;
    default:
      return false;
  }
  switch (behind) {
    case Tok::kComma:
    case Tok::kRightParen:
    case Tok::kRightBracket:
    case Tok::kRightBrace:
    case Tok::kColon:
    case Tok::kAssign:
    case Tok::kNewline:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Parser::starts_expression() const {
  switch (kind()) {
    case Tok::kName:
    case Tok::kInt:
    case Tok::kFloat:
    case Tok::kString:
    case Tok::kLeftParen:
    case Tok::kLeftBracket:
    case Tok::kLeftBrace:
    case Tok::kEllipsis:
    case Tok::kPlus:
    case Tok::kMinus:
    case Tok::kTilde:
    case Tok::kNot:
    case Tok::kLambda:
    case Tok::kNone:
    case Tok::kTrue:
    case Tok::kFalse:
    case Tok::kStar:
    case Tok::kAwait:
    case Tok::kYield:
      return true;
    default:
      return false;
  }
}

void Parser::unsupported(Tok construct) {
  const std::string_view quoted = token_name(construct);
  if (construct == Tok::kYield) {
    fail(current().at, "'yield' needs parentheses here");
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
  return make(StarredExpr{{ExprKind::kStarred, since(begin)}, value});
}

Expr* Parser::named_expression() {
  Expr* value = expression();
  if (kind() != Tok::kWalrus) return value;
  if (value->kind != ExprKind::kName) {
    fail(value->place, "':=' can only assign to a name");
  }
  take();
  Expr* assigned = expression();
  return make(NamedExpr{
      {ExprKind::kNamed, since(value->place.begin)}, static_cast<NameExpr*>(value), assigned});
}

Expr* Parser::expression() {
  const Nested nested(*this);
  if (is_alone(kind(), next_kind())) return atom();
  if (kind() == Tok::kLambda) return lambda();
  const std::uint32_t begin = current().at.begin;
  Expr* value = disjunction();
  if (kind() != Tok::kIf) return value;
  take();
  Expr* test = disjunction();
  if (kind() != Tok::kElse) {
    fail(current().at,
         fmt::format("expected 'else' in a conditional expression, found {}", found()));
  }
  take();
  Expr* otherwise = expression();
  return make(ConditionalExpr{{ExprKind::kConditional, since(begin)}, test, value, otherwise});
}

Expr* Parser::lambda() {
  const Token word = take();
  auto* function =
      make(FunctionNode{names_.intern("<lambda>"), word.at, nullptr, {}, nullptr, nullptr});
  function->parameters = parameters(Tok::kColon, false);
  expect(Tok::kColon, "after the parameters of 'lambda'");
  const std::uint32_t yields = std::exchange(yields_, 0);
  ++functions_;
  Expr* value = expression();
  --functions_;
  function->code = new_code(Code::Form::kLambda, function->name, word.at);
  function->code->parameters = function->parameters;
  if (std::exchange(yields_, yields) == 0) {
    function->value = function->code->value = value;
  } else {
    std::vector<Stmt*> body;
    YieldSpreader(tree_, names_)
        .statement(make(ReturnStmt{{StmtKind::kReturn, value->place, false}, value}), body);
    function->code->generator = true;
    function->body = function->code->body = seq(body);
  }
  return make(LambdaExpr{{ExprKind::kLambda, since(word.at.begin)}, function});
}

Expr* Parser::disjunction() {
  const std::uint32_t begin = current().at.begin;
  Expr* first = conjunction();
  if (kind() != Tok::kOr) return first;
  std::vector<Expr*> operands = {first};
  while (accept(Tok::kOr)) operands.push_back(conjunction());
  return make(BoolExpr{{ExprKind::kBool, since(begin)}, true, seq(operands)});
}

Expr* Parser::conjunction() {
  const std::uint32_t begin = current().at.begin;
  Expr* first = inversion();
  if (kind() != Tok::kAnd) return first;
  std::vector<Expr*> operands = {first};
  while (accept(Tok::kAnd)) operands.push_back(inversion());
  return make(BoolExpr{{ExprKind::kBool, since(begin)}, false, seq(operands)});
}

Expr* Parser::inversion() {
  if (kind() != Tok::kNot) return comparison();
  const Nested nested(*this);
  const std::uint32_t begin = take().at.begin;
  Expr* operand = inversion();
  return make(NotExpr{{ExprKind::kNot, since(begin)}, operand});
}

Expr* Parser::comparison() {
  const std::uint32_t begin = current().at.begin;
  Expr* left = operation(kLowestLevel);
  std::vector<Comparison> steps;
  while (true) {
    Relation relation{};
    switch (kind()) {
      case Tok::kEqual:
        relation = Relation::kEq;
        break;
      case Tok::kNotEqual:
        relation = Relation::kNe;
        break;
      case Tok::kLess:
        relation = Relation::kLt;
        break;
      case Tok::kLessEqual:
        relation = Relation::kLe;
        break;
      case Tok::kGreater:
        relation = Relation::kGt;
        break;
      case Tok::kGreaterEqual:
        relation = Relation::kGe;
        break;
      case Tok::kIn:
        relation = Relation::kIn;
        break;
      case Tok::kIs:
        relation = next_kind() == Tok::kNot ? Relation::kIsNot : Relation::kIs;
        break;
      case Tok::kNot:
        if (next_kind() == Tok::kIn) {
          relation = Relation::kNotIn;
          break;
        }
        [[fallthrough]];
      default:
        if (steps.empty()) return left;
        return make(CompareExpr{{ExprKind::kCompare, since(begin)}, left, seq(steps)});
    }
    take();
    if (relation == Relation::kIsNot || relation == Relation::kNotIn) take();
    steps.push_back({relation, operation(kLowestLevel)});
  }
}

Expr* Parser::operation(int level) {
  const std::uint32_t begin = current().at.begin;
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
    left = make(BinaryExpr{{ExprKind::kBinary, since(begin)}, found.op, left, right});
  }
}

Expr* Parser::factor() {
  UnaryOp op{};
  switch (kind()) {
    case Tok::kMinus:
      op = UnaryOp::kNeg;
      break;
    case Tok::kPlus:
      op = UnaryOp::kPos;
      break;
    case Tok::kTilde:
      op = UnaryOp::kInvert;
      break;
    default:
      return power();
  }
  const Nested nested(*this);
  const std::uint32_t begin = take().at.begin;
  Expr* operand = factor();
  const Place place = since(begin);
  if (op == UnaryOp::kNeg && operand->kind == ExprKind::kConstant) {
    const Literal& value = static_cast<ConstantExpr*>(operand)->literal;
    if (value.kind == Literal::Kind::kInt)
      return make_constant(Literal::of(-value.integer()), place);
    if (value.kind == Literal::Kind::kFloat)
      return make_constant(Literal::of(-value.real()), place);
  }
  return make(UnaryExpr{{ExprKind::kUnary, place}, op, operand});
}

Expr* Parser::power() {
  const std::uint32_t begin = current().at.begin;
  Expr* base = primary();
  if (kind() != Tok::kDoubleStar) return base;
  const Nested nested(*this);
  take();
  Expr* exponent = factor();
  return make(BinaryExpr{{ExprKind::kBinary, since(begin)}, BinaryOp::kPow, base, exponent});
}

Expr* Parser::primary() {
  if (kind() == Tok::kAwait && in_async_) {
    take();
    return primary();
  }
  const std::uint32_t begin = current().at.begin;
  Expr* value = atom();
  for (std::uint32_t chain = 0;; ++chain) {
    if (chain > kMaxChain) fail(current().at, "the expression is too long", "split it into parts");
    if (kind() == Tok::kDot) {
      take();
      const Token member = expect(Tok::kName, "after '.'");
      value = make(AttributeExpr{
          {ExprKind::kAttribute, since(begin)}, value, mangled(member.name), member.at});
    } else if (kind() == Tok::kLeftParen) {
      value = call(value, begin);
    } else if (kind() == Tok::kLeftBracket) {
      value = subscript(value, begin);
    } else {
      return value;
    }
  }
}

Expr* Parser::called(std::string_view hidden, const Token& at, Expr* argument) {
  Token callee = at;
  callee.name = names_.intern(hidden);
  return make(CallExpr{{ExprKind::kCall, argument->place},
                       make_name(callee),
                       seq(std::vector<Expr*>{argument}),
                       {},
                       {},
                       false});
}

Expr* Parser::atom() {
  const Token token = current();
  switch (token.kind) {
    case Tok::kName:
      return make_name(take());
    case Tok::kInt:
    case Tok::kFloat:
      return number();
    case Tok::kString:
      return strings();
    case Tok::kNone:
      take();
      return make_constant({Literal::Kind::kNone}, token.at);
    case Tok::kTrue:
      take();
      return make_constant(Literal::of(true), token.at);
    case Tok::kFalse:
      take();
      return make_constant(Literal::of(false), token.at);
    case Tok::kEllipsis:
      take();
      return make_constant({Literal::Kind::kEllipsis}, token.at);
    case Tok::kLeftParen:
      return parenthesised();
    case Tok::kLeftBracket:
      return bracketed();
    case Tok::kLeftBrace:
      return braced();
    default:
      unexpected();
  }
}

Expr* Parser::number() {
  const Token token = take();
  std::string digits(text(token.at));
  if (digits.find("__") != std::string::npos || digits.back() == '_') {
    fail(token.at, fmt::format("invalid number '{}'", digits));
  }
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  const bool imaginary = (digits.back() | 0x20) == 'j' && token.kind == Tok::kFloat;
  if (imaginary) digits.pop_back();
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
    Expr* constant = make_constant(Literal::of(value), token.at);
    return imaginary ? called(kImaginary, token, constant) : constant;
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
    // It may stand where no run comes by.
    return called(kLargeInteger, token,
                  make_constant(Literal::of(names_.intern(digits)), token.at));
  }
  if (error != std::errc() || end != last) {
    fail(token.at, fmt::format("invalid number '{}'", digits));
  }
  return make_constant(Literal::of(value), token.at);
}

}  // namespace tidemark::lang
