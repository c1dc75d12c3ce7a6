// Compiles the records of operators into constant tables: record_compiler TABLE.cc ROWS.cc
// RECORDS.yaml... The rows of the op table, which programs call, are compiled apart: for speed.
// A part of the build: what is wrong in a record is told with its place, and nothing is written.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/problem.h"
#include "sim/ops/record_compiler/emitter.h"
#include "sim/ops/record_compiler/record.h"
#include "sim/ops/record_compiler/whole.h"

namespace tidemark::ops::records {
namespace {

std::shared_ptr<const SourceText> source_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw IoError(path + ": cannot be read");
  // As it is cited: from the repository's root.
  const std::size_t root = path.rfind("sim/ops/");
  return std::make_shared<SourceText>(
      SourceText{root == std::string::npos ? path : path.substr(root), text.str()});
}

std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n\"\n     \"";
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

std::string code(const Releases& releases) {
  return fmt::format("{{{{{}, {}}}, {{{}, {}}}}}", releases.from.major, releases.from.minor,
                     releases.to.major, releases.to.minor);
}

/// Inputs by name, as autograd keeps them and computes their gradients.
std::vector<std::size_t> by_name(const Record& record) {
  std::vector<std::size_t> order(record.tensors().size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return record.input(a) < record.input(b); });
  return order;
}

std::string list(const std::vector<std::size_t>& numbers) {
  return fmt::format("{{{}}}", fmt::join(numbers, ", "));
}

/// What both files begin with.
constexpr std::string_view kHeaders =
    "// Made from sim/ops/records by sim/ops/record_compiler.\n"
    "#include <algorithm>\n#include <cmath>\n#include <limits>\n\n"
    "#include \"sim/ops/autocast.h\"\n#include \"sim/ops/complex_ops.h\"\n"
    "#include \"sim/ops/composite_ops.h\"\n#include \"sim/ops/dispatched.h\"\n"
    "#include \"sim/ops/attention_ops.h\"\n#include \"sim/ops/batch_norm_kernels.h\"\n"
    "#include \"sim/ops/batch_norm_ops.h\"\n#include \"sim/ops/norm_ops.h\"\n"
    "#include \"sim/ops/padding_ops.h\"\n#include \"sim/ops/resampling_ops.h\"\n"
    "#include \"sim/ops/families.h\"\n#include \"sim/ops/kernels.h\"\n#include "
    "\"sim/ops/natives.h\"\n#include "
    "\"sim/ops/op.h\"\n#include "
    "\"sim/ops/op_record.h\"\n#include \"sim/ops/indexing_ops.h\"\n#include "
    "\"sim/ops/pointwise_ops.h\"\n"
    "#include \"sim/ops/pointwise_rule.h\"\n#include \"sim/ops/recorded_kernels.h\"\n"
    "#include \"sim/ops/reduction_ops.h\"\n#include \"sim/ops/shape_ops.h\"\n"
    "#include \"sim/ops/softmax_ops.h\"\n#include \"sim/ops/steps.h\"\n#include "
    "\"sim/ops/values/rule.h\"\n\n";

class Writer {
 public:
  explicit Writer(const Records& records) : records_(records) {}

  /// The rows of the op table. Requires: table() was called.
  [[nodiscard]] std::string rows() const {
    return fmt::format(
        "{}"
        "namespace tidemark::ops {{\n\n{}"
        "extern const PointwiseRule kRecordRules[];\n\n{}"
        "std::span<const OpDef> pointwise_rules() {{\n"
        "  static constexpr OpDef kOps[] = {{\n{}}};\n  return kOps;\n}}\n\n"
        "}}  // namespace tidemark::ops\n",
        kHeaders, declarations_, views_, ops_);
  }

  std::string table() {
    for (std::size_t i = 0; i < records_.records.size(); ++i) add(i);
    std::vector<std::size_t> names(records_.records.size());
    std::iota(names.begin(), names.end(), 0);
    std::erase_if(
        names, [&](std::size_t i) { return records_.records[i].kind != Record::Kind::kPointwise; });
    std::stable_sort(names.begin(), names.end(), [&](std::size_t a, std::size_t b) {
      return records_.records[a].name < records_.records[b].name;
    });
    return fmt::format(
        "{}"
        "namespace tidemark::ops {{\n\n{}"
        "extern const PointwiseRule kRecordRules[];\n\nnamespace {{\n\n"
        "[[maybe_unused]] constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();\n"
        "{}"
        "constexpr std::uint16_t kByName[] = {{{}}};\n"
        "constexpr OpRecord kRecords[] = {{\n{}}};\n"
        "constexpr ValueRule kNumbers[] = {{\n{}}};\n\n"
        "}}  // namespace\n\n"
        "constexpr PointwiseRule kRecordRules[] = {{\n{}}};\n\n{}{}"
        "std::span<const ValueRule> recorded_values() {{ return kNumbers; }}\n"
        "std::span<const PointwiseRule> pointwise_table() {{ return kRecordRules; }}\n"
        "std::span<const std::uint16_t> pointwise_names() {{ return kByName; }}\n"
        "std::span<const OpRecord> op_records() {{ return kRecords; }}\n"
        "\n"
        "}}  // namespace tidemark::ops\n",
        kHeaders, declarations_, functions_, fmt::join(names, ", "), texts_, values_, rules_,
        wholes_, externs_);
  }

 private:
  void add(std::size_t index) {
    const Record& record = records_.records[index];
    const bool is_rule = record.kind == Record::Kind::kPointwise;
    const bool has_steps = record.has_steps();
    const bool is_whole = has_steps || record.dispatch;
    std::string node = record.gradients.empty() ? std::string() : record.node;
    if (has_steps && record.alias_of.empty()) {
      const WholeOperator made = whole_operator(records_, record);
      declarations_ += made.declaration + ";\n";
      // Views are called most: they are compiled with the rows.
      (record.file.ends_with("views.yaml") ? views_ : wholes_) += made.definition;
      if (!made.can_record) node.clear();
    }
    const std::string native = native_declaration(record);
    if (declarations_.find(native) == std::string::npos) declarations_ += native;
    // The numbers of rules are those of records.
    rules_ +=
        is_rule ? rule(record)
                : fmt::format("    {{\"{}\", \"{}\", \"{}\"}},\n", record.name, record.label, node);
    if (!is_rule && !is_whole) externs_ += outside(record);
    if (record.numbers) add_numbers(record);
    texts_ += fmt::format("    {{\"{}\", \"{}\", \"{}\", {}, \"{}\", {},\n     {}}},\n",
                          record.label, record.name, record.file, record.line, record.source,
                          string_literal(record.not_modelled), string_literal(record.text));
    if (is_rule && !record.dispatch) add_ops(record, rule_of(index));
    if (!is_whole) return;
    const std::string run = run_code(records_, record);
    std::vector<std::string> where = record.variants;
    if (record.functional == Record::Functional::kPlain) where.emplace_back("F");
    if (where.empty()) return;
    add_op(record, signature(record, "", ")", false), fmt::format("{}", fmt::join(where, " ")),
           run);
  }

  /// C++ of a number of the result.
  static std::string number_of(const Expression& e, const std::vector<std::string>& names) {
    const auto part = [&](std::size_t i) { return number_of(e.parts[i], names); };
    if (e.kind == Expression::Kind::kNumber) return fmt::format("{:#}", e.number);
    if (e.kind == Expression::Kind::kChoice)
      return fmt::format("({} != 0 ? {} : {})", part(2), part(0), part(1));
    if (e.kind == Expression::Kind::kName) {
      const auto at = std::find(names.begin(), names.end(), e.text);
      if (at == names.end())
        throw InputError(Problem{e.at, {}, fmt::format("'{}' is not known here", e.text), {}});
      return at == names.begin() ? "x" : "y";
    }
    struct Spelled {
      std::string_view call;
      std::string_view sign;
    };
    static constexpr Spelled kSigns[] = {{"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"},
                                         {"eq", "=="}, {"ne", "!="}, {"lt", "<"},  {"le", "<="},
                                         {"gt", ">"},  {"ge", ">="}};
    for (std::size_t i = 0; i < std::size(kSigns); ++i) {
      if (kSigns[i].call != e.text) continue;
      const std::string both = fmt::format("({} {} {})", part(0), kSigns[i].sign, part(1));
      return i < 4 ? both : "(" + both + " ? 1.0 : 0.0)";
    }
    if (e.text == "neg") return "(-" + part(0) + ")";
    const std::string name = e.text == "modulo" ? e.text : "std::" + e.text;
    return e.parts.size() == 1 ? fmt::format("{}({})", name, part(0))
                               : fmt::format("{}({}, {})", name, part(0), part(1));
  }

  /// The rule of its numbers. Records of one operator for several releases say the same.
  void add_numbers(const Record& record) {
    std::vector<std::string> names;
    for (const Parameter& each : record.parameters) {
      if (!each.name.empty() && names.size() < 2) names.push_back(each.name);
    }
    const bool two = names.size() == 2 && mentions(*record.numbers, names[1]);
    const std::string code = number_of(*record.numbers, names);
    const auto [at, is_new] = numbers_.emplace(record.label, code);
    if (!is_new && at->second != code) {
      throw InputError(
          Problem{record.at, {}, fmt::format("{}'s numbers are stated twice", record.label), {}});
    }
    if (!is_new) return;
    values_ += fmt::format(
        "    {{\"{}\", ValueRule::Kind::kPlain, nullptr, nullptr, 1, false,\n"
        "     {}[](double x{}) -> double {{ return {}; }}}},\n",
        record.label, two ? "nullptr, " : "", two ? ", double y" : "", code);
  }

  /// C++ of a record's parameters that are no tensors.
  static std::string type_of(const Parameter& parameter) {
    if (parameter.is_tensor()) return "const Tensor&";
    if (parameter.type == "int") return "std::int64_t";
    if (parameter.type.starts_with("int[]")) return "const Dims&";
    return parameter.type == "bool" ? "bool" : "double";
  }

  /// A record of what C++ makes: kExtern ties the results `made` to a node that has the record's
  /// gradients; kOfGraph is what a node of C++'s own does, with its saved tensors in the order of
  /// the schema.
  std::string outside(const Record& record) {
    const bool is_extern = record.kind == Record::Kind::kExtern;
    std::vector<std::string> inputs;  // that have a gradient
    for (const WrittenGradient& each : record.gradients) {
      for (std::string& name : names_in(each.parameter)) inputs.push_back(std::move(name));
    }
    const auto place_of = [&](std::string_view name) {
      return std::find(inputs.begin(), inputs.end(), name) - inputs.begin();
    };
    const auto place_in_schema = [&](const std::string& name) {
      return std::find_if(record.parameters.begin(), record.parameters.end(),
                          [&](const Parameter& each) { return each.name == name; });
    };
    if (is_extern) {
      std::sort(inputs.begin(), inputs.end(), [&](const std::string& a, const std::string& b) {
        return place_in_schema(a) < place_in_schema(b);
      });
    }
    std::vector<std::string> slots;
    std::string parameters;
    std::string others;
    for (const Parameter& each : record.parameters) {
      if (each.name.empty()) continue;
      const bool is_input = std::find(inputs.begin(), inputs.end(), each.name) != inputs.end();
      if (each.is_tensor()) slots.push_back(each.name);
      if (each.is_tensor() && !is_input) others += (others.empty() ? "&" : ", &") + each.name;
      if (is_extern || !each.is_tensor())
        parameters += fmt::format(", {}{} {}", each.is_tensor() ? "" : "[[maybe_unused]] ",
                                  type_of(each), each.name);
    }
    if (is_extern) std::sort(slots.begin(), slots.end());
    Scope scope{{"grad", tensor_value("b.grad()")}};
    for (std::size_t i = 0; i < 3; ++i)
      scope[fmt::format("grads{}", i)] =
          tensor_value(is_extern ? fmt::format("incoming(b, given, {})", i)
                                 : fmt::format("gradient_of(b, {})", i));
    for (const Parameter& each : record.parameters) {
      if (each.name.empty()) continue;
      const auto slot = std::find(slots.begin(), slots.end(), each.name) - slots.begin();
      const auto input = std::find(inputs.begin(), inputs.end(), each.name);
      Value value = number_value(each.name);
      if (each.is_tensor()) value = tensor_value(fmt::format("b.saved[{}]", slot));
      if (each.type == "bool" || each.type == "int[]") value.kind = Value::Kind::kOther;
      if (input != inputs.end()) value.input = static_cast<std::size_t>(input - inputs.begin());
      scope[each.name] = std::move(value);
    }
    std::string body = fmt::format("  b.saved.resize({});\n  const Steps s(b.c);\n", slots.size());
    unsigned mentioned = 0;
    for (const WrittenGradient& each : record.gradients) {
      for (std::size_t i = 0; i < slots.size(); ++i)
        mentioned |= mentions(each.value, slots[i]) ? 1U << i : 0U;
      Emitter emitter(records_);
      if (each.when == WrittenGradient::When::kTogether) {
        std::vector<std::string> wanted;
        std::vector<std::string> results;
        for (const std::string& name : names_in(each.parameter)) {
          wanted.push_back(fmt::format("b.needs({})", place_of(name)));
          results.push_back(fmt::format("b.grads[{}]", place_of(name)));
        }
        emitter.several(each.value, scope, wanted, results);
        body += "  {\n" + emitter.code() + "  }\n";
      } else {
        const Value made = emitter.value(each.value, scope);
        const auto at = place_of(each.parameter);
        body += fmt::format("  if (b.needs({})) {{\n{}  b.grads[{}] = {};\n  }}\n", at,
                            emitter.code(), at, made.code);
      }
    }
    if (!is_extern)
      return fmt::format("void {}_of_graph(Backward& b{}) {{\n{}}}\n\n", record.label, parameters,
                         body);
    std::string saves;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (((mentioned >> i) & 1U) != 0) saves += fmt::format("  op.save({}, {});\n", i, slots[i]);
    }
    return fmt::format(
        "TensorList {}(Context& c{}, TensorList made) {{\n"
        "  Op op(c, \"{}\", \"{}\", {{&{}}}, {{{}}});\n{}"
        "  [[maybe_unused]] const unsigned given = given_of(made);\n"
        "  op.results_of(made, [=](Backward& b) {{\n{}  }});\n"
        "  return made;\n}}\n\n",
        record.label, parameters, record.label, record.node, fmt::join(inputs, ", &"), others,
        saves, body);
  }

  /// The names that a gradient may say, and the C++ of them.
  static Scope scope_of(const Record& record, const std::vector<std::size_t>& slots) {
    Scope scope{{"grad", tensor_value("b.grad()")},
                {"result", tensor_value(fmt::format("b.saved[{}]", slots.size()))}};
    std::size_t input = 0;
    bool has_number = false;
    for (const Parameter& each : record.parameters) {
      using Kind = Parameter::Kind;
      if (each.kind == Kind::kTensor || each.kind == Kind::kOperand) {
        Value value = tensor_value(fmt::format("b.saved[{}]", slots[input]));
        value.input = input++;
        scope[each.name] = std::move(value);
      } else if (!each.name.empty()) {
        const bool is_own = each.decides() && !std::exchange(has_number, true);
        Value value = number_value(is_own ? "number" : "kUnknown");
        value.is_known = is_own;
        scope[each.name] = std::move(value);
      }
    }
    return scope;
  }

  static std::uint8_t mentions_in(const Record& record, const Expression& expression) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < record.tensors().size(); ++i)
      bits |= mentions(expression, record.input(i)) ? 1U << i : 0U;
    if (mentions(expression, "result")) bits |= 1U << PointwiseRule::kResult;
    return static_cast<std::uint8_t>(bits);
  }

  /// One function for all gradients of the same body.
  std::string function(std::string_view type, const std::string& body) {
    const auto [made, is_new] =
        made_.try_emplace(std::string(type) + body, fmt::format("gradient{}", made_.size()));
    const std::string& name = made->second;
    if (!is_new) return name;
    functions_ += fmt::format(
        "{} {}(Backward& b, [[maybe_unused]] double number) {{\n"
        "  [[maybe_unused]] const Steps s(b.c);\n{}}}\n\n",
        type, name, body);
    return name;
  }

  static std::string gradient(std::string_view run, std::uint8_t mentioned, bool takes_complex) {
    return fmt::format("{{{}, {}, true, {}}}", run, mentioned, takes_complex);
  }
  std::string gradient(const Record& record, const Expression& expression, const Scope& scope) {
    Emitter emitter(records_);
    const Value made = emitter.value(expression, scope);
    const bool hands_on = emitter.steps() == 0 && made.code == "b.grad()";
    const bool is_negative = emitter.steps() == 1 && expression.text == "neg";
    const bool takes_complex =
        hands_on || is_negative || emitter.conjugates() || record.takes_complex;
    const std::string run =
        hands_on
            ? "nullptr"
            : "&" + function("Tensor", fmt::format("{}  return {};\n", emitter.code(), made.code));
    return gradient(run, mentions_in(record, expression), takes_complex);
  }
  /// One formula for all gradients.
  std::string all_gradients(const Record& record, const Expression& expression,
                            const Scope& scope) {
    std::vector<std::string> wanted;
    std::vector<std::string> results;
    for (std::size_t i = 0; i < record.tensors().size(); ++i) {
      wanted.push_back(fmt::format("b.needs({})", i));
      results.push_back(fmt::format("b.grads[{}]", i));
    }
    Emitter emitter(records_);
    emitter.several(expression, scope, wanted, results);
    return "&" + function("void", emitter.code());
  }

  std::string rule(const Record& record) {
    const std::vector<std::size_t> order = by_name(record);
    std::vector<std::size_t> slots(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) slots[order[i]] = i;
    const Scope scope = scope_of(record, slots);
    std::array<std::string, 3> plain{"{}", "{}", "{}"};
    std::array<std::string, 3> of_graph = plain;
    std::string in_place = "{}";
    std::string all = "nullptr";
    for (const WrittenGradient& each : record.gradients) {
      using When = WrittenGradient::When;
      if (each.when == When::kTogether) {
        all = all_gradients(record, each.value, scope);
        for (std::size_t i = 0; i < order.size(); ++i)
          plain[i] = gradient("nullptr", mentions_in(record, each.value), record.takes_complex);
        continue;
      }
      std::string made = gradient(record, each.value, scope);
      const std::size_t input = input_of(record, each.parameter);
      if (each.when == When::kInPlace) {
        in_place = std::move(made);
      } else {
        (each.when == When::kAlways ? plain : of_graph)[input] = std::move(made);
      }
    }
    std::vector<std::size_t> reads;
    for (const std::string& name : record.reads) reads.push_back(input_of(record, name));
    if (reads.empty()) {
      reads.resize(order.size());
      std::iota(reads.begin(), reads.end(), 0);
    }
    const bool takes_out = record.variants.size() == 2 && !record.contiguous;
    return fmt::format(
        "    {{\"{}\", \"{}\", \"{}\", {}, ResultKind{{{}}}, {}, {}, {}, {}, {}, {},\n"
        "     {{{{{}, {}, {}}}}}, {{{{{}, {}, {}}}}}, {}, {}, {}}},\n",
        record.name, record.label, record.node, order.size(), static_cast<int>(record.result),
        record.cast ? fmt::format("CastPolicy{{{}}}", static_cast<int>(*record.cast))
                    : std::string("std::nullopt"),
        record.contiguous, takes_out, list(reads), list(slots), list(order), plain[0], plain[1],
        plain[2], of_graph[0], of_graph[1], of_graph[2], in_place, all, code(record.releases));
  }

  static std::size_t input_of(const Record& record, std::string_view name) {
    for (std::size_t i = 0; i < record.tensors().size(); ++i) {
      if (record.input(i) == name) return i;
    }
    throw InputError(Problem{record.at, {}, fmt::format("'{}' is no tensor of it", name), {}});
  }

  /// "input" is what users call the first one.
  static std::string signature(const Record& record, std::string_view mark, std::string_view end,
                               bool is_in_place) {
    std::string out = record.label + std::string(mark) + "(";
    bool is_first = true;
    for (const Parameter& each : record.parameters) {
      if (!is_first) out += ", ";
      const bool is_made = is_first && is_in_place && each.kind == Parameter::Kind::kOperand;
      out += is_made ? "Tensor" : each.type;
      if (!each.name.empty()) {
        out += each.takes_rest ? " *" : " ";
        out += (each.name == "self" ? "input" : each.name) + each.rest;
      }
      is_first = false;
    }
    return out + std::string(end);
  }

  void add_op(const Record& record, std::string_view signature, std::string_view where,
              std::string_view run) {
    // Views are called most: what reads their arguments is part of the row.
    const std::string_view whole = record.dispatch ? " __attribute__((flatten))" : "";
    ops_ += fmt::format(
        "    {{\"{}\", \"{}\",\n     [](Arguments& a){} -> OpResult {{ {} }},\n"
        "     \"{}\", {}}},\n",
        signature, where, whole, run, record.source, code(record.releases));
  }

  /// Another name runs the rule of the record that it is a name of.
  [[nodiscard]] std::size_t rule_of(std::size_t index) const {
    const std::string name = records_.records[index].alias_of;
    while (!name.empty() && records_.records[index].name != name) --index;
    return index;
  }

  void add_ops(const Record& record, std::size_t index) {
    std::string rest;
    std::string text;
    std::string number;
    std::size_t at = 0;
    for (std::size_t i = 1; i < record.parameters.size(); ++i) {
      const Parameter& each = record.parameters[i];
      at += record.parameters[i - 1].name.empty() ? 0U : 1U;
      using Kind = Parameter::Kind;
      if (each.kind == Kind::kTensor) rest += fmt::format(", a.tensor({})", at);
      if (each.kind == Kind::kOperand) rest += fmt::format(", a.operand({})", at);
      if (each.type == "str") text = fmt::format("a.text({})", at);
      if (each.type == "number" && number.empty()) number = fmt::format(", a.number({})", at);
    }
    if (!text.empty()) {
      rest += std::string(record.tensors().size() == 1 ? ", {}" : "") + ", text_code(" + text + ")";
    } else if (record.tensors().size() == 3) {
      const std::size_t last = rest.rfind(", ");
      rest = rest.substr(0, last) + ", 0" + rest.substr(last);
    } else if (record.tensors().size() == 2) {
      rest += number;
    }
    const bool two = record.tensors().size() > 1;
    const std::string rule = fmt::format("a.context(), kRecordRules[{}], ", index);
    const std::string check =
        record.check.empty() ? std::string() : fmt::format("check_{}(a); ", record.check);
    const std::string plain =
        check + "return apply(" + rule + (two ? "a.operand(0)" : "a.tensor(0)") + rest + ");";
    const std::string in_place =
        check + "return apply_in_place(" + rule + "a.tensor(0)" + rest + ");";
    using Functional = Record::Functional;
    std::vector<std::string> where = record.variants;
    if (record.writes_self) {
      add_op(record, signature(record, "", ")", false), fmt::format("{}", fmt::join(where, " ")),
             in_place);
      return;
    }
    if (record.functional == Functional::kPlain) where.emplace_back("F");
    if (!where.empty()) {
      add_op(record, signature(record, "", ")", false), fmt::format("{}", fmt::join(where, " ")),
             plain);
    }
    if (!record.variants.empty() && record.in_place) {
      add_op(record, signature(record, "_", ")", true),
             record.in_place_is_method ? std::string("method")
                                       : fmt::format("{}", fmt::join(record.variants, " ")),
             in_place);
    }
    if (record.functional != Functional::kInPlace) return;
    add_op(record, signature(record, "", ", bool inplace=False)", false), "F",
           fmt::format("if (a.flag({})) {} {}", record.parameters.size(), in_place, plain));
    add_op(record, signature(record, "_", ")", true), record.variants.empty() ? "F torch" : "F",
           in_place);
  }

  const Records& records_;
  std::map<std::string, std::string> made_;  // by type and body
  std::string functions_;
  std::string rules_;
  std::string texts_;
  std::string ops_;
  std::string externs_;
  std::string declarations_;
  std::string wholes_;
  std::string views_;
  std::string values_;
  std::map<std::string, std::string> numbers_;  ///< by operator: its numbers' C++
};

void write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw IoError(path + ": cannot be written");
}

int run(int argc, char** argv) {
  Records records;
  for (int i = 3; i < argc; ++i) read_records(source_of(argv[i]), records);
  Writer writer(records);
  write(argv[1], writer.table());
  write(argv[2], writer.rows());
  return 0;
}

}  // namespace
}  // namespace tidemark::ops::records

int main(int argc, char** argv) {
  try {
    if (argc < 4)
      throw std::runtime_error("usage: record_compiler TABLE.cc ROWS.cc RECORDS.yaml...");
    return tidemark::ops::records::run(argc, argv);
  } catch (const tidemark::InputError& error) {
    std::fputs(tidemark::render_problems(error.problems()).c_str(), stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "record_compiler: %s\n", error.what());
  }
  return 2;
}
