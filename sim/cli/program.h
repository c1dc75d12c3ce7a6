#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/cli/command.h"

namespace tidemark::cli {

/// Every command, in the order in which help lists them.
const std::vector<std::unique_ptr<Command>>& commands();

/// The whole program but for the process around it: picks the command, runs it, and turns what went
/// wrong into a message on `err` and an exit code. Never throws. `words`: the command line without
/// the program's name.
ExitCode run_program(const std::vector<std::string>& words, Output& out, Output& err);

/// "tidemark 0.1.0 (PyTorch 2.11 semantics)" and a newline.
std::string version_text();

/// What `tidemark help` and `tidemark help COMMAND` print.
std::string program_help();
std::string command_help(const CommandSpec& spec);

}  // namespace tidemark::cli
