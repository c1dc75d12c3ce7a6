#include <array>

#include <fmt/format.h>

#include "sim/cli/calibration_input.h"
#include "sim/cli/command.h"
#include "sim/cli/plot.h"
#include "sim/cli/scenario_input.h"
#include "sim/cli/snapshot_input.h"
#include "sim/device/calibration.h"
#include "sim/format/allocator_json.h"
#include "sim/format/whole_file.h"
#include "sim/report/assertion.h"
#include "sim/report/calibration_note.h"
#include "sim/report/diagnosis_report.h"
#include "sim/report/job_report.h"
#include "sim/report/live_report.h"
#include "sim/report/releases_report.h"
#include "sim/report/run_report.h"
#include "sim/report/snapshot_export.h"
#include "sim/run/run.h"

namespace tidemark::cli {

namespace {

/// Where the file of one of several devices goes: "a.csv" for the first or only one, "a.gpu1.csv"
/// for the next.
std::string file_of_device(const std::string& path, std::size_t device) {
  if (device == 0) return path;
  const std::size_t folder = path.rfind('/');
  std::size_t dot = path.find('.', folder == std::string::npos ? 0 : folder + 1);
  if (dot == std::string::npos) dot = path.size();
  return path.substr(0, dot) + ".gpu" + std::to_string(device) + path.substr(dot);
}

/// What shows every event, so that no step may be left out of it.
constexpr std::array<std::string_view, 8> kEveryEvent{
    "at", "events", "timeline", "host-timeline", "plot", "snapshot", "perfetto", "columns"};
/// What shows all amounts after every event.
constexpr std::array<std::string_view, 5> kEverySample{"timeline", "plot", "snapshot", "perfetto",
                                                       "columns"};
/// More events than these are not written: some 250 bytes each while the run lasts.
constexpr std::uint64_t kMostEvents = 5'000'000;

/// Runs the scenario, steps that repeat left out unless something asks for each.
/// Errors: InputError where too many events are asked for.
RunResult run_scenario(const Arguments& args, const Scenario& scenario, RunOptions options) {
  options.leave_out_repeats = !args.has("every-step");
  options.keep_samples = std::ranges::any_of(
      kEverySample, [&](std::string_view option) { return args.has(std::string(option)); });
  RunResult result = tidemark::run(scenario, options);
  if (result.repeats.empty()) return result;
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < result.devices.size(); ++i) events += total_events(result, i);
  const std::string& format = args.value("format");
  bool shows_every_step = format != "text" || args.has("why");
  std::string_view asks = format == "csv" ? std::string_view("format") : std::string_view();
  for (const std::string_view option : kEveryEvent) {
    if (args.has(option)) asks = option;
  }
  if (!asks.empty() && events > kMostEvents) {
    usage_error(
        "--" + std::string(asks),
        fmt::format("this run has {} events; at most {} are written", grouped(events),
                    grouped(kMostEvents)),
        "ask for fewer steps; without this option the steps that repeat are counted, not written");
  }
  shows_every_step = shows_every_step || !asks.empty();
  if (!shows_every_step || events > kMostEvents) return result;
  options.leave_out_repeats = false;
  return tidemark::run(scenario, options);
}

bool is_json_name(const std::string& path) {
  return path.ends_with(".json") || path.ends_with(".json.gz");
}

void write_device_files(const Arguments& args, const std::string& title, const RunResult& result,
                        std::size_t index) {
  const DeviceResult& device = result.devices[index];
  if (args.has("events")) {
    write_whole_file(file_of_device(args.value("events"), index),
                     run_events_csv(device, result.program));
  }
  if (args.has("stats")) {
    std::string text;
    write_stats_json(flatten(device.statistics, device.settings.version), text);
    write_whole_file(file_of_device(args.value("stats"), index), text);
  }
  if (!args.has("timeline") && !args.has("plot")) return;
  const Timeline timeline = timeline_of(device, result.program);
  if (args.has("timeline")) {
    const std::string path = file_of_device(args.value("timeline"), index);
    write_whole_file(path, is_json_name(path) ? timeline_json(timeline) : timeline_csv(timeline));
  }
  if (args.has("plot")) {
    const bool shows_host = args.has("host-timeline") && index == 0;
    draw_timeline(timeline_json(timeline), shows_host ? host_timeline_json(result) : std::string(),
                  title, file_of_device(args.value("plot"), index));
  }
}

/// Files that hold every device.
void write_exports(const Arguments& args, const RunResult& result) {
  if (args.has("rank-timeline")) {
    if (!result.times || result.times->ranks.empty()) {
      usage_error(
          "--rank-timeline",
          result.times ? result.times->missing : std::string("this run has no ranks that differ"),
          "run a job of several ranks, without --rank");
    }
    write_whole_file(args.value("rank-timeline"), job_csv(*result.times));
  }
  if (args.has("host-timeline")) {
    const std::string& path = args.value("host-timeline");
    write_whole_file(path,
                     is_json_name(path) ? host_timeline_json(result) : host_timeline_csv(result));
  }
  if (!args.has("snapshot") && !args.has("perfetto") && !args.has("columns")) return;
  std::vector<EventView> views;
  for (const DeviceResult& device : result.devices)
    views.push_back(view_of(device, result.program));
  if (args.has("snapshot")) {
    write_whole_file(args.value("snapshot"), snapshot_of(views, result.devices.front().settings));
  }
  if (args.has("perfetto")) write_perfetto(views, result.host.samples, args.value("perfetto"));
  for (std::size_t i = 0; args.has("columns") && i < views.size(); ++i) {
    write_columns(views[i], file_of_device(args.value("columns"), i));
  }
}

/// Errors: InputError with the problems of all of them.
std::vector<Assertion> parse_assertions(const std::vector<std::string>& texts) {
  std::vector<Assertion> assertions;
  std::vector<Problem> problems;
  for (const std::string& text : texts) {
    try {
      assertions.push_back(parse_assertion(text));
    } catch (const InputError& error) {
      problems.push_back(error.problems().front());
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return assertions;
}

/// The releases of --pytorch. Errors: InputError.
std::vector<Version> releases_of(const std::string& text) {
  std::vector<Version> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(parse_version("--pytorch", text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return out;
}

/// The known release that --pytorch-like names. Errors: InputError.
std::string stand_in(const Arguments& args) {
  if (args.has("pytorch"))
    usage_error("--pytorch-like", "stands for the release of the scenario", "leave out --pytorch");
  return to_string(parse_version("--pytorch-like", args.value("pytorch-like")));
}

/// The scenario under each release, a line each.
void compare_releases(const Arguments& args, const std::vector<Version>& releases, Output& out) {
  for (const std::string_view option :
       {"at", "events", "timeline", "host-timeline", "plot", "snapshot", "perfetto", "columns",
        "stats", "rank-timeline", "calibration", "why", "equation", "process", "assert",
        "fail-on-oom"}) {
    if (args.has(option))
      usage_error("--" + std::string(option), "is for one release", "give one to --pytorch");
  }
  if (args.value("format") != "text")
    usage_error("--format", "several releases are compared as text", "give one to --pytorch");
  std::vector<ReleasePeaks> peaks;
  for (const Version release : releases) {
    std::vector<Override> overrides = script_overrides(args);
    overrides.push_back({"pytorch", to_string(release)});
    const Scenario scenario =
        read_scenario(open_scenario(args.positional()[0], overrides, args.value("variant")));
    RunOptions options;
    options.leave_out_repeats = !args.has("every-step");
    peaks.push_back(peaks_under(release, tidemark::run(scenario, options)));
  }
  out.write(releases_text(peaks, {static_cast<std::size_t>(out.width()), out.colour()}));
}

class RunCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "run",
        "simulate a scenario: does it fit, the peaks, and what held the memory",
        "Plays model and loop against PyTorch's caching allocator; tells what a GPU would see.",
        {{"SCENARIO", "a scenario or a script; -: standard input"}, kScriptArguments},
        {{"set", "KEY=VALUE", "override a key: train.steps=10", "", true},
         {"variant", "NAME", "run one of the scenario's variants", ""},
         {"list-variants", "", "print the names of the variants, and run nothing", ""},
         {"pytorch", "RELEASE", "the release; 2.6,2.11,2.15: a line each", ""},
         {"pytorch-like", "RELEASE", "a release whose rules stand for one that is not known", ""},
         kDeviceOption,
         kPackagesOption,
         kEnvOption,
         kStepsOption,
         kUntilOption,
         kEventPolicyOption,
         kWorldOption,
         kRankOption,
         kProcessesOption,
         kMachinesOption,
         kAssumeOption,
         kRoutingOption,
         kCompileOption,
         {"calibration", "FILE", "as measured: a file or a name in configs/calibrations", ""},
         {"format", "text|json|csv", "how to print", "text"},
         {"top", "N", "list the N largest blocks at the peaks", "0"},
         {"at", "EVENT", "every live byte after event N or STEP:PHASE", ""},
         {"events", "FILE", "write every allocator event as CSV (.gz packs it)", ""},
         {"timeline", "FILE", "write the amounts after every event, CSV or .json (.gz packs it)",
          ""},
         {"host-timeline", "FILE", "write the host's memory after each change; --plot draws it too",
          ""},
         {"rank-timeline", "FILE", "write what each rank of a job does over time, as CSV", ""},
         {"stats", "FILE", "write torch.cuda.memory_stats() at the end as JSON", ""},
         {"plot", "FILE", "draw the timeline: .png, .svg or .pdf, by matplotlib", ""},
         {"snapshot", "FILE", "write a memory snapshot, for memory_viz, explain, replay, report",
          ""},
         {"perfetto", "FILE", "write a trace for ui.perfetto.dev or chrome://tracing, JSON", ""},
         {"columns", "FOLDER", "write events and amounts as one NumPy file a column", ""},
         {"why", "", "what is wrong, what undoes it; told after a refusal", ""},
         {"equation", "", "add the memory equation, and what it leaves out", ""},
         {"process", "", "add what nvidia-smi would show", ""},
         {"assert", "CLAIM", "exit with 5 where false: peak_reserved < 70GiB", "", true},
         {"every-step", "", "simulate also the steps that repeat earlier ones", ""},
         {"fail-on-oom", "", "exit with 3 when an out-of-memory error ends the run", ""}},
        {{"tidemark run configs/scenarios/simple_conv.yaml", "the summary"},
         {"tidemark run train.py --device h100-sxm-80gb -- --lr 3e-4",
          "a training script as it is, with arguments of its own"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    const std::string& title = args.positional()[0];
    if (args.has("list-variants")) {
      for (const std::string& variant : load_variant_names(title)) out.print("{}\n", variant);
      return ExitCode::kDone;
    }
    const std::vector<Version> releases =
        args.has("pytorch") ? releases_of(args.value("pytorch")) : std::vector<Version>();
    if (releases.size() > 1) {
      compare_releases(args, releases, out);
      return ExitCode::kDone;
    }
    if (args.has("plot")) check_plot_name(args.value("plot"));
    if (args.has("why") && args.value("format") == "csv")
      usage_error("--why", "is for --format text and json");
    for (const std::string_view option : {"equation", "process"}) {
      if (args.has(option) && args.value("format") != "text")
        usage_error("--" + std::string(option), "is for --format text");
    }
    if (args.has("at") && args.value("format") == "csv")
      usage_error("--at", "is for --format text and json");
    const std::optional<std::uint64_t> top = args.number("top", 0, 1'000'000);
    const std::vector<Assertion> assertions = parse_assertions(args.values("assert"));
    std::vector<Override> overrides = script_overrides(args);
    if (!releases.empty()) overrides.push_back({"pytorch", to_string(releases.front())});
    if (args.has("pytorch-like")) {
      overrides.push_back({"pytorch", stand_in(args)});
      err.print("note: PyTorch {} stands for the release that runs the program\n",
                overrides.back().value);
    }
    const ScenarioSource source = open_scenario(title, overrides, args.value("variant"));
    Scenario scenario = read_scenario(source);
    for (const Problem& warning : scenario.warnings) err.write(render_warning(warning));
    RunOptions options;
    options.threads = 0;
    options.is_last = true;
    std::optional<Calibration> calibration;
    if (args.has("calibration")) {
      LoadedCalibration loaded = load_calibration(args.value("calibration"));
      calibration = std::move(loaded.calibration);
      apply_calibration(*calibration, loaded.name, scenario.device, options.costs);
    }
    options.keep_times = args.has("timeline") || args.has("host-timeline") ||
                         args.has("snapshot") || args.has("perfetto") || args.has("columns") ||
                         args.value("format") == "json";
    options.keep_waits = args.has("rank-timeline") || args.value("format") != "csv";
    std::string printed;
    options.printed_before_error = &printed;
    RunResult result =
        or_print(printed, args, out, [&] { return run_scenario(args, scenario, options); });
    if (calibration) result.time_band = time_band_of(*calibration);
    if (args.has("why") && args.value("format") != "text") {
      out.write(diagnosis_json(diagnose(source, result)));
    } else {
      print(args, title, result, top.value_or(0), out);
      print_more(args, source, result, out);
      if (calibration && args.value("format") == "text")
        out.write("\n" + calibration_note(*calibration, result, today()));
    }
    for (std::size_t i = 0; i < result.devices.size(); ++i)
      write_device_files(args, title, result, i);
    write_exports(args, result);
    const std::vector<std::string> failed = failed_assertions(assertions, result);
    for (const std::string& line : failed) err.write(line + "\n");
    if (result.ended_by_oom && args.has("fail-on-oom")) return ExitCode::kOutOfMemory;
    return failed.empty() ? ExitCode::kDone : ExitCode::kAssertionFailed;
  }

 private:
  /// Where the program ends in an error, what it printed before is shown, as Python shows it.
  template <class Run>
  static RunResult or_print(const std::string& printed, const Arguments& args, Output& out,
                            const Run& run) {
    try {
      return run();
    } catch (const InputError&) {
      if (args.value("format") == "text") out.write(printed);
      throw;
    }
  }

  /// What was asked for beside the report; for people.
  static void print_more(const Arguments& args, const ScenarioSource& source,
                         const RunResult& result, Output& out) {
    const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
    const bool is_text = args.value("format") == "text";
    if (args.has("equation")) out.write("\n" + equation_text(result, style));
    if (args.has("process")) out.write("\n" + process_view_text(result, style));
    if (is_text && (args.has("why") || result.ended_by_oom))
      out.write("\n" + diagnosis_text(diagnose(source, result), style));
  }

  static void print(const Arguments& args, const std::string& title, const RunResult& result,
                    std::size_t top, Output& out) {
    RunReportOptions report{title, top};
    if (args.has("at")) {
      for (const DeviceResult& device : result.devices)
        report.at.push_back(event_named(device, args.value("at"), "--at"));
    }
    const std::string& format = args.value("format");
    if (format == "json") {
      out.write(run_json(result, report));
    } else if (format == "csv") {
      out.write(run_csv(result));
    } else {
      out.write(run_text(result, report, {static_cast<std::size_t>(out.width()), out.colour()}));
    }
  }
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace tidemark::cli
