#include <limits>

#include "sim/cli/commands.h"
#include "sim/cli/scenario_input.h"
#include "sim/report/results_report.h"
#include "sim/study/import/catalogue.h"

namespace tidemark::cli {

namespace {

/// A command that prints a table of what the program knows.
struct Catalogue {
  std::string_view name;
  std::string_view summary;
  std::string_view about;
  std::string_view part;  ///< what a word after the command picks
  std::vector<ExampleSpec> examples;
  ResultsTable (*table)(std::string_view part, bool is_for_people);
};

class CatalogueCommand final : public Command {
 public:
  explicit CatalogueCommand(Catalogue catalogue) : catalogue_(std::move(catalogue)) {}

  [[nodiscard]] CommandSpec spec() const override {
    return {catalogue_.name,
            catalogue_.summary,
            catalogue_.about,
            {{"PART", catalogue_.part, false}},
            {{"format", kTableFormats, "how to print", "text"}},
            catalogue_.examples};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    const TableFormat format = table_format(args.value("format"));
    const bool is_for_people = format != TableFormat::kCsv && format != TableFormat::kJson;
    const std::string part = args.positional().empty() ? std::string() : args.positional()[0];
    // Nothing is cut: a terminal wraps what is too long, and options are what one looks for.
    const TextStyle style{std::numeric_limits<std::size_t>::max(), out.colour()};
    out.write(results_table(catalogue_.table(part, is_for_people), format, style));
    return ExitCode::kDone;
  }

 private:
  Catalogue catalogue_;
};

std::unique_ptr<Command> make(Catalogue catalogue) {
  return std::make_unique<CatalogueCommand>(std::move(catalogue));
}

}  // namespace

std::unique_ptr<Command> make_devices_command() {
  return make(
      {"devices",
       "the GPUs that scenarios may name",
       "Total is what the driver gives programs, context what is gone once a CUDA context "
       "exists, granularity what memory is handed out in. A file of one's own may stand for "
       "a device, or a map that changes one (docs/scenario.md).",
       "only those with this in their id, name or aliases",
       {{"tidemark devices", "all"},
        {"tidemark devices rtx", "those with rtx in their names"},
        {"tidemark devices --format json", "with bandwidth and caches, for scripts"}},
       &device_table});
}

std::unique_ptr<Command> make_ops_command() {
  return make(
      {"ops",
       "the operators that are modelled, with their options",
       "Where: torch is torch.NAME, F torch.nn.functional.NAME, method x.NAME. Types: operand "
       "is a tensor or a number, ? allows None. An option that is not here is refused. What "
       "PyTorch has in Python (modules, optimizers, composed functions) runs as such and is "
       "not in the table; docs/language.md tells more.",
       "only those with this in their name",
       {{"tidemark ops softmax", "the operators with softmax in their name"},
        {"tidemark ops --format csv", "all, with the source of each rule"}},
       &op_table});
}

std::unique_ptr<Command> make_models_command() {
  return make(
      {"models",
       "the model zoo: what there is, and how many parameters",
       "The models of configs/models, a family a file, as plain torch.nn code that runs "
       "under PyTorch and Tidemark alike. Parameters are those of the arguments shown, which "
       "are the models' own defaults. `tidemark init` makes a scenario of one.",
       "only those with this in their name",
       {{"tidemark models", "the list"},
        {"tidemark models resnet --format csv", "one family, for scripts"}},
       &model_table});
}

std::unique_ptr<Command> make_optimizers_command() {
  return make(
      {"optimizers",
       "the classes of torch.optim, with their options and defaults",
       "What `optimizer:` of a scenario and torch.optim in code may name. Optimizers of one's "
       "own are classes of the model's text.",
       "only those with this in their name",
       {{"tidemark optimizers", "all"},
        {"tidemark optimizers Adam --format json", "an option a row, for scripts"}},
       &optimizer_table});
}

}  // namespace tidemark::cli
