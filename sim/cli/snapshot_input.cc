#include "sim/cli/snapshot_input.h"

#include <filesystem>

#include "sim/cli/scenario_input.h"
#include "sim/device/device.h"
#include "sim/format/byte_source.h"
#include "sim/format/snapshot_program.h"
#include "sim/format/whole_file.h"
#include "sim/report/snapshot_export.h"
#include "sim/run/run.h"
#include "sim/study/recording_range.h"
#include "sim/study/replay.h"

namespace tidemark::cli {

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

Snapshot load_snapshot(const std::string& path, Output& err) {
  constexpr std::uint64_t kLong = std::uint64_t{64} << 20U;
  std::uint32_t shown = 0;
  ReadProgress progress;
  if (err.colour()) {
    progress = [&err, &shown](std::uint64_t bytes, std::uint32_t thousandths) {
      if (bytes < kLong || thousandths < shown + 10) return;
      shown = thousandths;
      err.print("\rreading: {} %", thousandths / 10);
      err.flush();
    };
  }
  Snapshot snapshot = read_snapshot_file(path, progress);
  if (shown > 0) err.write("\r\x1b[K");
  return snapshot;
}

Snapshot recording_of(const RunResult& result, const std::string& name) {
  std::vector<EventView> views;
  for (const DeviceResult& device : result.devices)
    views.push_back(view_of(device, result.program));
  const std::string pickled = snapshot_of(views, result.devices.front().settings);
  const auto source = bytes_in_memory(pickled);
  return read_snapshot(*source, name);
}

bool looks_like_scenario(std::string_view path) {
  return path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".py");
}

ScenarioChoice scenario_choice(const Arguments& args) {
  return {scenario_overrides(args), args.value("variant")};
}

LoadedRecording load_recording(const std::string& path, const ScenarioChoice& choice, Output& err) {
  if (!looks_like_scenario(path) && (!choice.overrides.empty() || !choice.variant.empty())) {
    usage_error("--set, --variant, --device", "choose a scenario's run; '" + path + "' is none");
  }
  LoadedRecording loaded;
  if (looks_like_scenario(path)) {
    const RunResult result = run(load_scenario(path, choice.overrides, choice.variant), {});
    for (const DeviceResult& device : result.devices) {
      loaded.capacity_bytes.push_back(
          device.device_free_bytes +
          static_cast<Bytes>(device.statistics.reserved_bytes.all.current));
    }
    loaded.snapshot = recording_of(result, path);
    return loaded;
  }
  if (looks_like_snapshot(path)) return {load_snapshot(path, err), {}};
  if (first_bytes(path, 12) == "index,action") {
    Problem problem;
    problem.path = path;
    problem.message = "is an event trace, which does not hold the requests' block sizes";
    problem.hint = "give the scenario itself, or what `run --snapshot` writes";
    throw InputError(std::move(problem));
  }
  const RequestTrace trace = read_request_trace_file(path);
  ReplayOptions options;
  options.device = load_device("h100").spec;
  options.keep_events = true;
  const ReplayResult result = replay(trace.instructions, AllocatorSettings{}, options);
  const EventView view = view_of(trace, result, options.device.name);
  const std::string pickled = snapshot_of(std::span(&view, 1), result.settings);
  const auto source = bytes_in_memory(pickled);
  loaded.snapshot = read_snapshot(*source, path);
  loaded.capacity_bytes = {options.device.total_bytes - options.device.context_bytes};
  return loaded;
}

void write_folder(const std::string& folder,
                  const std::vector<std::pair<std::string, std::string>>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(folder + ": " + error.message());
  const SignalsHeld all_or_none;
  for (const auto& [name, content] : files) write_whole_file(folder + "/" + name, content);
}

AgreementOptions recording_options(const Arguments& args, const Snapshot& snapshot) {
  AgreementOptions options;
  const std::vector<std::uint8_t> devices = recorded_devices(snapshot);
  if (const auto gpu = args.number("gpu", 0, 127)) {
    options.device = static_cast<std::uint8_t>(*gpu);
  } else if (!devices.empty()) {
    options.device = devices.front();
  }
  if (args.has("from"))
    options.from_event = recording_moment(snapshot, options.device, "--from", args.value("from"));
  if (args.has("to"))
    options.to_event = recording_moment(snapshot, options.device, "--to", args.value("to"));
  return options;
}

}  // namespace tidemark::cli
