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
      {"sync", Kind::kSync},       {"mark", Kind::kMark}};
  return kKinds;
}

bool read_step(Kind kind, std::istringstream& words, Step& step) {
  step.kind = kind;
  switch (kind) {
    case Kind::kSegment:
    case Kind::kSegmentFree:
    case Kind::kMap:
    case Kind::kUnmap:
      return bool(words >> step.bytes >> step.address);
    case Kind::kAlloc:
      return bool(words >> step.id >> step.bytes >> step.address >> step.stream);
    case Kind::kFree:
    case Kind::kDone:
      return bool(words >> step.id);
    case Kind::kOom:
      return bool(words >> step.id >> step.bytes);
    case Kind::kLaunch:
      return bool(words >> step.work >> step.precision >> step.flops >> step.bytes >> step.stream);
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
  if (!std::getline(in, line) || line != "tidemark-plan 1") fail(1, "is no tidemark-plan 1");
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    std::istringstream words(line);
    std::string verb;
    if (!(words >> verb)) continue;
    if (verb == "name") {
      words >> plan.name;
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
      plan.steps.push_back(std::move(step));
    }
  }
  return plan;
}

}  // namespace harness
