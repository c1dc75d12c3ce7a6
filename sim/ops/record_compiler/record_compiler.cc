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
#include <vector>

#include "sim/base/problem.h"
#include "sim/ops/record_compiler/gradient_compiler.h"
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

std::string code(const Gradient& g) {
  if (!g.exists) return "{}";
  return fmt::format("{{{}, {}, {}, {}, true, {}}}", g.first, g.count, g.place, g.mentions,
                     g.takes_complex);
}

std::string code(const Step& s) {
  const auto number = [](float x) {
    return std::isnan(x) ? std::string("kUnknown") : fmt::format("{}", x);
  };
  return fmt::format(
      "    {{StepKind{{{}}}, ResultKind{{{}}}, {}, {{{}, {}, {}}}, {}, {}, {}, {}}},\n",
      static_cast<int>(s.kind), static_cast<int>(s.result), s.count, s.operands[0], s.operands[1],
      s.operands[2], s.rule, s.extra, number(s.scale), number(s.offset));
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
    std::string steps;
    for (const Step& step : steps_.steps) steps += code(step);
    std::string refusals;
    for (const std::string& each : steps_.refusals)
      refusals += fmt::format("    {},\n", string_literal(each));
    std::vector<std::size_t> names(records_.records.size());
    std::iota(names.begin(), names.end(), 0);
    std::stable_sort(names.begin(), names.end(), [&](std::size_t a, std::size_t b) {
      return records_.records[a].name < records_.records[b].name;
    });
    return fmt::format(
        "// Made from sim/ops/records by sim/ops/record_compiler.\n"
        "#include <array>\n#include <limits>\n\n"
        "#include \"sim/ops/families.h\"\n#include \"sim/ops/op_record.h\"\n"
        "#include \"sim/ops/pointwise_rule.h\"\n\n"
        "namespace tidemark::ops {{\nnamespace {{\n\n"
        "constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();\n"
        "constexpr Step kSteps[] = {{\n{}}};\n"
        "constexpr std::string_view kRefusals[] = {{\n{}}};\n"
        "constexpr PointwiseRule kRules[] = {{\n{}}};\n"
        "constexpr std::uint16_t kByName[] = {{{}}};\n"
        "constexpr OpRecord kRecords[] = {{\n{}}};\n"
        "constexpr OpDef kOps[] = {{\n{}}};\n\n"
        "}}  // namespace\n\n"
        "std::span<const PointwiseRule> pointwise_table() {{ return kRules; }}\n"
        "std::span<const std::uint16_t> pointwise_names() {{ return kByName; }}\n"
        "std::span<const Step> step_table() {{ return kSteps; }}\n"
        "std::string_view refusal(std::uint16_t number) {{ return kRefusals[number]; }}\n"
        "std::span<const OpRecord> op_records() {{ return kRecords; }}\n"
        "std::span<const OpDef> pointwise_rules() {{ return kOps; }}\n\n"
        "}}  // namespace tidemark::ops\n",
        steps, refusals, rules_, fmt::join(names, ", "), texts_, ops_);
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

  std::string rule(const Record& record) {
    std::array<Gradient, 3> plain;
    std::array<Gradient, 3> of_graph;
    Gradient in_place;
    for (const WrittenGradient& each : record.gradients) {
      const Gradient made = compile_gradient(records_, record, each.value, steps_);
      const std::size_t input = input_of(record, each.parameter);
      using When = WrittenGradient::When;
      if (each.when == When::kInPlace) {
        in_place = made;
      } else {
        (each.when == When::kAlways ? plain : of_graph)[input] = made;
      }
    }
    const std::vector<std::size_t> order = by_name(record);
    std::vector<std::size_t> slots(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) slots[order[i]] = i;
    std::vector<std::size_t> reads;
    for (const std::string& name : record.reads) reads.push_back(input_of(record, name));
    if (reads.empty()) {
      reads.resize(order.size());
      std::iota(reads.begin(), reads.end(), 0);
    }
    const bool takes_out = record.variants.size() == 2 && !record.contiguous;
    return fmt::format(
        "    {{\"{}\", \"{}\", \"{}\", {}, ResultKind{{{}}}, {}, {}, {}, {}, {}, {},\n"
        "     {{{{{}, {}, {}}}}}, {{{{{}, {}, {}}}}}, {}, {}}},\n",
        record.name, record.label, record.node, order.size(), static_cast<int>(record.result),
        record.cast ? fmt::format("CastPolicy{{{}}}", static_cast<int>(*record.cast))
                    : std::string("std::nullopt"),
        record.contiguous, takes_out, list(reads), list(slots), list(order), code(plain[0]),
        code(plain[1]), code(plain[2]), code(of_graph[0]), code(of_graph[1]), code(of_graph[2]),
        code(in_place), code(record.releases));
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
    const bool two = record.tensors().size() > 1;
    const std::string rule = fmt::format("a.context(), kRules[{}], ", index);
    const std::string plain =
        "return apply(" + rule + (two ? "a.operand(0), a.operand(1));" : "a.tensor(0));");
    const std::string in_place =
        "return apply_in_place(" + rule + (two ? "a.tensor(0), a.operand(1));" : "a.tensor(0));");
    using Functional = Record::Functional;
    std::vector<std::string> where = record.variants;
    if (record.functional == Functional::kPlain) where.emplace_back("F");
    if (!where.empty()) {
      add_op(record, signature(record, "", ")", false), fmt::format("{}", fmt::join(where, " ")),
             plain);
    }
    if (!record.variants.empty() && record.in_place) {
      add_op(record, signature(record, "_", ")", true),
             fmt::format("{}", fmt::join(record.variants, " ")), in_place);
    }
    if (record.functional != Functional::kInPlace) return;
    add_op(record, signature(record, "", ", bool inplace=False)", false), "F",
           fmt::format("if (a.flag({})) {} {}", record.parameters.size(), in_place, plain));
    add_op(record, signature(record, "_", ")", true), record.variants.empty() ? "F torch" : "F",
           in_place);
  }

  const Records& records_;
  Steps steps_;
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
