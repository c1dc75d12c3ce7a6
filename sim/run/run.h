#pragma once

#include "sim/run/run_result.h"
#include "sim/run/scenario.h"
#include "sim/run/simulator.h"

namespace tidemark {

/// What a run is to keep. The policy of events is the scenario's.
struct RunOptions {
  CostModel costs;
  bool keep_events = true;  ///< events, samples, labels; off: peaks and statistics alone
  bool keep_live = true;    ///< what was live at the peaks
  bool keep_times = true;   ///< simulated time
};

/// Runs a scenario: its code abstractly, its memory by the allocator, its time by the engine.
/// Errors: InputError with places in the scenario or its code; IoError for an imported file;
/// StuckError.
RunResult run(const Scenario& scenario, const RunOptions& options = {});

}  // namespace tidemark
