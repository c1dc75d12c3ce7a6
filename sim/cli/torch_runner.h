#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/format/measured_run.h"
#include "sim/format/snapshot.h"
#include "sim/run/scenario.h"

namespace tidemark::cli {

/// The Python that runs the real PyTorch: $TIDEMARK_TORCH (a program, or a folder that
/// environment.py made), $TIDEMARK_ORACLE (such a folder), else the folder that `tidemark record`
/// makes. Empty: there is none.
std::string find_torch();

/// The Python with that release of PyTorch, "2.6.0", on the pretend GPU; made in the cache where it
/// is not there. Errors: IoError where it cannot be made; what is missing is printed.
std::string make_torch(const std::string& release);

/// Where environments are kept that are made when they are needed: $TIDEMARK_CACHE, else
/// $XDG_CACHE_HOME/tidemark, else ~/.cache/tidemark. Errors: IoError without a home.
std::string cache_folder();

/// What makes the pretend GPU look like the device. Real drivers do not heed it.
std::map<std::string, std::string> pretend_variables(const DeviceSpec& device);

/// The device that a scenario runs on, as the pretend GPU is told of it.
std::map<std::string, std::string> scenario_variables(const Scenario& scenario);

/// A scenario to be run under PyTorch.
struct TorchCase {
  const Scenario* scenario = nullptr;
  std::string name;
  std::string command;  ///< how it can be measured again
};

/// One run of each scenario's own text under PyTorch, in order. One process loads PyTorch and forks
/// for each case of one device. The results are left in `folder` too, as NAME.json and
/// NAME.events.csv.gz. Errors: InputError when a program raises, or the PyTorch is of another
/// release than a scenario asks for; IoError. std::nullopt: that Python sees no device.
std::optional<std::vector<MeasuredRun>> run_under_torch(const std::string& torch,
                                                        const std::vector<TorchCase>& cases,
                                                        const std::string& folder);

/// Errors: InputError where a run was measured under another release than `version`. A run that
/// does not say its release passes.
void refuse_other_release(const std::string& name, const MeasuredRun& run, Version version);
/// The same of a memory snapshot, which tells its release by what it holds.
void refuse_other_release(const std::string& name, const Snapshot& snapshot, Version version);

/// The harness of validation/cuda: $TIDEMARK_CUDA, else bin/tidemark-cuda beside this program or on
/// the path of programs. Empty: it is not there.
std::string find_harness();

/// One run of a request trace through PyTorch's allocator, on the GPU at hand or one pretended like
/// `device`. As run_under_torch().
std::optional<MeasuredRun> play_under_torch(const std::string& torch, const std::string& trace,
                                            const DeviceSpec& device, const std::string& conf,
                                            const std::string& name, const std::string& folder);

/// One run of a plan on the device. As run_under_torch(); the plan decides places and driver calls.
/// `variables`: of the pretend GPU.
std::optional<MeasuredRun> run_under_cuda(const std::string& harness,
                                          const std::map<std::string, std::string>& variables,
                                          const std::string& plan, const std::string& name,
                                          const std::string& folder);

}  // namespace tidemark::cli
