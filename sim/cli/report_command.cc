#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "sim/alloc/settings_parser.h"
#include "sim/cli/command.h"
#include "sim/cli/scenario_input.h"
#include "sim/cli/snapshot_input.h"
#include "sim/format/whole_file.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/html_report.h"
#include "sim/report/page_events.h"
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
        "One self-contained page that needs no network: the answer first, then every block over "
        "time, to zoom and to click; segments and free memory at any moment, call sites, other "
        "settings; two runs side by side. Of a sweep: how far each model goes on each device, what "
        "the settings change, a map of two axes, peaks against the devices, the best "
        "combinations, and the command behind every one.",
        {{"RUN", "a memory snapshot, a scenario in YAML, a request trace, or results of a sweep"},
         kScriptArguments},
        with_program_options(
            {{"output", "FILE", "where the page goes (-o for short)", "report.html", false, 'o'},
             {"at", "WHEN",
              "the moment shown: peak, allocated, oom, an event's number, step:N, time:1.5s or "
              "mark:TEXT "
              "(default: oom, else peak)",
              ""},
             {"beside", "RUN", "another run or recording, shown beside it with what differs", ""},
             {"set-beside", "KEY=VALUE", "a scenario beside it: override one more key", "", true},
             {"variant-beside", "NAME", "a scenario beside it: another of its variants", ""},
             {"gpu", "N", "which device (default: the worst)", ""},
             {"where", "EXPR", "a sweep: only cells for which this SQL expression holds", ""},
             kSetOption,
             kVariantOption,
             kDeviceOption}),
        {{"tidemark report snapshot.pickle -o report.html", "the page of a recorded run"},
         {"tidemark report s.yaml --set-beside batch=64",
          "two runs of a scenario, and what differs"},
         {"tidemark report results.sqlite -o report.html", "the page of a sweep"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    const std::string& name = args.positional().front();
    if (looks_like_results(name)) {
      for (const std::string_view option :
           {"at", "gpu", "set", "variant", "device", "beside", "set-beside", "variant-beside"}) {
        if (args.has(option))
          usage_error("--" + std::string(option),
                      "is for a page on one run; '" + name + "' holds a sweep",
                      "--where chooses cells");
      }
      write_whole_file(args.value("output"),
                       sweep_page(ResultsFile::open(name, false), args.value("where")));
      out.print("{}\n", args.value("output"));
      return ExitCode::kDone;
    }
    if (args.has("where")) usage_error("--where", "is for a sweep; '" + name + "' holds none");
    const RecordingBudget within(name);
    std::vector<std::unique_ptr<Shown>> runs;
    runs.push_back(std::make_unique<Shown>(name, args, scenario_choice(args), err));
    const std::string other = beside_name(args);
    if (!other.empty())
      runs.push_back(std::make_unique<Shown>(other, args, beside_choice(args), err,
                                             beside_title(args, other)));
    std::vector<HtmlReport> pages;
    pages.reserve(runs.size());
    for (const auto& run : runs) pages.push_back(run->page());
    write_whole_file(args.value("output"), html_report(pages));
    out.print("{}\n", args.value("output"));
    return ExitCode::kDone;
  }

 private:
  /// What the page of one run shows, and all that it is of.
  class Shown {
   public:
    Shown(const std::string& name, const Arguments& args, const ScenarioChoice& choice, Output& err,
          const std::string& title = {})
        : title_(title.empty() ? name : title), loaded_(load_recording(name, choice, err)) {
      const AgreementOptions range = recording_options(args, loaded_.snapshot);
      agreement_ = agreement_with_recording(loaded_.snapshot, range);
      const auto program = program_of(name, choice);
      explanation_ = explain(loaded_.snapshot,
                             {range.device, args.value("at"), {}, program ? &*program : nullptr});
      settings_ = setting_rows(loaded_.snapshot, range, agreement_, explanation_.end);
    }
    [[nodiscard]] HtmlReport page() const {
      // The host's changes are told by the first device's events.
      const std::span<const HostPoint> host =
          explanation_.device == 0 ? std::span(loaded_.host) : std::span<const HostPoint>();
      HtmlReport report{title_,
                        &explanation_,
                        loaded_.verdict,
                        &agreement_,
                        &loaded_.snapshot,
                        settings_,
                        host,
                        assumption_lines(loaded_.basis)};
      if (agreement_.warm) {
        report.assumptions.emplace_back(
            "Other settings begin with the live blocks alone, as after empty_cache().");
      }
      report.assumptions.emplace_back(
          "Settings are compared on the recorded requests: what a program asks for is taken not to "
          "change with them.");
      report.assumptions.push_back(
          "Purposes are told from stacks; rule: " + std::string(purpose_rule()) + ".");
      const std::size_t events = loaded_.snapshot.trace(explanation_.device).size();
      if (events > kMostPageEvents)
        report.assumptions.push_back(fmt::format("The page holds {} of {} events, around event {}.",
                                                 kMostPageEvents, events,
                                                 explanation_.picture.event));
      return report;
    }

   private:
    std::string title_;

    LoadedRecording loaded_;
    Agreement agreement_;
    Explanation explanation_;
    std::vector<SettingRow> settings_;
  };

  /// The other run: the same one where only what differs is given. Empty: there is none.
  static std::string beside_name(const Arguments& args) {
    if (args.has("beside")) return args.value("beside");
    const bool differs = args.has("set-beside") || args.has("variant-beside");
    return differs ? args.positional().front() : std::string();
  }

  /// "s.yaml with batch=64": the other run, by what it has of its own.
  static std::string beside_title(const Arguments& args, const std::string& name) {
    std::vector<std::string> own = args.values("set-beside");
    if (args.has("variant-beside")) own.push_back("variant " + args.value("variant-beside"));
    return name + (own.empty() ? "" : fmt::format(" with {}", fmt::join(own, ", ")));
  }

  /// The other run's: as the first's, then what is given of it alone.
  static ScenarioChoice beside_choice(const Arguments& args) {
    ScenarioChoice choice = scenario_choice(args);
    for (const Override& each : parse_overrides(args.values("set-beside")))
      choice.overrides.push_back(each);
    if (args.has("variant-beside")) choice.variant = args.value("variant-beside");
    return choice;
  }

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
