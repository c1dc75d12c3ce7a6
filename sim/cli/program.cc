#include "sim/cli/program.h"

#include <algorithm>
#include <exception>
#include <new>

#include "sim/base/budget.h"
#include "sim/base/check.h"
#include "sim/base/problem.h"
#include "sim/cli/process.h"
#include "sim/format/read_scope.h"

namespace tidemark::cli {

namespace {

bool asks_for_help(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end,
                     [](const std::string& w) { return w == "--help" || w == "-h"; });
}

TextStyle style_of(const Output& out) {
  return {static_cast<std::size_t>(out.width()), out.colour()};
}

/// Sets what model code may take and read by the options before the command. Returns the words from
/// the command on.
std::vector<std::string> take_permissions(const std::vector<std::string>& words) {
  CommandSpec spec;
  std::vector<std::string> given;
  for (const OptionSpec& option : program_options()) {
    if (!option.value.empty()) spec.options.push_back(option);
  }
  std::size_t at = 0;
  while (at < words.size()) {
    const std::string_view name = std::string_view(words[at]).substr(0, words[at].find('='));
    const bool is_one =
        std::any_of(spec.options.begin(), spec.options.end(), [&](const OptionSpec& option) {
          return name.starts_with("--") && name.substr(2) == option.name;
        });
    if (!is_one) break;
    const std::size_t count = name.size() < words[at].size() ? 1 : 2;
    for (std::size_t end = at + count; at < std::min(end, words.size()); ++at)
      given.push_back(words[at]);
  }
  const Arguments arguments = Arguments::parse(spec, given);
  budget().memory = arguments.bytes("max-memory").value_or(budget().memory);
  constexpr std::uint64_t kMostSeconds = 1'000'000'000;
  const auto seconds = arguments.number("max-seconds", 1, kMostSeconds);
  if (seconds) budget().seconds = static_cast<double>(*seconds);
  user_read_paths().clear();
  if (arguments.has("allow-read")) user_read_paths() = arguments.values("allow-read");
  for (std::string& folder : own_folders("configs", TIDEMARK_SOURCE_CONFIGS))
    user_read_paths().push_back(std::move(folder));
  return {words.begin() + static_cast<std::ptrdiff_t>(at), words.end()};
}

/// `asked` becomes the command that was found, for the pointer to its help.
ExitCode dispatch(const std::vector<std::string>& given, std::string& asked, Output& out,
                  Output& err) {
  const std::vector<std::string> words = take_permissions(given);
  if (words.empty()) {
    err.write(program_help(style_of(err)));
    return ExitCode::kInput;
  }
  const std::string& first = words.front();
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (first == "--version" || first == "--help" || first == "-h") {
    if (!rest.empty()) usage_error("", "unexpected argument '" + rest.front() + "'");
    out.write(first == "--version" ? version_text() : program_help(style_of(out)));
    return ExitCode::kDone;
  }
  if (first.starts_with('-')) {
    std::vector<std::string> names;
    names.reserve(program_options().size());
    for (const OptionSpec& option : program_options())
      names.push_back("--" + std::string(option.name));
    usage_error("", "unknown option '" + first + "'",
                did_you_mean(first, {names.begin(), names.end()}));
  }
  const std::unique_ptr<Command> command = make_command(first);
  const CommandSpec spec = command->spec();
  asked = spec.name;
  if (asks_for_help(rest)) {
    out.write(command_help(spec, style_of(out)));
    return ExitCode::kDone;
  }
  const Arguments arguments = Arguments::parse(spec, rest);
  asked.clear();
  return command->run(arguments, out, err);
}

/// Problems of the command line itself point to the help; those of a file speak for themselves.
void report(const InputError& error, const std::string& asked, Output& err) {
  err.write(render_problems(error.problems()));
  const bool has_place = std::any_of(error.problems().begin(), error.problems().end(),
                                     [](const Problem& p) { return p.at.source != nullptr; });
  if (has_place) return;
  if (!asked.empty()) err.print("See 'tidemark help {}'.\n", asked);
}

}  // namespace

std::unique_ptr<Command> make_command(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(command_makers().size());
  for (const CommandMaker& each : command_makers()) {
    if (each.name == name) return each.make();
    names.push_back(each.name);
  }
  usage_error("", "unknown command '" + std::string(name) + "'", did_you_mean(name, names));
}

std::string_view version() { return TIDEMARK_VERSION; }

std::string version_text() { return "tidemark " TIDEMARK_VERSION " (PyTorch 2.15 by default)\n"; }

ExitCode run_program(const std::vector<std::string>& words, Output& out, Output& err) {
  std::string asked;
  try {
    try {
      const ExitCode code = dispatch(words, asked, out, err);
      out.flush();
      return code;
    } catch (const InputError& e) {
      report(e, asked, err);
      return ExitCode::kInput;
    } catch (const IoError& e) {
      err.print("error: {}\n", e.what());
      return ExitCode::kIo;
    } catch (const std::bad_alloc&) {
      err.write("error: the host has too little memory for this run\n");
      return ExitCode::kInput;
    } catch (const std::exception& e) {
      err.print(
          "error: {}\nThis is a bug in tidemark {}; please report it with the input that led "
          "here.\n",
          e.what(), TIDEMARK_VERSION);
      return ExitCode::kInternal;
    }
  } catch (const IoError&) {
    return ExitCode::kIo;  // standard error itself cannot be written to
  }
}

}  // namespace tidemark::cli
