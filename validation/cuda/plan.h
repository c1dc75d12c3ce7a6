#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace harness {

/// One line of a plan (docs/formats/plan.md).
struct Step {
  enum class Kind {
    kSegment,
    kSegmentFree,
    kMap,
    kUnmap,
    kAlloc,
    kFree,
    kDone,
    kOom,
    kLaunch,
    kRecord,
    kWait,
    kUse,
    kSync,
    kMark,
  };
  Kind kind = Kind::kMark;
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< as simulated
  std::uint64_t flops = 0;
  int stream = -1;        ///< -1: of a sync, the whole device
  std::string work;       ///< of a launch: its kind
  std::string precision;  ///< of a launch
  std::string text;       ///< of a mark
};

struct Plan {
  std::string name;
  std::string device;
  std::string conf;
  std::uint64_t total_bytes = 0;
  std::uint64_t context_bytes = 0;
  std::vector<Step> steps;
};

/// Reads a plan; "-" is standard input. Throws std::runtime_error with file and line.
Plan read_plan(const std::string& path);

}  // namespace harness
