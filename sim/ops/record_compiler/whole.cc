#include "sim/ops/record_compiler/whole.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
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
constexpr std::array<TypeCode, 30> kTypes{{
    {"Tensor", "const Tensor&", "a.tensor({})"},
    {"Tensor?", "const Tensor&", "a.optional_tensor({})"},
    {"operand", "const Tensor&", "a.operand({})"},
    {"Tensor[]", "const TensorList&", "a.tensors({})"},
    {"number", "double", "a.number({})"},
    {"number?", "std::optional<double>", "a.optional_number({})"},
    {"float", "double", "a.number({})"},
    {"float?", "std::optional<double>", "a.optional_number({})"},
    {"int", "std::int64_t", "a.integer({})"},
    {"int?", "std::optional<std::int64_t>", "a.optional_integer({})"},
    {"place", "std::int64_t", "a.integer({})"},
    {"int[]", "const Dims&", "a.dims({})"},
    {"int[]?", "const Dims&", "a.optional_dims({}).value_or(Dims{{}})"},
    {"int[1]", "const Dims&", "a.dims_of({}, 1)"},
    {"int[2]", "const Dims&", "a.dims_of({}, 2)"},
    {"int[3]", "const Dims&", "a.dims_of({}, 3)"},
    {"int[1]?", "const Dims&", "optional_dims_of(a, {}, 1)"},
    {"int[2]?", "const Dims&", "optional_dims_of(a, {}, 2)"},
    {"int[3]?", "const Dims&", "optional_dims_of(a, {}, 3)"},
    {"str?", "const std::string&", "a.is_none({0}) ? std::string() : a.text({0})"},
    {"parts[]", "const std::vector<std::int64_t>&", "a.sizes({})"},
    {"sizes[]", "const std::vector<std::int64_t>&", "a.sizes({})"},
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
    if (each.is_ignored()) continue;
    std::string_view type = type_of(record, each).code;
    if (each.is_reduction()) type = "Reduction";
    if (is_changed(record, each) && each.is_tensor()) type = "Tensor";
    out += fmt::format(", [[maybe_unused]] {} {}", type, each.name);
  }
  return out;
}

Value value_of(const Parameter& parameter) {
  Value out = other_value(parameter.name);
  if (parameter.type == "Tensor[]") out.kind = Value::Kind::kList;
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
      const auto is_its = [&](const WrittenGradient& g) {
        return std::ranges::count(names_in(g.parameter), each.name) > 0;
      };
      const bool has_gradient = std::ranges::any_of(record.gradients, is_its);
      (has_gradient ? inputs_ : others_).push_back(each.name);
    }
    slots_ = tensors_;
    std::ranges::sort(slots_);
    for (std::size_t i = 0; i < std::max<std::size_t>(record.results.size(), 1); ++i)
      results_.push_back(record.result_name(i));
  }

  WholeOperator made() {
    const bool is_composite = record_.kind == Record::Kind::kComposite;
    const std::string type = record_.is_list() ? "TensorList" : "Tensor";
    const std::string parameters = parameters_of(record_);
    WholeOperator out;
    out.declaration = fmt::format("{} {}(Context& c{})", type, record_.function(), parameters);
    out.definition = out.declaration + " {\n" + before();
    out.definition += is_composite ? composite() : with_node();
    out.definition += "}\n\n";
    if (!is_composite) {
      const std::string steps =
          fmt::format("{} {}(Context& c{})", type, record_.steps(), parameters);
      out.definition = fmt::format(
          "{} {{\n  [[maybe_unused]] const Steps s(c, false);\n{}  return {};\n}}\n\n{}", steps,
          steps_code_, steps_result_, out.definition);
      out.declaration += ";\n" + steps;
    }
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
        record_.casts_by_argument
            ? std::string()
            : fmt::format(
                  "&{}",
                  fmt::join(record_.kind == Record::Kind::kIndex ? inputs_ : tensors_, ", &"));
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

  /// What is looked at before the node is made.
  [[nodiscard]] std::string checks() const {
    if (record_.checks.empty()) return {};
    Emitter emitter(records_);
    emitter.body(record_.checks, forward_scope());
    return fmt::format("  {{\n  const Steps s(c, false);\n{}  }}\n", emitter.code());
  }

  std::string with_node() {
    Emitter steps(records_);
    const Value made = steps.body(record_.forward, forward_scope());
    if (made.lives() == false || (made.kind == Value::Kind::kList) != record_.is_list())
      throw InputError(Problem{record_.at, {}, "its steps give other results than it says", {}});
    const bool is_view = record_.kind == Record::Kind::kView && !record_.is_list();
    steps_code_ = steps.code();
    if (record_.kind == Record::Kind::kView && record_.is_list())
      steps_code_ += fmt::format("  for (Tensor& each : {}) as_view(self, each);\n", made.code);
    steps_result_ = is_view ? fmt::format("as_view(self, {})", made.code) : made.code;
    const std::string gradients = backward();
    std::string saves;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (!saved_.contains(i)) continue;
      // What NAME_ overwrites is kept as it was.
      if (record_.writes_self && slots_[i] == "self") {
        saves += fmt::format("  if (op.records()) op.save({}, clone(c, self));\n", i);
      } else if (const std::optional<std::size_t> only = only_wanted_for(i)) {
        saves += fmt::format("  op.save_if(op.needs({}), {}, {});\n", *only, i, slots_[i]);
      } else {
        saves += fmt::format("  op.save({}, {});\n", i, slots_[i]);
      }
    }
    if (record_.gathers) saves += "  op.gathers();\n";
    const std::string lists =
        inputs_.empty()
            ? fmt::format("{{}}, {{&{}}}", fmt::join(others_, ", &"))
            : fmt::format("{{&{}}}{}", fmt::join(inputs_, ", &"),
                          others_.empty() ? std::string()
                                          : fmt::format(", {{&{}}}", fmt::join(others_, ", &")));
    std::string arguments;
    for (const Parameter& each : record_.parameters) {
      if (!each.is_ignored()) arguments += ", " + each.name;
    }
    std::string after;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (!saved_.contains(slots_.size() + i)) continue;
      after += fmt::format("  op.save({}, {});\n", slots_.size() + i,
                           record_.is_list() ? fmt::format("result[{}]", i) : "result");
    }
    std::string end = fmt::format("  return op.result(std::move(result), {});\n", gradients);
    if (record_.is_list())
      end = fmt::format("  op.results_of(result, {});\n  return result;\n", gradients);
    if (record_.writes_self) end = fmt::format("  return op.in_place(self, {});\n", gradients);
    return fmt::format("{}  Op op(c, \"{}\", \"{}\", {});\n{}  {} result = {}(c{});\n{}{}",
                       checks(), record_.label, record_.node, lists, saves,
                       record_.is_list() ? "TensorList" : "Tensor", record_.steps(), arguments,
                       after, end);
  }

  /// The names that gradients say, and the C++ of them.
  [[nodiscard]] Scope backward_scope() const {
    Scope scope{{"grad", tensor_value("b.grad()")}, {"grads", {Value::Kind::kList, "b.incoming"}}};
    for (std::size_t i = 0; i < results_.size(); ++i) {
      scope[results_[i]] = tensor_value(fmt::format("b.saved[{}]", slots_.size() + i));
      scope[fmt::format("grads{}", i)] = tensor_value(fmt::format("gradient_of(b, {})", i));
    }
    for (const Parameter& each : record_.parameters) {
      if (each.name.empty()) continue;
      Value value = value_of(each);
      if (each.is_tensor()) {
        value.code = fmt::format("b.saved[{}]", place_in(slots_, each.name));
        if (std::ranges::find(inputs_, each.name) != inputs_.end()) {
          value.input = place_in(inputs_, each.name);
          value.is_captured = true;
        }
      }
      scope[each.name] = std::move(value);
    }
    return scope;
  }

  void note_saved(const Expression& gradient) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (mentions(gradient, slots_[i])) saved_.insert(i);
    }
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (mentions(gradient, results_[i])) saved_.insert(slots_.size() + i);
    }
  }

  /// The input whose gradient alone mentions the slot, where there are several.
  /// Source: torchgen's guard_for.
  [[nodiscard]] std::optional<std::size_t> only_wanted_for(std::size_t slot) const {
    const auto is_list = [](const Parameter& each) { return each.type.starts_with("Tensor[]"); };
    if (inputs_.size() < 2 || record_.label.find("backward") != std::string::npos ||
        std::ranges::any_of(record_.parameters, is_list))
      return std::nullopt;
    std::optional<std::size_t> only;
    for (const WrittenGradient& each : record_.gradients) {
      if (!mentions(each.value, slots_[slot])) continue;
      if (only || each.when != WrittenGradient::When::kAlways) return std::nullopt;
      only = place_in(inputs_, each.parameter);
    }
    return only;
  }

  /// The function that computes the gradients.
  std::string backward() {
    if (record_.gradients.empty()) return "nullptr";
    const Scope scope = backward_scope();
    std::string code;
    std::vector<WrittenGradient> by_name = record_.gradients;  // as PyTorch's code is generated
    std::ranges::stable_sort(by_name, {}, &WrittenGradient::parameter);
    for (const WrittenGradient& each : by_name) {
      Emitter emitter(records_);
      note_saved(each.value);
      if (each.when == WrittenGradient::When::kTogether) {
        std::vector<std::string> wanted;
        std::vector<std::string> results;
        for (const std::string& name : names_in(each.parameter)) {
          wanted.push_back(fmt::format("b.needs({})", place_in(inputs_, name)));
          results.push_back(fmt::format("b.grads[{}]", place_in(inputs_, name)));
        }
        emitter.several(each.value, scope, wanted, results);
        code += "    {\n" + emitter.code() + "    }\n";
        can_record_ = can_record_ && emitter.can_record();
        continue;
      }
      const Value gradient = emitter.value(each.value, scope);
      can_record_ = can_record_ && emitter.can_record();
      const std::size_t input = place_in(inputs_, each.parameter);
      code += fmt::format("    if (b.needs({})) {{\n{}    b.grads[{}] = {};\n    }}\n", input,
                          emitter.code(), input, gradient.code);
    }
    std::string captured = "=";
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      for (const std::string_view look : {"sizes", "strides", "dtype", "device"}) {
        const std::string name = fmt::format("{}{}", look, i);
        if (code.find(name) != std::string::npos)
          captured += fmt::format(", {} = {}.{}()", name, inputs_[i], look);
      }
    }
    const std::string room =
        saved_.empty() ? std::string()
                       : fmt::format("    b.saved.resize({});\n", slots_.size() + results_.size());
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
  std::vector<std::string> slots_;    ///< in the order of release; the results come behind them
  std::vector<std::string> results_;  ///< what gradients call them
  std::set<std::size_t> saved_;
  std::string steps_code_;
  std::string steps_result_;
  bool can_record_ = true;
};

/// The call of C++ that does the steps: of the call's arguments, and constants.
std::string native_code(const Records& records, const Record& record, const Expression& e) {
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
  if (e.text == "type_of" || e.text == "type_of_range") {  // how numbers are written
    for (const Expression& each : e.parts)
      parts.push_back(fmt::format("{}", place_of(record, each.text)));
    return e.text == "type_of" ? fmt::format("type_of_number(a, {})", parts.at(0))
                               : fmt::format("type_of_range(a, {{{}}})", fmt::join(parts, ", "));
  }
  for (const Expression& each : e.parts) parts.push_back(native_code(records, record, each));
  if (e.text == "list") return fmt::format("Dims{{{}}}", fmt::join(parts, ", "));
  if (e.text == "add" && parts.size() == 2) return fmt::format("{} + {}", parts.at(0), parts.at(1));
  if (e.text == "eq") return fmt::format("{} == {}", parts.at(0), parts.at(1));
  if (e.text == "sizes") return parts.at(0) + ".sizes()";
  const auto native = records.natives.find(e.text);
  if (native != records.natives.end() && native->second.kind == Native::Kind::kPlain)
    return fmt::format("{}({})", e.text, fmt::join(parts, ", "));
  return fmt::format("{}(a.context(), {})", e.text, fmt::join(parts, ", "));
}

}  // namespace

WholeOperator whole_operator(const Records& records, const Record& record) {
  return Whole(records, record).made();
}

std::string run_code(const Records& records, const Record& record) {
  const std::string check =
      record.check.empty() ? std::string() : fmt::format("check_{}(a); ", record.check);
  std::string call;
  if (record.dispatch) {
    const bool takes_all = record.dispatch->kind == Expression::Kind::kName;
    call =
        takes_all ? record.dispatch->text + "(a)" : native_code(records, record, *record.dispatch);
    if (takes_all) return check + "return " + call + ";";
  } else {
    call = record.function() + "(a.context()";
    for (const Parameter& each : record.parameters) {
      if (!each.is_ignored()) call += ", " + argument_of(record, each);
    }
    call += ")";
  }
  if (record.gives_list || (!record.results.empty() && record.results[0].empty()))
    call = fmt::format("OpResult::tuple({})", call);
  if (!record.results.empty() && !record.results[0].empty())
    call = fmt::format("OpResult::named(\"{}\", \"{}\", {})", record.label,
                       fmt::join(record.results, " "), call);
  if (!record.first_unless.empty()) {
    return fmt::format("{0}OpResult all = {1}; if (a.flag({2})) return all; return all.tensors[0];",
                       check, call, place_of(record, record.first_unless));
  }
  return fmt::format("{}return {};", check, call);
}

std::string native_declaration(const Record& record) {
  if (!record.dispatch || record.dispatch->kind != Expression::Kind::kName) return {};
  return fmt::format("OpResult {}(Arguments& a);\n", record.dispatch->text);
}

}  // namespace tidemark::ops::records
