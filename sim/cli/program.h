#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/command.h"
#include "sim/report/text.h"

namespace tidemark::cli {

/// Every command, in the order in which help lists them.
const std::vector<std::unique_ptr<Command>>& commands();

/// The same, by name and not yet made.
struct CommandMaker {
  std::string_view name;
  std::unique_ptr<Command> (*make)();
};
std::span<const CommandMaker> command_makers();

/// Errors: InputError for an unknown one, with a suggestion.
std::unique_ptr<Command> make_command(std::string_view name);

/// The whole program but for the process around it: picks the command, runs it, and turns what went
/// wrong into a message on `err` and an exit code. Never throws. `words`: the command line without
/// the program's name.
ExitCode run_program(const std::vector<std::string>& words, Output& out, Output& err);

// What users are told of the program beside its commands. Help, the manual page and completion are
// made of these tables and the commands' own.

inline constexpr std::string_view kProgramSummary =
    "what a PyTorch program does to GPU memory, to the byte, with no GPU and no PyTorch";

/// "0.1.0"
std::string_view version();

/// Options that stand in place of a command.
std::span<const OptionSpec> program_options();

struct Note {
  std::string_view name;
  std::string_view what;
};
std::span<const Note> exit_code_notes();
std::span<const Note> environment_notes();

/// "tidemark 0.1.0 (PyTorch 2.11 semantics)" and a newline.
std::string version_text();

/// What `tidemark help` and `tidemark help COMMAND` print: in at most 96 columns.
std::string program_help(const TextStyle& style = {});
std::string command_help(const CommandSpec& spec, const TextStyle& style = {});
/// What `tidemark help TOPIC` prints of options that several commands share: "programs", "files".
/// Empty: there is no such topic.
std::string topic_help(std::string_view name, const TextStyle& style = {});

/// "tidemark run SCENARIO [options]".
std::string usage_line(const CommandSpec& spec);
/// "--format text|json|csv".
std::string option_title(const OptionSpec& option);
/// "how to print (default: text)".
std::string option_help(const OptionSpec& option);

/// "text|json|csv" as its words; none where there is no '|': any value is accepted then.
std::vector<std::string_view> choices_of(std::string_view value);

/// `words` with `between` between them.
std::string joined(const std::vector<std::string_view>& words, std::string_view between);

}  // namespace tidemark::cli
