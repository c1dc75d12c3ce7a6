#include <algorithm>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/program.h"

namespace tidemark::cli {

namespace {

/// Text for roff: what it would take for a command, an escape or a hyphen stands for itself.
std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out;
}

void add_item(std::string& out, std::string_view name, std::string_view what) {
  out += fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(what));
}

void add_command(std::string& out, const CommandSpec& spec) {
  out += fmt::format(".SS {}\n{}.\n", roff(usage_line(spec)), roff(spec.summary));
  if (!spec.about.empty()) out += fmt::format(".PP\n{}\n", roff(spec.about));
  for (const ArgumentSpec& argument : spec.arguments) add_item(out, argument.name, argument.help);
  for (const OptionSpec& option : spec.options)
    add_item(out, option_title(option), option_help(option));
  for (const ExampleSpec& example : spec.examples) {
    out += fmt::format(".PP\n{}:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff(example.what),
                       roff(example.command));
  }
}

class ManCommand final : public Command {
 public:
  [[nodiscard]] CommandSpec spec() const override {
    return {"man",
            "print the manual page",
            "All commands with their options and examples, exit codes and environment, for man. An "
            "installed tidemark has it as tidemark(1).",
            {},
            {},
            {{"tidemark man | man -l -", "read it"},
             {"tidemark man >~/.local/share/man/man1/tidemark.1", "install it for oneself"}}};
  }

  [[nodiscard]] ExitCode run(const Arguments& /*args*/, Output& out,
                             Output& /*err*/) const override {
    std::string page = fmt::format(
        ".TH TIDEMARK 1 \"\" \"tidemark {}\" \"User Commands\"\n.SH NAME\ntidemark \\- {}\n",
        version(), roff(kProgramSummary));
    page += ".SH SYNOPSIS\n.B tidemark\n.I COMMAND\n[arguments] [options]\n.SH OPTIONS\n";
    for (const OptionSpec& option : program_options())
      add_item(page, option_title(option), option_help(option));
    page += ".SH COMMANDS\n";
    for (const auto& command : commands()) add_command(page, command->spec());
    page += ".SH EXIT STATUS\n";
    for (const Note& note : exit_code_notes()) add_item(page, note.name, note.what);
    page += ".SH ENVIRONMENT\n";
    for (const Note& note : environment_notes()) add_item(page, note.name, note.what);
    out.write(page);
    return ExitCode::kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_man_command() { return std::make_unique<ManCommand>(); }

}  // namespace tidemark::cli
