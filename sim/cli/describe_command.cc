#include <filesystem>

#include "sim/base/problem.h"
#include "sim/cli/command.h"
#include "sim/cli/scenario_input.h"
#include "sim/report/describe_report.h"
#include "sim/run/scenario.h"
#include "sim/study/catalogue/describe.h"
#include "sim/study/trial/trial.h"

namespace tidemark::cli {

namespace {

class DescribeCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "describe",
        "the layer table of a model: shapes, parameters, and the memory of each module",
        "Runs the model's first call and the backward after it. Of each module, its submodules "
        "included: parameters; 'saved', what it made that is kept for backward when the call ends; "
        "'temporaries', the most at once of what is not kept, forward or backward; 'workspace', of "
        "libraries first needed there. Bytes as requested.",
        {{"MODEL", "a scenario, a training script, or with --class a Python file with a model"}},
        {{"class", "NAME", "the class or function of the file that makes the model", ""},
         {"args", "VALUE", "an argument for it: width=512, or a positional one", "", true},
         {"input", "SHAPE",
          "an input of its call, of float32 unless told: 64,3,32,32 or 8,128:long", "", true},
         {"depth", "N", "levels of modules to show", "3"},
         {"set", "KEY=VALUE", "override a parameter or a key of the scenario", "", true},
         kDeviceOption,
         kPackagesOption,
         {"format", "text|json|csv", "how to print", "text"}},
        {{"tidemark describe configs/scenarios/gpt2.yaml", "the model of a scenario"},
         {"tidemark describe net.py --class Net --args width=512 --input 64,784",
          "a model in a file, called once"},
         {"tidemark describe net.py --class Net", "its modules and parameters alone"},
         {"tidemark describe train.py --device a100 --format csv",
          "a script's models, for a sheet"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    try {
      return describe(args, out, err);
    } catch (const InputError& error) {
      throw InputError(named_by_options(error.problems()));
    }
  }

 private:
  static ExitCode describe(const Arguments& args, Output& out, Output& err) {
    const Scenario scenario = parse(args);
    for (const Problem& warning : scenario.warnings) err.write(render_warning(warning));
    const std::vector<ModelDescription> models = describe_models(scenario);
    if (models.empty()) {
      throw InputError(
          Problem{{}, args.positional()[0], "no model is called", "is there an nn.Module in it?"});
    }
    const std::string& format = args.value("format");
    if (format == "json") {
      out.write(describe_json(models));
    } else if (format == "csv") {
      out.write(describe_csv(models));
    } else {
      const auto depth = static_cast<std::uint32_t>(args.number("depth", 0, 1000).value_or(3));
      out.write(
          describe_text(models, depth, {static_cast<std::size_t>(out.width()), out.colour()}));
    }
    return ExitCode::kDone;
  }

  static Scenario parse(const Arguments& args) {
    const std::string& path = args.positional()[0];
    if (!args.has("class")) {
      for (const std::string_view option : {"args", "input"}) {
        if (args.has(option)) usage_error("--" + std::string(option), "needs --class");
      }
      return read_scenario(open_scenario(path, scenario_overrides(args)));
    }
    ModelFile model;
    model.path = path;
    model.type = args.value("class");
    model.arguments = args.values("args");
    model.inputs = args.values("input");
    if (args.has("device")) model.device = args.value("device");
    Scenario scenario =
        parse_scenario(scenario_of_model(model), std::filesystem::path(path).parent_path().string(),
                       parse_overrides(args.values("set")));
    if (args.has("packages")) scenario.packages = given_packages(args);
    return scenario;
  }
};

}  // namespace

std::unique_ptr<Command> make_describe_command() { return std::make_unique<DescribeCommand>(); }

}  // namespace tidemark::cli
