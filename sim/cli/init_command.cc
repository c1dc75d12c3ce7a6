#include <filesystem>

#include "sim/base/problem.h"
#include "sim/cli/command.h"
#include "sim/cli/program.h"
#include "sim/format/whole_file.h"
#include "sim/run/scenario_fields.h"
#include "sim/study/import/new_scenario.h"

namespace tidemark::cli {

namespace {

constexpr std::string_view kOfFile[] = {"class", "input", "target", "loss"};

/// "fp32|fp64|...": the choices that the scenario's reader has.
const std::string& precisions() {
  static const std::string kText = [] {
    const auto choices = kTrainMap.find("precision")->form.choices;
    return joined({choices.begin(), choices.end()}, "|");
  }();
  return kText;
}

class InitCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "init",
        "write a first scenario, with comments, from a few options",
        "Of a model of the zoo (`tidemark models`), whose code is written beside it to be changed, "
        "or of one in a Python file of yours. It is run once before it is written.",
        {{"FILE", "where the scenario goes (.yaml)"}},
        {{"model", "NAME", "a model of the zoo", ""},
         {"file", "FILE", "a Python file with a model", ""},
         {"class", "NAME", "its class or function that makes the model", ""},
         {"args", "NAME=VALUE", "an argument for the model: layers=6", "", true},
         {"input", "SHAPE",
          "an input of the file's model, without the batch, of float32 unless told: 3,32,32 or "
          "128:long",
          "", true},
         {"target", "SHAPE",
          "what the loss compares with, of dtype long unless told, or input; not given: a class "
          "for each sample",
          ""},
         {"loss", "NAME", "a function of torch.nn.functional or of the file", "cross_entropy"},
         {"device", "ID", "the device (`tidemark devices`)", "h100-sxm-80gb"},
         {"batch", "N", "samples of a step, or a list: [64, 8]", "32"},
         {"steps", "N", "how many; a list of batches tells it", "3"},
         {"optimizer", "NAME", "of `tidemark optimizers`, with its options", "AdamW(lr=1e-3)"},
         {"precision", precisions(), "of the model, or autocast", "fp32"},
         {"force", "", "write over files that are there", ""}},
        {{"tidemark init gpt2.yaml --model gpt2 --args layers=6 --device t4", "of the zoo"},
         {"tidemark init net.yaml --file net.py --class Net --input 3,32,32", "of one's own file"},
         {"tidemark init s.yaml --model resnet18 --batch 64 --optimizer 'SGD(lr=0.1)' --precision "
          "amp-bf16",
          "with all that is usual"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    const NewScenario wanted = wanted_scenario(args);
    const std::filesystem::path path(wanted.path);
    if (path.extension() != ".yaml" && path.extension() != ".yml")
      usage_error(wanted.path, "expected a name that ends in .yaml");
    refuse_to_overwrite(args, wanted.path);
    const NewScenarioTexts texts = new_scenario(wanted);
    if (!texts.model_file.empty()) {
      refuse_to_overwrite(args, texts.model_file);
      write_whole_file(texts.model_file, texts.model);
    }
    write_whole_file(wanted.path, texts.scenario);
    if (texts.model_file.empty()) {
      out.print("{}: {} of {}\n", wanted.path, wanted.type, wanted.file);
    } else {
      out.print("{} and {}: {}\n", wanted.path, texts.model_file, wanted.model);
    }
    out.print("Next: tidemark run {}\n", wanted.path);
    return ExitCode::kDone;
  }

 private:
  static void refuse_to_overwrite(const Arguments& args, const std::string& path) {
    std::error_code error;
    if (!args.has("force") && is_regular_or_new(path) && std::filesystem::exists(path, error))
      throw IoError(path + ": is there already; --force writes over it");
  }

  static NewScenario wanted_scenario(const Arguments& args) {
    if (args.has("model") == args.has("file")) {
      usage_error("",
                  args.has("model") ? "--model and --file name two models" : "the model is missing",
                  "give --model NAME of the zoo, or --file FILE --class NAME --input SHAPE");
    }
    for (const std::string_view option : kOfFile) {
      if (args.has("model") && args.has(option))
        usage_error("--" + std::string(option), "is for --file: models of the zoo have their own");
    }
    for (const std::string_view option : {"class", "input"}) {
      if (args.has("file") && !args.has(option))
        usage_error("--file", "needs --" + std::string(option) + " too");
    }
    NewScenario wanted;
    wanted.path = args.positional()[0];
    wanted.model = args.value("model");
    wanted.file = args.value("file");
    wanted.type = args.value("class");
    wanted.arguments = args.values("args");
    wanted.inputs = args.values("input");
    wanted.target = args.value("target");
    wanted.loss = args.value("loss");
    wanted.device = args.value("device");
    wanted.batch = args.value("batch");
    // A list of batches says how many steps there are.
    wanted.steps = args.has("steps") || !wanted.batch.starts_with('[') ? args.value("steps") : "";
    wanted.optimizer = args.value("optimizer");
    wanted.precision = args.value("precision");
    return wanted;
  }
};

}  // namespace

std::unique_ptr<Command> make_init_command() { return std::make_unique<InitCommand>(); }

}  // namespace tidemark::cli
