#include "validation/cuda/plan.h"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace harness {

namespace {

using Kind = Step::Kind;

const std::map<std::string, Kind>& kinds() {
  static const std::map<std::string, Kind> kKinds{
      {"segment", Kind::kSegment}, {"segment_free", Kind::kSegmentFree},
      {"map", Kind::kMap},         {"unmap", Kind::kUnmap},
      {"alloc", Kind::kAlloc},     {"free", Kind::kFree},
      {"done", Kind::kDone},       {"oom", Kind::kOom},
      {"launch", Kind::kLaunch},   {"record", Kind::kRecord},
      {"wait", Kind::kWait},       {"use", Kind::kUse},
      {"sync", Kind::kSync},       {"sync_event", Kind::kSyncEvent},
      {"mark", Kind::kMark}};
  return kKinds;
}

/// "2,2"; false: no whole numbers.
bool read_numbers(const std::string& text, std::vector<std::int64_t>& numbers) {
  std::istringstream words(text);
  std::string word;
  while (std::getline(words, word, ',')) {
    std::size_t used = 0;
    try {
      numbers.push_back(std::stoll(word, &used));
    } catch (const std::exception&) {
      return false;
    }
    if (used != word.size()) return false;
  }
  return true;
}

/// "float32[2,3]:1,2+6".
bool read_operand(const std::string& word, Operand& operand) {
  const std::size_t open = word.find('[');
  const std::size_t close = word.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return false;
  operand.dtype = word.substr(0, open);
  if (!read_numbers(word.substr(open + 1, close - open - 1), operand.sizes)) return false;
  std::string rest = word.substr(close + 1);
  if (const std::size_t plus = rest.find('+'); plus != std::string::npos) {
    std::vector<std::int64_t> offset;
    if (!read_numbers(rest.substr(plus + 1), offset) || offset.size() != 1) return false;
    operand.offset = std::uint64_t(offset[0]);
    rest.resize(plus);
  }
  if (rest.empty()) {
    operand.strides.assign(operand.sizes.size(), 1);
    for (std::size_t i = operand.sizes.size(); i-- > 1;)
      operand.strides[i - 1] = operand.strides[i] * operand.sizes[i];
    return true;
  }
  return rest[0] == ':' && read_numbers(rest.substr(1), operand.strides) &&
         operand.strides.size() == operand.sizes.size();
}

bool read_kernel(std::istringstream& words, Kernel& kernel) {
  std::getline(words >> std::ws, kernel.text);
  std::istringstream rest(kernel.text);
  if (!(rest >> kernel.kind >> kernel.precision >> kernel.flops >> kernel.bytes >> kernel.op))
    return false;
  std::vector<Operand>* operands = &kernel.inputs;
  std::string word;
  while (rest >> word) {
    const std::size_t equals = word.find('=');
    if (word == "->") {
      operands = &kernel.outputs;
    } else if (equals != std::string::npos) {
      kernel.settings[word.substr(0, equals)] = word.substr(equals + 1);
    } else if (Operand operand; read_operand(word, operand)) {
      operands->push_back(std::move(operand));
    } else {
      return false;
    }
  }
  return true;
}

bool read_launch(std::istringstream& words, Step& step) {
  if (!(words >> step.id >> step.stream)) return false;
  std::string word;
  while (words >> word) {
    std::vector<std::int64_t> request{-1};
    if (word != "-" && (request.clear(), !read_numbers(word, request) || request.size() != 1))
      return false;
    step.operands.push_back(request[0]);
  }
  return true;
}

bool read_step(Kind kind, std::istringstream& words, Step& step) {
  step.kind = kind;
  switch (kind) {
    case Kind::kSegment:
    case Kind::kSegmentFree:
      return bool(words >> step.bytes >> step.address >> step.stream);
    case Kind::kMap:
    case Kind::kUnmap:
      return bool(words >> step.bytes >> step.address >> step.page >> step.stream) &&
             step.page > 0 && step.bytes % step.page == 0;
    case Kind::kAlloc:
      if (!(words >> step.id >> step.bytes >> step.address >> step.stream)) return false;
      if (std::string word; words >> word) {
        step.is_workspace = word == "workspace";
        return step.is_workspace;
      }
      return true;
    case Kind::kFree:
    case Kind::kDone:
    case Kind::kSyncEvent:
      return bool(words >> step.id);
    case Kind::kOom:
      return bool(words >> step.id >> step.bytes >> step.stream >> step.asked >> step.page);
    case Kind::kLaunch:
      return read_launch(words, step);
    case Kind::kRecord:
    case Kind::kWait:
    case Kind::kUse:
      return bool(words >> step.id >> step.stream);
    case Kind::kSync:
      if (!(words >> step.stream)) step.stream = -1;
      return true;
    case Kind::kMark:
      std::getline(words >> std::ws, step.text);
      return true;
  }
  return false;
}

}  // namespace

Plan read_plan(const std::string& path) {
  std::ifstream in(path == "-" ? "/dev/stdin" : path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  Plan plan;
  std::string line;
  const auto fail = [&](std::size_t number, const std::string& what) {
    throw std::runtime_error(path + ":" + std::to_string(number) + ": " + what);
  };
  if (!std::getline(in, line) || line != "tidemark-plan 4") {
    fail(1, line.rfind("tidemark-plan ", 0) == 0
                ? "'" + line + "' is of another release; write it again with 'tidemark plan'"
                : "is no tidemark-plan 4");
  }
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    std::istringstream words(line);
    std::string verb;
    if (!(words >> verb)) continue;
    if (verb == "name") {
      words >> plan.name;
    } else if (verb == "goes_on") {
      plan.goes_on = true;
    } else if (verb == "limit") {
      if (!(words >> plan.limit_bytes)) fail(number, "a limit is an amount of bytes");
    } else if (verb == "kernel") {
      std::uint64_t id = 0;
      Kernel kernel;
      if (!(words >> id) || id != plan.kernels.size() || !read_kernel(words, kernel))
        fail(number, "'" + line + "' is no kernel");
      plan.kernels.push_back(std::move(kernel));
    } else if (verb == "conf") {
      std::getline(words >> std::ws, plan.conf);
    } else if (verb == "device") {
      int capability = 0;
      if (!(words >> capability >> plan.total_bytes >> plan.context_bytes))
        fail(number, "a device has a capability and two amounts");
      std::getline(words >> std::ws, plan.device);
    } else {
      const auto kind = kinds().find(verb);
      if (kind == kinds().end()) fail(number, "unknown word '" + verb + "'");
      Step step;
      if (!read_step(kind->second, words, step)) fail(number, "'" + line + "' lacks a number");
      if (step.kind == Kind::kLaunch && step.id >= plan.kernels.size())
        fail(number, "no kernel has the number " + std::to_string(step.id));
      plan.steps.push_back(std::move(step));
    }
  }
  return plan;
}

}  // namespace harness
