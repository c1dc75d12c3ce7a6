#include <filesystem>

#include "sim/cli/command.h"
#include "sim/cli/scenario_input.h"
#include "sim/format/whole_file.h"
#include "sim/report/text.h"
#include "sim/run/import_files.h"
#include "sim/study/import/hf_import.h"
#include "sim/study/import/hf_library.h"

namespace tidemark::cli {

namespace {

class ImportCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "import",
        "make a scenario of a Hugging Face config.json",
        "Where a folder of packages has transformers' sources, the model is the library's own "
        "class, made from the configuration, of whatever family. Without them GPT-2, Llama, "
        "Mistral, Qwen2, BERT and ViT are known. Their models are plain torch.nn, which runs under "
        "PyTorch too, with Hugging Face's modules, names and order of operations. They are trained "
        "without a key-value cache or attention mask; attention is scaled_dot_product_attention. "
        "Keys that are not known are told.",
        {{"FORMAT", "hf"}, {"CONFIG", "a config.json; - for standard input"}},
        {{"output", "FILE",
          "write the scenario there (.yaml), and the model beside it (.py); else both as one "
          "scenario to standard output",
          ""},
         {"class", "NAME", "the model's class, in place of the first of 'architectures'", ""},
         {"device", "ID", "the scenario's device", "h100-sxm-80gb"},
         kPackagesOption},
        {{"tidemark import hf config.json --output llama.yaml",
          "llama.yaml and llama.py, for run, fit and describe"},
         {"tidemark import hf config.json --packages site-packages --output gemma.yaml",
          "transformers' own class; run takes --packages too"},
         {"tidemark import hf config.json | tidemark run - --set batch_size=4", "without a file"},
         {"tidemark import hf bert/config.json --class BertModel",
          "the encoder alone, without gradients"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& err) const override {
    const std::string& format = args.positional()[0];
    if (format != "hf") usage_error("", "unknown format '" + format + "'", "known is hf");
    const std::string& path = args.positional()[1];
    HfImportOptions options;
    options.type = args.value("class");
    options.device = args.value("device");
    options.packages = args.has("packages") ? given_packages(args) : installed_packages();
    if (args.has("packages") && !has_transformers(options.packages))
      usage_error("--packages", "no folder has transformers' sources");
    std::filesystem::path model_path;
    if (args.has("output")) {
      const std::filesystem::path scenario = args.value("output");
      if (scenario.extension() != ".yaml" && scenario.extension() != ".yml")
        usage_error("--output", "expected a name that ends in .yaml");
      model_path = scenario;
      model_path.replace_extension(".py");
      options.model_file = model_path.filename().string();
    }
    const HfImport model =
        import_hf(read_whole_file(path), path == "-" ? "<stdin>" : path, options);
    for (const Problem& note : model.notes) err.write(render_warning(note));
    if (!args.has("output")) {
      out.write(model.scenario);
      return ExitCode::kDone;
    }
    write_whole_file(model_path.string(), model.model_text);
    write_whole_file(args.value("output"), model.scenario);
    out.write(fmt::format("{} and {}: {}, {} parameters\n", args.value("output"),
                          model_path.string(), model.type, grouped(model.parameters)));
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_import_command() { return std::make_unique<ImportCommand>(); }

}  // namespace tidemark::cli
