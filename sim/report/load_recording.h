#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/format/byte_source.h"
#include "sim/format/snapshot.h"
#include "sim/report/html_report.h"
#include "sim/run/overrides.h"
#include "sim/run/run_result.h"
#include "sim/run/verdict.h"

namespace tidemark {

/// Whether a file is to be read as a memory snapshot: it begins, once unpacked, like a pickle, or
/// like a checkpoint, which the snapshot reader refuses with the better message. Standard input
/// ("-") is not. Errors: IoError.
bool looks_like_snapshot(const std::string& path);

/// Whether a file is a request trace, by its name or its first line. Errors: IoError.
bool looks_like_request_trace(const std::string& path);

/// By its name: a scenario in YAML or a training script.
bool looks_like_scenario(std::string_view path);

/// What happened on the GPUs of a run, however it was given.
struct LoadedRecording {
  Snapshot snapshot;
  std::vector<Bytes> capacity_bytes;  ///< by device: what PyTorch could get of it; empty: not known
  std::vector<HostPoint> host;        ///< of a run
  std::optional<Verdict> verdict;     ///< of a run
  std::string ending;                 ///< of a run: how it ended, in a line
  RunBasis basis;                     ///< of a run
};

/// A run as a snapshot of it would tell. Requires: the run kept its events.
LoadedRecording recording_of(const RunResult& result, const std::string& name);

/// Which of a scenario's runs is meant.
struct ScenarioChoice {
  std::vector<Override> overrides;
  std::string variant;
};
/// A snapshot itself, a scenario's or a script's run, or a request trace played under default
/// settings on an H100. Requires: no choice but for a scenario. Errors: IoError; InputError for
/// anything else, an event trace among it.
LoadedRecording load_recording(const std::string& path, const ScenarioChoice& choice,
                               const ReadProgress& progress = {});

}  // namespace tidemark
