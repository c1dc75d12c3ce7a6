#include "sim/ops/record_compiler/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <utility>

#include "sim/base/problem.h"
#include "sim/yaml/yaml.h"
#include "sim/yaml/yaml_fields.h"

namespace tidemark::ops::records {

namespace {

using yaml::Entry;
using yaml::Fields;
using yaml::Node;

[[noreturn]] void fail(const SourceSpan& at, std::string message) {
  throw InputError(Problem{at, {}, std::move(message), {}});
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = text.find(by);
    out.emplace_back(trimmed(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

/// The parameters of a schema, apart by commas outside of brackets.
std::vector<std::string> split_parameters(std::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    depth += c == '[' ? 1 : (c == ']' ? -1 : 0);
    if (c != ',' || depth > 0) continue;
    out.emplace_back(trimmed(text.substr(start, at - start)));
    start = at + 1;
  }
  return out;
}

/// PyTorch's names of types, and those of the op table.
struct TypeName {
  std::string_view written;
  std::string_view in_table;
};
constexpr std::array<TypeName, 10> kTypeNames{{{"Tensor(a)", "Tensor"},
                                               {"Tensor(a!)", "Tensor"},
                                               {"Tensor|Scalar", "operand"},
                                               {"Tensor|Scalar?", "operand?"},
                                               {"Scalar", "number"},
                                               {"Scalar?", "number?"},
                                               {"ScalarType", "dtype"},
                                               {"ScalarType?", "dtype?"},
                                               {"MemoryFormat?", "memory_format?"},
                                               {"Device?", "device?"}}};

Parameter read_parameter(std::string_view text) {
  Parameter out;
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) {  // "*"
    out.type = text;
    return out;
  }
  std::string type(text.substr(0, blank));
  std::string_view name = text.substr(blank + 1);
  const std::size_t equals = name.find('=');
  if (equals != std::string_view::npos) {
    out.rest = name.substr(equals);
    name = name.substr(0, equals);
  }
  out.takes_rest = name.starts_with('*');
  out.name = name.substr(out.takes_rest ? 1 : 0);
  for (const TypeName& each : kTypeNames) {
    if (each.written == type) {
      type = each.in_table;
      break;
    }
  }
  using Kind = Parameter::Kind;
  if (type == "Tensor" || type == "Tensor?") {
    out.kind = Kind::kTensor;
  } else if (type == "operand") {
    out.kind = Kind::kOperand;
  } else if (type == "number" || type == "number?") {
    out.kind = Kind::kNumber;
  }
  out.type = std::move(type);
  return out;
}

/// "tanh.out(Tensor self, Scalar x=1) -> Tensor".
void read_schema(const Node& node, Record& record) {
  const std::string_view schema = node.text;
  const std::size_t open = schema.find('(');
  const std::size_t arrow = schema.find(") -> ");
  if (open == std::string_view::npos || arrow == std::string_view::npos) {
    fail(node.at, "expected NAME(TYPE NAME, ...) -> Tensor");
  }
  const std::size_t close = arrow;
  std::string_view made = trimmed(schema.substr(arrow + 5));
  if (!made.starts_with("Tensor") && !made.starts_with("(Tensor"))
    fail(node.at, "expected '-> Tensor'");
  record.gives_list = made.starts_with("Tensor") && made.ends_with("[]");
  record.writes_self = made == "Tensor(a!)";
  if (made.starts_with('(')) {
    for (const std::string& each : split_parameters(made.substr(1, made.size() - 2)))
      record.results.push_back(read_parameter(each).name);
  }
  record.name = schema.substr(0, open);
  record.label = record.name.substr(0, record.name.find('.'));
  for (const std::string& each : split_parameters(schema.substr(open + 1, close - open - 1)))
    record.parameters.push_back(read_parameter(each));
}

/// PyTorch's own: "log1p" is Log1PBackward0, "special_i0e" SpecialI0EBackward0.
std::string node_name(std::string_view label) {
  std::string out;
  bool starts = true;
  for (const char c : label) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (c != '_') {
      out +=
          starts && is_letter ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    }
    starts = !is_letter;
  }
  return out + "Backward0";
}

Version read_version(const Node& at, std::string_view text) {
  const std::vector<std::string> parts = split(text, '.');
  if (parts.size() != 2) fail(at.at, "expected releases as '2.4 to 2.13'");
  const auto number = [](const std::string& part) {
    return static_cast<std::uint8_t>(std::stoi(part));
  };
  return {number(parts[0]), number(parts[1])};
}

Releases read_releases(const Node& node) {
  const std::string_view text = node.text;
  const std::size_t to = text.find(" to ");
  const Version from = read_version(node, text.substr(0, to));
  return {from, to == std::string_view::npos ? from : read_version(node, text.substr(to + 4))};
}

constexpr std::array<std::string_view, 4> kResults{"promote", "float", "bool", "integral"};
constexpr std::array<std::string_view, 4> kPolicies{"lower_precision", "fp32", "promote",
                                                    "fp32_set_opt_dtype"};
constexpr std::array<std::string_view, 2> kFunctional{"plain", "inplace"};
constexpr std::array<std::string_view, 15> kKinds{
    "pointwise", "extern",     "of_graph", "reduction", "loss", "view", "composite", "copy",
    "scan",      "activation", "index",    "sort",      "pool", "norm", "product"};
constexpr std::array<std::string_view, 1> kCosts{"gathers"};
constexpr std::array<std::string_view, 2> kInPlace{"false", "method"};
constexpr std::array<std::string_view, 1> kLayouts{"contiguous"};

void read_variants(const Node& node, Record& record) {
  for (const std::string& each : split(node.text, ',')) {
    if (each != "function" && each != "method" && each != "linalg")
      fail(node.at, "expected 'function', 'method' or 'linalg'");
    record.variants.push_back(each == "function" ? "torch" : each);
  }
}

Expression read_expression(const Node& node) {
  return read_statement(yaml::embedded_source(node)).value;
}

/// One statement, or a list of them.
std::vector<Statement> read_statements(const Node& node) {
  std::vector<Statement> out;
  if (node.is_text()) out.push_back(read_statement(yaml::embedded_source(node)));
  for (const Node& item : node.items) out.push_back(read_statement(yaml::embedded_source(item)));
  if (out.empty() || !out.back().name.empty())
    fail(node.at, "expected statements, the last one a value");
  return out;
}

/// `keys`: live as long as `fields`.
void read_gradients(const Node& node, Fields& fields, std::deque<std::string>& keys,
                    Record& record) {
  using When = WrittenGradient::When;
  for (const std::size_t i : record.tensors()) {
    const std::string& name = record.parameters[i].name;
    const std::array<std::pair<std::string, When>, 3> forms{{{name, When::kAlways},
                                                             {name + "_in_place", When::kInPlace},
                                                             {name + "_of_graph", When::kOfGraph}}};
    for (const auto& [key, when] : forms) {
      if (const Node* value = fields.get(keys.emplace_back(key)))
        record.gradients.push_back({name, when, read_expression(*value)});
    }
  }
  for (const Entry& entry : node.entries) {
    if (entry.key.find(", ") == std::string::npos) continue;
    if (const Node* value = fields.get(keys.emplace_back(entry.key)))
      record.gradients.push_back({entry.key, When::kTogether, read_expression(*value)});
  }
}

void read_fields(const Node& node, Fields& fields, std::deque<std::string>& keys, Record& record) {
  if (const auto choice = fields.choice("kind", kKinds))
    record.kind = static_cast<Record::Kind>(*choice);
  if (const Node* list = fields.get("variants")) read_variants(*list, record);
  if (const auto choice = fields.choice("functional", kFunctional)) {
    record.functional = *choice == 0 ? Record::Functional::kPlain : Record::Functional::kInPlace;
  }
  if (const auto choice = fields.choice("inplace", kInPlace)) {
    record.in_place = *choice != 0;
    record.in_place_is_method = *choice == 1;
  }
  record.check = fields.text("check").value_or("");
  if (const auto choice = fields.choice("dtype", kResults))
    record.result = static_cast<ResultKind>(*choice);
  if (const auto choice = fields.choice("autocast", kPolicies)) {
    record.casts_by_argument = *choice == 3;
    record.cast = record.casts_by_argument ? CastPolicy::kFp32 : static_cast<CastPolicy>(*choice);
  }
  if (const Node* list = fields.get("broadcast")) record.broadcast = split(list->text, ',');
  record.contiguous = fields.choice("layout", kLayouts).has_value();
  record.takes_complex = fields.boolean("complex").value_or(false);
  if (const auto source = fields.text("rule")) record.source = *source;
  if (const Node* steps = fields.get("forward")) record.forward = read_statements(*steps);
  if (const Node* steps = fields.get("checks")) record.checks = read_statements(*steps);
  record.first_unless = fields.text("first_unless").value_or("");
  record.gathers = fields.choice("cost", kCosts).has_value();
  if (const Node* call = fields.get("dispatch")) record.dispatch = read_expression(*call);
  const int sides = (record.forward.empty() ? 0 : 1) + (record.dispatch ? 1 : 0);
  const bool is_rule = record.kind == Record::Kind::kPointwise && record.forward.empty();
  if (!is_rule && sides != (record.kind >= Record::Kind::kReduction ? 1 : 0)) {
    fail(node.at,
         "expected 'forward' or 'dispatch' where the kind is none of pointwise, extern and "
         "of_graph");
  }
  if (record.kind < Record::Kind::kReduction && record.tensors().empty())
    fail(node.at, "expected a Tensor among the parameters");
  if (const Node* numbers = fields.get("numbers")) record.numbers = read_expression(*numbers);
  record.not_modelled = fields.text("not_modelled").value_or("");
  if (const Node* text = fields.get("releases")) record.releases = read_releases(*text);
  if (const Node* list = fields.get("reads")) record.reads = split(list->text, ',');
  read_gradients(node, fields, keys, record);
  record.node = fields.text("node").value_or(record.gradients.empty() ? std::string()
                                                                      : node_name(record.label));
}

/// The lines from the record's first on, as far as they are indented.
std::string text_of(const SourceText& source, std::uint32_t line) {
  constexpr std::string_view kIndent = "    ";
  std::string out;
  std::string_view rest = source.text;
  for (std::uint32_t at = 1; !rest.empty(); ++at) {
    const std::size_t end = rest.find('\n');
    const std::string_view each = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (at < line) continue;
    if (at > line && !each.starts_with(kIndent)) break;
    out += each.substr(std::min(each.size(), kIndent.size()));
    out += '\n';
  }
  return out;
}

void read_record(const Node& node, const std::string& section, Records& into,
                 std::vector<Problem>& problems) {
  std::deque<std::string> keys;
  Fields fields(node, "", problems);
  fields.require("func");
  const Node* func = fields.get("func");
  if (func == nullptr) return;
  Record record;
  record.at = func->at;
  record.file = node.at.source->name;
  record.line = func->at.line;
  record.text = text_of(*node.at.source, record.line);
  record.source = section;
  read_schema(*func, record);
  read_fields(node, fields, keys, record);
  std::vector<std::string> aliases;
  if (const Node* list = fields.get("aliases")) aliases = split(list->text, ',');
  fields.done();
  into.records.push_back(record);
  record.alias_of = record.name;
  for (const std::string& alias : aliases) {
    record.name = alias;
    record.label = alias;
    into.records.push_back(record);
  }
}

/// "wrap_dim(int dim, int rank) -> int".
void read_native(const Node& node, Native::Kind kind, Records& into) {
  const std::string_view text = node.text;
  const std::size_t open = text.find('(');
  const std::size_t arrow = text.find(") -> ");
  if (open == std::string_view::npos || arrow == std::string_view::npos)
    fail(node.at, "expected NAME(TYPE NAME, ...) -> TYPE");
  Native out;
  out.kind = kind;
  out.name = text.substr(0, open);
  for (const std::string& each : split_parameters(text.substr(open + 1, arrow - open - 1)))
    out.parameters.push_back(read_parameter(each));
  const std::string_view made = trimmed(text.substr(arrow + 5));
  using Gives = Native::Gives;
  out.gives = made == "Tensor"     ? Gives::kTensor
              : made == "Tensor[]" ? Gives::kList
              : made == "scratch"  ? Gives::kScratch
              : made == "()"       ? Gives::kNothing
                                   : Gives::kPlain;
  if (!into.natives.emplace(out.name, out).second)
    fail(node.at, fmt::format("'{}' is named twice", out.name));
}

void read_function(const Entry& entry, Records& into) {
  const std::string_view key = entry.key;
  const std::size_t open = key.find('(');
  if (open == std::string_view::npos || key.back() != ')')
    fail(entry.key_at, "expected NAME(PARAMETER, ...)");
  Function out;
  out.name = key.substr(0, open);
  out.parameters = split(key.substr(open + 1, key.size() - open - 2), ',');
  out.body = read_statements(entry.value);
  into.functions.emplace(out.name, std::move(out));
}

}  // namespace

std::vector<std::string> names_in(std::string_view list) { return split(list, ','); }

std::string Record::function() const {
  std::string out = alias_of.empty() ? name : alias_of;
  // C++ keeps names with two underscores for itself.
  if (out.starts_with("__") && out.ends_with("__"))
    return "python_" + out.substr(2, out.size() - 4);
  if (const std::size_t dot = out.find("_."); dot != std::string::npos)
    out.replace(dot, 2, "_in_place_");
  std::ranges::replace(out, '.', '_');
  return out;
}

std::string Record::steps() const {
  const std::string of = function();
  return (of.starts_with('_') ? "steps_of" : "steps_of_") + of;
}

std::string Record::result_name(std::size_t i) const {
  if (results.empty()) return "result";
  return results[i].empty() ? fmt::format("result{}", i) : results[i];
}

std::vector<std::size_t> Record::tensors() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto of = parameters[i].kind;
    if (of == Parameter::Kind::kTensor || of == Parameter::Kind::kOperand) out.push_back(i);
  }
  return out;
}

void read_records(const std::shared_ptr<const SourceText>& source, Records& into) {
  const Node file = yaml::parse(source);
  std::vector<Problem> problems;
  Fields fields(file, "", problems);
  const std::string section = fields.text("rule").value_or("");
  if (const Node* records = fields.get("records")) {
    for (const Node& each : records->items) read_record(each, section, into, problems);
  }
  using Kind = Native::Kind;
  const std::array<std::pair<std::string_view, Kind>, 3> natives{
      {{"kernels", Kind::kKernel}, {"operators", Kind::kOperator}, {"plain", Kind::kPlain}}};
  for (const auto& [key, kind] : natives) {
    const Node* list = fields.get(key);
    if (list == nullptr) continue;
    for (const Node& each : list->items) read_native(each, kind, into);
  }
  if (const Node* functions = fields.get("functions")) {
    for (const Entry& each : functions->entries) read_function(each, into);
  }
  fields.done();
  if (!problems.empty()) throw InputError(std::move(problems));
}

}  // namespace tidemark::ops::records
