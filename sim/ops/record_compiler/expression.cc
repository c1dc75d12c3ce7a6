#include "sim/ops/record_compiler/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "sim/base/problem.h"

namespace tidemark::ops::records {

namespace {

struct Operator {
  std::string_view sign;
  std::string_view call;
};
constexpr std::array<Operator, 6> kComparisons{
    {{"==", "eq"}, {"!=", "ne"}, {"<=", "le"}, {">=", "ge"}, {"<", "lt"}, {">", "gt"}}};

/// Python's grammar of expressions, as far as gradients use it.
class Reader {
 public:
  explicit Reader(std::shared_ptr<const SourceText> source)
      : source_(std::move(source)), text_(source_->text) {}

  Statement statement() {
    Statement out;
    const std::size_t start = position_;
    const std::string name = word();
    blanks();
    if (!name.empty() && peek() == '=' && text_.substr(position_, 2) != "==") {
      ++position_;
      out.name = name;
    } else {
      position_ = start;
    }
    out.value = choice();
    blanks();
    if (position_ < text_.size()) fail("expected the end of the expression");
    return out;
  }

 private:
  Expression choice() {
    Expression value = either();
    if (!take_word("if")) return value;
    Expression out{Expression::Kind::kChoice, "if", 0, false, {}, value.at};
    Expression condition = either();
    Expression other{Expression::Kind::kName, "None", 0, false, {}, value.at};
    if (take_word("else")) other = choice();
    out.parts = {std::move(value), std::move(other), std::move(condition)};
    return out;
  }

  Expression either() {
    Expression out = both();
    while (take_word("or")) out = call("or", {std::move(out), both()});
    return out;
  }
  Expression both() {
    Expression out = conjunction();
    while (take_word("and")) out = call("and", {std::move(out), conjunction()});
    return out;
  }

  Expression conjunction() {
    Expression out = comparison();
    while (take("&")) out = call("logical_and", {std::move(out), comparison()});
    return out;
  }

  Expression comparison() {
    Expression left = sum();
    if (take_word("is")) {
      const std::string_view wanted = take_word("not") ? "is_given" : "is_none";
      if (!take_word("None")) fail("expected 'None'");
      return call(wanted, {std::move(left)});
    }
    for (const Operator& each : kComparisons) {
      if (take(each.sign)) return call(each.call, {std::move(left), sum()});
    }
    return left;
  }

  Expression sum() {
    Expression out = product();
    while (true) {
      if (take("+")) {
        out = call("add", {std::move(out), product()});
      } else if (take("-")) {
        out = call("sub", {std::move(out), product()});
      } else {
        return out;
      }
    }
  }

  Expression product() {
    Expression out = unary();
    while (true) {
      if (take("*")) {
        out = call("mul", {std::move(out), unary()});
      } else if (take("//")) {
        out = call("floordiv", {std::move(out), unary()});
      } else if (take("%")) {
        out = call("mod", {std::move(out), unary()});
      } else if (take("/")) {
        out = call("div", {std::move(out), unary()});
      } else {
        return out;
      }
    }
  }

  Expression unary() {
    if (!take("-")) return postfix();
    Expression inner = unary();
    if (inner.kind == Expression::Kind::kNumber) {
      inner.number = -inner.number;
      return inner;
    }
    return call("neg", {std::move(inner)});
  }

  Expression postfix() {
    Expression out = primary();
    while (true) {
      if (take("[")) {
        out = call("item", {std::move(out), choice()});
        if (!take("]")) fail("expected ']'");
        continue;
      }
      if (!take(".")) return out;
      std::vector<Expression> parts;
      parts.push_back(std::move(out));
      std::string name = word();
      if (name.empty() || !take("(")) fail("expected a method and its parentheses");
      for (Expression& each : arguments()) parts.push_back(std::move(each));
      out = call(name, std::move(parts));
      out.is_method = true;
    }
  }

  Expression primary() {
    blanks();
    if (take("(")) {
      Expression inner = choice();
      if (!take(",")) {
        if (!take(")")) fail("expected ')'");
        return inner;
      }
      std::vector<Expression> parts = arguments();
      parts.insert(parts.begin(), std::move(inner));
      return call("tuple", std::move(parts));
    }
    if (take("[")) {
      std::vector<Expression> parts;
      if (take("]")) return call("list", {});
      parts.push_back(choice());
      if (take_word("for")) return each_of(std::move(parts.back()));
      while (take(",")) parts.push_back(choice());
      if (!take("]")) fail("expected ',' or ']'");
      return call("list", std::move(parts));
    }
    if (take("\"")) return quoted();
    if (std::isdigit(static_cast<unsigned char>(peek())) != 0) return number();
    const SourceSpan at = here();
    const std::string name = word();
    if (name.empty()) fail("expected a name, a number or '('");
    if (name == "rules" && take("."))
      return {Expression::Kind::kName, "rules." + word(), 0, false, {}, at};
    if (!take("(")) return {Expression::Kind::kName, name, 0, false, {}, at};
    Expression out = call(name, arguments());
    out.at = at;
    return out;
  }

  /// [f(x) for x in list]: of "each", what is made, the name, and the list.
  Expression each_of(Expression made) {
    Expression name{Expression::Kind::kName, word(), 0, false, {}, here()};
    if (!take_word("in")) fail("expected 'in'");
    Expression list = either();
    if (!take("]")) fail("expected ']'");
    return call("each", {std::move(made), std::move(name), std::move(list)});
  }

  std::vector<Expression> arguments() {
    std::vector<Expression> out;
    if (take(")")) return out;
    do {
      out.push_back(choice());
    } while (take(","));
    if (!take(")")) fail("expected ',' or ')'");
    return out;
  }

  Expression quoted() {
    const std::size_t end = text_.find('"', position_);
    if (end == std::string_view::npos) fail("expected '\"' at the end of the text");
    Expression out{Expression::Kind::kText,
                   std::string(text_.substr(position_, end - position_)),
                   0,
                   false,
                   {},
                   here()};
    position_ = end + 1;
    return out;
  }

  Expression number() {
    Expression out{Expression::Kind::kNumber, {}, 0, false, {}, here()};
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), out.number);
    if (error != std::errc()) fail("expected a number");
    out.text.assign(begin, end);
    position_ += static_cast<std::size_t>(end - begin);
    return out;
  }

  Expression call(std::string_view name, std::vector<Expression> parts) {
    const SourceSpan at = parts.empty() ? here() : parts.front().at;
    return {Expression::Kind::kCall, std::string(name), 0, false, std::move(parts), at};
  }

  [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  void blanks() {
    while (std::isspace(static_cast<unsigned char>(peek())) != 0) ++position_;
  }
  bool take(std::string_view sign) {
    blanks();
    if (text_.substr(position_, sign.size()) != sign) return false;
    position_ += sign.size();
    return true;
  }
  std::string word() {
    blanks();
    const std::size_t start = position_;
    const auto belongs = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    while (belongs(peek())) ++position_;
    return std::string(text_.substr(start, position_ - start));
  }
  bool take_word(std::string_view wanted) {
    const std::size_t start = position_;
    if (word() == wanted) return true;
    position_ = start;
    return false;
  }
  [[nodiscard]] SourceSpan here() const {
    const std::string_view before = text_.substr(0, position_);
    const auto line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t start = before.rfind('\n');
    const std::size_t column = position_ - (start == std::string_view::npos ? 0 : start + 1);
    const auto at = static_cast<std::uint32_t>(column + 1);
    return {source_, line + 1, at, line + 1, at + 1};
  }
  [[noreturn]] void fail(std::string message) const {
    throw InputError(Problem{here(), {}, std::move(message), {}});
  }

  std::shared_ptr<const SourceText> source_;
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

Statement read_statement(const std::shared_ptr<const SourceText>& source) {
  return Reader(source).statement();
}

bool mentions(const Expression& expression, std::string_view name) {
  if (expression.kind == Expression::Kind::kName) return expression.text == name;
  const bool is_call = expression.kind == Expression::Kind::kCall;
  static constexpr std::array<std::string_view, 6> kLooks{"zeros_like", "sizes", "strides",
                                                          "numel",      "dtype", "device"};
  if (is_call && std::ranges::find(kLooks, expression.text) != kLooks.end()) return false;
  return std::any_of(expression.parts.begin(), expression.parts.end(),
                     [name](const Expression& part) { return mentions(part, name); });
}

}  // namespace tidemark::ops::records
