#include "tests/golden/ops/operator_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

#include "sim/base/problem.h"
#include "sim/format/whole_file.h"
#include "sim/program/source.h"
#include "sim/run/import_files.h"
#include "sim/torch/source/model_source.h"
#include "sim/yaml/yaml.h"

namespace tidemark {

namespace {

std::string text_of(const yaml::Node& node, std::string_view key) {
  const yaml::Node* value = node.find(key);
  return value == nullptr ? std::string() : value->text;
}

bool flag_of(const yaml::Node& node, std::string_view key, bool fallback) {
  const yaml::Node* value = node.find(key);
  return value == nullptr ? fallback : value->text == "true";
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty()) out += "    " + line + "\n";
  }
  return out;
}

std::string_view torch_dtype(std::string_view name) {
  if (name.ends_with("fp16")) return "torch.float16";
  if (name.ends_with("bf16")) return "torch.bfloat16";
  return name == "fp64" ? "torch.float64" : "torch.float32";
}

/// Marks a release at a moment when PyTorch has no order of its own.
constexpr std::string_view kNoOrder = "~";

/// Writes down what a program asks for: one text a run, see OperatorEvents.
class EventText final : public Sink {
 public:
  explicit EventText(const Program& program) : program_(program) {}

  Outcome execute(std::span<const Instruction> chunk) override {
    for (const Instruction& instruction : chunk) take(instruction);
    return {};
  }
  Bytes query(MemoryQuery /*what*/, std::uint8_t /*device*/) override { return 0; }
  std::vector<std::pair<std::string, std::int64_t>> statistics(std::uint8_t /*device*/) override {
    return {};
  }
  OperatorEvents events{{"cold", ""}, {"warm", ""}};

 private:
  void take(const Instruction& instruction) {
    if (instruction.verb == Verb::kPoint) {
      const std::string_view mark = program_.labels.text(instruction.label);
      const std::size_t blank = mark.find(' ');
      const std::string run(mark.substr(0, blank == std::string_view::npos ? 0 : blank));
      if (run != run_) {
        run_ = run;
        numbers_.clear();
      }
      phase_ = run.empty() ? "" : mark.substr(blank + 1);
      phase_written_ = false;
      return;
    }
    if (run_.empty()) return;
    if (instruction.verb == Verb::kAlloc) {
      numbers_.emplace(instruction.id, numbers_.size());
      write(fmt::format("+{}", instruction.bytes));
    } else if (instruction.verb == Verb::kFree) {
      const auto number = numbers_.find(instruction.id);
      const std::string what =
          number == numbers_.end() ? "earlier" : std::to_string(number->second);
      write("-" + what + std::string(is_cache_drop(instruction) ? kNoOrder : ""));
    }
  }
  bool is_cache_drop(const Instruction& instruction) const {
    return program_.labels.text(instruction.label).find("autocast cache cleared") !=
           std::string_view::npos;
  }
  void write(const std::string& word) {
    std::string& out = events[run_];
    if (!phase_written_) out += (out.empty() ? "" : " ") + phase_;
    phase_written_ = true;
    out += " " + word;
  }

  const Program& program_;
  std::map<RequestId, std::size_t> numbers_;
  std::string run_;
  std::string phase_;
  bool phase_written_ = false;
};

}  // namespace

std::string with_order_of(const std::string& recorded, const std::string& simulated) {
  std::vector<std::string> theirs = split(recorded, ' ');
  const std::vector<std::string> mine = split(simulated, ' ');
  const auto unordered = [&mine](std::size_t i) {
    return i < mine.size() && mine[i].ends_with(kNoOrder);
  };
  for (std::size_t begin = 0; begin < mine.size(); ++begin) {
    std::size_t end = begin;
    while (unordered(end)) ++end;
    if (end == begin || end > theirs.size()) continue;
    std::vector<std::string> drops;
    for (std::size_t i = begin; i < end; ++i)
      drops.push_back(mine[i].substr(0, mine[i].size() - kNoOrder.size()));
    const auto at = [&theirs](std::size_t i) {
      return theirs.begin() + static_cast<std::ptrdiff_t>(i);
    };
    if (std::is_permutation(at(begin), at(end), drops.begin(), drops.end()))
      std::copy(mine.begin() + static_cast<std::ptrdiff_t>(begin),
                mine.begin() + static_cast<std::ptrdiff_t>(end), at(begin));
    begin = end;
  }
  return fmt::format("{}", fmt::join(theirs, " "));
}

std::vector<OperatorCase> read_operator_cases(const std::string& path, const std::string& group) {
  const auto source = std::make_shared<const SourceText>(SourceText{path, read_whole_file(path)});
  const yaml::Node root = yaml::parse(source);
  std::vector<OperatorCase> out;
  for (const yaml::Node& item : root.items) {
    OperatorCase c;
    c.group = group;
    c.name = text_of(item, "case");
    c.shape = text_of(item, "shape");
    c.setup = text_of(item, "setup");
    c.leaves = text_of(item, "leaves");
    c.no_grad = flag_of(item, "no_grad", false);
    c.cudnn = flag_of(item, "cudnn", true);
    const std::string run = text_of(item, "run");
    c.forward = run.empty() ? text_of(item, "body") : "return " + run + "\n";
    const yaml::Node* dtypes = item.find("dtypes");
    if (dtypes == nullptr) continue;
    for (const yaml::Node& dtype : dtypes->items) {
      c.dtype = dtype.text;
      out.push_back(c);
    }
  }
  return out;
}

std::map<std::string, OperatorEvents> read_operator_events(const std::string& path) {
  std::map<std::string, OperatorEvents> out;
  for (const std::string& line : split(read_whole_file(path), '\n')) {
    const std::vector<std::string> fields = split(line, '\t');
    if (fields.size() != 6) continue;
    out[fmt::format("{}\t{}\t{}\t{}", fields[0], fields[1], fields[2], fields[3])][fields[4]] =
        fields[5];
  }
  return out;
}

std::string key_of(const OperatorCase& c) {
  return fmt::format("{}\t{}\t{}\t{}", c.group, c.name, c.dtype, c.shape);
}

std::string program_text(const OperatorCase& c, const std::string& folder) {
  return read_whole_file(folder + "/leaves.py") +
         fmt::format("\n\ndt = {}\nno_grad = {}\n{}\n\n\ndef forward():\n{}\n\nleaves = {}\n",
                     torch_dtype(c.dtype), c.no_grad ? "True" : "False", c.setup,
                     indented(c.forward), c.leaves) +
         read_whole_file(folder + "/steps.py");
}

OperatorEvents run_operator_case(const OperatorCase& c, const OperatorRunner& runner) {
  torch::ModelProgram model;
  model.loop =
      std::make_shared<const SourceText>(SourceText{c.title(), program_text(c, runner.folder)});
  model.assume = {"zeros"};  // as on the pretend GPU, whose kernels do nothing
  model.backends.cudnn = c.cudnn;
  model.backends.cudnn_sdp = false;
  model.devices = {runner.device};
  model.wheel = runner.wheel;
  model.path = {runner.models};
  model.files = std::make_shared<HostFiles>(model.path);
  Program program;
  EventText sink(program);
  torch::ModelSource source(std::move(model), nullptr);
  source.run(program, sink);
  if (runner.operators != nullptr)
    runner.operators->insert(source.operators().begin(), source.operators().end());
  return sink.events;
}

}  // namespace tidemark
