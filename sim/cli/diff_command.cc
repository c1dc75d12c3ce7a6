#include <array>

#include "sim/cli/command.h"
#include "sim/cli/scenario_input.h"
#include "sim/cli/snapshot_input.h"
#include "sim/format/whole_file.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/diff_report.h"
#include "sim/report/explain_report.h"

namespace tidemark::cli {

namespace {

constexpr std::size_t kContext = 4;

class DiffCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {"diff",
            "compare two event traces, or two runs, traces or memory snapshots",
            "Compares action, bytes, address, stream and id of every event. Exit code 1 when "
            "they differ. Memory snapshots, scenarios and request traces, in any pair: which "
            "call sites or modules hold more at their peaks, and what moved in reserved memory "
            "and why. One scenario alone is both sides, of which --set-a, --set-b, --variant-a "
            "and --variant-b say what they differ in.",
            {{"A",
              "an event trace in CSV (run --events; - for standard input), or a snapshot, a "
              "scenario, a .tmt"},
             {"B", "the other one; A again where A is a scenario", false}},
            {{"unordered-frees", "", "compare frees that follow one another as a set", ""},
             {"ignore", "address|id", "leave a column out of the comparison", "", true},
             {"context", "N", "events shown around the first difference", "4"},
             {"set", "KEY=VALUE", "every scenario: override a parameter or a key", "", true},
             {"set-a", "KEY=VALUE", "the same of A alone", "", true},
             {"set-b", "KEY=VALUE", "the same of B alone", "", true},
             {"variant", "NAME", "every scenario: one of its variants", ""},
             {"variant-a", "NAME", "the same of A alone", ""},
             {"variant-b", "NAME", "the same of B alone", ""},
             kDeviceOption,
             kPackagesOption,
             {"format", "text|json|csv", "how to print", "text"}},
            {{"tidemark diff expected.csv.gz actual.csv", "is the run what it was?"},
             {"tidemark diff --ignore address a.csv b.csv", "same requests, wherever they went"},
             {"tidemark diff before.pickle scenario.yaml", "what holds more in one, and why"},
             {"tidemark diff s.yaml --set-a batch=8 --set-b batch=16",
              "what another batch holds more of, and where"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    DiffOptions options;
    options.unordered_frees = args.has("unordered-frees");
    for (const std::string& column : args.values("ignore")) {
      (column == "id" ? options.compare_ids : options.compare_addresses) = false;
    }
    const std::size_t context = args.number("context", 0, 1000).value_or(kContext);
    const std::string& a_name = args.positional().front();
    if (args.positional().size() == 1 && !looks_like_scenario(a_name))
      usage_error("B", "is missing", "only a scenario is compared with itself");
    const std::string& b_name = args.positional().back();
    for (const std::string_view option : kChoices) {
      if (args.has(option) && !looks_like_scenario(a_name) && !looks_like_scenario(b_name))
        usage_error("--" + std::string(option), "chooses a scenario's run; no scenario is given");
    }
    if (is_recording(a_name) || is_recording(b_name))
      return diff_recordings(args, a_name, b_name, out, err);
    const EventTable a = read_events_csv(read_whole_file(a_name), a_name);
    const EventTable b = read_events_csv(read_whole_file(b_name), b_name);
    const EventDiff diff = diff_events(a.events, b.events, options);
    const DiffSide a_side{a_name, &a};
    const DiffSide b_side{b_name, &b};
    const std::string& format = args.value("format");
    if (format == "json") {
      out.write(diff_json(diff, a_side, b_side, options));
    } else if (format == "csv") {
      out.write(diff_csv(diff));
    } else {
      const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
      out.write(diff_text(diff, a_side, b_side, options, context, style));
    }
    return diff.equal() ? ExitCode::kDone : ExitCode::kDiffers;
  }

 private:
  /// A scenario, a request trace or a snapshot, by name and first bytes.
  static bool is_recording(const std::string& name) {
    if (name == "-") return false;
    return looks_like_scenario(name) || looks_like_snapshot(name) || looks_like_request_trace(name);
  }

  static MemoryPicture peak_of(const Snapshot& snapshot) {
    return picture_named(snapshot, worst_device(snapshot), "peak");
  }

  static constexpr std::array<std::string_view, 7> kChoices{
      "set", "set-a", "set-b", "variant", "variant-a", "variant-b", "device"};

  /// One side and which run of it is meant; `letter`: of its own options.
  struct Side {
    Side(const Arguments& args, const std::string& path, char letter) : name(path) {
      const std::vector<std::string>& own = args.values(std::string("set-") + letter);
      const std::string& variant = args.value(std::string("variant-") + letter);
      if (looks_like_scenario(path)) {
        choice = {scenario_overrides(args), args.value("variant")};
        if (args.has("device")) name += " --device " + args.value("device");
        add_names(args.values("set"));
      }
      const std::vector<Override> overrides = parse_overrides(own);
      choice.overrides.insert(choice.overrides.end(), overrides.begin(), overrides.end());
      add_names(own);
      if (!variant.empty()) choice.variant = variant;
      if (!choice.variant.empty()) name += " --variant " + choice.variant;
    }
    void add_names(const std::vector<std::string>& sets) {
      for (const std::string& text : sets) name += " --set " + text;
    }
    std::string name;
    ScenarioChoice choice;
  };

  static ExitCode diff_recordings(const Arguments& args, const std::string& a_name,
                                  const std::string& b_name, Output& out, Output& err) {
    constexpr std::size_t kTop = 10;
    const Side a_side(args, a_name, 'a');
    const Side b_side(args, b_name, 'b');
    const RecordingBudget within(a_name);
    const auto picture = [&](const std::string& name, const Side& side) {
      const LoadedRecording loaded = load_recording(name, side.choice, err);
      for (const std::string& line : assumption_lines(loaded.basis))
        err.print("{}: {}\n", side.name, line);
      return peak_of(loaded.snapshot);
    };
    const MemoryPicture a = picture(a_name, a_side);
    const MemoryPicture b = picture(b_name, b_side);
    if (args.value("format") == "json") {
      out.write(picture_diff_json(a, b, kTop));
    } else {
      out.print("A: {}, after event {}\nB: {}, after event {}\n", a_side.name, a.event, b_side.name,
                b.event);
      out.write(
          picture_diff_text(a, b, kTop, {static_cast<std::size_t>(out.width()), out.colour()}));
    }
    const bool same = a.reserved_bytes == b.reserved_bytes && a.active_bytes == b.active_bytes;
    return same ? ExitCode::kDone : ExitCode::kDiffers;
  }
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace tidemark::cli
