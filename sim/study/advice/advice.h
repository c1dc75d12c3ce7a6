#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/advice/remedy.h"

namespace tidemark {

struct AdviceOptions {
  std::uint32_t headroom_ppm = 0;  ///< of the device's total, to stay free
  Price dearest = Price::kMachine;
  /// "batch": how far each change that meets the goal lets it go (fit()); empty: not asked.
  std::string over = {};
  unsigned threads = 0;  ///< 0: one a processor
};

/// How a scenario does, as it stands or changed.
struct Standing {
  std::string error;         ///< cannot be run so
  bool meets = false;        ///< no request refused, and the headroom kept
  Bytes need = 0;            ///< peak reserved where nothing is ever refused
  Bytes peak_reserved = 0;   ///< on the device
  Bytes spare = 0;           ///< of the device at its highest
  std::int64_t retries = 0;  ///< on the device
  Nanoseconds end_ns = 0;    ///< simulated, of the whole scenario
};

/// A change with what it comes to.
struct AdvisedChange : Combination {
  Standing standing;
  std::int64_t saved_bytes = 0;  ///< of the need; below 0: it costs memory
  Nanoseconds time_cost_ns = 0;  ///< below 0: it is faster
  /// The largest value of AdviceOptions::over that fits so.
  std::optional<std::int64_t> reaches;
};

/// GPUs among which parameters, gradients and optimizer state would have to be shared: worked out
/// from the bytes at the peak, not simulated.
struct GpuEstimate {
  std::int64_t gpus = 0;  ///< 0: no number is enough, the rest alone is too much
  Bytes shared = 0;       ///< that is shared in equal parts
  Bytes rest = 0;         ///< that each has
};

/// What can be done about a scenario's memory, each change simulated.
struct Advice {
  Standing before;
  RunBasis basis;                     ///< of the run as given
  std::vector<std::string> imported;  ///< files of the user's that a script reads
  std::string device;                 ///< its name
  Bytes total = 0;                    ///< of the device
  Bytes context = 0;                  ///< of it, gone once a context exists
  Bytes headroom = 0;                 ///< of it, to stay free
  std::optional<std::int64_t> reaches;
  /// Those that meet the goal and, where the scenario meets it already, save memory. The first has
  /// the lowest price; of these 5 % of the device left, then the least time, in whole percents; the
  /// fewest changes.
  std::vector<AdvisedChange> meeting;
  std::vector<AdvisedChange> saving;   ///< not enough; those that save most first
  std::vector<AdvisedChange> useless;  ///< save nothing, or cannot be run
  std::vector<const Remedy*> not_for;  ///< do not apply, or do so already
  /// Of one process that does not fit, where sharding it cannot be tried.
  std::optional<GpuEstimate> gpus;
};

/// Tries every remedy up to a price alone, then together: pairs of those that save most, and all
/// of a price and below, of which what is not needed is taken out again. Errors: InputError when
/// the scenario itself is wrong. Cost: some fifty runs; twice that where the scenario does not fit.
Advice advise(const ScenarioSource& source, const AdviceOptions& options);

/// A scenario to be written, with the file of its model where that changes.
struct WrittenScenario {
  std::string text;
  std::string model_path;  ///< beside it, of the same name; empty: the model's file stays
  std::string model_text;
};
/// The scenario's text with one of the changes advised applied (rewritten_scenario()), for a file
/// of that path; `comment` stands above it. It has been read back and run: it comes to what the
/// change promises. Errors: InputError, where from that folder it does not, or where the change is
/// one of other files too.
WrittenScenario applied_scenario(const ScenarioSource& source, const AdvisedChange& change,
                                 const std::string& comment, const std::string& new_path);

/// A file of the user's that a change edits.
struct ChangedFile {
  std::string path;
  std::string before;
  std::string after;
};
/// The files that a change edits: the script, constants with their new values, or the scenario,
/// with all that was set for it; then the others. Empty: of a script, the change lies outside its
/// text. Errors: IoError.
std::vector<ChangedFile> changed_files(const ScenarioSource& source, const Change& change);
/// What of a script's change is none of its text: "PYTORCH_ALLOC_CONF=...", "device=a100".
std::string outside_text(const Change& change);
/// The script with the change applied, for a file of that path; `comment` stands above it. It has
/// been run as it will lie there. Errors: InputError where it does not run there, or where the
/// change is not one of the script's text alone.
std::string applied_script(const ScenarioSource& source, const AdvisedChange& change,
                           const std::string& comment, const std::string& new_path);

}  // namespace tidemark
