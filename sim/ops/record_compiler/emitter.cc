#include "sim/ops/record_compiler/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/base/problem.h"

namespace tidemark::ops::records {

namespace {

/// `code` without the parentheses around all of it: clang asks about `if ((a == b))`.
std::string without_outer(const std::string& code) {
  if (!code.starts_with('(')) return code;
  int depth = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at] == '(') ++depth;
    if (code[at] == ')' && --depth == 0)
      return at + 1 == code.size() ? code.substr(1, at - 1) : code;
  }
  return code;
}

[[noreturn]] void fail(const Expression& at, std::string message) {
  throw InputError(Problem{at.at, {}, std::move(message), {}});
}

Value number_constant(double number) {
  if (std::isinf(number)) return {Value::Kind::kNumber, "HUGE_VAL", number};
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return {Value::Kind::kNumber, std::move(text), number};
}
Value unknown_number() { return {Value::Kind::kNumber, "kUnknown", {}, false}; }

struct CallSign {
  std::string_view call;
  std::string_view sign;
};
constexpr std::array<CallSign, 6> kComparisonSigns{
    {{"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}}};
constexpr std::array<CallSign, 3> kArithmeticSigns{{{"sub", "-"}, {"mul", "*"}, {"div", "/"}}};

/// Functions that `Steps` has besides the operators with records, and how many arguments they take.
struct Primitive {
  std::string_view name;
  std::size_t fewest;
  std::size_t most;
  bool takes_operands = false;  ///< tensors or numbers alike
  bool is_kernel = false;       ///< below autograd alone
};
constexpr Primitive kPrimitives[] = {
    {"type_as", 2, 2},
    {"where", 3, 3, true},
    {"scalar_tensor", 2, 2},
    {"ones", 2, 2},
    {"zeros", 1, 1},
    {"sum", 2, 3},
    {"mean", 3, 3},
    {"averaged", 4, 4, false, true},
    {"positions", 3, 3, false, true},
    {"nonzero", 1, 1, false, true},
    {"norm", 4, 4},
    {"reshape", 2, 2},
    {"reshape_as", 2, 2},
    {"expand", 2, 2},
    {"expand_as", 2, 2},
    {"expanded", 4, 4},
    {"unsqueeze", 2, 2},
    {"accumulated", 4, 4, false, true},
    {"largest", 3, 3, false, true},
    {"truths", 3, 3, false, true},
    {"moments", 4, 4, false, true},
    {"restored", 4, 4},
    {"sum_of_channels", 1, 2},
    {"beside_channels", 2, 2},
    {"over_channels", 2, 2},
    {"reduced", 2, 2},
    {"reduced_into", 1, 2, false, true},
    {"like", 1, 1, false, true},
    {"mse_loss_backward", 4, 4},
    {"dense_like", 1, 1, false, true},
};

const Primitive* primitive(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPrimitives), std::end(kPrimitives),
                                   [name](const Primitive& each) { return each.name == name; });
  return found == std::end(kPrimitives) ? nullptr : found;
}

/// A number of a composite that is written without a point is an integer.
std::string operand(const Value& value) {
  if (!value.is_number()) return value.code;
  return value.is_integer ? "s.integer()" : "s.number()";
}

std::string list_of(const std::vector<Value>& values, bool are_operands) {
  std::string out;
  for (const Value& each : values)
    out += (out.empty() ? "" : ", ") + (are_operands ? operand(each) : each.code);
  return out;
}

std::optional<double> constant_of(std::string_view name, double x, double y) {
  if (name == "add") return x + y;
  if (name == "sub") return x - y;
  if (name == "mul") return x * y;
  if (name == "div") return x / y;
  if (name == "neg") return -x;
  if (name == "sqrt") return std::sqrt(x);
  if (name == "log") return std::log(x);
  return std::nullopt;
}

bool holds(std::string_view comparison, double x, double y) {
  if (comparison == "==") return x == y;
  if (comparison == "!=") return x != y;
  if (comparison == "<") return x < y;
  if (comparison == "<=") return x <= y;
  return comparison == ">" ? x > y : x >= y;
}

}  // namespace

Value tensor_value(std::string code) { return {Value::Kind::kTensor, std::move(code)}; }
Value number_value(std::string code) { return {Value::Kind::kNumber, std::move(code)}; }
Value other_value(std::string code) { return {Value::Kind::kOther, std::move(code)}; }

Value Emitter::value(const Expression& expression, const Scope& scope) {
  switch (expression.kind) {
    case Expression::Kind::kNumber: {
      Value out = number_constant(expression.number);
      out.is_integer = are_operators_ && expression.text.find_first_of(".e") == std::string::npos;
      return out;
    }
    case Expression::Kind::kText:
      return number_constant(text_code(expression.text));
    case Expression::Kind::kName: {
      const auto found = scope.find(expression.text);
      if (found != scope.end()) return found->second;
      if (expression.text == "pi") return number_constant(M_PI);
      if (expression.text == "inf") return number_constant(INFINITY);
      if (expression.text == "epsilon") return unknown_number();
      if (expression.text == "True") return other_value("true");
      if (expression.text == "False") return other_value("false");
      if (expression.text == "of_graph") return other_value("s.records()");
      if (expression.text == "None") return tensor_value("Tensor()");
      fail(expression, fmt::format("'{}' is not known here", expression.text));
    }
    case Expression::Kind::kChoice:
      return choice(expression, scope);
    case Expression::Kind::kCall:
      break;
  }
  return call(expression, scope);
}

Value Emitter::step(std::string code) {
  const std::string name = fresh();
  if (declared_ != nullptr) {
    *declared_ += fmt::format("  Tensor {};\n", name);
    line(fmt::format("{} = {};", name, code));
  } else {
    line(fmt::format("Tensor {} = {};", name, code));
  }
  ++steps_;
  return tensor_value(name);
}

namespace {

/// `code` and the value that it makes, given to `name`: without a copy where the value is a
/// temporary of it.
std::string assigned(std::string code, const Value& made, const std::string& name) {
  const std::size_t last = code.empty() ? 0 : code.rfind('\n', code.size() - 2) + 1;
  const std::string own = fmt::format("  Tensor {} = ", made.code);
  if (std::string_view(code).substr(last).starts_with(own))
    return code.replace(last, own.size(), fmt::format("  {} = ", name));
  const bool is_local = code.find(fmt::format("  Tensor {};", made.code)) != std::string::npos ||
                        code.find(own) != std::string::npos;
  const std::string value = is_local ? "std::move(" + made.code + ")" : made.code;
  return code + fmt::format("  {} = {};\n", name, value);
}

}  // namespace

Value Emitter::branch(const Expression& expression, const Scope& scope, std::string& declared) {
  std::string* const outer = std::exchange(declared_, &declared);
  Value made = value(expression, scope);
  declared_ = outer;
  return made;
}

Value Emitter::write(std::string code, const Value& self) {
  line(code + ";");
  ++steps_;
  return self;
}

std::vector<Value> Emitter::arguments(const Expression& call, const Scope& scope) {
  std::vector<Value> values(call.parts.size());
  const std::size_t first = call.is_method ? 1 : 0;
  if (call.is_method) values[0] = value(call.parts[0], scope);
  for (std::size_t i = values.size(); i-- > first;) values[i] = value(call.parts[i], scope);
  return values;
}

Value Emitter::call(const Expression& call, const Scope& scope) {
  if (call.text == "list") return list(call, scope);
  if (call.text == "zeros_like") return zeros_like(call, scope);
  if (call.text == "not_modelled") return refuse(call);
  const std::vector<Value> values = arguments(call, scope);
  const auto function = records_.functions.find(call.text);
  if (function != records_.functions.end())
    return body(function->second.body, scope_of(call, function->second, values));
  if (std::optional<Value> made = plain(call, values)) return std::move(*made);
  const bool are_numbers =
      !values.empty() &&
      std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is_number(); });
  const Primitive* const own = primitive(call.text);
  if (are_numbers && own == nullptr) return of_numbers(call, values);
  if (call.text == "conj") {
    conjugates_ = true;
    return step(fmt::format("conjugate_view({})", values[0].code));
  }
  if (call.text == "masked_fill" || call.text == "masked_fill_") {
    const std::string code =
        fmt::format("s.{}({}, {})", call.text, values.at(0).code, values.at(1).code);
    return call.text.ends_with('_') ? write(code, values[0]) : step(code);
  }
  if (call.text == "div" && values[0].is_number())
    return step(fmt::format("s.number_over({})", values[1].code));
  if (call.text == "pow" && values[0].is_number())
    return step(fmt::format("s.power_of_number({})", values[1].code));
  if (std::optional<Value> made = named(call, values)) return std::move(*made);
  return apply(call, values);
}

std::optional<Value> Emitter::plain(const Expression& call,
                                    const std::vector<Value>& values) const {
  if (call.text == "defined") return other_value(values.at(0).code + ".defined()");
  if (call.text == "not") return other_value("!" + values.at(0).code);
  if (call.text == "sizes") {
    const Value& of = values.at(0);
    return other_value(of.input ? fmt::format("sizes{}", *of.input) : of.code + ".sizes()");
  }
  if (call.text == "dim" && values.size() == 1)
    return number_value(fmt::format("static_cast<double>({}.dim())", values[0].code));
  if (call.text == "numel") return unknown_number();
  const auto is_plain = [](const Value& v) { return v.kind == Value::Kind::kOther; };
  if (call.text == "logical_and" && std::all_of(values.begin(), values.end(), is_plain))
    return other_value(fmt::format("({} && {})", values[0].code, values[1].code));
  if (values.size() != 2 || !values[0].is_reduction) return std::nullopt;
  const std::string& text = call.parts[1].text;
  const std::string_view sign = call.text == "eq" ? "==" : "!=";
  if ((call.text != "eq" && call.text != "ne") ||
      (text != "none" && text != "mean" && text != "sum"))
    fail(call, "expected the reduction compared with \"none\", \"mean\" or \"sum\"");
  const std::string_view word = text == "none" ? "kNone" : (text == "mean" ? "kMean" : "kSum");
  return other_value(fmt::format("({} {} Reduction::{})", values[0].code, sign, word));
}

namespace {

/// An argument of a C++ function that a record became.
std::string argument_code(const Parameter& parameter, const Value& value) {
  const bool is_whole = parameter.type == "int" || parameter.type == "int?";
  return is_whole && value.constant ? fmt::format("{}", static_cast<int>(*value.constant))
                                    : value.code;
}

}  // namespace

std::optional<Value> Emitter::named(const Expression& call, const std::vector<Value>& values) {
  if (call.text == "kernel") {  // one, of a result of their shape
    can_record_ = false;
    std::string list;
    for (const Value& each : values) list += (list.empty() ? "&" : ", &") + each.code;
    return step(fmt::format("pointwise(s.context(), {{{}}})", list));
  }
  const Primitive* const own = primitive(call.text);
  const auto fits = [&](const Record& each) {
    return each.has_steps() && each.alias_of.empty() && each.function() == call.text;
  };
  const auto whole = std::ranges::find_if(records_.records, fits);
  if (own == nullptr && are_operators_ && whole != records_.records.end()) {
    std::string list;
    std::size_t at = 0;
    for (const Parameter& each : whole->parameters) {
      if (each.name.empty() || each.is_legacy()) continue;
      if (at == values.size())
        fail(call, fmt::format("{}() takes '{}', too", call.text, each.name));
      list += ", " + argument_code(each, values[at++]);
    }
    if (at < values.size()) fail(call, fmt::format("{}() takes {} arguments", call.text, at));
    return step(fmt::format("ops::{}(s.context(){})", call.text, list));
  }
  if (own == nullptr) return std::nullopt;
  if (values.size() < own->fewest || values.size() > own->most)
    fail(call, fmt::format("{}() takes {} to {} arguments", own->name, own->fewest, own->most));
  can_record_ = can_record_ && !own->is_kernel;
  return step(fmt::format("s.{}({})", own->name, list_of(values, own->takes_operands)));
}

Value Emitter::list(const Expression& list, const Scope& scope) {
  std::string out;
  for (const Expression& each : list.parts) {
    const Value made = value(each, scope);
    const bool is_integer = made.constant && *made.constant == std::floor(*made.constant);
    out += (out.empty() ? "" : ", ") +
           (is_integer ? fmt::format("{}", static_cast<int>(*made.constant)) : made.code);
  }
  return other_value("Dims{" + out + "}");
}

Value Emitter::of_numbers(const Expression& call, const std::vector<Value>& values) {
  for (const CallSign& each : kComparisonSigns) {
    if (each.call == call.text) {
      if (!values[0].is_known || !values[1].is_known)
        fail(call, "expected a number of the operator's compared with another");
      return other_value(fmt::format("({} {} {})", values[0].code, each.sign, values[1].code));
    }
  }
  const bool is_constant = std::all_of(values.begin(), values.end(),
                                       [](const Value& v) { return v.constant.has_value(); });
  if (is_constant) {
    const double y = values.size() > 1 ? *values[1].constant : 0;
    const auto out = constant_of(call.text, values.empty() ? 0 : *values[0].constant, y);
    if (!out) fail(call, fmt::format("'{}' of numbers is not known here", call.text));
    return number_constant(*out);
  }
  const bool is_known =
      std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is_known; });
  if (!is_known) return unknown_number();
  if (call.text == "add")
    return number_value(fmt::format("({} + {})", values[0].code, values[1].code));
  for (const CallSign& each : kArithmeticSigns) {
    if (each.call == call.text)
      return number_value(fmt::format("({} {} {})", values[0].code, each.sign, values[1].code));
  }
  if (call.text == "neg") return number_value("(-" + values[0].code + ")");
  return unknown_number();
}

/// x if a < b else y. What a branch makes dies with it.
Value Emitter::choice(const Expression& choice, const Scope& scope) {
  const Expression& condition = choice.parts[2];
  if (condition.kind == Expression::Kind::kCall && condition.parts.size() == 2) {
    const auto* const sign =
        std::find_if(kComparisonSigns.begin(), kComparisonSigns.end(),
                     [&](const CallSign& each) { return each.call == condition.text; });
    if (sign != kComparisonSigns.end()) {  // settled now?
      const Value x = value(condition.parts[0], scope);
      const Value y = value(condition.parts[1], scope);
      if (x.constant && y.constant)
        return value(choice.parts[holds(sign->sign, *x.constant, *y.constant) ? 0 : 1], scope);
    }
  }
  const Value test = value(condition, scope);
  if (test.kind != Value::Kind::kOther) fail(condition, "expected a condition");
  const std::string name = fresh();
  std::string declared = fmt::format("  Tensor {};\n", name);
  const std::string before = std::exchange(code_, {});
  line(fmt::format("if ({}) {{", without_outer(test.code)));
  line(fmt::format("{} = {};", name, branch(choice.parts[0], scope, declared).code));
  line("} else {");
  // Where gradients are recorded the other branch is not taken.
  const bool could_record = can_record_;
  line(fmt::format("{} = {};", name, branch(choice.parts[1], scope, declared).code));
  if (test.code == "s.records()") can_record_ = could_record;
  line("}");
  const std::string inside = std::exchange(code_, before);
  (declared_ != nullptr ? *declared_ : code_) += declared;
  code_ += inside;
  ++steps_;
  return tensor_value(name);
}

Value Emitter::zeros_like(const Expression& call, const Scope& scope) {
  const Value of = value(call.parts.at(0), scope);
  if (of.is_number()) fail(call, "zeros_like() takes a tensor");
  if (of.input) return step(fmt::format("s.zeros_of(b, {})", *of.input));
  return step(fmt::format("s.zeros_like({})", of.code));
}

Value Emitter::refuse(const Expression& call) {
  line(fmt::format("refuse(b, \"{}\");", call.parts.at(0).text));
  ++steps_;
  return tensor_value("Tensor()");
}

Scope Emitter::scope_of(const Expression& call, const Function& function,
                        const std::vector<Value>& values) const {
  if (values.size() != function.parameters.size())
    fail(call, fmt::format("{}() takes {} arguments", function.name, function.parameters.size()));
  Scope scope;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    value.is_variable = false;
    scope[function.parameters[i]] = std::move(value);
  }
  return scope;
}

void Emitter::statement(const Statement& statement, Scope& scope) {
  const std::string before = std::exchange(code_, {});
  const Value made = value(statement.value, scope);
  const std::string inside = std::exchange(code_, before);
  if (statement.name.empty()) {
    line("{\n" + inside + "  }");
    return;
  }
  if (made.kind != Value::Kind::kTensor || inside.empty()) {
    code_ += inside;
    scope[statement.name] = made;
    scope[statement.name].is_variable = false;
    return;
  }
  const auto before_it = scope.find(statement.name);
  const bool is_new = before_it == scope.end() || !before_it->second.is_variable;
  const std::string name = is_new ? fresh() : before_it->second.code;
  if (is_new) line(fmt::format("Tensor {};  // {}", name, statement.name));
  line("{\n" + assigned(inside, made, name) + "  }");
  scope[statement.name] = tensor_value(name);
  scope[statement.name].is_variable = true;
}

Value Emitter::body(const std::vector<Statement>& statements, Scope scope) {
  const std::string before = std::exchange(code_, {});
  std::string* const outer = std::exchange(declared_, nullptr);
  for (std::size_t i = 0; i + 1 < statements.size(); ++i) statement(statements[i], scope);
  Value made = value(statements.back().value, scope);
  const std::string inside = std::exchange(code_, before);
  declared_ = outer;
  if (made.kind != Value::Kind::kTensor || inside.empty()) {
    code_ += inside;
    return made;
  }
  const std::string name = fresh();
  if (declared_ != nullptr) {
    *declared_ += fmt::format("  Tensor {};\n", name);
  } else {
    line(fmt::format("Tensor {};", name));
  }
  line("{\n" + assigned(inside, made, name) + "  }");
  return tensor_value(name);
}

void Emitter::several(const Expression& call, const Scope& scope,
                      const std::vector<std::string>& wanted,
                      const std::vector<std::string>& results) {
  const auto function = records_.functions.find(call.text);
  if (function == records_.functions.end()) fail(call, "expected a function of several results");
  const std::vector<Statement>& statements = function->second.body;
  const Expression& last = statements.back().value;
  if (last.text != "tuple" || last.parts.size() != results.size())
    fail(call, fmt::format("expected a function of {} results", results.size()));
  Scope own = scope_of(call, function->second, arguments(call, scope));
  for (std::size_t i = 0; i + 1 < statements.size(); ++i) statement(statements[i], own);
  std::string declared;
  const std::string before = std::exchange(code_, {});
  for (std::size_t i = 0; i < results.size(); ++i) {
    line(fmt::format("if ({}) {{", wanted[i]));
    line(fmt::format("{} = {};", results[i], branch(last.parts[i], own, declared).code));
    line("}");
  }
  code_ = before + declared + code_;
}

// ---- operators

namespace {

Value default_of(const Parameter& parameter) {
  return parameter.rest.empty() ? unknown_number()
                                : number_constant(std::stod(parameter.rest.substr(1)));
}

/// Whether the parameters take the values: which are operands, and the number that decides.
bool fits(const Record& candidate, const std::vector<Value>& values, std::vector<Value>& operands,
          Value& own) {
  operands.clear();
  own = number_constant(0);
  bool has_number = false;
  std::size_t at = 0;
  for (const Parameter& each : candidate.parameters) {
    if (each.name.empty()) continue;
    if (at == values.size()) {
      if (each.kind == Parameter::Kind::kNumber && !has_number) own = default_of(each);
      return each.kind != Parameter::Kind::kTensor;
    }
    const Value& given = values[at++];
    if (each.kind == Parameter::Kind::kTensor || each.kind == Parameter::Kind::kOperand) {
      if (given.is_number() && each.kind == Parameter::Kind::kTensor) return false;
      operands.push_back(given);
    } else {
      if (!given.is_number()) return false;
      if (each.decides() && !std::exchange(has_number, true)) own = given;
    }
  }
  return at == values.size();
}

}  // namespace

Value Emitter::apply(const Expression& call, const std::vector<Value>& given) {
  std::string_view name = call.text;
  const bool writes = name.ends_with('_');
  if (writes) name.remove_suffix(1);
  std::vector<Value> values = given;
  if (name == "polygamma") std::swap(values.at(0), values.at(1));  // torch.polygamma(n, x)
  std::vector<Value> operands;
  Value own;
  bool is_known = false;
  for (std::size_t i = 0; i < records_.records.size(); ++i) {
    const Record& candidate = records_.records[i];
    if (candidate.label != name || candidate.kind != Record::Kind::kPointwise) continue;
    is_known = true;
    if (!fits(candidate, values, operands, own)) continue;
    std::string list;
    for (const Value& each : operands) list += (list.empty() ? "" : ", ") + operand(each);
    const Releases all;
    const bool in_all = candidate.releases.from == all.from && candidate.releases.to == all.to;
    const std::string rule =
        in_all ? fmt::format("kRecordRules[{}]", i)
               : fmt::format("pointwise_rule(s.context(), \"{}\")", candidate.name);
    if (writes) return write(fmt::format("s.write({}, {{{}}})", rule, list), operands[0]);
    return step(fmt::format("s.apply({}, {{{}}}, {})", rule, list,
                            own.constant ? own.code : "static_cast<double>(" + own.code + ")"));
  }
  fail(call, is_known ? fmt::format("no record of '{}' takes these arguments", name)
                      : fmt::format("no operator or function '{}' has a record", name));
}

}  // namespace tidemark::ops::records
