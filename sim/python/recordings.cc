#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>

#include "sim/alloc/settings_parser.h"
#include "sim/device/device.h"
#include "sim/format/snapshot_program.h"
#include "sim/python/bindings.h"
#include "sim/python/columns.h"
#include "sim/python/errors.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/explain_report.h"
#include "sim/report/load_recording.h"
#include "sim/report/replay_report.h"
#include "sim/study/replay/recorded_requests.h"
#include "sim/study/replay/recording_range.h"

namespace tidemark::python {

namespace nb = nanobind;

namespace {

using Unlocked = nb::call_guard<nb::gil_scoped_release>;

/// What replay() of the Python package is asked, in its words.
struct ReplayQuestion {
  std::string path;
  std::vector<std::string> confs;
  bool grid = false;
  std::string device;  ///< empty: the trace's default, or the recorded one
  std::optional<Bytes> device_bytes;
  std::optional<Bytes> context_bytes;
  std::optional<double> memory_fraction;
  std::string pytorch;
  std::string event_policy;
  std::optional<unsigned> gpu;
  std::string from;
  std::string to;
  bool keep_events = false;
};

/// Rows with all that their reports look at.
struct Replay {
  std::string name;
  RequestTrace trace;
  ReplayOptions options;
  std::vector<ReplayResult> results;
  bool limited = true;
  std::optional<Agreement> agreement;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;
  std::vector<RecordedDevice> gpus;

  [[nodiscard]] ReplayReport report() const {
    return {name,  trace, &options, results, {}, {}, limited, agreement ? &*agreement : nullptr,
            notes, gpus};
  }
};

std::uint8_t device_of(const Snapshot& snapshot, std::optional<unsigned> gpu) {
  if (gpu) return static_cast<std::uint8_t>(*gpu);
  return worst_device(snapshot);
}

DeviceSpec device_asked(const ReplayQuestion& question) {
  DeviceSpec device;
  if (question.device_bytes) {
    device.name = "a device";
    device.total_bytes = *question.device_bytes;
  } else {
    device = load_device(question.device.empty() ? "h100" : question.device).spec;
  }
  if (question.context_bytes) device.context_bytes = *question.context_bytes;
  if (device.total_bytes == 0) argument_error("device_bytes", "expected at least one byte");
  if (device.context_bytes > device.total_bytes)
    argument_error("context_bytes", "the context is larger than the device");
  return device;
}

std::vector<AllocatorSettings> parse_confs(const std::vector<std::string>& confs, Version version,
                                           std::vector<std::string>& warnings) {
  std::vector<AllocatorSettings> settings;
  settings.reserve(confs.size());
  for (const std::string& conf : confs) {
    ParsedSettings parsed = parse_settings("alloc_conf", conf, version);
    settings.push_back(std::move(parsed.settings));
    for (std::string& text : warning_texts(parsed.warnings)) warnings.push_back(std::move(text));
  }
  return settings;
}

ReplayOptions options_of(const ReplayQuestion& question) {
  ReplayOptions options;
  const std::optional<EventPolicy> policy = parse_event_policy(question.event_policy);
  if (!policy)
    argument_error("event_policy", "expected sync, ready, lag:N or simulated, found '" +
                                       question.event_policy + "'");
  options.policy = *policy;
  options.memory_fraction = question.memory_fraction;
  if (options.memory_fraction && !(*options.memory_fraction >= 0 && *options.memory_fraction <= 1))
    argument_error("memory_fraction", "expected a number from 0 to 1");
  options.keep_events = question.keep_events;
  options.keep_samples = question.keep_events;
  return options;
}

void replay_snapshot(const ReplayQuestion& question, Replay& replay) {
  const Snapshot snapshot = read_snapshot_file(question.path);
  AgreementOptions range;
  range.device = device_of(snapshot, question.gpu);
  if (!question.from.empty())
    range.from_event = recording_moment(snapshot, range.device, "start", question.from);
  if (!question.to.empty())
    range.to_event = recording_moment(snapshot, range.device, "stop", question.to);
  if (!question.pytorch.empty()) range.version = parse_version("pytorch", question.pytorch);
  const bool other_device = !question.device.empty() || question.device_bytes;
  RecordedRequests recorded = recorded_requests(snapshot, range, other_device);
  replay.options.device = other_device ? device_asked(question) : recorded.device;
  const AllocatorSettings& own = recorded.agreement.settings;
  const std::vector<AllocatorSettings> settings =
      parse_confs(confs_beside(own, question.confs, question.grid), own.version, replay.warnings);
  replay.results = replay_all(recorded.trace.instructions, settings, replay.options);
  if (question.grid) rank_replays(replay.results);
  if (settings.size() > 1 || other_device) note_other_rows(recorded);
  replay.trace.instructions = Instructions(recorded.trace.instructions).unpacked();
  replay.trace.labels = std::move(recorded.trace.labels);
  replay.limited = recorded.limited;
  replay.notes = std::move(recorded.notes);
  replay.gpus = tidemark::devices_of(snapshot);
  replay.agreement = std::move(recorded.agreement);
}

void replay_trace(const ReplayQuestion& question, Replay& replay) {
  if (question.grid || question.gpu || !question.from.empty() || !question.to.empty())
    argument_error("grid, gpu, start, stop",
                   "are for memory snapshots; '" + question.path + "' is none");
  replay.options.device = device_asked(question);
  const Version version =
      question.pytorch.empty() ? kTraceRelease : parse_version("pytorch", question.pytorch);
  const std::vector<AllocatorSettings> settings =
      question.confs.empty() ? parse_confs({""}, version, replay.warnings)
                             : parse_confs(question.confs, version, replay.warnings);
  replay.trace = read_request_trace_file(question.path);
  replay.results = replay_all(replay.trace.instructions, settings, replay.options);
}

Replay make_replay(ReplayQuestion question) {
  Replay replay;
  replay.options = options_of(question);
  if (looks_like_snapshot(question.path)) {
    replay_snapshot(question, replay);
  } else {
    replay_trace(question, replay);
  }
  replay.name = std::move(question.path);
  return replay;
}

const ReplayResult& row_of(const Replay& replay, std::size_t row) {
  if (row >= replay.results.size()) throw nb::index_error("no such row");
  return replay.results[row];
}

nb::dict replay_columns(nb::handle_t<Replay> self, std::size_t row) {
  const ReplayResult& result = row_of(nb::cast<const Replay&>(self), row);
  return columns_of({&result.events, &result.samples, nullptr, nullptr, &result.live}, self);
}

/// The mark that each event came after, as runs of equal ones: text and number of events.
std::vector<std::pair<std::string, std::size_t>> replay_phases(const Replay& replay,
                                                               std::size_t row) {
  std::vector<std::pair<std::string, std::size_t>> phases;
  for (const std::string_view mark : event_marks(replay.trace, row_of(replay, row).events)) {
    if (phases.empty() || phases.back().first != mark) phases.emplace_back(mark, 0);
    ++phases.back().second;
  }
  return phases;
}

/// A recording at one moment, and over its whole length.
struct Explained {
  Explanation explanation;
  RunBasis basis;  ///< of a run
  std::optional<ChurnReport> churn;
};

/// `program`: whose run the recording is; null: nobody's that could be played.
Explained explained(const LoadedRecording& recording, const ScenarioSource* program,
                    const std::string& at, std::optional<Bytes> device_bytes,
                    std::optional<unsigned> gpu, bool churn) {
  const std::uint8_t device = device_of(recording.snapshot, gpu);
  if (!device_bytes && device < recording.capacity_bytes.size())
    device_bytes = recording.capacity_bytes[device];
  Explained out{
      explain(recording.snapshot, {device, at, device_bytes, program}), recording.basis, {}};
  if (churn) out.churn = churn_of(recording.snapshot, device);
  return out;
}

Explained explain_file(const std::string& path, const std::string& at,
                       std::optional<Bytes> device_bytes, std::optional<unsigned> gpu, bool churn) {
  std::optional<ScenarioSource> program;
  if (looks_like_scenario(path)) program = open_scenario(path, {});
  return explained(load_recording(path, {}), program ? &*program : nullptr, at, device_bytes, gpu,
                   churn);
}

Explained explain_run(const Run& run, const std::string& at, std::optional<Bytes> device_bytes,
                      std::optional<unsigned> gpu, bool churn) {
  return explained(recording_of(run.result, run.source.text->name), &run.source, at, device_bytes,
                   gpu, churn);
}

std::string explained_text(const Explained& explained, std::size_t top, std::size_t width) {
  const TextStyle style{width, false};
  std::string text;
  for (const std::string& line : assumption_lines(explained.basis)) text += line + "\n";
  text += explain_text(explained.explanation, top, style);
  if (explained.churn) text += churn_text(*explained.churn, top, style);
  return text;
}

std::optional<std::string> churn_document(const Explained& explained, std::size_t top) {
  if (!explained.churn) return std::nullopt;
  return churn_json(*explained.churn, top);
}

}  // namespace

void bind_recordings(nb::module_& module) {
  nb::class_<Replay>(module, "Replay")
      .def_ro("warnings", &Replay::warnings)
      .def(
          "document", [](const Replay& replay) { return replay_json(replay.report()); }, Unlocked())
      .def(
          "summary",
          [](const Replay& replay, std::size_t width) {
            return replay_text(replay.report(), {width, false});
          },
          nb::arg("width"), Unlocked())
      .def("columns", &replay_columns, nb::arg("row"))
      .def("phases", &replay_phases, nb::arg("row"));
  module.def(
      "replay",
      [](std::string path, std::vector<std::string> confs, bool grid, std::string device,
         std::optional<Bytes> device_bytes, std::optional<Bytes> context_bytes,
         std::optional<double> memory_fraction, std::string pytorch, std::string event_policy,
         std::optional<unsigned> gpu, std::string start, std::string stop, bool keep_events) {
        return make_replay({std::move(path), std::move(confs), grid, std::move(device),
                            device_bytes, context_bytes, memory_fraction, std::move(pytorch),
                            std::move(event_policy), gpu, std::move(start), std::move(stop),
                            keep_events});
      },
      nb::arg("path"), nb::arg("confs"), nb::arg("grid"), nb::arg("device"),
      nb::arg("device_bytes").none(), nb::arg("context_bytes").none(),
      nb::arg("memory_fraction").none(), nb::arg("pytorch"), nb::arg("event_policy"),
      nb::arg("gpu").none(), nb::arg("start"), nb::arg("stop"), nb::arg("keep_events"), Unlocked());

  nb::class_<Explained>(module, "Explained")
      .def(
          "document",
          [](const Explained& explained, std::size_t top) {
            return explain_json(explained.explanation, explained.basis, top);
          },
          nb::arg("top"))
      .def("churn", &churn_document, nb::arg("top"))
      .def("summary", &explained_text, nb::arg("top"), nb::arg("width"));
  module.def("explain_file", &explain_file, nb::arg("path"), nb::arg("at"),
             nb::arg("device_bytes").none(), nb::arg("gpu").none(), nb::arg("churn"), Unlocked());
  module.def("explain_run", &explain_run, nb::arg("run"), nb::arg("at"),
             nb::arg("device_bytes").none(), nb::arg("gpu").none(), nb::arg("churn"), Unlocked());
}

}  // namespace tidemark::python
