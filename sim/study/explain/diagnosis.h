#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/advice/player.h"
#include "sim/study/advice/remedy.h"

namespace tidemark {

/// What is wrong with a run's memory.
enum class Fault : std::uint8_t {
  kHealthy,
  kGrowth,         ///< each step leaves more behind: a leak
  kOutside,        ///< what others hold, or a limit, takes the room
  kModel,          ///< the model alone is too large
  kFragmentation,  ///< the live bytes would fit, the cache's pieces do not serve
  kOptimizer,      ///< state or temporaries of the optimizer's step
  kBackward,       ///< gradients or temporaries on top of what forward saved
  kActivations,    ///< what forward makes and saves
};
std::string_view fault_name(Fault fault);
/// "activations at forward": one line, lower case.
std::string_view fault_title(Fault fault);

/// What every step leaves behind, measured at the steps' ends in blocks older than one step that
/// are neither the model's nor the optimizer's.
struct Growth {
  struct Holder {
    std::string maker;  ///< the operator that made the blocks, with its module
    Bytes bytes = 0;    ///< of them, at the last step's end
    std::size_t blocks = 0;
  };
  Bytes bytes_per_step = 0;
  std::size_t steps = 0;        ///< ends at which it rose, one after another
  Bytes left_behind = 0;        ///< at the last end
  std::vector<Holder> holders;  ///< most bytes first, at most five
};
/// std::nullopt: fewer than two rises, or not in every step of the second half of the run.
/// Requires: events were kept. Cost: linear in the events.
std::optional<Growth> growth_of(const DeviceResult& device, const Program& program);

/// A line of the proof: what, and its bytes.
struct ProofLine {
  std::string what;
  Bytes bytes = 0;
};

/// A change that was tried by running it.
struct TriedRemedy : Combination {
  bool undoes = false;
  std::string error;  ///< the changed scenario could not be run
  Bytes peak_allocated = 0;
  Bytes peak_reserved = 0;
  Bytes spare = 0;
};

struct Diagnosis {
  Fault fault = Fault::kHealthy;
  std::size_t device = 0;
  bool is_refused = false;   ///< a request was refused
  bool was_handled = false;  ///< the program went on after it
  std::string when;          ///< of the refusal, else of the highest moment
  std::string finding;       ///< one or two sentences
  std::vector<ProofLine> proof;
  std::optional<Growth> growth;
  Bytes spare = 0;                 ///< of a healthy run, at its highest
  std::optional<Need> need;        ///< to the program's end; only where a request was refused
  std::vector<TriedRemedy> tried;  ///< in order; of a healthy run none
  /// The first that undoes it; std::nullopt: none of those known.
  std::optional<std::size_t> smallest;
};

/// Says what is wrong and what undoes it. `result`: what `source` gave, with events and live
/// blocks. The classes are tried in the order growth, outside, model, fragmentation, optimizer,
/// backward, activations; fragmentation and outside are decided by running the scenario again with
/// an ideal allocator, and without the others. Cost: a run each for these and for each change
/// tried.
Diagnosis diagnose(const ScenarioSource& source, const RunResult& result);

}  // namespace tidemark
