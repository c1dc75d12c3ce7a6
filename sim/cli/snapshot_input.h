#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/cli/command.h"
#include "sim/format/snapshot.h"
#include "sim/run/overrides.h"
#include "sim/run/run_result.h"
#include "sim/study/agreement.h"

namespace tidemark::cli {

/// Whether a file is to be read as a memory snapshot: it begins, once unpacked, like a pickle, or
/// like a checkpoint, which the snapshot reader refuses with the better message. Standard input
/// ("-") is not. Errors: IoError.
bool looks_like_snapshot(const std::string& path);

/// Whether a file is a request trace, by its name or its first line. Errors: IoError.
bool looks_like_request_trace(const std::string& path);

/// Reads a snapshot; on a terminal a long read shows how far it is.
Snapshot load_snapshot(const std::string& path, Output& err);

/// A run as a snapshot of it would tell.
Snapshot recording_of(const RunResult& result, const std::string& name);

/// What happened on the GPUs of a run, however it was given.
struct LoadedRecording {
  Snapshot snapshot;
  std::vector<Bytes> capacity_bytes;  ///< by device: what PyTorch could get of it; empty: not known
};
/// Which of a scenario's runs is meant.
struct ScenarioChoice {
  std::vector<Override> overrides;
  std::string variant;
};
/// A snapshot itself, a scenario's or a script's run, or a request trace played under default
/// settings on an H100. Errors: InputError for anything else, an event trace among it, and where a
/// choice is made of what is no scenario.
LoadedRecording load_recording(const std::string& path, const ScenarioChoice& choice, Output& err);

/// The options --set, --variant and --device of commands that take any recording.
ScenarioChoice scenario_choice(const Arguments& args);
inline constexpr OptionSpec kSetOption{"set", "KEY=VALUE",
                                       "a scenario: override a parameter or a key", "", true};
inline constexpr OptionSpec kVariantOption{"variant", "NAME", "a scenario: one of its variants",
                                           ""};

/// By its name: a scenario in YAML or a training script.
bool looks_like_scenario(std::string_view path);

/// Writes files into a folder, which is made when it is not there. Errors: IoError.
void write_folder(const std::string& folder,
                  const std::vector<std::pair<std::string, std::string>>& files);

/// The options --gpu, --from and --to of commands that read snapshots.
AgreementOptions recording_options(const Arguments& args, const Snapshot& snapshot);

}  // namespace tidemark::cli
