#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace harness {

/// A tensor of a kernel, as the plan has it.
struct Operand {
  std::string dtype;  ///< "bfloat16"
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::uint64_t offset = 0;  ///< in elements
};

/// Work that a plan gives to streams, as often as it likes.
struct Kernel {
  std::string kind;       ///< "matmul"; "none": no work
  std::string precision;  ///< "bf16"
  std::uint64_t flops = 0;
  std::uint64_t bytes = 0;
  std::string op;  ///< the operator or backward node
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::map<std::string, std::string> settings;
  std::string text;  ///< its line after the number
};

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
    kSyncEvent,
    kMark,
  };
  Kind kind = Kind::kMark;
  std::uint64_t id = 0;  ///< of a launch: the kernel's number
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< as simulated
  std::uint64_t page = 0;     ///< of a map, unmap or refusal: the size of a handle; 0: a segment
  std::uint64_t asked = 0;    ///< of a refusal: what the driver is asked for
  int stream = -1;            ///< -1: of a sync, the whole device
  bool is_workspace = false;  ///< of an alloc: what a library is handed to work in
  std::string text;           ///< of a mark
  std::vector<std::int64_t> operands;  ///< of a launch: whose memory they lie in; -1: not told
};

struct Plan {
  std::string name;
  std::string device;
  std::string conf;
  /// set_per_process_memory_fraction: the allocator asks for nothing beyond so much in all.
  std::uint64_t limit_bytes = ~std::uint64_t(0);
  bool goes_on = false;  ///< after a request that is refused as foreseen
  std::uint64_t total_bytes = 0;
  std::uint64_t context_bytes = 0;
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
};

/// Reads a plan; "-" is standard input. Throws std::runtime_error with file and line.
Plan read_plan(const std::string& path);

}  // namespace harness
