#include "sim/study/import/new_scenario.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/format/whole_file.h"
#include "sim/lang/syntax/names.h"
#include "sim/lang/syntax/parser.h"
#include "sim/run/literals.h"
#include "sim/run/run.h"
#include "sim/run/scenario.h"
#include "sim/run/zoo.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// A model of the zoo as `@workload(...)` registers it.
struct Workload {
  std::string name;
  std::string module;
  bool needs_no_cudnn = false;
  bool has_forward = true;
  Pairs defaults;
};

std::vector<std::string> parts_of(std::string_view text, char between) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(between);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Imports the zoo's files one after the other and tells what each registers.
std::vector<Workload> zoo_workloads() {
  std::string code =
      "schema_version: 1\ndevice: h100-sxm-80gb\nloop: |\n"
      "  from workloads import WORKLOADS\n"
      "  seen = []\n"
      "  def tell(module):\n"
      "      for name, entry in WORKLOADS.items():\n"
      "          if name not in seen:\n"
      "              seen.append(name)\n"
      "              has_forward = type(entry.build()).forward is not torch.nn.Module.forward\n"
      "              print(name, module, 'no-cudnn' in entry.needs, has_forward,\n"
      "                    *[f'{k}={v}' for k, v in entry.defaults.items()], sep='\\t')\n";
  for (const ZooFile& file : zoo_files()) {
    if (file.module.find('/') == std::string_view::npos && file.module != "models")
      code += fmt::format("  import {}\n  tell('{}')\n", file.module, file.module);
  }
  Scenario scenario =
      parse_scenario(std::make_shared<const SourceText>(SourceText{"<zoo>", std::move(code)}), ".");
  scenario.model.import_folders.clear();
  scenario.model.sees_zoo = true;
  RunOptions options;
  options.keep_events = false;
  options.keep_live = false;
  options.keep_times = false;
  std::vector<Workload> workloads;
  for (const std::string& line : parts_of(run(scenario, options).printed, '\n')) {
    const std::vector<std::string> cells = parts_of(line, '\t');
    if (cells.size() < 4) continue;
    Workload& workload = workloads.emplace_back();
    workload.name = cells[0];
    workload.module = cells[1];
    workload.needs_no_cudnn = cells[2] == "True";
    workload.has_forward = cells[3] == "True";
    for (std::size_t i = 4; i < cells.size(); ++i) {
      const std::size_t equals = std::min(cells[i].find('='), cells[i].size() - 1);
      workload.defaults.emplace_back(cells[i].substr(0, equals), cells[i].substr(equals + 1));
    }
  }
  return workloads;
}

/// The module that a line imports names from; empty: none of the zoo.
std::string_view imported_module(std::string_view line) {
  constexpr std::string_view kFrom = "from ";
  if (!line.starts_with(kFrom)) return {};
  line.remove_prefix(kFrom.size());
  const std::string_view module = line.substr(0, line.find(' '));
  return zoo_text(module).empty() ? std::string_view() : module;
}

void add_module(std::string_view module, std::vector<std::string>& added, std::string& out) {
  added.emplace_back(module);
  std::string own;
  for (const std::string& line : parts_of(zoo_text(module), '\n')) {
    const std::string_view imported = imported_module(line);
    if (imported.empty()) {
      own += line + '\n';
    } else if (std::find(added.begin(), added.end(), imported) == added.end()) {
      add_module(imported, added, out);
    }
  }
  own.erase(own.find_last_not_of('\n') + 1);
  out += (out.empty() ? "" : "\n\n\n") + own + '\n';
}

/// As it may stand in a block of YAML: plain where that reads back as the same, else quoted.
std::string yaml_scalar(const std::string& text) {
  const bool is_plain =
      !text.empty() && text.find(": ") == std::string::npos &&
      text.find(" #") == std::string::npos &&
      std::string_view("!&*?|>%@`\"'#,[]{}:- ").find(text.front()) == std::string_view::npos &&
      text.back() != ':' && text.back() != ' ' && text.find_first_of("\n\t\r") == std::string::npos;
  return is_plain ? text : quoted_literal(text);
}

/// A value of the command line as YAML: what is YAML already stays, Python's True, False and None
/// become YAML's.
std::string yaml_value(const std::string& text) {
  if (text == "True") return "true";
  if (text == "False") return "false";
  if (text == "None") return "null";
  if (text.starts_with('[') || text.starts_with('{')) return text;
  return yaml_scalar(text);
}

class Maker {
 public:
  explicit Maker(const NewScenario& wanted) : wanted_(wanted) {}

  NewScenarioTexts make() {
    if (wanted_.model.empty()) {
      make_of_file();
    } else {
      make_of_zoo();
    }
    if (!problems_.empty()) throw InputError(std::move(problems_));
    check();
    return std::move(texts_);
  }

 private:
  void report(std::string option, std::string message, std::string hint = {}) {
    problems_.push_back({{}, std::move(option), std::move(message), std::move(hint)});
  }

  void line(std::string text, std::string_view comment = {}) {
    constexpr std::size_t kCommentColumn = 40;
    if (!comment.empty()) {
      text.resize(std::max(text.size() + 2, kCommentColumn), ' ');
      text += fmt::format("# {}", comment);
    }
    texts_.scenario += text + '\n';
  }

  void head(std::string_view of) {
    const std::string file = fs::path(wanted_.path).filename().string();
    line(fmt::format("# {}.", of));
    line(fmt::format("#   tidemark run {}      the peaks, and what holds the memory there", file));
    line(fmt::format("#   tidemark fit {}      the largest batch that fits", file));
    line("# docs/scenario.md has every key; any can be set on the command line: --set batch=64.");
    line("schema_version: 1");
    line("device: " + yaml_scalar(wanted_.device),
         "`tidemark devices` lists them; {name: ..., total: 24GiB} changes one");
    line("pytorch: \"2.15\"", "the release: 2.4 to 2.15");
    line("# allocator: {conf: \"expandable_segments:True\"}", "the text of PYTORCH_ALLOC_CONF");
  }

  void loop_options() {
    line("  optimizer: " + yaml_scalar(wanted_.optimizer),
         "`tidemark optimizers` lists them, with their options");
    line("  precision: " + yaml_scalar(wanted_.precision),
         "fp32, bf16, fp16 and fp64, or autocast: amp-bf16, amp-fp16");
    line("  # accumulate: 4", "backward passes for one step of the optimizer");
    line("  # checkpoint: every-block", "for models that heed checkpoint_mode");
    line("# sweep: {grid: {batch: [8, 16, 32]}}", "what `tidemark sweep` varies");
  }

  /// "width=512" as name and value. Problems: anything without a name.
  Pairs named_arguments() {
    Pairs pairs;
    for (const std::string& text : wanted_.arguments) {
      const std::size_t equals = text.find('=');
      const std::string name = text.substr(0, equals);
      if (equals == std::string::npos || !is_identifier(name)) {
        report("--args", fmt::format("expected NAME=VALUE, found '{}'", text));
        continue;
      }
      pairs.emplace_back(name, text.substr(equals + 1));
    }
    return pairs;
  }

  void make_of_zoo() {
    const std::vector<Workload> zoo = zoo_workloads();
    std::vector<std::string_view> names;
    for (const Workload& workload : zoo) {
      if (workload.has_forward) names.push_back(workload.name);
    }
    const auto found = std::find_if(zoo.begin(), zoo.end(), [&](const Workload& workload) {
      return workload.name == wanted_.model && workload.has_forward;
    });
    const Pairs given = named_arguments();
    if (found == zoo.end()) {
      std::string hint = did_you_mean(wanted_.model, names);
      if (hint.empty()) hint = fmt::format("known are {}", fmt::join(names, ", "));
      report("--model",
             fmt::format("the zoo has no model '{}' that a loop can train", wanted_.model),
             std::move(hint));
      return;
    }
    Pairs parameters = found->defaults;
    for (const auto& argument : given) {
      const auto& [name, value] = argument;
      const auto known = std::find_if(parameters.begin(), parameters.end(), [&](const auto& pair) {
        return pair.first == argument.first;
      });
      if (known != parameters.end()) {
        known->second = value;
        continue;
      }
      std::vector<std::string_view> known_names;
      for (const auto& [each, unused] : parameters) known_names.push_back(each);
      report("--args", fmt::format("{} has no argument '{}'", found->name, name),
             did_you_mean(name, known_names));
    }
    write_zoo_scenario(*found, parameters);
    fs::path file(wanted_.path);
    file.replace_extension(".py");
    texts_.model_file = file.string();
    texts_.model = zoo_module_alone(found->module);
  }

  void write_zoo_scenario(const Workload& workload, const Pairs& parameters) {
    head(fmt::format("{} of Tidemark's model zoo", workload.name));
    if (workload.needs_no_cudnn)
      line("backends: {cudnn: false}", "the kernels of cuDNN's recurrent layers are not modelled");
    const std::string entry = fmt::format("WORKLOADS[\"{}\"]", workload.name);
    std::string arguments;
    std::string batch = "batch";
    line("params:", "each can be set: --set NAME=VALUE");
    for (const auto& [name, value] : parameters) {
      line(fmt::format("  {}: {}", name, yaml_value(value)));
      batch += fmt::format(", {0}={0}", name);
      if (name != "image" && name != "seq")
        arguments += fmt::format("{}{}: {}", arguments.empty() ? "" : ", ", name, name);
    }
    line("model:");
    fs::path file(wanted_.path);
    file.replace_extension(".py");
    line("  file: " + yaml_scalar(file.filename().string()),
         "the model, in plain torch.nn: change what you like");
    line(fmt::format("  function: {}.build", entry));
    line(fmt::format("  args: {{{}}}", arguments));
    line("train:");
    if (!wanted_.steps.empty()) line("  steps: " + wanted_.steps);
    line("  batch: " + wanted_.batch, "a list has one for each step: [64, 8, 32]");
    line(fmt::format("  data: {}.host_batch({})", entry, batch));
    line(fmt::format("  loss: {}.loss", entry));
    loop_options();
  }

  /// "3,32,32" or "128:long" as `train.input` has it. Problems: anything else.
  std::string tensor(std::string_view option, const std::string& text, bool is_target) {
    const std::size_t colon = text.find(':');
    std::vector<std::string> sizes;
    const std::string shape = text.substr(0, colon);
    if (!shape.empty()) sizes = parts_of(shape, ',');
    const std::string dtype = colon == std::string::npos ? std::string() : text.substr(colon + 1);
    for (const std::string& size : sizes) {
      const bool is_number =
          !size.empty() && size.find_first_not_of("0123456789") == std::string::npos;
      if (is_number && (colon == std::string::npos || is_identifier(dtype))) continue;
      report(std::string(option), fmt::format("expected a shape, found '{}'", text),
             is_target ? "128 or, with a dtype, 10:float32" : "3,32,32 or, with a dtype, 128:long");
      return {};
    }
    const std::string list = fmt::format("[{}]", fmt::join(sizes, ", "));
    return dtype.empty() ? list : fmt::format("{{shape: {}, dtype: {}}}", list, dtype);
  }

  void make_of_file() {
    check_type();
    const Pairs arguments = named_arguments();
    std::vector<std::string> inputs;
    inputs.reserve(wanted_.inputs.size());
    for (const std::string& input : wanted_.inputs)
      inputs.push_back(tensor("--input", input, false));
    const std::string target =
        wanted_.target == "input" ? wanted_.target : tensor("--target", wanted_.target, true);
    const fs::path folder = fs::absolute(wanted_.path).parent_path();
    const std::string file =
        fs::absolute(wanted_.file).lexically_normal().lexically_proximate(folder).string();

    head(fmt::format("{} of {}", wanted_.type, file));
    line("model:");
    line("  file: " + yaml_scalar(file), "from this file's folder");
    line("  class: " + yaml_scalar(wanted_.type));
    if (!arguments.empty()) line("  args:", "by name; without a name: a list");
    for (const auto& [name, value] : arguments)
      line(fmt::format("    {}: {}", name, yaml_value(value)));
    line("train:");
    if (!wanted_.steps.empty()) line("  steps: " + wanted_.steps);
    line("  batch: " + wanted_.batch, "a list has one for each step: [64, 8, 32]");
    if (inputs.size() == 1) {
      line("  input: " + inputs.front(), "without the batch; or {shape: [128], dtype: long}");
    } else {
      line("  inputs:", "the model's arguments, each without the batch");
      for (const std::string& input : inputs) line("    - " + input);
    }
    line("  target: " + target, "of dtype long unless told; []: a class for each sample");
    line("  loss: " + yaml_scalar(wanted_.loss),
         "of torch.nn.functional or of the model's file, or an expression: F.mse_loss(out[0], y)");
    loop_options();
  }

  /// Refuses a name that the file neither defines nor imports.
  void check_type() {
    if (!is_identifier(wanted_.type)) return;
    auto source = std::make_shared<SourceText>();
    source->name = wanted_.file;
    source->text = read_whole_file(wanted_.file);
    lang::Names names;
    std::vector<Problem> problems;
    const auto tree = lang::parse_module(source, names, problems);
    if (!problems.empty()) throw InputError(std::move(problems));
    std::vector<std::string_view> known;
    for (const lang::Stmt* statement : tree->body) {
      switch (statement->kind) {
        case lang::StmtKind::kClass:
          known.push_back(names.text(static_cast<const lang::ClassStmt*>(statement)->target->name));
          break;
        case lang::StmtKind::kFunction:
          known.push_back(
              names.text(static_cast<const lang::FunctionStmt*>(statement)->target->name));
          break;
        default:
          break;
      }
    }
    if (std::find(known.begin(), known.end(), wanted_.type) != known.end()) return;
    // It may be imported, or assigned: then the text has it as a word.
    if (!known.empty() && did_you_mean(wanted_.type, known).empty() &&
        source->text.find(wanted_.type) != std::string::npos)
      return;
    report("--class", fmt::format("{} has no '{}'", wanted_.file, wanted_.type),
           known.empty() ? std::string() : did_you_mean(wanted_.type, known));
  }

  /// Runs what was written: what reads without a problem may still not fit its model.
  void check() const {
    static const std::map<std::string, std::string, std::less<>> kOptions{
        {"device", "--device"},
        {"train.batch", "--batch"},
        {"train.steps", "--steps"},
        {"train.optimizer", "--optimizer"},
        {"train.precision", "--precision"},
        {"train.loss", "--loss"},
        {"train.input", "--input"},
        {"train.inputs", "--input"},
        {"train.target", "--target"},
        {"model.class", "--class"},
        {"params", "--args"},
        {"model.args", "--args"}};
    std::string text = texts_.scenario;
    std::string folder = fs::path(wanted_.path).parent_path().string();
    if (folder.empty()) folder = ".";
    if (!texts_.model.empty()) {
      // The zoo's code is not beside the scenario yet.
      const std::size_t at = text.find("  file: ");
      text.replace(at, text.find('\n', at) - at, "  code: " + quoted_literal(texts_.model));
    }
    try {
      RunOptions options;
      options.keep_events = false;
      options.keep_live = false;
      options.keep_times = false;
      options.leave_out_repeats = true;
      run(parse_scenario(
              std::make_shared<const SourceText>(SourceText{wanted_.path, std::move(text)}),
              folder),
          options);
    } catch (const InputError& error) {
      std::vector<Problem> problems = error.problems();
      for (Problem& problem : problems) {
        const auto option = kOptions.find(problem.path);
        if (option == kOptions.end()) continue;
        problem.at = {};
        problem.path = option->second;
      }
      throw InputError(std::move(problems));
    }
  }

  const NewScenario& wanted_;
  NewScenarioTexts texts_;
  std::vector<Problem> problems_;
};

}  // namespace

std::string zoo_module_alone(const std::string& module) {
  std::vector<std::string> added;
  std::string out;
  add_module(module, added, out);
  return out;
}

NewScenarioTexts new_scenario(const NewScenario& wanted) { return Maker(wanted).make(); }

}  // namespace tidemark
