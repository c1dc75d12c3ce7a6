#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/ops/record_compiler/emitter.h"
#include "sim/ops/record_compiler/emitter_parts.h"

namespace tidemark::ops::records {

// Calls: operators with records, functions of `Steps`, C++ that records name.

namespace {

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

/// A number of a composite that is written without a point is an integer.
std::string operand(const Value& value) {
  if (value.kind == Value::Kind::kOther) return "s.number()";
  if (!value.is_number()) return value.code;
  return value.is_integer ? "s.integer()" : "s.number()";
}

std::string list_of(const std::vector<Value>& values, bool are_operands) {
  std::string out;
  for (const Value& each : values)
    out += (out.empty() ? "" : ", ") + (are_operands ? operand(each) : each.code);
  return out;
}

/// What tensors tell of themselves.
constexpr std::array<std::string_view, 12> kLooks{
    "size",    "strides", "stride", "dtype",    "device", "is_contiguous",
    "is_cuda", "dim",     "numel",  "itemsize", "sizes",  "suggest_memory_format"};
/// Of these a node keeps copies.
const Parameter kInteger{Parameter::Kind::kOther, "int", "", "", false};
constexpr std::array<std::string_view, 4> kCapturedLooks{"sizes", "strides", "dtype", "device"};

}  // namespace

const Primitive* primitive(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPrimitives), std::end(kPrimitives),
                                   [name](const Primitive& each) { return each.name == name; });
  return found == std::end(kPrimitives) ? nullptr : found;
}

namespace {

/// An argument of a C++ function that a record became, or that records name.
std::string argument_code(const Parameter& parameter, const Value& value) {
  const bool is_whole =
      parameter.type == "int" || parameter.type == "int?" || parameter.type == "place";
  if (is_whole && value.constant) return fmt::format("{}", static_cast<int>(*value.constant));
  return value.code;
}
/// What is left out of a call: "=False".
std::string default_code(const Parameter& parameter) {
  const std::string text = parameter.rest.substr(1);
  if (text == "None") return parameter.is_tensor() ? "Tensor()" : "{}";
  if (text == "True" || text == "False") return text == "True" ? "true" : "false";
  if (parameter.is_reduction()) return "Reduction::kMean";
  return text;
}
std::string written_code(const Parameter& parameter, const Value& value, const Expression& e) {
  if (!value.text.empty()) return '"' + value.text + '"';
  const bool is_nothing = e.kind == Expression::Kind::kName && e.text == "None";
  return is_nothing && !parameter.is_tensor() ? "{}" : argument_code(parameter, value);
}

}  // namespace

std::optional<Value> Emitter::of_plain(const Expression& call,
                                       const std::vector<Value>& values) const {
  constexpr std::array<CallSign, 14> kSigns{{{"eq", "=="},
                                             {"ne", "!="},
                                             {"lt", "<"},
                                             {"le", "<="},
                                             {"gt", ">"},
                                             {"ge", ">="},
                                             {"add", "+"},
                                             {"sub", "-"},
                                             {"mul", "*"},
                                             {"floordiv", "/"},
                                             {"mod", "%"},
                                             {"and", "&&"},
                                             {"or", "||"},
                                             {"neg", "-"}}};
  const auto* const sign = std::ranges::find(kSigns, call.text, &CallSign::call);
  if (sign == kSigns.end() || values.empty()) return std::nullopt;
  bool is_plain = false;
  for (const Value& each : values) {
    if (each.kind != Value::Kind::kOther && !each.is_number()) return std::nullopt;
    is_plain = is_plain || each.kind == Value::Kind::kOther;
  }
  if (!is_plain) return std::nullopt;
  std::vector<std::string> codes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& each = values[i];
    const bool is_whole = each.constant && *each.constant == std::floor(*each.constant);
    codes.push_back(!each.text.empty() ? '"' + each.text + '"'
                    : is_whole ? fmt::format("{}", static_cast<std::int64_t>(*each.constant))
                               : each.code);
  }
  if (codes.size() == 1) return other_value(fmt::format("({}{})", sign->sign, codes[0]));
  return other_value(fmt::format("({} {} {})", codes[0], sign->sign, codes[1]));
}

Value Emitter::native(const Expression& call, const Native& of, const std::vector<Value>& values) {
  std::string list;
  std::size_t at = 0;
  for (const Parameter& each : of.parameters) {
    if (each.name.empty()) continue;
    if (at == values.size()) {
      if (each.rest.empty()) fail(call, fmt::format("{}() takes '{}', too", of.name, each.name));
      break;
    }
    list += (list.empty() ? "" : ", ") + written_code(each, values[at], call.parts[at]);
    ++at;
  }
  if (at < values.size()) fail(call, fmt::format("{}() takes {} arguments", of.name, at));
  using Gives = Native::Gives;
  const bool is_plain = of.kind == Native::Kind::kPlain;
  const std::string context = is_plain ? "" : list.empty() ? "s.context()" : "s.context(), ";
  const std::string code = fmt::format("ops::{}({}{})", of.name, context, list);
  can_record_ = can_record_ && of.kind != Native::Kind::kKernel;
  switch (of.gives) {
    case Gives::kTensor:
      return step(code);
    case Gives::kList:
      return step(code, Value::Kind::kList);
    case Gives::kScratch: {
      const std::string name = fresh();
      line(fmt::format("[[maybe_unused]] const auto {} = {};", name, code));
      ++steps_;
      return {Value::Kind::kScratch, name};
    }
    case Gives::kNothing:
      line(code + ";");
      ++steps_;
      return {Value::Kind::kNothing, ""};
    default:
      return other_value(code);
  }
}

Value Emitter::whole(const Expression& call, const Record& of, const std::vector<Value>& values) {
  std::string list;
  std::size_t at = 0;
  for (const Parameter& each : of.parameters) {
    if (each.is_ignored()) continue;
    if (at == values.size()) {
      if (each.rest.empty()) fail(call, fmt::format("{}() takes '{}', too", call.text, each.name));
      list += ", " + default_code(each);
      continue;
    }
    list += ", " + written_code(each, values[at], call.parts[at]);
    ++at;
  }
  if (at < values.size()) fail(call, fmt::format("{}() takes {} arguments", call.text, at));
  const Value::Kind kind = of.is_list() ? Value::Kind::kList : Value::Kind::kTensor;
  if (are_operators_ || of.kind == Record::Kind::kComposite)
    return step(fmt::format("ops::{}(s.context(){})", of.function(), list), kind);
  return step(fmt::format("s.records() ? ops::{0}(s.context(){1}) : {2}(s.context(){1})",
                          of.function(), list, of.steps()),
              kind);
}

std::optional<Value> Emitter::plain(const Expression& call,
                                    const std::vector<Value>& values) const {
  if (call.text == "defined") return other_value(values.at(0).code + ".defined()");
  if (call.text == "not") return other_value("!" + values.at(0).code);
  if (call.text == "is_none" || call.text == "is_given") {
    const Value& of = values.at(0);
    const std::string_view has = of.kind == Value::Kind::kTensor ? "defined" : "has_value";
    return other_value(fmt::format("{}{}.{}()", call.text == "is_none" ? "!" : "", of.code, has));
  }
  if (call.text == "len")
    return other_value(fmt::format("static_cast<std::int64_t>({}.size())", values.at(0).code));
  if (call.text == "item") {
    const Value& of = values.at(0);
    const Value& at = values.at(1);
    const std::string index = at.constant ? fmt::format("{}", static_cast<int>(*at.constant))
                                          : fmt::format("static_cast<std::size_t>({})", at.code);
    const bool is_list = of.kind == Value::Kind::kList;
    return Value{is_list ? Value::Kind::kTensor : Value::Kind::kOther,
                 fmt::format("{}[{}]", of.code, index)};
  }
  if (std::ranges::find(kLooks, call.text) != kLooks.end() && !values.empty() &&
      values[0].kind == Value::Kind::kTensor) {
    const Value& of = values[0];
    const bool is_kept = std::ranges::find(kCapturedLooks, call.text) != kCapturedLooks.end();
    if (is_kept && of.input && (of.is_captured || call.text == "sizes"))
      return other_value(fmt::format("{}{}", call.text, *of.input));
    if (call.text == "numel" && of.is_captured)
      return other_value(fmt::format("numel_of(sizes{})", *of.input));
    if (call.text == "numel" && of.input) return unknown_number();
    if (call.text == "itemsize")
      return other_value(
          fmt::format("static_cast<std::int64_t>(element_bytes({}.dtype()))", of.code));
    std::string list;
    for (std::size_t i = 1; i < values.size(); ++i)
      list += (i > 1 ? ", " : "") + argument_code(kInteger, values[i]);
    return other_value(fmt::format("{}.{}({})", of.code, call.text, list));
  }
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

/// Whether the arguments are enough, not too many, and tensors where it wants them.
bool takes(const Record& record, const std::vector<Value>& values) {
  std::size_t at = 0;
  for (const Parameter& each : record.parameters) {
    if (each.is_ignored()) continue;
    if (at == values.size()) {
      if (each.rest.empty()) return false;
      continue;
    }
    const bool is_tensor = values[at++].kind == Value::Kind::kTensor;
    if (each.kind == Parameter::Kind::kTensor && !is_tensor) return false;
    if (each.kind == Parameter::Kind::kNumber && is_tensor) return false;
  }
  return at == values.size();
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
  const auto is_it = [&](const Record& each) {
    return each.has_steps() && each.alias_of.empty() && each.function() == call.text &&
           takes(each, values);
  };
  const auto is_form = [&](const Record& each) {
    return each.has_steps() && each.alias_of.empty() && each.label == call.text &&
           takes(each, values);
  };
  auto found = std::ranges::find_if(records_.records, is_it);
  if (found == records_.records.end()) found = std::ranges::find_if(records_.records, is_form);
  if (own == nullptr && found != records_.records.end()) return whole(call, *found, values);
  if (own == nullptr) return std::nullopt;
  if (values.size() < own->fewest || values.size() > own->most)
    fail(call, fmt::format("{}() takes {} to {} arguments", own->name, own->fewest, own->most));
  can_record_ = can_record_ && !own->is_kernel;
  return step(fmt::format("s.{}({})", own->name, list_of(values, own->takes_operands)));
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
    const std::string number = own.constant ? own.code : "static_cast<double>(" + own.code + ")";
    if (writes)
      return write(fmt::format("s.write({}, {{{}}}, {})", rule, list, number), operands[0]);
    return step(fmt::format("s.apply({}, {{{}}}, {})", rule, list, number));
  }
  std::vector<const Record*> others;
  for (const Record& each : records_.records) {
    const bool is_named = each.function() == name || each.label == name;
    if (is_named && each.has_steps() && each.alias_of.empty()) others.push_back(&each);
  }
  if (others.size() == 1) whole(call, *others[0], values);  // says which argument is missing
  is_known = is_known || !others.empty();
  fail(call, is_known ? fmt::format("no record of '{}' takes these arguments", name)
                      : fmt::format("no operator or function '{}' has a record", name));
}

}  // namespace tidemark::ops::records
