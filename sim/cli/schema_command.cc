#include "sim/cli/command.h"
#include "sim/device/device.h"
#include "sim/run/json_schema.h"
#include "sim/run/scenario_fields.h"

namespace tidemark::cli {

namespace {

class SchemaCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "schema",
        "the JSON Schema of scenarios, for editors",
        "Made of the tables that the reader itself goes by: an editor with a YAML language server "
        "completes keys and values, explains them, and marks what the reader would refuse. What "
        "depends on several keys, and on the code, is for `tidemark check` (docs/scenario.md, "
        "\"Editors\").",
        {{"scenario|device", "of scenarios (unless told), or of device files", false}},
        {},
        {{"tidemark schema >scenario.schema.json",
          "then, as first line of a scenario: # yaml-language-server: "
          "$schema=scenario.schema.json"},
         {"tidemark schema device", "for a device of one's own"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    const bool is_device = !args.positional().empty() && args.positional()[0] == "device";
    out.write(is_device ? json_schema(kDeviceFileMap, "Tidemark device")
                        : json_schema(kScenarioMap, "Tidemark scenario"));
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_schema_command() { return std::make_unique<SchemaCommand>(); }

}  // namespace tidemark::cli
