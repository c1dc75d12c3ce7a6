#include <algorithm>

#include <fmt/format.h>

#include "sim/cli/program.h"
#include "sim/cli/scenario_input.h"

namespace tidemark::cli {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kWidth = 96;        ///< at most: longer lines are hard to read
constexpr std::size_t kWidestTitle = 22;  ///< a longer one has a line of its own

/// Two columns; the right one is wrapped at words and hangs under itself.
void add_row(std::string& out, std::string_view left, std::string_view right, std::size_t column,
             std::size_t width) {
  std::string line(kIndent, ' ');
  line += left;
  if (line.size() + 1 > column) {
    out += line + '\n';
    line.clear();
  }
  line.resize(std::max(line.size(), column), ' ');
  while (!right.empty()) {
    const std::size_t end = std::min(right.find(' '), right.size());
    if (line.size() > column && line.size() + end > width) {
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
      line.assign(column, ' ');
    }
    line += right.substr(0, end);
    line += ' ';
    right.remove_prefix(std::min(end + 1, right.size()));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

std::string argument_title(const ArgumentSpec& argument) {
  std::string title(argument.name);
  if (argument.repeats) title += "...";
  return argument.required ? title : "[" + title + "]";
}

std::string heading(std::string_view name, const TextStyle& style) {
  return "\n" + bold(name, style) + "\n";
}

/// Short items, as many in a row as fit.
std::string in_rows(const std::vector<std::string>& items, std::size_t width) {
  std::string out;
  std::string line;
  for (const std::string& item : items) {
    if (!line.empty() && kIndent + line.size() + 3 + item.size() > width) {
      out += std::string(kIndent, ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + item;
  }
  return out + std::string(kIndent, ' ') + line + "\n";
}

constexpr OptionSpec kProgramOptions[] = {
    {"help", "", "this text, or a command's", ""},
    {"version", "", "the program's version", ""},
    {"max-memory", "SIZE", "for models, recordings", "2GiB"},
    {"max-seconds", "N", "likewise", "600"},
    {"allow-read", "FOLDER", "for model code, too", "", true},
};

constexpr Note kExitCodes[] = {
    {"0", "done"},
    {"1", "a comparison differs"},
    {"2", "wrong input"},
    {"3", "out of memory (--fail-on-oom)"},
    {"4", "a file cannot be read or written"},
    {"5", "an assertion failed"},
    {"70", "a bug in tidemark"},
    {"77", "no GPU"},
};

constexpr Note kEnvironment[] = {
    {"NO_COLOR", "set to anything: no colour. There is none in pipes and files either"},
    {"COLUMNS", "how wide text may be; else the terminal's width, 80 where there is none"},
    {"TIDEMARK_PLOTS", "the folder of the scripts for --plot and report"},
    {"TIDEMARK_PYTHON", "the Python that runs them; else /usr/bin/python3"},
    {"TIDEMARK_VALIDATION", "the folder of the scripts for validate and record"},
    {"TIDEMARK_TORCH", "a program that runs a Python with PyTorch, or the folder of one"},
    {"TIDEMARK_CUDA", "the harness for real GPUs, tidemark-cuda"},
    {"TIDEMARK_CACHE", "where built stubs and results are kept; else ~/.cache/tidemark"}};

}  // namespace

std::span<const OptionSpec> program_options() { return kProgramOptions; }
std::span<const Note> exit_code_notes() { return kExitCodes; }
std::span<const Note> environment_notes() { return kEnvironment; }

std::string usage_line(const CommandSpec& spec) {
  std::string out = fmt::format("tidemark {}", spec.name);
  for (const ArgumentSpec& argument : spec.arguments) out += " " + argument_title(argument);
  if (!spec.options.empty()) out += " [options]";
  return out;
}

std::string option_title(const OptionSpec& option) {
  std::string title = "--" + std::string(option.name);
  if (!option.value.empty()) title += " " + std::string(option.value);
  return title;
}

std::string option_help(const OptionSpec& option) {
  std::string help(option.help);
  std::string notes;
  if (!option.fallback.empty()) notes = "default: " + std::string(option.fallback);
  if (option.repeats) notes += notes.empty() ? "may be repeated" : "; may be repeated";
  return notes.empty() ? help : help + " (" + notes + ")";
}

namespace {

/// Whether an option is one of those that every command takes which runs a program. `run` tells
/// what they do.
bool is_of_programs(const CommandSpec& spec, const OptionSpec& option) {
  static const std::vector<OptionSpec> all = with_program_options({});
  return spec.name != "run" && std::any_of(all.begin(), all.end(), [&](const OptionSpec& each) {
           return each.name == option.name && each.help == option.help;
         });
}

}  // namespace

std::string command_help(const CommandSpec& spec, const TextStyle& style) {
  const std::size_t width = std::min(style.width, kWidth);
  std::string out = wrapped(fmt::format("tidemark {}: {}", spec.name, spec.summary), width, 0);
  out += fmt::format("\n  {}\n", usage_line(spec));
  if (!spec.about.empty()) {
    std::string about(spec.about);
    std::replace(about.begin(), about.end(), '\n', ' ');
    out += "\n" + wrapped(about, width, 0);
  }
  std::size_t column = 0;
  for (const ArgumentSpec& argument : spec.arguments) {
    column = std::max(column, argument.name.size());
  }
  for (const OptionSpec& option : spec.options) {
    if (!is_of_programs(spec, option)) column = std::max(column, option_title(option).size());
  }
  column = std::min(column, kWidestTitle) + kIndent + 2;
  if (!spec.arguments.empty()) {
    out += heading("Arguments", style);
    for (const ArgumentSpec& argument : spec.arguments) {
      add_row(out, argument.name, argument.help, column, width);
    }
  }
  if (!spec.options.empty()) {
    out += heading("Options", style);
    std::vector<std::string> of_programs;
    for (const OptionSpec& option : spec.options) {
      if (is_of_programs(spec, option)) {
        of_programs.push_back(option_title(option));
      } else {
        add_row(out, option_title(option), option_help(option), column, width);
      }
    }
    if (!of_programs.empty())
      out += heading("How a program runs, see tidemark run --help", style) +
             in_rows(of_programs, width);
  }
  if (!spec.examples.empty()) {
    out += heading("Examples", style);
    for (const ExampleSpec& example : spec.examples) {
      out += fmt::format("  {}\n{}", example.command, wrapped(example.what, width, 6));
    }
  }
  return out;
}

std::string program_help(const TextStyle& style) {
  const std::size_t width = std::min(style.width, kWidth);
  std::string out = wrapped(fmt::format("tidemark: {}", kProgramSummary), width, 0);
  out += "\n  tidemark [options] COMMAND [arguments] [options]\n" + heading("Commands", style);
  std::size_t column = 0;
  for (const auto& command : commands()) column = std::max(column, command->spec().name.size());
  column += kIndent + 2;
  for (const auto& command : commands()) {
    const CommandSpec spec = command->spec();
    add_row(out, spec.name, spec.summary, column, width);
  }
  std::vector<std::string> items;
  for (const OptionSpec& option : program_options())
    items.push_back(fmt::format("{} {}", option_title(option), option_help(option)));
  out += heading("Options", style) + in_rows(items, width);
  items.clear();
  for (const Note& note : exit_code_notes())
    items.push_back(fmt::format("{} {}", note.name, note.what));
  return out + heading("Exit codes", style) + in_rows(items, width);
}

}  // namespace tidemark::cli
