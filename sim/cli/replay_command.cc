#include <charconv>

#include <algorithm>

#include "sim/alloc/settings_parser.h"
#include "sim/base/problem.h"
#include "sim/cli/command.h"
#include "sim/cli/snapshot_input.h"
#include "sim/device/device.h"
#include "sim/format/allocator_json.h"
#include "sim/format/request_trace.h"
#include "sim/format/whole_file.h"
#include "sim/report/agreement_report.h"
#include "sim/report/replay_report.h"
#include "sim/report/snapshot_export.h"
#include "sim/study/replay/recorded_requests.h"
#include "sim/study/replay/replay.h"

namespace tidemark::cli {

namespace {

/// All that may hold one run alone.
constexpr std::string_view kPerRunFiles[]{"events",   "stats",    "segments", "timeline",
                                          "snapshot", "perfetto", "columns"};
constexpr std::string_view kSnapshotOptions[]{"grid", "gpu", "from", "to"};

/// The devices of --device and --device-bytes, as often as they are given; else the default one.
std::vector<DeviceSpec> devices_of(const Arguments& args) {
  std::vector<DeviceSpec> specs;
  for (const std::string& text : args.values("device-bytes")) {
    const std::optional<Bytes> total = parse_bytes(text);
    if (!total || *total == 0 || *total > Bytes{1} << 59U)
      usage_error("--device-bytes",
                  "expected an amount from 1 byte to 512 PiB such as 80GiB, found '" + text + "'");
    specs.emplace_back();
    specs.back().name = "a device";
    specs.back().total_bytes = *total;
  }
  for (const std::string& name : args.values("device")) specs.push_back(load_device(name).spec);
  if (specs.empty()) specs.push_back(load_device(args.value("device")).spec);
  const std::optional<Bytes> context = args.bytes("context-bytes");
  for (DeviceSpec& spec : specs) {
    if (context) spec.context_bytes = *context;
    if (spec.context_bytes <= spec.total_bytes) continue;
    usage_error("--context-bytes",
                fmt::format("the context ({} bytes) is larger than the device ({} bytes)",
                            spec.context_bytes, spec.total_bytes));
  }
  return specs;
}

std::optional<double> fraction_of(const Arguments& args) {
  const std::string& text = args.value("memory-fraction");
  if (text.empty()) return std::nullopt;
  double fraction = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fraction);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(fraction >= 0 && fraction <= 1)) {
    usage_error("--memory-fraction", "expected a number from 0 to 1, found '" + text + "'");
  }
  return fraction;
}

EventPolicy policy_of(const Arguments& args) {
  const std::string& text = args.value("event-policy");
  const std::optional<EventPolicy> policy = parse_event_policy(text);
  if (!policy) {
    usage_error("--event-policy", "expected sync, ready, lag:N or simulated, found '" + text + "'",
                did_you_mean(text, {"sync", "ready", "lag:1", "simulated"}));
  }
  return *policy;
}

std::vector<AllocatorSettings> parse_all(const std::vector<std::string>& confs, Version version,
                                         Output& err) {
  std::vector<AllocatorSettings> settings;
  std::vector<Problem> problems;
  for (const std::string& conf : confs) {
    try {
      ParsedSettings parsed = parse_settings("--alloc-conf", conf, version);
      settings.push_back(std::move(parsed.settings));
      for (const Problem& warning : parsed.warnings) {
        err.print("warning: {}{}{}\n", warning.path, warning.path.empty() ? "" : ": ",
                  warning.message);
      }
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return settings;
}

std::vector<AllocatorSettings> settings_of(const Arguments& args, Output& err) {
  std::vector<std::string> confs = args.values("alloc-conf");
  if (confs.empty()) confs.emplace_back();
  const Version version =
      args.has("pytorch") ? parse_version("--pytorch", args.value("pytorch")) : kTraceRelease;
  return parse_all(confs, version, err);
}

/// The recording's own setting first, then what was asked for.
std::vector<AllocatorSettings> settings_beside(const AllocatorSettings& recorded,
                                               const Arguments& args, Output& err) {
  const std::vector<std::string>& confs = args.values("alloc-conf");
  const bool keeps_files =
      std::ranges::any_of(kPerRunFiles, [&args](std::string_view file) { return args.has(file); });
  if (keeps_files && confs.size() == 1 && !args.has("grid"))
    return parse_all(confs, recorded.version, err);
  return parse_all(confs_beside(recorded, confs, args.has("grid")), recorded.version, err);
}

void write_files(const Arguments& args, const Requests& trace, const ReplayResult& result,
                 const std::string& device) {
  if (args.has("stats")) {
    std::string text;
    write_stats_json(flatten(result.statistics, result.settings.version), text);
    write_whole_file(args.value("stats"), text);
  }
  if (args.has("segments")) {
    std::string text;
    write_segments_json(result.segments, text);
    write_whole_file(args.value("segments"), text);
  }
  if (!args.has("snapshot") && !args.has("perfetto") && !args.has("columns")) return;
  const EventView view = view_of(trace, result, device);
  if (args.has("snapshot"))
    write_whole_file(args.value("snapshot"), snapshot_of(std::span(&view, 1), result.settings));
  if (args.has("perfetto")) write_perfetto(std::span(&view, 1), {}, args.value("perfetto"));
  if (args.has("columns")) write_columns(view, args.value("columns"));
}

class ReplayCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "replay",
        "play a request trace or a snapshot under one setting or many",
        "Plays what a program asked of the allocator (a .tmt trace, plain or gzip) and tells "
        "what the allocator did with it. A PyTorch memory snapshot (.pickle, plain or gzip; "
        "nothing in it is executed) is first re-simulated from its own settings and compared "
        "with what was recorded, event by event. With several --alloc-conf: a table, one row a "
        "setting; 'backend:naive' (a cudaMalloc a tensor) and 'backend:ideal' (live bytes alone) "
        "are the bounds to compare with.",
        {{"TRACE", "a request trace (- for standard input) or a memory snapshot"}},
        {{"alloc-conf", "CONF", "PYTORCH_ALLOC_CONF; several: a table", "", true},
         {"grid", "", "a snapshot: compare settings worth trying, the best first", ""},
         {"gpu", "N", "a snapshot: which of its devices (default: the worst)", ""},
         {"from", "WHEN", "a snapshot: begin at an event's number, step:N, time:1.5s or mark:TEXT",
          ""},
         {"to", "WHEN", "a snapshot: end there, in the same words", ""},
         {"device", "NAME",
          "the GPU or a device file (a snapshot: the recorded one); several: a table", "h100",
          true},
         {"device-bytes", "N", "a device by its total memory; several, with --device too: a table",
          "", true},
         {"context-bytes", "N", "the CUDA context's (0 with --device-bytes)", ""},
         {"memory-fraction", "F", "set_per_process_memory_fraction(F), from 0 to 1", ""},
         {"pytorch", "VERSION", "a trace: the release whose allocator it is (default 2.11)", ""},
         {"event-policy", "POLICY", "other streams' uses end: sync, ready, lag:N, simulated",
          "sync"},
         {"events", "FILE", "write every event as CSV", ""},
         {"stats", "FILE", "write torch.cuda.memory_stats() at the end as JSON", ""},
         {"segments", "FILE", "write segments and blocks at the end as JSON", ""},
         {"timeline", "FILE", "write the amounts after every event as CSV", ""},
         {"trace-out", "FILE", "write the requests as a .tmt trace (.gz packs it)", ""},
         {"snapshot", "FILE", "write a memory snapshot, as torch.cuda.memory._dump_snapshot would",
          ""},
         {"perfetto", "FILE", "write a trace for ui.perfetto.dev or chrome://tracing, JSON", ""},
         {"columns", "FOLDER", "write events and amounts as one .npy file a column", ""},
         {"format", "text|json|csv", "how to print", "text"},
         {"repeat", "N", "also time the allocator alone, N times over the trace in memory", ""}},
        {{"tidemark replay trace.tmt --alloc-conf '' --alloc-conf max_split_size_mb:128",
          "compare two"},
         {"tidemark replay snapshot.pickle --grid",
          "a recorded run: would other settings need less?"},
         {"tidemark replay snapshot.pickle --from step:2 --trace-out step2.tmt.gz",
          "one step as a request trace"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    const std::string& name = args.positional().front();
    if (looks_like_snapshot(name)) return run_snapshot(args, name, out, err);
    for (const std::string_view option : kSnapshotOptions) {
      if (args.has(option))
        usage_error("--" + std::string(option), "is for memory snapshots; '" + name + "' is none");
    }
    ReplayOptions options;
    const std::vector<DeviceSpec> devices = devices_of(args);
    const std::vector<AllocatorSettings> settings = settings_of(args, err);
    const RequestTrace trace = read_request_trace_file(name);
    const Played played = play(args, trace, settings, devices, options);
    print(args,
          {name,
           trace,
           &options,
           played.results,
           played.speeds,
           played.devices,
           true,
           nullptr,
           {},
           {}},
          out);
    return ExitCode::kDone;
  }

 private:
  struct Played {
    std::vector<ReplayResult> results;
    std::vector<ReplaySpeed> speeds;
    std::vector<DeviceSpec> devices;
  };

  /// Every setting on every device; leaves the first device in `options`.
  static Played play(const Arguments& args, const Requests& trace,
                     const std::vector<AllocatorSettings>& settings,
                     const std::vector<DeviceSpec>& devices, ReplayOptions& options) {
    options.memory_fraction = fraction_of(args);
    options.policy = policy_of(args);
    const std::optional<std::uint64_t> repeats = args.number("repeat", 1, 100'000);
    for (const std::string_view file : kPerRunFiles) {
      if (settings.size() > 1 && args.has(file)) {
        usage_error("--" + std::string(file), "holds one run, but there are several --alloc-conf",
                    "give one --alloc-conf, or leave --" + std::string(file) + " out");
      }
      if (devices.size() > 1 && args.has(file))
        usage_error("--" + std::string(file), "holds one run, but there are several devices");
    }
    // What these need is the whole run; events and timeline are written while it is played.
    const bool whole = args.has("perfetto") || args.has("columns");
    options.keep_samples = whole || args.has("timeline");
    options.keep_events = whole || args.has("segments") || args.has("snapshot");
    if (args.has("trace-out")) write_trace_file(trace, args.value("trace-out"));
    std::optional<ReplayFiles> files;
    if (args.has("events") || args.has("timeline")) {
      files.emplace(trace, args.value("events"), args.value("timeline"));
      options.follow = [&files](const ReplayedEvents& some) { files->take(some); };
    }
    Played played;
    const std::vector<Instruction> unpacked =
        repeats ? trace.instructions.unpacked() : std::vector<Instruction>();
    for (const DeviceSpec& device : devices) {
      options.device = device;
      for (ReplayResult& result : replay_all(trace.instructions, settings, options))
        played.results.push_back(std::move(result));
      for (std::size_t i = 0; repeats && i < settings.size(); ++i)
        played.speeds.push_back(measure_replay(unpacked, settings[i], options, *repeats));
      played.devices.insert(played.devices.end(), settings.size(), device);
    }
    if (files) files->finish();
    options.follow = {};
    options.device = devices.front();
    if (played.results.size() == 1)
      write_files(args, trace, played.results.front(), options.device.name);
    return played;
  }

  /// The snapshot itself is given up: its requests are what is played.
  static std::pair<RecordedRequests, std::vector<RecordedDevice>> requests_of(
      const Arguments& args, const std::string& name, bool device_given, Output& err) {
    const Snapshot snapshot = load_snapshot(name, err);
    AgreementOptions range = recording_options(args, snapshot);
    if (args.has("pytorch")) range.version = parse_version("--pytorch", args.value("pytorch"));
    RecordedRequests recorded = recorded_requests(snapshot, range, device_given);
    for (std::string& note : other_release_notes(args, snapshot))
      recorded.notes.push_back(std::move(note));
    return {std::move(recorded), tidemark::devices_of(snapshot)};
  }

  static ExitCode run_snapshot(const Arguments& args, const std::string& name, Output& out,
                               Output& err) {
    const RecordingBudget within(name);
    const bool device_given = args.has("device") || args.has("device-bytes");
    auto [recorded, gpus] = requests_of(args, name, device_given, err);
    ReplayOptions options;
    const std::vector<DeviceSpec> devices =
        device_given ? devices_of(args) : std::vector<DeviceSpec>{recorded.device};
    const std::vector<AllocatorSettings> settings =
        settings_beside(recorded.agreement.settings, args, err);
    Played played = play(args, recorded.trace, settings, devices, options);
    if (args.has("grid") && played.speeds.empty()) {
      for (std::size_t first = 0; first < played.results.size(); first += settings.size())
        rank_replays(std::span(played.results).subspan(first, settings.size()));
    }
    if (played.results.size() > 1 || device_given) note_other_rows(recorded);
    print(args,
          {name, recorded.trace, &options, played.results, played.speeds, played.devices,
           recorded.limited, &recorded.agreement, recorded.notes, gpus},
          out);
    return ExitCode::kDone;
  }

  static void print(const Arguments& args, const ReplayReport& report, Output& out) {
    const std::string& format = args.value("format");
    if (format == "json") {
      out.write(replay_json(report));
    } else if (format == "csv") {
      out.write(replay_csv(report));
    } else {
      out.write(replay_text(report, {static_cast<std::size_t>(out.width()), out.colour()}));
    }
  }
};

}  // namespace

std::unique_ptr<Command> make_replay_command() { return std::make_unique<ReplayCommand>(); }

}  // namespace tidemark::cli
