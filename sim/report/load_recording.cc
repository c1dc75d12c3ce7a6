#include "sim/report/load_recording.h"

#include <span>

#include "sim/base/problem.h"
#include "sim/device/device.h"
#include "sim/format/request_trace.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/headline.h"
#include "sim/report/snapshot_export.h"
#include "sim/run/run.h"
#include "sim/run/scenario.h"
#include "sim/study/replay/replay.h"

namespace tidemark {

namespace {

/// The first bytes of a file, unpacked; empty where the packing is damaged, for which the file's
/// own reader has the message.
std::string first_bytes(const std::string& path, std::size_t count) {
  std::string start(count, '\0');
  try {
    start.resize(unzipped(bytes_of_file(path), path)->read(start));
  } catch (const InputError&) {
    start.clear();
  }
  return start;
}

Snapshot snapshot_in_memory(const std::string& pickled, const std::string& name) {
  const auto source = bytes_in_memory(pickled);
  return read_snapshot(*source, name);
}

/// Played under default settings on an H100.
LoadedRecording recording_of_trace(const std::string& path) {
  const RequestTrace trace = read_request_trace_file(path);
  ReplayOptions options;
  options.device = load_device("h100").spec;
  options.keep_events = true;
  const ReplayResult result = replay(trace.instructions, AllocatorSettings{}, options);
  const EventView view = view_of(trace, result, options.device.name);
  Snapshot snapshot = snapshot_in_memory(snapshot_of(std::span(&view, 1), result.settings), path);
  snapshot.release = result.settings.version;
  return {std::move(snapshot),
          {options.device.total_bytes - options.device.context_bytes},
          {},
          {},
          {},
          {}};
}

}  // namespace

bool looks_like_snapshot(const std::string& path) {
  if (path == "-") return false;
  const std::string start = first_bytes(path, 4);
  return start.starts_with('\x80') || start.starts_with("PK\x03\x04");
}

bool looks_like_request_trace(const std::string& path) {
  return path.ends_with(".tmt") || path.ends_with(".tmt.gz") ||
         first_bytes(path, 14) == "tidemark-trace";
}

bool looks_like_scenario(std::string_view path) {
  return path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".py");
}

LoadedRecording recording_of(const RunResult& result, const std::string& name) {
  std::vector<EventView> views;
  LoadedRecording loaded;
  views.reserve(result.devices.size());
  loaded.capacity_bytes.reserve(result.devices.size());
  for (const DeviceResult& device : result.devices) {
    views.push_back(view_of(device, result.program));
    loaded.capacity_bytes.push_back(
        device.device_free_bytes +
        static_cast<Bytes>(device.statistics.reserved_bytes.all.current));
  }
  loaded.snapshot = snapshot_in_memory(snapshot_of(views, result.devices.front().settings), name);
  loaded.snapshot.release = result.devices.front().settings.version;
  loaded.host = host_points(result);
  loaded.verdict = verdict_of(result);
  loaded.ending = verdict_line(*loaded.verdict, result.devices.size());
  loaded.basis = result;
  return loaded;
}

LoadedRecording load_recording(const std::string& path, const ScenarioChoice& choice,
                               const ReadProgress& progress) {
  if (looks_like_scenario(path))
    return recording_of(run(load_scenario(path, choice.overrides, choice.variant), {}), path);
  if (looks_like_snapshot(path)) return {read_snapshot_file(path, progress), {}, {}, {}, {}, {}};
  if (first_bytes(path, 12) == "index,action") {
    Problem problem;
    problem.path = path;
    problem.message = "is an event trace, which does not hold the requests' block sizes";
    problem.hint = "give the scenario itself, or what `run --snapshot` writes";
    throw InputError(std::move(problem));
  }
  return recording_of_trace(path);
}

}  // namespace tidemark
