#include "sim/cli/commands.h"
#include "sim/format/events_csv.h"
#include "sim/report/text.h"
#include "sim/study/describe.h"

namespace tidemark::cli {

namespace {

class ModelsCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "models",
        "the model zoo: what there is, and how many parameters",
        "The models of configs/models, a family a file, as plain torch.nn code that runs under "
        "PyTorch and Tidemark "
        "alike. Parameters are those of the arguments shown, which are the models' own defaults.",
        {},
        {{"format", "text|csv", "how to print", "text"}},
        {{"tidemark models", "the list"}, {"tidemark models --format csv", "for scripts"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    const std::vector<ZooModel> zoo = describe_zoo();
    if (args.value("format") == "csv") {
      std::string text = "name,class,parameters,parameter_bytes,arguments\n";
      for (const ZooModel& entry : zoo) {
        const torch::WatchedModule& module = entry.model.layers.front().module;
        text += fmt::format("{},{},{},{},", entry.name, module.type, module.parameters,
                            module.parameter_bytes);
        append_csv_field(entry.arguments, text);
        text += '\n';
      }
      out.write(text);
      return ExitCode::kDone;
    }
    using Align = Table::Align;
    Table table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
    table.add({"Model", "class", "parameters", "", "arguments"});
    for (const ZooModel& entry : zoo) {
      const torch::WatchedModule& module = entry.model.layers.front().module;
      table.add({entry.name, module.type, grouped(module.parameters),
                 human_bytes(module.parameter_bytes), entry.arguments});
    }
    out.write(table.text(static_cast<std::size_t>(out.width())));
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_models_command() { return std::make_unique<ModelsCommand>(); }

}  // namespace tidemark::cli
