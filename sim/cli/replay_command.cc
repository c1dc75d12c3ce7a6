#include <charconv>

#include "sim/alloc/settings_parser.h"
#include "sim/base/problem.h"
#include "sim/cli/commands.h"
#include "sim/device/device.h"
#include "sim/format/allocator_json.h"
#include "sim/format/request_trace.h"
#include "sim/format/whole_file.h"
#include "sim/report/replay_report.h"
#include "sim/study/replay.h"

namespace tidemark::cli {

namespace {

constexpr std::string_view kPerRunFiles[]{"events", "stats", "segments", "timeline"};

DeviceSpec device_of(const Arguments& args) {
  DeviceSpec spec;
  const std::optional<Bytes> total = args.bytes("device-bytes");
  const std::optional<Bytes> context = args.bytes("context-bytes");
  if (total) {
    if (args.has("device")) usage_error("--device-bytes", "cannot be given together with --device");
    spec.name = "a device";
    spec.total_bytes = *total;
  } else {
    spec = load_device(args.value("device")).spec;
  }
  if (context) spec.context_bytes = *context;
  if (spec.total_bytes == 0 || spec.total_bytes > Bytes{1} << 59U) {
    usage_error("--device-bytes", "expected an amount from 1 byte to 512 PiB");
  }
  if (spec.context_bytes > spec.total_bytes) {
    usage_error("--context-bytes", fmt::format("the context ({} bytes) is larger than the device ({} bytes)",
                                               spec.context_bytes, spec.total_bytes));
  }
  return spec;
}

std::optional<double> fraction_of(const Arguments& args) {
  const std::string& text = args.value("memory-fraction");
  if (text.empty()) return std::nullopt;
  double fraction = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fraction);
  if (error != std::errc() || end != text.data() + text.size() || !(fraction >= 0 && fraction <= 1)) {
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

std::vector<AllocatorSettings> settings_of(const Arguments& args, Output& err) {
  const Version version = parse_version("--pytorch", args.value("pytorch"));
  std::vector<std::string> confs = args.values("alloc-conf");
  if (confs.empty()) confs.emplace_back();
  std::vector<AllocatorSettings> settings;
  std::vector<Problem> problems;
  for (const std::string& conf : confs) {
    try {
      ParsedSettings parsed = parse_settings("--alloc-conf", conf, version);
      settings.push_back(std::move(parsed.settings));
      for (const Problem& warning : parsed.warnings) {
        err.print("warning: {}{}{}\n", warning.path, warning.path.empty() ? "" : ": ", warning.message);
      }
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return settings;
}

void write_files(const Arguments& args, const RequestTrace& trace, const ReplayResult& result) {
  if (args.has("events")) write_whole_file(args.value("events"), replay_events_csv(trace, result));
  if (args.has("timeline")) write_whole_file(args.value("timeline"), replay_timeline_csv(trace, result));
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
}

class ReplayCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "replay",
        "play a request trace through the allocator, under one setting or many",
        "Plays what a program asked of the allocator (a .tmt trace, plain or gzip) and tells what the allocator\n"
        "did with it. With several --alloc-conf: a table, one row a setting; 'backend:naive' (a cudaMalloc a\n"
        "tensor) and 'backend:ideal' (live bytes alone) are the bounds to compare with.",
        {{"TRACE", "the request trace; - for standard input"}},
        {{"alloc-conf", "CONF", "PYTORCH_ALLOC_CONF; give it several times to compare settings", "", true},
         {"device", "NAME", "the GPU, by name or as a device file", "h100"},
         {"device-bytes", "N", "instead of --device: the device's total memory", ""},
         {"context-bytes", "N", "memory that the CUDA context takes (default: the device's; 0 with --device-bytes)", ""},
         {"memory-fraction", "F", "torch.cuda.set_per_process_memory_fraction(F), from 0 to 1", ""},
         {"pytorch", "VERSION", "the release whose allocator it is, 2.4 to 2.15", "2.11"},
         {"event-policy", "POLICY", "when other streams' uses end: sync, ready, lag:N, simulated", "sync"},
         {"events", "FILE", "write every event as CSV", ""},
         {"stats", "FILE", "write torch.cuda.memory_stats() at the end as JSON", ""},
         {"segments", "FILE", "write segments and blocks at the end as JSON", ""},
         {"timeline", "FILE", "write the amounts after every event as CSV", ""},
         {"format", "text|json|csv", "how to print", "text"},
         {"repeat", "N", "also time the allocator alone, N times over the trace in memory", ""}},
        {{"tidemark replay trace.tmt.gz --alloc-conf expandable_segments:True", "one setting"},
         {"tidemark replay trace.tmt --alloc-conf '' --alloc-conf max_split_size_mb:128", "compare two"},
         {"tidemark replay trace.tmt --device-bytes 8GiB --events events.csv", "a small device, every event kept"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    ReplayOptions options;
    options.device = device_of(args);
    options.memory_fraction = fraction_of(args);
    options.policy = policy_of(args);
    const std::optional<std::uint64_t> repeats = args.number("repeat", 1, 100'000);
    const std::vector<AllocatorSettings> settings = settings_of(args, err);
    for (const std::string_view file : kPerRunFiles) {
      if (settings.size() > 1 && args.has(file)) {
        usage_error("--" + std::string(file), "holds one run, but there are several --alloc-conf",
                    "give one --alloc-conf, or leave --" + std::string(file) + " out");
      }
    }
    options.keep_samples = args.has("timeline");
    options.keep_events = options.keep_samples || args.has("events") || args.has("segments");

    const std::string& name = args.positional().front();
    const RequestTrace trace = read_request_trace_file(name);
    const std::vector<ReplayResult> results = replay_all(trace.instructions, settings, options);
    std::vector<ReplaySpeed> speeds;
    if (repeats) {
      for (const AllocatorSettings& setting : settings) {
        speeds.push_back(measure_replay(trace.instructions, setting, options, *repeats));
      }
    }
    if (results.size() == 1) write_files(args, trace, results.front());

    const ReplayReport report{name, &trace, &options, results, speeds};
    const std::string& format = args.value("format");
    if (format == "json") {
      out.write(replay_json(report));
    } else if (format == "csv") {
      out.write(replay_csv(report));
    } else {
      out.write(replay_text(report, {static_cast<std::size_t>(out.width()), out.colour()}));
    }
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_replay_command() { return std::make_unique<ReplayCommand>(); }

}  // namespace tidemark::cli
