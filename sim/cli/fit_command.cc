#include <charconv>
#include <cmath>

#include "sim/cli/commands.h"
#include "sim/cli/scenario_input.h"
#include "sim/report/diagnosis_report.h"

namespace tidemark::cli {

namespace {

/// "5%" or "0.5%" in millionths. Errors: InputError.
std::uint32_t parse_share(const std::string& text) {
  double percent = -1;
  const char* end = text.data() + text.size() - (text.ends_with('%') ? 1 : 0);
  const auto [rest, error] = std::from_chars(text.data(), end, percent);
  if (error != std::errc() || rest != end || !(percent >= 0) || percent >= 100)
    usage_error("--headroom", "expected a share from 0% to below 100%, found '" + text + "'");
  return static_cast<std::uint32_t>(std::lround(percent * 10'000));
}

class FitCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "fit",
        "find the largest batch, length or depth that fits, or the smallest GPU",
        "Runs whole steps, to the scenario's end, optimizer included. A value fits when no request "
        "is refused. The "
        "answer and the value above it have been run, and so have some values around them: more "
        "may fit where less "
        "does not.",
        {{"SCENARIO", "a scenario in YAML (docs/scenario.md); - for standard input"}},
        {{"over", "WHAT", "batch, length, layers, device, or the path of an integer: params.width",
          "batch"},
         {"headroom", "SHARE", "what must stay free, of the device's total: 5%", "0%"},
         {"window", "N", "values tried on either side of the answer", "2"},
         {"highest", "N", "no value above is tried", "1048576"},
         {"set", "KEY=VALUE", "override a parameter or a key of the scenario", "", true},
         {"variant", "NAME", "one of the scenario's variants", ""},
         {"format", "text|json", "how to print", "text"}},
        {{"tidemark fit configs/scenarios/gpt2.yaml", "the largest batch"},
         {"tidemark fit s.yaml --over length --headroom 5%", "the longest sequence, 5 % kept free"},
         {"tidemark fit s.yaml --over device", "the smallest GPU"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    FitOptions options;
    options.over = args.value("over");
    options.headroom_ppm = parse_share(args.value("headroom"));
    options.window = static_cast<std::int64_t>(args.number("window", 0, 10'000).value_or(2));
    options.highest =
        static_cast<std::int64_t>(args.number("highest", 1, 1U << 30U).value_or(1U << 20U));
    const ScenarioSource source = open_scenario(
        args.positional()[0], parse_overrides(args.values("set")), args.value("variant"));
    const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
    const bool is_json = args.value("format") == "json";
    if (options.over == "device") {
      if (is_json) usage_error("--format", "json is not there for --over device");
      out.write(fit_devices_text(fit_devices(source, options), style));
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
