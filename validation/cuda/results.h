#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "validation/cuda/plan.h"

namespace harness {

/// What the device said in the course of a plan, written as docs/formats/measured.md has it.
class Results {
 public:
  /// A row of the event trace. `id` < 0: none.
  void event(const char* action, std::uint64_t address, std::uint64_t bytes, int stream,
             std::int64_t id);
  /// A call of the driver: how long it took, and what was free after it by cudaMemGetInfo and NVML.
  void call(const char* what, std::uint64_t bytes, std::uint64_t address, std::uint64_t ns,
            std::uint64_t free_bytes, std::uint64_t process_bytes);
  /// Work given to a stream.
  struct Kernel {
    harness::Kernel kernel;
    const char* by;                    ///< whose code ran: "cublas", "cudnn", "kernel" for ours
    std::int64_t workspace_bytes;      ///< what cuDNN asks for; -1: it was not asked
    std::vector<std::uint64_t> times;  ///< by CUDA's events, in ns, the shortest first
  };
  void kernel(Kernel kernel) { kernels_.push_back(std::move(kernel)); }
  void mark(const std::string& text) { phase_ = text; }

  struct Summary {
    std::string name;
    std::string device;
    std::string compute_capability;
    std::string driver;
    std::string cuda;
    std::string date;
    std::string command;
    bool pretend = false;
    bool given_times = false;  ///< the pretend device was told how fast it is
    bool ended_by_oom = false;
    std::string oom_message;
    std::string error;
    std::uint64_t total_bytes = 0;
    std::uint64_t free_at_start = 0;  ///< with the context there
    std::uint64_t least_free = 0;
    std::uint64_t reserved_peak = 0;
    std::uint64_t freed_early = 0;  ///< blocks that other streams still used
  };
  /// NAME.json, NAME.events.csv, NAME.calls.csv and NAME.kernels.csv in `folder`. Throws
  /// std::runtime_error when a file cannot be written.
  void write(const std::string& folder, const Summary& summary) const;

 private:
  struct Row {
    const char* action;
    std::uint64_t address;
    std::uint64_t bytes;
    int stream;
    std::int64_t id;
    std::string phase;
  };
  struct Call {
    const char* what;
    std::uint64_t bytes, address, ns, free_bytes, process_bytes;
  };
  std::vector<Row> rows_;
  std::vector<Call> calls_;
  std::vector<Kernel> kernels_;
  std::string phase_;
};

}  // namespace harness
