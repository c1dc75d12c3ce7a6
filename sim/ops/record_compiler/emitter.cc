#include "sim/ops/record_compiler/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "sim/base/problem.h"
#include "sim/ops/record_compiler/emitter_parts.h"

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

constexpr std::array<CallSign, 3> kArithmeticSigns{{{"sub", "-"}, {"mul", "*"}, {"div", "/"}}};

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

namespace {

/// PyTorch's names of types and layouts.
constexpr std::array<CallSign, 9> kConstants{{{"True", "true"},
                                              {"False", "false"},
                                              {"int64", "ScalarType::kInt64"},
                                              {"int32", "ScalarType::kInt32"},
                                              {"float32", "ScalarType::kFloat32"},
                                              {"float16", "ScalarType::kFloat16"},
                                              {"bool", "ScalarType::kBool"},
                                              {"contiguous_format", "MemoryFormat::kContiguous"},
                                              {"preserve_format", "MemoryFormat::kPreserve"}}};
std::string_view type_name(Value::Kind kind) {
  return kind == Value::Kind::kList ? "TensorList" : "Tensor";
}

}  // namespace

Value Emitter::value(const Expression& expression, const Scope& scope) {
  switch (expression.kind) {
    case Expression::Kind::kNumber: {
      Value out = number_constant(expression.number);
      out.is_integer = are_operators_ && expression.text.find_first_of(".e") == std::string::npos;
      return out;
    }
    case Expression::Kind::kText: {
      Value out = number_constant(text_code(expression.text));
      out.text = expression.text;
      return out;
    }
    case Expression::Kind::kName: {
      const auto found = scope.find(expression.text);
      if (found != scope.end()) return found->second;
      if (expression.text == "pi") return number_constant(M_PI);
      if (expression.text == "inf") return number_constant(INFINITY);
      if (expression.text == "epsilon") return unknown_number();
      for (const CallSign& each : kConstants) {
        if (each.call == expression.text) return other_value(std::string(each.sign));
      }
      if (expression.text == "of_graph") return other_value("s.of_graph()");
      if (expression.text == "None") return tensor_value("Tensor()");
      // What PyTorch's releases differ in: releases.h.
      if (expression.text.starts_with("rules."))
        return other_value("s.context().rules()." + expression.text.substr(6));
      fail(expression, fmt::format("'{}' is not known here", expression.text));
    }
    case Expression::Kind::kChoice:
      return choice(expression, scope);
    case Expression::Kind::kCall:
      break;
  }
  return call(expression, scope);
}

Value Emitter::step(std::string code, Value::Kind kind) {
  const std::string name = fresh();
  if (declared_ != nullptr) {
    *declared_ += fmt::format("  {} {};\n", type_name(kind), name);
    line(fmt::format("{} = {};", name, code));
  } else {
    line(fmt::format("{} {} = {};", type_name(kind), name, code));
  }
  ++steps_;
  return {kind, name};
}

namespace {

/// `code` and the value that it makes, given to `name`: without a copy where the value is a
/// temporary of it.
std::string assigned(std::string code, const Value& made, const std::string& name) {
  const std::size_t last = code.empty() ? 0 : code.rfind('\n', code.size() - 2) + 1;
  const std::string own = fmt::format("  {} {} = ", type_name(made.kind), made.code);
  if (std::string_view(code).substr(last).starts_with(own))
    return code.replace(last, own.size(), fmt::format("  {} = ", name));
  const bool is_local =
      code.find(fmt::format("  {} {};", type_name(made.kind), made.code)) != std::string::npos ||
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
  if (call.text == "each") return each_of(call, scope);
  if (call.text == "zeros_like") return zeros_like(call, scope);
  if (call.text == "not_modelled") return refuse(call);
  const std::vector<Value> values = arguments(call, scope);
  const auto function = records_.functions.find(call.text);
  if (function != records_.functions.end())
    return body(function->second.body, scope_of(call, function->second, values));
  if (call.text == "tuple") {
    std::string list;
    for (const Value& each : values) list += (list.empty() ? "" : ", ") + each.code;
    return {Value::Kind::kList, "TensorList{" + list + "}"};
  }
  const auto native_function = records_.natives.find(call.text);
  if (native_function != records_.natives.end())
    return native(call, native_function->second, values);
  if (std::optional<Value> made = plain(call, values)) return std::move(*made);
  if (std::optional<Value> made = of_plain(call, values)) return std::move(*made);
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

Value Emitter::each_of(const Expression& each, Scope scope) {
  const Expression& of = each.parts[2];
  const bool is_range = of.kind == Expression::Kind::kCall && of.text == "range";
  const Value list = value(is_range ? of.parts.at(0) : of, scope);
  const std::string name = fresh();
  const std::string out = step("TensorList()", Value::Kind::kList).code;
  const bool are_tensors = list.kind == Value::Kind::kList;
  line(is_range ? fmt::format("for (std::int64_t {0} = 0; {0} < {1}; ++{0}) {{", name, list.code)
                : fmt::format("for (const {} {} : {}) {{", are_tensors ? "Tensor&" : "std::int64_t",
                              name, list.code));
  scope[each.parts[1].text] = are_tensors && !is_range ? tensor_value(name) : other_value(name);
  std::string* const outer = std::exchange(declared_, nullptr);
  const Value made = value(each.parts[0], scope);
  declared_ = outer;
  line(fmt::format("{}.push_back({});", out, made.code));
  line("}");
  return {Value::Kind::kList, out};
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
  std::string declared;
  const std::string before = std::exchange(code_, {});
  const Value first = branch(choice.parts[0], scope, declared);
  const std::string first_code = std::exchange(code_, {});
  // Where gradients are recorded the other branch is not taken.
  const bool could_record = can_record_;
  const Value second = branch(choice.parts[1], scope, declared);
  if (test.code == "s.of_graph()") can_record_ = could_record;
  const std::string second_code = std::exchange(code_, before);
  const bool are_plain = !first.lives() && !second.lives();
  const bool are_steps = first.kind == Value::Kind::kScratch || first.kind == Value::Kind::kNothing;
  if (are_plain && !are_steps && first_code.empty() && second_code.empty()) {
    const auto written = [](const Value& v) {
      return v.constant && *v.constant == std::floor(*v.constant)
                 ? fmt::format("std::int64_t{{{}}}", static_cast<std::int64_t>(*v.constant))
                 : v.code;
    };
    const bool are_numbers = first.is_number() && second.is_number();
    return {are_numbers ? Value::Kind::kNumber : Value::Kind::kOther,
            fmt::format("({} ? {} : {})", test.code, are_numbers ? first.code : written(first),
                        are_numbers ? second.code : written(second))};
  }
  const Value::Kind kind = first.lives() ? first.kind : second.kind;
  std::string& outside = declared_ != nullptr ? *declared_ : code_;
  if (!are_steps) outside += fmt::format("  {} {};\n", type_name(kind), name);
  outside += declared;
  line(fmt::format("if ({}) {{", without_outer(test.code)));
  code_ += first_code;
  if (!are_steps) line(fmt::format("{} = {};", name, first.code));
  if (!are_steps || !second_code.empty()) {
    line("} else {");
    code_ += second_code;
    if (!are_steps) line(fmt::format("{} = {};", name, second.code));
  }
  line("}");
  ++steps_;
  return {are_steps ? Value::Kind::kNothing : kind, name};
}

Value Emitter::zeros_like(const Expression& call, const Scope& scope) {
  const Value of = value(call.parts.at(0), scope);
  if (of.is_number()) fail(call, "zeros_like() takes a tensor");
  if (of.input && !of.is_passed) return step(fmt::format("s.zeros_of(b, {})", *of.input));
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
    value.is_passed = value.input.has_value();
    scope[function.parameters[i]] = std::move(value);
  }
  return scope;
}

namespace {

/// One word, which costs nothing to say again.
bool is_word(std::string_view code) {
  return std::ranges::all_of(
      code, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

}  // namespace

void Emitter::statement(const Statement& statement, Scope& scope) {
  const std::string before = std::exchange(code_, {});
  const Value made = value(statement.value, scope);
  const std::string inside = std::exchange(code_, before);
  if (!statement.name.empty() && statement.value.text == "None") {  // it gets a value later
    const std::string name = fresh();
    line(fmt::format("Tensor {};  // {}", name, statement.name));
    scope[statement.name] = tensor_value(name);
    scope[statement.name].is_variable = true;
    return;
  }
  if (statement.name.empty()) {
    line("{\n" + inside + "  }");
    return;
  }
  if (!made.lives() || inside.empty()) {
    code_ += inside;
    scope[statement.name] = made;
    scope[statement.name].is_variable = false;
    if (made.kind != Value::Kind::kOther || is_word(made.code)) return;
    const std::string name = fresh();
    line(fmt::format("[[maybe_unused]] const auto {} = {};", name, made.code));
    scope[statement.name].code = name;
    return;
  }
  const auto before_it = scope.find(statement.name);
  const bool is_new = before_it == scope.end() || !before_it->second.is_variable;
  const std::string name = is_new ? fresh() : before_it->second.code;
  if (is_new) line(fmt::format("{} {};  // {}", type_name(made.kind), name, statement.name));
  line("{\n" + assigned(inside, made, name) + "  }");
  scope[statement.name] = {made.kind, name};
  scope[statement.name].is_variable = true;
}

Value Emitter::body(const std::vector<Statement>& statements, Scope scope) {
  const std::string before = std::exchange(code_, {});
  std::string* const outer = std::exchange(declared_, nullptr);
  for (std::size_t i = 0; i + 1 < statements.size(); ++i) statement(statements[i], scope);
  Value made = value(statements.back().value, scope);
  const std::string inside = std::exchange(code_, before);
  declared_ = outer;
  if (!made.lives()) {
    // What is held while a function runs dies with it.
    const bool is_step = made.kind == Value::Kind::kScratch || made.kind == Value::Kind::kNothing;
    if (is_step) line("{\n" + inside + "  }");
    if (!is_step) code_ += inside;
    return made;
  }
  if (inside.empty()) return made;
  const std::string name = fresh();
  if (declared_ != nullptr) {
    *declared_ += fmt::format("  {} {};\n", type_name(made.kind), name);
  } else {
    line(fmt::format("{} {};", type_name(made.kind), name));
  }
  line("{\n" + assigned(inside, made, name) + "  }");
  return {made.kind, name};
}

void Emitter::several(const Expression& call, const Scope& scope,
                      const std::vector<std::string>& wanted,
                      const std::vector<std::string>& results) {
  const auto function = records_.functions.find(call.text);
  if (function == records_.functions.end()) {  // one kernel makes them all
    const Value all = value(call, scope);
    if (all.kind != Value::Kind::kList) fail(call, "expected a function of several results");
    for (std::size_t i = 0; i < results.size(); ++i)
      line(fmt::format("{} = {}[{}];", results[i], all.code, i));
    return;
  }
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

}  // namespace tidemark::ops::records
