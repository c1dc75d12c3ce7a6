#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/budget.h"
#include "sim/cli/command.h"
#include "sim/format/snapshot.h"
#include "sim/report/load_recording.h"
#include "sim/study/replay/agreement.h"
#include "sim/study/trial/trial.h"

namespace tidemark::cli {

/// Holds what a command does with recordings, read and played, to --max-memory for as long as it
/// lives: an InputError past it. What worker threads take is not counted: an allocator's state
/// each. Large tables go back to the system.
class RecordingBudget {
 public:
  explicit RecordingBudget(std::string name);

 private:
  [[noreturn]] void refuse() const;
  std::string name_;  ///< of the recording, for the message
  MemoryWatch watch_;
};

/// Reads a snapshot; on a terminal a long read shows how far it is.
Snapshot load_snapshot(const std::string& path, Output& err);

/// tidemark::load_recording(), with progress on a terminal. Errors: InputError too where a choice
/// is made of what is no scenario.
LoadedRecording load_recording(const std::string& path, const ScenarioChoice& choice, Output& err);

/// A scenario or script that load_recording() runs, to be played again; none: a recording.
std::optional<ScenarioSource> program_of(const std::string& path, const ScenarioChoice& choice);

/// The options --set, --variant and --device of commands that take any recording.
ScenarioChoice scenario_choice(const Arguments& args);
inline constexpr OptionSpec kSetOption{"set", "KEY=VALUE",
                                       "a scenario: override a parameter or a key", "", true};
inline constexpr OptionSpec kVariantOption{"variant", "NAME", "a scenario: one of its variants",
                                           ""};

/// What is to be told where --pytorch names a release that did not write the recording.
std::vector<std::string> other_release_notes(const Arguments& args, const Snapshot& snapshot);

/// The options --gpu (default: the worst), --from and --to of commands that read snapshots.
AgreementOptions recording_options(const Arguments& args, const Snapshot& snapshot);

}  // namespace tidemark::cli
