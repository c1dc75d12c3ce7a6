#include "sim/ops/record_compiler/whole.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "sim/base/problem.h"
#include "sim/ops/record_compiler/emitter.h"

namespace tidemark::ops::records {

namespace {

/// A type of the op table: in C++, and how an argument of it is read.
struct TypeCode {
  std::string_view type;
  std::string_view code;
  std::string_view accessor;
};
constexpr std::array<TypeCode, 21> kTypes{{
    {"Tensor", "const Tensor&", "a.tensor({})"},
    {"Tensor?", "const Tensor&", "a.optional_tensor({})"},
    {"operand", "const Tensor&", "a.operand({})"},
    {"Tensor[]", "const TensorList&", "a.tensors({})"},
    {"number", "double", "a.number({})"},
    {"number?", "std::optional<double>", "a.optional_number({})"},
    {"float", "double", "a.number({})"},
    {"int", "std::int64_t", "a.integer({})"},
    {"int?", "std::optional<std::int64_t>", "a.optional_integer({})"},
    {"place", "std::int64_t", "a.integer({})"},
    {"int[]", "const Dims&", "a.dims({})"},
    {"int[]?", "const Dims&", "a.optional_dims({}).value_or(Dims{{}})"},
    {"parts[]", "const std::vector<std::int64_t>&", "a.sizes({})"},
    {"bool", "bool", "a.flag({})"},
    {"bool?", "std::optional<bool>", "a.optional_flag({})"},
    {"str", "const std::string&", "a.text({})"},
    {"dtype", "ScalarType", "*a.dtype({})"},
    {"dtype?", "std::optional<ScalarType>", "a.dtype({})"},
    {"device?", "std::optional<Device>", "a.device({})"},
    {"memory_format?", "std::optional<MemoryFormat>", "a.memory_format({})"},
    {"any", "", ""},
}};

const TypeCode& type_of(const Record& record, const Parameter& parameter) {
  const auto* const found = std::ranges::find(kTypes, parameter.type, &TypeCode::type);
  if (found == kTypes.end()) {
    throw InputError(
        Problem{record.at, {}, fmt::format("the type '{}' is not known", parameter.type), {}});
  }
  return *found;
}

std::size_t place_of(const Record& record, std::string_view name) {
  std::size_t at = 0;
  for (const Parameter& each : record.parameters) {
    if (each.name == name) return at;
    at += each.name.empty() ? 0U : 1U;
  }
  throw InputError(Problem{record.at, {}, fmt::format("'{}' is no parameter of it", name), {}});
}

/// The argument of a call that `parameter` is.
std::string argument_of(const Record& record, const Parameter& parameter) {
  const std::size_t at = place_of(record, parameter.name);
  if (parameter.is_reduction()) {
    const bool has_older = std::ranges::any_of(record.parameters, &Parameter::is_legacy);
    return has_older ? fmt::format("reduction_from(reduction_name(a, {}, {}, {}))",
                                   place_of(record, "size_average"), place_of(record, "reduce"), at)
                     : fmt::format("reduction_from(a.text({}))", at);
  }
  return fmt::format(fmt::runtime(type_of(record, parameter).accessor), at);
}

bool is_changed(const Record& record, const Parameter& parameter) {
  if (parameter.type == "dtype?") return record.casts_by_argument;
  return parameter.is_tensor() &&
         ((record.cast && !record.casts_by_argument) ||
          std::ranges::find(record.broadcast, parameter.name) != record.broadcast.end());
}

std::string parameters_of(const Record& record) {
  std::string out;
  for (const Parameter& each : record.parameters) {
    if (each.name.empty() || each.is_legacy()) continue;
    std::string_view type = type_of(record, each).code;
    if (each.is_reduction()) type = "Reduction";
    if (is_changed(record, each) && each.is_tensor()) type = "Tensor";
    out += fmt::format(", [[maybe_unused]] {} {}", type, each.name);
  }
  return out;
}

Value value_of(const Parameter& parameter) {
  Value out = other_value(parameter.name);
  if (parameter.is_tensor()) out = tensor_value(parameter.name);
  if (parameter.type == "number" || parameter.type == "float") out = number_value(parameter.name);
  out.is_reduction = parameter.is_reduction();
  return out;
}

class Whole {
 public:
  Whole(const Records& records, const Record& record) : records_(records), record_(record) {
    for (const Parameter& each : record.parameters) {
      if (!each.is_tensor()) continue;
      tensors_.push_back(each.name);
      const auto is_its = [&](const WrittenGradient& g) { return g.parameter == each.name; };
      const bool has_gradient = std::ranges::any_of(record.gradients, is_its);
      (has_gradient ? inputs_ : others_).push_back(each.name);
    }
    slots_ = tensors_;
    std::ranges::sort(slots_);
  }

  WholeOperator made() {
    const bool is_composite = record_.kind == Record::Kind::kComposite;
    WholeOperator out;
    out.declaration =
        fmt::format("Tensor {}(Context& c{})", record_.function(), parameters_of(record_));
    out.definition = out.declaration + " {\n" + before();
    out.definition += is_composite ? composite() : with_node();
    out.definition += "}\n\n";
    out.can_record = can_record_ && !record_.gradients.empty();
    return out;
  }

 private:
  [[nodiscard]] std::string before() const {
    std::string out;
    if (!record_.broadcast.empty())
      out += fmt::format("  broadcast_together(c, {});\n", fmt::join(record_.broadcast, ", "));
    if (!record_.cast) return out;
    const std::string list =
        record_.casts_by_argument ? std::string() : fmt::format("&{}", fmt::join(tensors_, ", &"));
    out += fmt::format("  const AutocastScope cast(c, CastPolicy{{{}}}, {{{}}});\n",
                       static_cast<int>(*record_.cast), list);
    if (record_.casts_by_argument) out += "  dtype = fp32_by_argument(cast, self, dtype);\n";
    return out;
  }

  [[nodiscard]] Scope forward_scope() const {
    Scope scope;
    for (const Parameter& each : record_.parameters) {
      if (!each.name.empty()) scope[each.name] = value_of(each);
    }
    return scope;
  }

  std::string composite() {
    Emitter steps(records_, true);
    const Value made = steps.body(record_.forward, forward_scope());
    return fmt::format("  [[maybe_unused]] const Steps s(c, true);\n{}  return {};\n", steps.code(),
                       made.code);
  }

  std::string with_node() {
    Emitter steps(records_);
    const Value made = steps.body(record_.forward, forward_scope());
    const std::string gradients = backward();
    std::string saves;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (saved_.contains(i)) saves += fmt::format("  op.save({}, {});\n", i, slots_[i]);
    }
    const std::string lists =
        inputs_.empty()
            ? fmt::format("{{}}, {{&{}}}", fmt::join(others_, ", &"))
            : fmt::format("{{&{}}}{}", fmt::join(inputs_, ", &"),
                          others_.empty() ? std::string()
                                          : fmt::format(", {{&{}}}", fmt::join(others_, ", &")));
    return fmt::format(
        "  Op op(c, \"{}\", \"{}\", {});\n{}  Tensor result;\n  {{\n"
        "  const Steps s(c, false);\n{}  result = {};\n  }}\n{}"
        "  return op.result(std::move(result), {});\n",
        record_.label, record_.node, lists, saves, steps.code(), made.code,
        saved_.contains(slots_.size()) ? fmt::format("  op.save({}, result);\n", slots_.size())
                                       : std::string(),
        gradients);
  }

  /// The function that computes the gradients.
  std::string backward() {
    if (record_.gradients.empty()) return "nullptr";
    Scope scope{{"grad", tensor_value("b.grad()")},
                {"result", tensor_value(fmt::format("b.saved[{}]", slots_.size()))}};
    for (const Parameter& each : record_.parameters) {
      if (each.name.empty()) continue;
      Value value = value_of(each);
      if (each.is_tensor()) {
        value.code = fmt::format("b.saved[{}]", place_in(slots_, each.name));
        if (std::ranges::find(inputs_, each.name) != inputs_.end())
          value.input = place_in(inputs_, each.name);
      }
      scope[each.name] = std::move(value);
    }
    std::string code;
    for (const WrittenGradient& each : record_.gradients) {
      Emitter emitter(records_);
      const Value gradient = emitter.value(each.value, scope);
      can_record_ = can_record_ && emitter.can_record();
      const std::size_t input = place_in(inputs_, each.parameter);
      code += fmt::format("    if (b.needs({})) {{\n{}    b.grads[{}] = {};\n    }}\n", input,
                          emitter.code(), input, gradient.code);
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (mentions(each.value, slots_[i])) saved_.insert(i);
      }
      if (mentions(each.value, "result")) saved_.insert(slots_.size());
    }
    std::string captured = "=";
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::string name = fmt::format("sizes{}", i);
      if (code.find(name) != std::string::npos)
        captured += fmt::format(", {} = {}.sizes()", name, inputs_[i]);
    }
    const std::string room = saved_.empty()
                                 ? std::string()
                                 : fmt::format("    b.saved.resize({});\n", slots_.size() + 1);
    return fmt::format("[{}](Backward& b) {{\n{}    [[maybe_unused]] const Steps s(b.c);\n{}  }}",
                       captured, room, code);
  }

  static std::size_t place_in(const std::vector<std::string>& list, std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(list, name) - list.begin());
  }

  const Records& records_;
  const Record& record_;
  std::vector<std::string> tensors_;
  std::vector<std::string> inputs_;  ///< that have a gradient
  std::vector<std::string> others_;
  std::vector<std::string> slots_;  ///< in the order of release; the result is the last one
  std::set<std::size_t> saved_;
  bool can_record_ = true;
};

/// The call of C++ that does the steps: of the call's arguments, and constants.
std::string native_code(const Record& record, const Expression& e) {
  switch (e.kind) {
    case Expression::Kind::kNumber:
      return fmt::format("{}{}", e.number < 0 ? "-" : "", e.text);
    case Expression::Kind::kText:
      return '"' + e.text + '"';
    case Expression::Kind::kName: {
      if (e.text == "True") return "true";
      if (e.text == "False") return "false";
      if (e.text == "None") return "{}";
      const auto named = [&](const Parameter& each) { return each.name == e.text; };
      const auto found = std::ranges::find_if(record.parameters, named);
      if (found == record.parameters.end())
        throw InputError(Problem{e.at, {}, fmt::format("'{}' is not known here", e.text), {}});
      return argument_of(record, *found);
    }
    default:
      break;
  }
  std::vector<std::string> parts;
  for (const Expression& each : e.parts) parts.push_back(native_code(record, each));
  if (e.text == "list") return fmt::format("Dims{{{}}}", fmt::join(parts, ", "));
  if (e.text == "add") return fmt::format("{} + {}", parts.at(0), parts.at(1));
  if (e.text == "sizes") return parts.at(0) + ".sizes()";
  return fmt::format("{}(a.context(), {})", e.text, fmt::join(parts, ", "));
}

}  // namespace

WholeOperator whole_operator(const Records& records, const Record& record) {
  return Whole(records, record).made();
}

std::string run_code(const Record& record) {
  const std::string check =
      record.check.empty() ? std::string() : fmt::format("check_{}(a); ", record.check);
  std::string call;
  if (record.dispatch) {
    const bool takes_all = record.dispatch->kind == Expression::Kind::kName;
    call = takes_all ? record.dispatch->text + "(a)" : native_code(record, *record.dispatch);
    if (takes_all) return check + "return " + call + ";";
  } else {
    call = record.function() + "(a.context()";
    for (const Parameter& each : record.parameters) {
      if (!each.name.empty() && !each.is_legacy()) call += ", " + argument_of(record, each);
    }
    call += ")";
  }
  if (record.gives_list || (!record.results.empty() && record.results[0].empty()))
    call = fmt::format("OpResult::tuple({})", call);
  if (!record.results.empty() && !record.results[0].empty())
    call = fmt::format("OpResult::named(\"{}\", \"{}\", {})", record.label,
                       fmt::join(record.results, " "), call);
  return fmt::format("{}return {};", check, call);
}

std::string native_declaration(const Record& record) {
  if (!record.dispatch || record.dispatch->kind != Expression::Kind::kName) return {};
  return fmt::format("OpResult {}(Arguments& a);\n", record.dispatch->text);
}

}  // namespace tidemark::ops::records
