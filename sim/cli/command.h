#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/cli/exit_code.h"
#include "sim/cli/output.h"

namespace tidemark::cli {

/// One option of a command. Help, parsing, refusals, completion and the manual page all come from
/// this table. What stands for a value decides what a shell offers for it: FILE, FOLDER, ID (of a
/// device), words joined by '|'.
struct OptionSpec {
  std::string_view name;  ///< without dashes: "format"
  /// What stands for its value in help ("FILE"); empty: a flag. Words joined by '|'
  /// ("text|json|csv") are the only values accepted.
  std::string_view value;
  std::string_view help;      ///< one line, lower case, no full stop
  std::string_view fallback;  ///< value when not given; empty: none
  bool repeats = false;       ///< may be given several times
  char letter = 0;            ///< "-o" for short; 0: none
};

/// One positional argument.
struct ArgumentSpec {
  std::string_view name;  ///< "SCENARIO"; words joined by '|' are the only ones accepted
  std::string_view help;
  bool required = true;
  bool repeats = false;  ///< the last one only
};

struct ExampleSpec {
  std::string_view command;  ///< whole command line
  std::string_view what;     ///< what it is for
};

/// What the user is told of a command, and all the parser knows of it.
struct CommandSpec {
  std::string_view name;     ///< "run"
  std::string_view summary;  ///< one line, lower case: "simulate a scenario"
  std::string_view about;    ///< a short paragraph for help, wrapped when printed; may be empty
  std::vector<ArgumentSpec> arguments;
  std::vector<OptionSpec> options;
  std::vector<ExampleSpec> examples;
};

/// What was given on the command line, checked against a CommandSpec.
class Arguments {
 public:
  /// Errors: InputError with every unknown option, missing value, stray or missing argument, each
  /// with a suggestion where one is near.
  static Arguments parse(const CommandSpec& spec, const std::vector<std::string>& given);

  [[nodiscard]] const std::vector<std::string>& positional() const { return positional_; }
  [[nodiscard]] bool has(std::string_view option) const { return given_.contains(option); }
  /// The last value given, else the fallback (empty where the table has none).
  [[nodiscard]] const std::string& value(std::string_view option) const;
  /// Every value, in the order given; no fallback.
  [[nodiscard]] const std::vector<std::string>& values(std::string_view option) const;
  /// A whole number in [least, most]. Errors: InputError; std::nullopt where the option has no
  /// value.
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view option, std::uint64_t least,
                                                    std::uint64_t most) const;
  /// An amount of memory ("80GiB", "512MiB", bytes). Errors as number().
  [[nodiscard]] std::optional<Bytes> bytes(std::string_view option) const;

 private:
  std::vector<std::string> positional_;
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
  std::map<std::string, std::string, std::less<>> fallbacks_;
};

/// One command of the program. Stateless: run() may be called any number of times.
class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual CommandSpec spec() const = 0;
  /// Results go to `out`, progress and warnings to `err`.
  /// Errors: InputError, IoError, InternalError, which the program maps to exit codes.
  [[nodiscard]] virtual ExitCode run(const Arguments& args, Output& out, Output& err) const = 0;
};

/// An InputError about the command line itself: "error: PATH: MESSAGE; HINT".
[[noreturn]] void usage_error(std::string path, std::string message, std::string hint = {});

}  // namespace tidemark::cli
