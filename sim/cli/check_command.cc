#include "sim/cli/command.h"
#include "sim/cli/scenario_input.h"
#include "sim/lang/syntax/names.h"
#include "sim/lang/syntax/parser.h"
#include "sim/run/scenario.h"

namespace tidemark::cli {

namespace {

/// Problems of the code's grammar, which a run would find too.
void check_code(const std::shared_ptr<const SourceText>& code, std::vector<Problem>& problems) {
  if (code == nullptr) return;
  lang::Names names;
  lang::parse_module(code, names, problems);
}

class CheckCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {"check",
            "read a scenario and tell every problem, without running it",
            "Reads the scenario, its device and settings, and the grammar of its code. What only "
            "running can find (shapes, undefined names, operators that are not modelled) is for "
            "'tidemark run'.",
            {{"SCENARIO", "a scenario in YAML; - for standard input"}},
            {{"set", "KEY=VALUE", "override a parameter or a key of the scenario", "", true},
             {"variant", "NAME", "read one of the scenario's variants", ""},
             {"list-variants", "", "print the names of the scenario's variants", ""},
             kDeviceOption,
             kPackagesOption,
             {"show-loop", "", "print the loop that runs, 'train:' spelled out", ""}},
            {{"tidemark check s.yaml", "is it in order?"},
             {"tidemark check s.yaml --show-loop", "the loop, to copy and change"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    const std::string& name = args.positional()[0];
    if (args.has("list-variants")) {
      for (const std::string& variant : load_variant_names(name)) out.print("{}\n", variant);
      return ExitCode::kDone;
    }
    const Scenario scenario = load_scenario(name, scenario_overrides(args), args.value("variant"));
    std::vector<Problem> problems;
    check_code(scenario.model.source, problems);
    check_code(scenario.loop, problems);
    if (!problems.empty()) throw InputError(std::move(problems));
    for (const Problem& warning : scenario.warnings) err.write(render_warning(warning));
    if (args.has("show-loop")) {
      out.write(scenario.loop->text);
      if (!scenario.loop->text.ends_with('\n')) out.write("\n");
    } else {
      out.print("{}: in order\n", name);
    }
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace tidemark::cli
