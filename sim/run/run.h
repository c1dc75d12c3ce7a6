#pragma once

#include "sim/graph/details.h"
#include "sim/run/run_result.h"
#include "sim/run/scenario.h"
#include "sim/run/simulator.h"
#include "sim/torch/modules/model_watch.h"

namespace tidemark {

/// What a run is to keep. The policy of events is the scenario's.
struct RunOptions {
  CostModel costs;
  bool keep_events = true;            ///< events and labels; off: peaks and statistics alone
  bool keep_samples = true;           ///< off: they are left out where levels.h can do without
  bool keep_live = true;              ///< what was live at the peaks
  bool keep_times = true;             ///< simulated time
  graph::Details* details = nullptr;  ///< takes the graph as people look at it; null: nobody asks
  /// Takes the models that the code calls; null: nobody asks.
  std::vector<torch::WatchedModel>* watched = nullptr;
  /// Steps that do what earlier ones did, to the byte, are not simulated again: see
  /// RunResult::repeats.
  bool leave_out_repeats = false;
  /// What ranks of a job do over time, each waiting for the others (RunBasis::times).
  bool keep_waits = false;
  /// What that is made of: RunResult::track. Set by run() itself.
  bool keep_track = false;
  /// The process ends soon after this run, which need not give back its memory.
  bool is_last = false;
  /// Ranks of a job run at a time; 0: as many as there are processors.
  unsigned threads = 1;
  /// Takes what the code printed before an error ended it; null: that is lost.
  std::string* printed_before_error = nullptr;
};

/// Runs a scenario: its code abstractly, its memory by the allocator, its time by the engine.
/// Errors: InputError with places in the scenario or its code; IoError for an imported file;
/// StuckError. Of a job whose rank nobody chose, the worst of its ranks (RunBasis::ranks);
/// `details` and `watched` then see that one.
RunResult run(const Scenario& scenario, const RunOptions& options = {});

}  // namespace tidemark
