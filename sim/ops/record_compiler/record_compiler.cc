// Compiles the records of operators into constant tables: record_compiler OUTPUT.cc RECORDS.yaml...
// A part of the build: what is wrong in a record is told with its place, and nothing is written.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/problem.h"
#include "sim/ops/record_compiler/emitter.h"
#include "sim/ops/record_compiler/record.h"

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

class Writer {
 public:
  explicit Writer(const Records& records) : records_(records) {}

  std::string text() {
    for (std::size_t i = 0; i < records_.records.size(); ++i) add(i);
    std::vector<std::size_t> names(records_.records.size());
    std::iota(names.begin(), names.end(), 0);
    std::stable_sort(names.begin(), names.end(), [&](std::size_t a, std::size_t b) {
      return records_.records[a].name < records_.records[b].name;
    });
    return fmt::format(
        "// Made from sim/ops/records by sim/ops/record_compiler.\n"
        "#include <cmath>\n#include <limits>\n\n"
        "#include \"sim/ops/complex_ops.h\"\n"
        "#include \"sim/ops/families.h\"\n#include \"sim/ops/op_record.h\"\n"
        "#include \"sim/ops/pointwise_rule.h\"\n#include \"sim/ops/steps.h\"\n\n"
        "namespace tidemark::ops {{\nnamespace {{\n\n"
        "[[maybe_unused]] constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();\n"
        "extern const PointwiseRule kRules[];\n\n{}"
        "constexpr PointwiseRule kRules[] = {{\n{}}};\n"
        "constexpr std::uint16_t kByName[] = {{{}}};\n"
        "constexpr OpRecord kRecords[] = {{\n{}}};\n"
        "constexpr OpDef kOps[] = {{\n{}}};\n\n"
        "}}  // namespace\n\n"
        "std::span<const PointwiseRule> pointwise_table() {{ return kRules; }}\n"
        "std::span<const std::uint16_t> pointwise_names() {{ return kByName; }}\n"
        "std::span<const OpRecord> op_records() {{ return kRecords; }}\n"
        "std::span<const OpDef> pointwise_rules() {{ return kOps; }}\n\n"
        "}}  // namespace tidemark::ops\n",
        functions_, rules_, fmt::join(names, ", "), texts_, ops_);
  }

 private:
  void add(std::size_t index) {
    const Record& record = records_.records[index];
    rules_ += rule(record);
    texts_ += fmt::format("    {{\"{}\", \"{}\", \"{}\", {}, \"{}\", {},\n     {}}},\n",
                          record.label, record.name, record.file, record.line, record.source,
                          string_literal(record.not_modelled), string_literal(record.text));
    add_ops(record, index);
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
        const bool is_own = each.kind == Kind::kNumber && !std::exchange(has_number, true);
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

  std::string function(std::string_view type, const std::string& body) {
    const std::string name = fmt::format("gradient{}", count_++);
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
        hands_on ? "nullptr"
                 : "&" + function("Tensor", fmt::format("{}  return {};\n", emitter.code(), made.code));
    return gradient(run, mentions_in(record, expression), takes_complex);
  }
  /// One formula for all gradients.
  std::string all_gradients(const Record& record, const Expression& expression, const Scope& scope) {
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
      if (!each.name.empty()) out += " " + (each.name == "self" ? "input" : each.name) + each.rest;
      is_first = false;
    }
    return out + std::string(end);
  }

  void add_op(const Record& record, std::string_view signature, std::string_view where,
              std::string_view run) {
    ops_ += fmt::format(
        "    {{\"{}\", \"{}\",\n     [](Arguments& a) -> OpResult {{ {} }},\n"
        "     \"{}\", {}}},\n",
        signature, where, run, record.source, code(record.releases));
  }

  void add_ops(const Record& record, std::size_t index) {
    std::string rest;
    std::size_t at = 0;
    for (std::size_t i = 1; i < record.parameters.size(); ++i) {
      const Parameter& each = record.parameters[i];
      at += record.parameters[i - 1].name.empty() ? 0U : 1U;
      using Kind = Parameter::Kind;
      if (each.kind == Kind::kTensor) rest += fmt::format(", a.tensor({})", at);
      if (each.kind == Kind::kOperand) rest += fmt::format(", a.operand({})", at);
    }
    if (record.tensors().size() == 3) {
      const std::size_t last = rest.rfind(", ");
      rest = rest.substr(0, last) + ", 0" + rest.substr(last);
    }
    const bool two = record.tensors().size() > 1;
    const std::string rule = fmt::format("a.context(), kRules[{}], ", index);
    const std::string check =
        record.check.empty() ? std::string() : fmt::format("check_{}(a); ", record.check);
    const std::string plain =
        check + "return apply(" + rule + (two ? "a.operand(0)" : "a.tensor(0)") + rest + ");";
    const std::string in_place = check + "return apply_in_place(" + rule + "a.tensor(0)" + rest + ");";
    using Functional = Record::Functional;
    std::vector<std::string> where = record.variants;
    if (record.functional == Functional::kPlain) where.emplace_back("F");
    if (!where.empty()) {
      add_op(record, signature(record, "", ")", false), fmt::format("{}", fmt::join(where, " ")),
             plain);
    }
    if (!record.variants.empty() && record.in_place) {
      add_op(record, signature(record, "_", ")", true),
             record.in_place_is_method ? std::string("method")
                                       : fmt::format("{}", fmt::join(record.variants, " ")), in_place);
    }
    if (record.functional != Functional::kInPlace) return;
    add_op(record, signature(record, "", ", bool inplace=False)", false), "F",
           fmt::format("if (a.flag({})) {} {}", record.parameters.size(), in_place, plain));
    add_op(record, signature(record, "_", ")", true), record.variants.empty() ? "F torch" : "F",
           in_place);
  }

  const Records& records_;
  std::size_t count_ = 0;
  std::string functions_;
  std::string rules_;
  std::string texts_;
  std::string ops_;
};

int run(int argc, char** argv) {
  Records records;
  for (int i = 2; i < argc; ++i) read_records(source_of(argv[i]), records);
  const std::string text = Writer(records).text();
  std::ofstream out(argv[1], std::ios::binary);
  out << text;
  out.close();
  if (!out) throw IoError(std::string(argv[1]) + ": cannot be written");
  return 0;
}

}  // namespace
}  // namespace tidemark::ops::records

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw std::runtime_error("usage: record_compiler OUTPUT.cc RECORDS.yaml...");
    return tidemark::ops::records::run(argc, argv);
  } catch (const tidemark::InputError& error) {
    std::fputs(tidemark::render_problems(error.problems()).c_str(), stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "record_compiler: %s\n", error.what());
  }
  return 2;
}
