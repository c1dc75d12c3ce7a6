#include "sim/cli/command.h"
#include "sim/cli/program.h"

namespace tidemark::cli {

namespace {

class HelpCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {
        "help",
        "explain a command: tidemark help COMMAND",
        "Without a command it lists them all. `tidemark man` prints everything as one manual page.",
        {{"COMMAND", "what to explain", false}},
        {},
        {{"tidemark help run", "what run takes, with examples"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
    out.write(args.positional().empty()
                  ? program_help(style)
                  : command_help(make_command(args.positional()[0])->spec(), style));
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_help_command() { return std::make_unique<HelpCommand>(); }

}  // namespace tidemark::cli
