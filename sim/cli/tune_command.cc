#include <fmt/format.h>

#include "sim/alloc/settings_parser.h"
#include "sim/cli/command.h"
#include "sim/cli/scenario_input.h"
#include "sim/cli/snapshot_input.h"
#include "sim/device/device.h"
#include "sim/format/request_trace.h"
#include "sim/format/whole_file.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/tune_layouts_report.h"
#include "sim/report/tune_report.h"
#include "sim/study/advice/tune.h"
#include "sim/study/replay/recorded_requests.h"

namespace tidemark::cli {

namespace {

constexpr std::string_view kDefaultDevice = "h100-sxm-80gb";

std::string device_text(const DeviceSpec& device) {
  return fmt::format("{}, {}", device.name, human_bytes(device.total_bytes));
}

class TuneCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "tune",
        "search allocator settings for a scenario, trace or snapshot",
        "The workload is recorded once and played under a grid of settings, then around the best "
        "of them. Where a scenario's steps differ (lists of batches or lengths), the best are "
        "played in other orders too, and judged by the worst. Of settings within a hundredth "
        "of one another the simplest is best.",
        {{"WORKLOAD", "a scenario or script, a request trace (.tmt), or a memory snapshot"},
         kScriptArguments},
        with_program_options(
            {{"device", "ID", "the GPU, whatever the workload says; of a trace: h100", ""},
             {"alloc-conf", "CONF", "a trace: the setting that it has now", ""},
             {"pytorch", "VERSION", "a trace or snapshot: the release to tune for", ""},
             {"shuffles", "N", "a scenario: orders drawn beside smallest and largest first", "3"},
             {"gpu", "N", "a snapshot: which of its devices (default: the worst)", ""},
             {"from", "WHEN",
              "a snapshot: begin at an event's number, step:N, time:1.5s or mark:TEXT", ""},
             {"to", "WHEN", "a snapshot: end there, in the same words", ""},
             kSetOption,
             kVariantOption,
             {"over", "layouts",
              "a scenario of several ranks: how they share the model, in place of settings", ""},
             {"write", "FILE", "write the best as a line PYTORCH_ALLOC_CONF=...", ""},
             {"limit", "N", "rows of the table; 0: all", "10"},
             {"threads", "N", "replays at a time; 0: one a processor", "0"},
             {"format", "text|json", "how to print", "text"}}),
        {{"tidemark tune s.yaml --over layouts --world 8", "fsdp, tp, pp, cp, micro-batches"},
         {"tidemark tune configs/scenarios/batch_order.yaml", "also in other orders of its steps"},
         {"tidemark tune snapshot.pickle --from step:2", "a recorded run, its warm-up left out"},
         {"tidemark tune s.yaml --write conf.env", "then: env $(cat conf.env) python train.py"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    const std::string& path = args.positional()[0];
    const auto threads = static_cast<unsigned>(args.number("threads", 0, 1024).value_or(0));
    const auto limit = static_cast<std::size_t>(args.number("limit", 0, 100'000).value_or(10));
    const auto shuffles = static_cast<unsigned>(args.number("shuffles", 0, 100).value_or(3));
    if (args.has("over")) {
      out.write(over_layouts(args, threads, limit, out));
      return ExitCode::kDone;
    }
    Subject subject;
    if (looks_like_scenario(path)) {
      read_scenario_into(subject, args, shuffles);
    } else if (looks_like_snapshot(path)) {
      read_snapshot_into(subject, args, err);
    } else {
      read_trace_into(subject, args);
    }
    const TuneResult result = tune(subject.workload, threads);
    const TuneReportOptions report{path, subject.device, subject.no_orders, subject.notes, limit};
    const bool writes = args.has("write") && !result.is_refused;
    if (writes) {
      write_whole_file(args.value("write"),
                       environment_line(result.settings[result.best].settings));
    }
    out.write(
        args.value("format") == "json"
            ? tune_json(result, report)
            : tune_text(result, report, {static_cast<std::size_t>(out.width()), out.colour()}));
    if (!args.has("write") || writes) return ExitCode::kDone;
    err.print(
        "error: --write: under every setting tried a request is refused: '{}' is not written\n",
        args.value("write"));
    return ExitCode::kOutOfMemory;
  }

 private:
  struct Subject {
    RequestTrace trace;  ///< of a trace or snapshot; the workload plays it
    TuneWorkload workload;
    std::string device;
    std::string no_orders;
    std::vector<std::string> notes;
  };

  static void refuse(const Arguments& args, std::initializer_list<std::string_view> options,
                     std::string_view belongs_to) {
    for (const std::string_view option : options) {
      if (args.has(option))
        usage_error(fmt::format("--{}", option), fmt::format("is for {}", belongs_to));
    }
  }

  static std::string over_layouts(const Arguments& args, unsigned threads, std::size_t limit,
                                  const Output& out) {
    const std::string& path = args.positional()[0];
    if (args.value("over") != "layouts")
      usage_error("--over", fmt::format("'{}' cannot be tuned over", args.value("over")),
                  "give --over layouts");
    if (!looks_like_scenario(path))
      usage_error("--over", "is for scenarios", "give it a scenario with a `train`");
    refuse(args, {"gpu", "from", "to"}, "memory snapshots");
    refuse(args, {"alloc-conf", "pytorch", "write", "shuffles"}, "allocator settings");
    const ScenarioSource source =
        open_scenario(path, script_overrides(args), args.value("variant"));
    const std::string device = device_text(read_scenario(source).device);
    const TunedLayouts tuned = tune_layouts(source, threads);
    const TuneReportOptions report{path, device, {}, {}, limit};
    return args.value("format") == "json"
               ? tune_layouts_json(tuned, report)
               : tune_layouts_text(tuned, report,
                                   {static_cast<std::size_t>(out.width()), out.colour()});
  }

  static void read_scenario_into(Subject& subject, const Arguments& args, unsigned shuffles) {
    refuse(args, {"gpu", "from", "to"}, "memory snapshots");
    for (const std::string_view option : {"alloc-conf", "pytorch"}) {
      if (args.has(option))
        usage_error(
            fmt::format("--{}", option), "is for traces and snapshots",
            option == "pytorch" ? "give --set pytorch='\"2.9\"'" : "give --set allocator.conf=...");
    }
    const ScenarioSource source =
        open_scenario(args.positional()[0], script_overrides(args), args.value("variant"));
    subject.device = device_text(read_scenario(source).device);
    subject.workload = tune_workload(source, shuffles);
    subject.notes = assumption_lines(subject.workload.basis);
    if (subject.workload.orders.size() == 1)
      subject.no_orders = "the scenario lists no batches, lengths or sides that differ";
  }

  static void read_snapshot_into(Subject& subject, const Arguments& args, Output& err) {
    refuse(args, {"set", "variant", "shuffles"}, "scenarios");
    refuse(args, {"alloc-conf"}, "request traces");
    const RecordingBudget within(args.positional()[0]);
    const Snapshot snapshot = load_snapshot(args.positional()[0], err);
    AgreementOptions range = recording_options(args, snapshot);
    if (args.has("pytorch")) range.version = parse_version("--pytorch", args.value("pytorch"));
    RecordedRequests recorded = recorded_requests(snapshot, range, args.has("device"));
    note_other_rows(recorded);
    for (std::string& note : other_release_notes(args, snapshot))
      recorded.notes.push_back(std::move(note));
    ReplayOptions options;
    options.device = args.has("device") ? load_device(args.value("device")).spec : recorded.device;
    subject.trace.instructions = Instructions(recorded.trace.instructions).unpacked();
    subject.trace.labels = std::move(recorded.trace.labels);
    subject.notes = std::move(recorded.notes);
    subject.device = recorded.limited ? device_text(options.device) : options.device.name;
    subject.workload =
        tune_workload(subject.trace.instructions, recorded.agreement.settings, options);
    subject.no_orders = "a recording has the order that it has";
  }

  static void read_trace_into(Subject& subject, const Arguments& args) {
    refuse(args, {"set", "variant", "shuffles"}, "scenarios");
    refuse(args, {"gpu", "from", "to"}, "memory snapshots");
    const Version version =
        args.has("pytorch") ? parse_version("--pytorch", args.value("pytorch")) : kTraceRelease;
    const AllocatorSettings given =
        parse_settings("--alloc-conf", args.value("alloc-conf"), version).settings;
    ReplayOptions options;
    options.device =
        load_device(args.has("device") ? args.value("device") : std::string(kDefaultDevice)).spec;
    subject.trace = read_request_trace_file(args.positional()[0]);
    subject.device = device_text(options.device);
    subject.workload = tune_workload(subject.trace.instructions, given, options);
    subject.no_orders = "a request trace has the order that it has";
  }
};

}  // namespace

std::unique_ptr<Command> make_tune_command() { return std::make_unique<TuneCommand>(); }

}  // namespace tidemark::cli
