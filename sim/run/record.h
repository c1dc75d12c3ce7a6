#pragma once

#include <optional>
#include <vector>

#include "sim/program/kernel_details.h"
#include "sim/program/source.h"
#include "sim/run/run.h"
#include "sim/run/scenario.h"

namespace tidemark {

/// What a scenario's code asks of the device, before any allocator: one recording serves a hundred
/// settings and the policies sync, ready and lag of events (replay_all() in
/// sim/study/replay/replay.h; on one stream they do not matter).
///
/// It is what run() would give the allocator as long as no request is refused and `asks` is false:
/// where a replay tells of a refused request, or the code asks for memory figures, run() decides.
struct Recording : RunBasis {
  Program program;
  std::vector<Instruction> instructions;
  std::string allocator_conf;  ///< what the code's own os.environ asks; empty: nothing
  bool asks = false;  ///< the code read memory figures, all 0 here, or asked what had ended: all
};

/// Runs the scenario's code without a device. Independent of scenario.settings; what the operators
/// themselves choose by the device (kernels, workspaces) is the scenario's device's. Safe from
/// several threads at a time, as run() is. Errors: InputError; IoError for an imported file. Cost:
/// linear in the operators run. `kernels`, if not null, takes what each kernel works on.
Recording record(const Scenario& scenario, KernelDetails* kernels = nullptr);

/// What run() would tell of `scenario`, from a recording of its code, but for RunResult::program,
/// which is the recording's and not copied; std::nullopt where only run() can tell: a request was
/// refused, or the code asks for memory figures. Requires: `recording` is of a scenario that
/// differs from this one in `allocator` alone. Errors: as run(). Cost: that of the allocator and
/// the engine, linear in the instructions.
std::optional<RunResult> run_recorded(const Recording& recording, const Scenario& scenario,
                                      const RunOptions& options = {});

}  // namespace tidemark
