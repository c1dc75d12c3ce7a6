#include "sim/cli/command.h"
#include "sim/cli/scenario_input.h"
#include "sim/report/fit_report.h"

namespace tidemark::cli {

namespace {

class FitCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "fit",
        "find the largest batch, length or depth that fits, or the smallest GPU",
        "Runs whole steps, to the scenario's end, optimizer included. A value fits when no request "
        "is refused and the headroom stays free. The answer and the value above it have been run, "
        "and so have some values around them: more may fit where less does not.",
        {{"SCENARIO", "a scenario in YAML or a training script; - for standard input"},
         kScriptArguments},
        with_program_options(
            {{"over", "WHAT[,BESIDE]",
              "batch, length, layers, device, gpus, a parameter, an option or a name of the "
              "script, "
              "FILE:LINE, or a path; beside several values of another",
              "batch"},
             kHeadroomOption,
             {"window", "N", "values tried on either side of the answer", "2"},
             {"highest", "N", "no value above is tried", "1048576"},
             {"device", "ID",
              "the device, whatever the scenario says; all: every GPU, by its memory", ""},
             {"set", "KEY=VALUE", "override a parameter or a key of the scenario", "", true},
             {"variant", "NAME", "one of the scenario's variants", ""},
             {"format", "text|json", "how to print", "text"}}),
        {{"tidemark fit configs/scenarios/gpt2.yaml", "the largest batch"},
         {"tidemark fit s.yaml --over length --headroom 5%", "the longest sequence, 5 % kept free"},
         {"tidemark fit generate.py --over batch,max_new_tokens",
          "the largest batch beside each length"},
         {"tidemark fit s.yaml --over device", "the smallest GPU, and two above it"},
         {"tidemark fit s.yaml --over gpus", "the fewest GPUs, and in which layout"},
         {"tidemark fit s.yaml --device all", "every GPU known, the smallest that fits named"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    FitOptions options;
    options.over = args.value("over");
    options.headroom_ppm = parse_headroom(args.value("headroom"));
    options.window = static_cast<std::int64_t>(args.number("window", 0, 10'000).value_or(2));
    options.highest =
        static_cast<std::int64_t>(args.number("highest", 1, 1U << 30U).value_or(1U << 20U));
    const bool is_every_device = args.value("device") == "all";
    if (is_every_device && args.has("over") && options.over != "device")
      usage_error("--device all", "runs the scenario as it stands on every GPU",
                  "leave --over out, or name one device");
    // A script has no device of its own; those that are tried take its place.
    std::vector<Override> overrides = script_overrides(args);
    if (is_every_device)
      std::erase_if(overrides, [](const Override& each) { return each.path == "device"; });
    if (is_every_device || options.over == "device")
      overrides.insert(overrides.begin(), {"device", "h100-sxm-80gb"});
    const ScenarioSource source =
        open_scenario(args.positional()[0], std::move(overrides), args.value("variant"));
    const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
    const bool is_json = args.value("format") == "json";
    if (is_every_device || options.over == "device") {
      constexpr std::size_t kAll = 1000;
      const std::vector<DeviceProbe> devices =
          fit_devices(source, options, is_every_device ? kAll : 2);
      out.write(is_json ? fit_devices_json(devices, options)
                        : fit_devices_text(devices, options, style));
      return ExitCode::kDone;
    }
    if (options.over == "gpus") {
      const std::vector<LayoutProbe> layouts = fit_layouts(source, options);
      out.write(is_json ? fit_layouts_json(layouts, options)
                        : fit_layouts_text(layouts, options, style));
      return ExitCode::kDone;
    }
    if (const std::size_t comma = options.over.find(','); comma != std::string::npos) {
      const std::string beside = options.over.substr(comma + 1);
      options.over.resize(comma);
      const FitGrid grid = fit_grid(source, options, beside);
      out.write(is_json ? fit_grid_json(grid, options) : fit_grid_text(grid, options, style));
      return ExitCode::kDone;
    }
    const FitResult result = fit(source, options);
    out.write(is_json ? fit_json(result, options) : fit_text(result, options, style));
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_fit_command() { return std::make_unique<FitCommand>(); }

}  // namespace tidemark::cli
