#include "sim/ops/record_compiler/gradient_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/problem.h"

namespace tidemark::ops::records {

namespace {

/// A tensor by its place, or a number: the rule's own times `scale`, and `offset`.
struct Value {
  bool is_number = false;
  std::uint8_t place = 0;
  bool is_known = true;
  double scale = 0;
  double offset = 0;
  [[nodiscard]] bool is_constant() const { return is_known && scale == 0; }
};
Value tensor(std::uint8_t place) { return {false, place}; }
Value number(double offset, double scale = 0) { return {true, Step::kNumber, true, scale, offset}; }
constexpr Value kUnknown{true, Step::kNumber, false};

using Scope = std::map<std::string, Value, std::less<>>;

constexpr std::array<std::pair<std::string_view, Comparison>, 6> kComparisonSigns{
    {{"eq", Comparison::kEqual},
     {"ne", Comparison::kNotEqual},
     {"lt", Comparison::kLess},
     {"le", Comparison::kLessEqual},
     {"gt", Comparison::kMore},
     {"ge", Comparison::kMoreEqual}}};

class Compiler {
 public:
  Compiler(const Records& records, const Record& record, Steps& out)
      : records_(records), record_(record), out_(out), start_(out.steps.size()) {}

  Gradient run(const Expression& expression) {
    Gradient gradient;
    const Value result = value(expression, scope_of_record());
    while (out_.steps.size() > start_ && out_.steps.back().kind == StepKind::kDrop)
      out_.steps.pop_back();
    gradient.exists = true;
    gradient.first = static_cast<std::uint16_t>(start_);
    gradient.count = static_cast<std::uint16_t>(out_.steps.size() - start_);
    gradient.place = result.place;
    gradient.mentions = mentions_in(expression);
    const bool is_negative = gradient.count == 1 && expression.text == "neg";
    gradient.takes_complex =
        gradient.hands_on() || is_negative || conjugates_ || record_.takes_complex;
    return gradient;
  }

 private:
  [[noreturn]] static void fail(const Expression& at, std::string message) {
    throw InputError(Problem{at.at, {}, std::move(message), {}});
  }

  [[nodiscard]] std::uint8_t mentions_in(const Expression& expression) const {
    unsigned bits = 0;
    for (std::size_t i = 0; i < record_.tensors().size(); ++i)
      bits |= mentions(expression, record_.input(i)) ? 1U << i : 0U;
    if (mentions(expression, "result")) bits |= 1U << Step::kResult;
    return static_cast<std::uint8_t>(bits);
  }

  [[nodiscard]] Scope scope_of_record() const {
    Scope scope{{"grad", tensor(Step::kGrad)},
                {"result", tensor(Step::kResult)},
                {"pi", number(M_PI)},
                {"inf", number(INFINITY)},
                {"epsilon", kUnknown}};
    std::uint8_t input = 0;
    bool has_number = false;
    for (const Parameter& each : record_.parameters) {
      using Kind = Parameter::Kind;
      if (each.kind == Kind::kTensor || each.kind == Kind::kOperand) {
        scope[each.name] = tensor(input++);
      } else if (!each.name.empty()) {
        const bool is_own = each.kind == Kind::kNumber && !std::exchange(has_number, true);
        scope[each.name] = is_own ? number(0, 1) : kUnknown;
      }
    }
    return scope;
  }

  Value value(const Expression& expression, const Scope& scope) {
    switch (expression.kind) {
      case Expression::Kind::kNumber:
        return number(expression.number);
      case Expression::Kind::kText:
        return kUnknown;
      case Expression::Kind::kName: {
        const auto found = scope.find(expression.text);
        if (found == scope.end())
          fail(expression, fmt::format("'{}' is not known here", expression.text));
        return found->second;
      }
      case Expression::Kind::kChoice:
        return choice(expression, scope);
      case Expression::Kind::kCall:
        break;
    }
    return call(expression, scope);
  }

  Value call(const Expression& call, const Scope& scope) {
    if (call.text == "zeros_like") return zeros_like(call, scope);
    if (call.text == "not_modelled") return refuse(call);
    std::vector<Value> values(call.parts.size());
    const std::size_t first = call.is_method ? 1 : 0;
    if (call.is_method) values[0] = value(call.parts[0], scope);
    for (std::size_t i = values.size(); i-- > first;) values[i] = value(call.parts[i], scope);
    if (std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is_number; }))
      return of_numbers(call, values);
    if (call.text == "type_as") return step({StepKind::kCast}, values);
    if (call.text == "conj") return conjugate(values);
    if (call.text == "where") return step({StepKind::kChoose}, values);
    if (call.text == "scalar_tensor") return step({StepKind::kScalarTensor}, {values[1]});
    if (call.text == "masked_fill") return step({StepKind::kMaskedFill}, {values[0], values[1]});
    if (call.text == "masked_fill_") return write(Step::kNoRule, {values[0], values[1]});
    if (call.text == "pow" && values[0].is_number)
      return step({StepKind::kPowerOfNumber}, {values[1]});
    const auto function = records_.functions.find(call.text);
    if (function != records_.functions.end()) return inlined(call, function->second, values);
    return apply(call, values);
  }

  // ---- numbers

  Value of_numbers(const Expression& call, const std::vector<Value>& values) {
    const bool is_constant =
        std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is_constant(); });
    const double x = values.empty() ? 0 : values[0].offset;
    const double y = values.size() > 1 ? values[1].offset : 0;
    if (call.text == "add" || call.text == "sub") {
      const double sign = call.text == "add" ? 1 : -1;
      if (!values[0].is_known || !values[1].is_known) return kUnknown;
      return number(x + sign * y, values[0].scale + sign * values[1].scale);
    }
    if (!is_constant) return kUnknown;
    if (call.text == "mul") return number(x * y);
    if (call.text == "div") return number(x / y);
    if (call.text == "neg") return number(-x);
    if (call.text == "sqrt") return number(std::sqrt(x));
    if (call.text == "log") return number(std::log(x));
    fail(call, fmt::format("'{}' of numbers is not known here", call.text));
  }

  /// x if number < y else z. Each way ends in a name of its own for what it gives.
  Value choice(const Expression& choice, const Scope& scope) {
    const Expression& condition = choice.parts[2];
    const Value own = value(condition.parts.at(0), scope);
    const Value to = value(condition.parts.at(1), scope);
    const auto* comparison =
        std::find_if(kComparisonSigns.begin(), kComparisonSigns.end(),
                     [&](const auto& each) { return each.first == condition.text; });
    if (comparison == kComparisonSigns.end() || !own.is_number || !to.is_constant() ||
        !own.is_known)
      fail(condition, "expected a number of the operator's compared with a constant");
    if (own.is_constant()) {  // settled now
      return value(choice.parts[holds(own.offset, comparison->second, to.offset) ? 0 : 1], scope);
    }
    if (own.scale != 1) fail(condition, "expected the number itself, without a factor");
    const std::size_t test = add({StepKind::kSkipUnless});
    out_.steps[test].operands[0] = static_cast<std::uint8_t>(comparison->second);
    out_.steps[test].offset = static_cast<float>(to.offset - own.offset);
    const Value first = step({StepKind::kAlias}, {value(choice.parts[0], scope)});
    const std::size_t jump = add({StepKind::kSkip});
    out_.steps[test].extra = static_cast<std::uint16_t>(jump - test);
    const Value second = step({StepKind::kAlias}, {value(choice.parts[1], scope)});
    out_.steps[jump].extra = static_cast<std::uint16_t>(out_.steps.size() - 1 - jump);
    return step({StepKind::kEither}, {first, second});
  }
  static bool holds(double x, Comparison comparison, double y) {
    const std::array<bool, 6> answers{x == y, x != y, x<y, x <= y, x> y, x >= y};
    return answers[static_cast<std::size_t>(comparison)];
  }

  // ---- steps

  std::size_t add(const Step& step) {
    out_.steps.push_back(step);
    return out_.steps.size() - 1;
  }
  Value step(Step made, const std::vector<Value>& operands) {
    made.count = static_cast<std::uint8_t>(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) made.operands[i] = operands[i].place;
    add(made);
    return tensor(static_cast<std::uint8_t>(Step::kFirstMade + made_++));
  }
  Value write(std::uint16_t rule, const std::vector<Value>& operands) {
    Step written{StepKind::kWrite};
    written.rule = rule;
    step(written, operands);
    --made_;  // nothing is made
    return operands[0];
  }
  Value conjugate(const std::vector<Value>& values) {
    conjugates_ = true;
    return step({StepKind::kConjugate}, values);
  }
  Value zeros_like(const Expression& call, const Scope& scope) {
    const Value of = value(call.parts.at(0), scope);
    if (of.place == Step::kGrad) return step({StepKind::kZerosLike}, {});
    if (of.is_number || of.place >= Step::kMostInputs)
      fail(call, "zeros_like() takes the gradient or an input");
    return step({StepKind::kZerosOf}, {of});
  }
  Value refuse(const Expression& call) {
    Step refused{StepKind::kRefuse};
    refused.extra = static_cast<std::uint16_t>(out_.refusals.size());
    out_.refusals.push_back(call.parts.at(0).text);
    add(refused);
    return tensor(Step::kGrad);
  }

  /// What statements made and nobody has a name for dies where they end, the last first.
  void drop_from(std::size_t first, const Scope& kept, const Value& result) {
    for (std::size_t i = made_; i-- > first;) {
      const auto place = static_cast<std::uint8_t>(Step::kFirstMade + i);
      const bool is_kept = (!result.is_number && result.place == place) ||
                           std::any_of(kept.begin(), kept.end(), [place](const auto& each) {
                             return !each.second.is_number && each.second.place == place;
                           });
      if (is_kept || dropped_.count(place) > 0) continue;
      dropped_[place] = true;
      Step drop{StepKind::kDrop};
      drop.operands[0] = place;
      add(drop);
    }
  }

  Value inlined(const Expression& call, const Function& function,
                const std::vector<Value>& values) {
    if (values.size() != function.parameters.size())
      fail(call, fmt::format("{}() takes {} arguments", function.name, function.parameters.size()));
    Scope scope{{"pi", number(M_PI)}, {"inf", number(INFINITY)}, {"epsilon", kUnknown}};
    for (std::size_t i = 0; i < values.size(); ++i) scope[function.parameters[i]] = values[i];
    const std::size_t first = made_;
    Value result;
    for (const Statement& statement : function.body) {
      const std::size_t before = made_;
      result = value(statement.value, scope);
      if (!statement.name.empty()) scope[statement.name] = result;
      if (&statement != &function.body.back()) drop_from(before, scope, kUnknown);
    }
    drop_from(first, {}, result);
    return result;
  }

  // ---- operators

  static Value default_of(const Parameter& parameter) {
    return parameter.rest.empty() ? kUnknown : number(std::stod(parameter.rest.substr(1)));
  }

  /// Whether the parameters take the values: which are operands, and the number that decides.
  static bool fits(const Record& candidate, const std::vector<Value>& values,
                   std::vector<Value>& operands, Value& own) {
    operands.clear();
    own = number(0);
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
        if (given.is_number && each.kind == Parameter::Kind::kTensor) return false;
        operands.push_back(given);
      } else {
        if (!given.is_number) return false;
        if (each.kind == Parameter::Kind::kNumber && !std::exchange(has_number, true)) own = given;
      }
    }
    return at == values.size();
  }

  Value apply(const Expression& call, const std::vector<Value>& values) {
    std::string_view name = call.text;
    const bool writes = name.ends_with('_');
    if (writes) name.remove_suffix(1);
    if (name == "polygamma") return apply_named(call, "polygamma", {values[1], values[0]}, writes);
    return apply_named(call, name, values, writes);
  }
  Value apply_named(const Expression& call, std::string_view name, const std::vector<Value>& values,
                    bool writes) {
    std::vector<Value> operands;
    Value own;
    bool is_known = false;
    for (std::size_t i = 0; i < records_.records.size(); ++i) {
      const Record& candidate = records_.records[i];
      if (candidate.label != name) continue;
      is_known = true;
      if (!fits(candidate, values, operands, own)) continue;
      return applied(candidate, static_cast<std::uint16_t>(i), operands, own, writes);
    }
    fail(call, is_known ? fmt::format("no record of '{}' takes these arguments", name)
                        : fmt::format("no operator or function '{}' has a record", name));
  }
  Value applied(const Record& candidate, std::uint16_t rule, std::vector<Value>& operands,
                const Value& own, bool writes) {
    if (writes) return write(rule, operands);
    Step made{StepKind::kApply, candidate.result};
    made.rule = rule;
    made.scale = own.is_known ? static_cast<float>(own.scale) : 0;
    made.offset = own.is_known ? static_cast<float>(own.offset) : NAN;
    const bool is_turned = operands.size() == 2 && !candidate.reads.empty() &&
                           candidate.reads.front() != candidate.input(0);
    if (is_turned) std::swap(operands[0], operands[1]);
    made.extra = is_turned ? 1 : 0;
    return step(made, operands);
  }

  const Records& records_;
  const Record& record_;
  Steps& out_;
  std::size_t start_;
  std::size_t made_ = 0;
  bool conjugates_ = false;
  std::map<std::uint8_t, bool> dropped_;
};

}  // namespace

Gradient compile_gradient(const Records& records, const Record& record,
                          const Expression& expression, Steps& steps) {
  return Compiler(records, record, steps).run(expression);
}

}  // namespace tidemark::ops::records
