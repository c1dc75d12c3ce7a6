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
        "Without a command it lists them all. Two topics explain options that commands share: "
        "`programs`, how a program runs, and `files`, what is written of every event. `tidemark "
        "man` prints everything as one manual page.",
        {{"COMMAND", "what to explain, or a topic", false}},
        {},
        {{"tidemark help run", "what run takes, with examples"},
         {"tidemark help files", "the files that run and replay write"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& args, Output& out, Output& /*err*/) const override {
    const TextStyle style{static_cast<std::size_t>(out.width()), out.colour()};
    if (args.positional().empty()) {
      out.write(program_help(style));
      return ExitCode::kDone;
    }
    const std::string& word = args.positional()[0];
    const std::string topic = topic_help(word, style);
    out.write(topic.empty() ? command_help(make_command(word)->spec(), style) : topic);
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_help_command() { return std::make_unique<HelpCommand>(); }

}  // namespace tidemark::cli
