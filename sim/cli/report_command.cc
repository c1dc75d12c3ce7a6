#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "sim/alloc/settings_parser.h"
#include "sim/cli/command.h"
#include "sim/cli/plot.h"
#include "sim/cli/scenario_input.h"
#include "sim/cli/snapshot_input.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/html_report.h"
#include "sim/report/sweep_page.h"
#include "sim/study/replay/recorded_requests.h"
#include "sim/study/replay/replay.h"

namespace tidemark::cli {

namespace {

class ReportCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "report",
        "write one HTML page on a recorded or simulated run, or on a sweep",
        "One self-contained page that needs no network: the answer first, then memory over time, "
        "free memory, addresses, call sites and other settings; of a sweep: how far each device "
        "goes, what the settings change, a map of two axes, peaks against the devices, the best "
        "combinations. Needs Python and the script of plotly, which tools/setup gets.",
        {{"RUN", "a memory snapshot, a scenario in YAML, a request trace, or results of a sweep"},
         kScriptArguments},
        with_program_options(
            {{"output", "FILE", "where the page goes (-o for short)", "report.html", false, 'o'},
             {"at", "WHEN",
              "the moment shown: peak, allocated, oom, an event's number, step:N, time:1.5s or "
              "mark:TEXT "
              "(default: oom, else peak)",
              ""},
             {"gpu", "N", "which device (default: the worst)", ""},
             {"where", "EXPR", "a sweep: only cells for which this SQL expression holds", ""},
             kSetOption,
             kVariantOption,
             kDeviceOption}),
        {{"tidemark report snapshot.pickle -o report.html", "the page of a recorded run"},
         {"tidemark report results.sqlite -o report.html", "the page of a sweep"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    const std::string& name = args.positional().front();
    if (looks_like_results(name)) {
      for (const std::string_view option : {"at", "gpu", "set", "variant", "device"}) {
        if (args.has(option))
          usage_error("--" + std::string(option),
                      "is for a page on one run; '" + name + "' holds a sweep",
                      "--where chooses cells");
      }
      write_sweep_page(sweep_page_json(ResultsFile::open(name, false), args.value("where")),
                       args.value("output"));
      out.print("{}\n", args.value("output"));
      return ExitCode::kDone;
    }
    if (args.has("where")) usage_error("--where", "is for a sweep; '" + name + "' holds none");
    const RecordingBudget within(name);
    const LoadedRecording loaded = load_recording(name, scenario_choice(args), err);
    const Snapshot& snapshot = loaded.snapshot;
    const AgreementOptions range = recording_options(args, snapshot);
    const Agreement agreement = agreement_with_recording(snapshot, range);
    const Version version = agreement.settings.version;
    const auto program = program_of(name, scenario_choice(args));
    const Explanation explanation =
        explain(snapshot, {range.device, args.value("at"), {}, program ? &*program : nullptr});
    const std::vector<SettingRow> settings =
        setting_rows(snapshot, range, agreement, explanation.end);

    const RecordedAmounts amounts =
        recorded_amounts(snapshot, range.device, version, kTimelinePoints);
    // The host's changes are told by the first device's events.
    const std::span<const HostPoint> host =
        range.device == 0 ? std::span(loaded.host) : std::span<const HostPoint>();
    HtmlReport report{name,     &explanation, loaded.verdict, &agreement,
                      &amounts, settings,     host,           assumption_lines(loaded.basis)};
    if (agreement.warm) {
      report.assumptions.emplace_back(
          "Other settings begin with the live blocks alone, as after empty_cache().");
    }
    report.assumptions.emplace_back(
        "Settings are compared on the recorded requests: what a program asks for is taken not to "
        "change with them.");
    report.assumptions.push_back(
        "Purposes are told from stacks; rule: " + std::string(purpose_rule()) + ".");
    write_html_report(html_report_json(report), args.value("output"));
    out.print("{}\n", args.value("output"));
    return ExitCode::kDone;
  }

 private:
  /// The fewest refused first, then those that reserve least. A program that fails is played to its
  /// end; else its requests, all of which were made, are played again.
  static std::vector<SettingRow> setting_rows(const Snapshot& snapshot,
                                              const AgreementOptions& range,
                                              const Agreement& agreement,
                                              const std::optional<ProgramEnd>& end) {
    std::vector<SettingRow> rows;
    if (end) {
      for (const ProgramEnd::Played& each : end->settings)
        rows.push_back({each.setting, each.peak_reserved, each.ooms});
    } else {
      const RecordedRequests recorded = recorded_requests(snapshot, range, false);
      ReplayOptions options;
      options.device = recorded.device;
      const Version version = agreement.settings.version;
      std::vector<AllocatorSettings> settings;
      for (const std::string& conf : confs_beside(agreement.settings, {}, true))
        settings.push_back(parse_settings("grid", conf, version).settings);
      for (const ReplayResult& each : replay_all(recorded.trace.instructions, settings, options)) {
        rows.push_back({each.settings.text, each.summary.peak_reserved, each.summary.ooms});
      }
    }
    std::ranges::stable_sort(
        rows, {}, [](const SettingRow& row) { return std::pair(row.ooms, row.peak_reserved); });
    return rows;
  }

  static bool looks_like_results(const std::string& path) {
    if (path == "-") return false;
    std::ifstream file(path, std::ios::binary);
    std::array<char, 16> head{};
    file.read(head.data(), head.size());
    return file && std::string_view(head.data(), head.size()) ==
                       std::string_view("SQLite format 3\0", head.size());
  }
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace tidemark::cli
