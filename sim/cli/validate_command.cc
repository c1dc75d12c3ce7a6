#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "sim/base/wheel.h"
#include "sim/cli/command.h"
#include "sim/cli/plan_input.h"
#include "sim/cli/process.h"
#include "sim/cli/scenario_input.h"
#include "sim/cli/snapshot_input.h"
#include "sim/cli/torch_runner.h"
#include "sim/device/device.h"
#include "sim/format/request_trace.h"
#include "sim/format/whole_file.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/report/validation_report.h"
#include "sim/run/run.h"
#include "sim/run/run_trace.h"

namespace tidemark::cli {

namespace {

/// What to compare with, as --against says it.
struct Target {
  enum class Kind : std::uint8_t { kTorch, kCuda, kRecorded, kSnapshot };
  Kind kind = Kind::kTorch;
  std::string path;
};

Target parse_target(const std::string& text) {
  constexpr std::string_view kRecorded = "recorded:";
  constexpr std::string_view kSnapshot = "snapshot:";
  if (text == "torch") return {Target::Kind::kTorch, {}};
  if (text == "cuda") return {Target::Kind::kCuda, {}};
  if (text.starts_with(kRecorded) && text.size() > kRecorded.size())
    return {Target::Kind::kRecorded, text.substr(kRecorded.size())};
  if (text.starts_with(kSnapshot) && text.size() > kSnapshot.size())
    return {Target::Kind::kSnapshot, text.substr(kSnapshot.size())};
  usage_error("--against",
              "expected torch, cuda, recorded:FOLDER or snapshot:FILE, found '" + text + "'",
              did_you_mean(text, {"torch", "cuda", "recorded:", "snapshot:"}));
}

/// What a case is called in files: the scenario's name without folder and ending, and its variant.
std::string case_name(const std::string& path, const std::string& variant) {
  std::string name = input_name(path);
  if (!variant.empty()) name += "-" + variant;
  std::ranges::replace(name, '/', '-');
  return name;
}

/// The variants to run: those given, every one of the scenario with "all", else the plain scenario.
std::vector<std::string> variants_of(const Arguments& args, const std::string& path) {
  const std::vector<std::string>& given = args.values("variant");
  if (given.empty()) return {{}};
  if (given == std::vector<std::string>{"all"}) return load_variant_names(path);
  return given;
}

class ValidateCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "validate",
        "compare scenarios with what the real PyTorch does, or did",
        "Simulates each scenario and compares every event with a measurement of the same "
        "program: 'torch' runs the scenario's own model and loop under PyTorch now, on the "
        "pretend GPU or a real one, and plays a request trace through PyTorch's allocator; "
        "'cuda' executes its plan with the harness of validation/cuda; 'recorded:FOLDER' takes "
        "results kept by --save; 'snapshot:FILE' a recorded memory snapshot. Exit code 1 when a "
        "case differs, 77 when there is no PyTorch or no device (docs/validation.md says how to "
        "get one).",
        {{"SCENARIO", "scenarios in YAML, training scripts, or request traces (.tmt)", false,
          true}},
        {{"against", "TARGET", "torch, cuda, recorded:FOLDER or snapshot:FILE", "torch"},
         {"set", "KEY=VALUE", "override a parameter or a key of every scenario", "", true},
         {"variant", "NAME", "a variant of the scenario; 'all': every one", "", true},
         kDeviceOption,
         kPackagesOption,
         {"torch", "VERSION", "the release to run, 2.4.0 to 2.15.0; made where it is not there",
          ""},
         {"alloc-conf", "CONF", "of request traces: PYTORCH_ALLOC_CONF", ""},
         {"all", "", "all that this box can tell, of the SCENARIOs or those of Tidemark", ""},
         {"report", "FILE", "with --all: where the tables go, Markdown or .json", ""},
         {"minutes", "N", "with --all: begin nothing after them", "55"},
         {"save", "FOLDER", "with --against torch or cuda: keep what was measured", ""},
         {"context", "N", "events shown before and after the first difference", "4"},
         {"format", "text|json|html", "how to print", "text"}},
        {{"tidemark validate configs/scenarios/*.yaml", "under PyTorch, now"},
         {"tidemark validate s.yaml --against torch --save results", "and keep the results"},
         {"tidemark validate s.yaml --against recorded:results", "with no PyTorch"},
         {"tidemark validate --all --report box.md", "the tables of docs/trust.md for this box"},
         {"tidemark validate s.yaml --against snapshot:snapshot.pickle --format html",
          "with a recording of a GPU"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    if (args.has("all")) return run_all(args, out);
    for (const char* option : {"report", "minutes"}) {
      if (args.has(option)) usage_error(fmt::format("--{}", option), "is for --all");
    }
    if (args.positional().empty()) usage_error("SCENARIO", "is missing", "or give --all");
    const Target target = parse_target(args.value("against"));
    const bool measures = target.kind == Target::Kind::kTorch || target.kind == Target::Kind::kCuda;
    if (args.has("save") && !measures) usage_error("--save", "is for --against torch and cuda");
    if (args.has("torch") && target.kind != Target::Kind::kTorch)
      usage_error("--torch", "is for --against torch");
    const std::uint64_t context = args.number("context", 0, 10'000).value_or(4);
    std::string runner;
    if (target.kind == Target::Kind::kTorch) {
      runner = args.has("torch") ? make_torch(args.value("torch")) : find_torch();
      if (runner.empty()) return no_device(err, "no PyTorch was found");
    } else if (target.kind == Target::Kind::kCuda) {
      runner = find_harness();
      if (runner.empty()) {
        err.write(
            "no harness was found: build validation/cuda, and set TIDEMARK_CUDA to its program "
            "tidemark-cuda\n");
        return ExitCode::kNoDevice;
      }
    }
    const SignalsHeld until_tidied;
    const TemporaryFolder scratch;
    const std::string folder = args.has("save") ? args.value("save") : scratch.path();
    refuse_what_has_no_use(args);
    const std::vector<Named> scenarios = read_scenarios(args, err);
    std::vector<MeasuredRun> under_torch;
    if (target.kind == Target::Kind::kTorch && !scenarios.empty()) {
      std::vector<TorchCase> asked;
      asked.reserve(scenarios.size());
      for (const Named& each : scenarios)
        asked.push_back({&each.scenario, each.name, each.command});
      std::optional<std::vector<MeasuredRun>> measured = run_under_torch(runner, asked, folder);
      if (!measured) return no_device(err, runner + " sees no CUDA device");
      under_torch = std::move(*measured);
    }
    std::vector<ValidationCase> cases;
    std::size_t next = 0;
    for (const std::string& path : args.positional()) {
      if (is_trace(path)) {
        std::optional<ValidationCase> found = trace_case(args, target, runner, path, folder, err);
        if (!found) return no_device(err, runner + " sees no CUDA device");
        cases.push_back(std::move(*found));
        continue;
      }
      for (; next < scenarios.size() && scenarios[next].path == path; ++next) {
        const Named& each = scenarios[next];
        std::optional<MeasuredRun> run;
        if (target.kind == Target::Kind::kTorch) run = std::move(under_torch[next]);
        std::optional<Measured> measured =
            measured_of_case(target, runner, each, std::move(run), folder, err);
        if (!measured) return no_device(err, runner + " sees no CUDA device");
        cases.push_back(best_case(args, each, *measured));
      }
    }
    print(args, cases, context, out);
    const bool exact = std::ranges::all_of(cases, &ValidationCase::exact);
    return exact ? ExitCode::kDone : ExitCode::kDiffers;
  }

 private:
  /// validation/torch/all.py, which calls this program for each case.
  static ExitCode run_all(const Arguments& args, Output& out) {
    if (!args.has("report")) usage_error("--report", "is needed with --all: where do tables go?");
    for (const char* option : {"against", "set", "variant", "torch", "alloc-conf", "save"}) {
      if (args.has(option)) usage_error(fmt::format("--{}", option), "is not for --all");
    }
    const SignalsHeld until_tidied;
    std::vector<std::string> words{python(),
                                   script_path("--all", "TIDEMARK_VALIDATION", "validation",
                                               TIDEMARK_SOURCE_VALIDATION, "torch/all.py"),
                                   std::filesystem::read_symlink("/proc/self/exe").string(),
                                   "--report",
                                   args.value("report"),
                                   "--minutes",
                                   args.value("minutes")};
    if (args.has("device")) words.insert(words.end(), {"--device", args.value("device")});
    words.insert(words.end(), args.positional().begin(), args.positional().end());
    out.flush();
    const int code = run_process(std::move(words), {});
    for (const ExitCode known : {ExitCode::kDone, ExitCode::kDiffers, ExitCode::kInput,
                                 ExitCode::kUnfinished, ExitCode::kNoDevice}) {
      if (code == static_cast<int>(known)) return known;
    }
    throw IoError(fmt::format("--all: validation/torch/all.py ended with {}", code));
  }

  /// A scenario of the command line, in one variant.
  struct Named {
    std::string path;
    std::string variant;
    std::string name;
    std::string command;
    Scenario scenario;
  };

  /// In the order of the command line.
  static std::vector<Named> read_scenarios(const Arguments& args, Output& err) {
    std::vector<Named> out;
    for (const std::string& path : args.positional()) {
      if (is_trace(path)) continue;
      for (const std::string& variant : variants_of(args, path)) {
        out.push_back({path, variant, case_name(path, variant), command_of(args, path, variant),
                       load_scenario(path, scenario_overrides(args), variant)});
        for (const Problem& warning : out.back().scenario.warnings)
          err.write(render_warning(warning));
      }
    }
    return out;
  }

  /// A measured run or a recording, and the PyTorches that may have run it; empty: it
  /// says nothing of them.
  struct Measured {
    MeasuredRun run;  ///< without a recording
    std::optional<Snapshot> recording;
    std::vector<Wheel> wheels;  ///< one at most without a recording
    /// To be compared with once; a recording can be taken as often as there is need.
    MeasuredRun take() { return recording ? measured_of(*recording) : std::move(run); }
  };

  /// `run`: what was measured beforehand. std::nullopt: no device.
  /// Errors: InputError where the scenario names a release, and another was measured.
  static std::optional<Measured> measured_of_case(const Target& target, const std::string& runner,
                                                  const Named& of, std::optional<MeasuredRun> run,
                                                  const std::string& folder, Output& err) {
    const Scenario& scenario = of.scenario;
    if (target.kind == Target::Kind::kSnapshot) {
      Snapshot snapshot = load_snapshot(target.path, err);
      if (scenario.names_pytorch)
        refuse_other_release(of.name, snapshot, scenario.settings.version);
      std::vector<Wheel> wheels = wheels_of(snapshot);
      return Measured{{}, std::move(snapshot), std::move(wheels)};
    }
    if (target.kind == Target::Kind::kCuda) {
      run = run_under_cuda(runner, scenario_variables(scenario), plan_of(scenario, of.name, err),
                           of.name, folder);
    } else if (target.kind == Target::Kind::kRecorded) {
      run = read_measured_run(target.path, of.name);
      if (scenario.names_pytorch) refuse_other_release(of.name, *run, scenario.settings.version);
    }
    if (!run) return std::nullopt;
    Measured measured{std::move(*run), {}, {}};
    if (const std::optional<Wheel> wheel = wheel_named(measured.run.provenance.torch))
      measured.wheels.push_back(*wheel);
    return measured;
  }

  /// The scenario under the PyTorch that it names; under that of the measurement where it names
  /// none, and of several that may be it under the one that differs least.
  static ValidationCase best_case(const Arguments& args, const Named& of, Measured& measured) {
    if (of.scenario.names_pytorch || measured.wheels.empty())
      return compared(of.scenario, of.name, measured.take());
    std::optional<ValidationCase> best;
    for (const Wheel& wheel : measured.wheels) {
      std::vector<Override> overrides = scenario_overrides(args);
      overrides.push_back({"pytorch.version", to_string(wheel.pytorch)});
      overrides.push_back({"pytorch.cuda", to_string(wheel.cuda)});
      ValidationCase each =
          compared(load_scenario(of.path, overrides, of.variant), of.name, measured.take());
      if (!best || each.events.differing < best->events.differing) best = std::move(each);
      if (best->exact()) break;
    }
    return std::move(*best);
  }

  static ValidationCase compared(Scenario scenario, const std::string& name, MeasuredRun run) {
    // On the pretend GPU kernels do nothing.
    if (run.provenance.pretend && scenario.assume.empty())
      scenario.assume.emplace_back(lang::kAssumeZeros);
    return validate(name, tidemark::run(scenario, options()), std::move(run));
  }

  static RunOptions options() {
    RunOptions options;
    options.keep_live = false;
    options.keep_times = false;
    return options;
  }

  /// Options of scenarios beside traces alone, and the other way round.
  static void refuse_what_has_no_use(const Arguments& args) {
    const auto traces =
        static_cast<std::size_t>(std::ranges::count_if(args.positional(), &is_trace));
    if (traces == 0 && args.has("alloc-conf"))
      usage_error("--alloc-conf", "is for request traces", "--set allocator.conf=...");
    if (traces < args.positional().size()) return;
    for (const char* option : {"set", "variant"}) {
      if (!args.values(option).empty())
        usage_error(fmt::format("--{}", option), "is for scenarios; a request trace has none");
    }
  }

  /// std::nullopt: no device.
  static std::optional<ValidationCase> trace_case(const Arguments& args, const Target& target,
                                                  const std::string& runner,
                                                  const std::string& path,
                                                  const std::string& folder, Output& err) {
    SimulatedDevice device;
    device.spec = load_device(args.has("device") ? args.value("device") : "h100").spec;
    const std::string& conf = args.value("alloc-conf");
    device.settings = trace_settings(conf);
    RequestTrace trace = read_request_trace_file(path);
    const std::string name = case_name(path, {});
    std::optional<MeasuredRun> measured;
    switch (target.kind) {
      case Target::Kind::kTorch:
        measured = play_under_torch(runner, path, device.spec, conf, name, folder);
        break;
      case Target::Kind::kCuda:
        measured =
            run_under_cuda(runner, pretend_variables(device.spec),
                           plan_of_trace(path, name, device.spec, device.settings), name, folder);
        break;
      case Target::Kind::kRecorded:
        measured = read_measured_run(target.path, name);
        break;
      case Target::Kind::kSnapshot:
        measured = measured_of(load_snapshot(target.path, err));
        break;
    }
    if (!measured) return std::nullopt;
    if (const std::optional<Wheel> wheel = wheel_named(measured->provenance.torch))
      device.settings = trace_settings(conf, wheel->pytorch);
    SimulatorOptions options;
    options.policy = {EventPolicy::Kind::kSync, 0};
    options.keep_live = false;
    options.keep_times = false;
    return validate_trace(name, run_trace(std::move(trace), device, options), std::move(*measured));
  }

  static ExitCode no_device(Output& err, const std::string& what) {
    err.print(
        "{}; validation/pretend/environment.py FOLDER makes one that needs no GPU, and "
        "TIDEMARK_TORCH=FOLDER names it\n",
        what);
    return ExitCode::kNoDevice;
  }

  /// How the case can be measured again.
  static std::string command_of(const Arguments& args, const std::string& path,
                                const std::string& variant) {
    std::string command =
        "tidemark validate " + std::filesystem::path(path).filename().string() + " --against torch";
    if (!variant.empty()) command += " --variant " + variant;
    if (args.has("device")) command += " --device " + args.value("device");
    for (const std::string& set : args.values("set")) command += " --set " + set;
    return command;
  }

  static void print(const Arguments& args, const std::vector<ValidationCase>& cases,
                    std::size_t context, Output& out) {
    const std::string& against = args.value("against");
    const std::string& format = args.value("format");
    if (format == "json") {
      out.write(validation_json(cases, against));
    } else if (format == "html") {
      out.write(validation_html(cases, against));
    } else {
      const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
      out.write(validation_text(cases, against, context, style));
    }
  }
};

}  // namespace

std::unique_ptr<Command> make_validate_command() { return std::make_unique<ValidateCommand>(); }

}  // namespace tidemark::cli
