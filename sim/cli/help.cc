#include <algorithm>

#include "sim/cli/program.h"
#include "sim/report/text.h"

namespace tidemark::cli {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kWidth = 96;

/// Two columns; the right one is wrapped at words and hangs under itself.
void add_row(std::string& out, std::string_view left, std::string_view right, std::size_t column) {
  std::string line(kIndent, ' ');
  line += left;
  if (line.size() + 1 > column) {
    out += line + '\n';
    line.clear();
  }
  line.resize(std::max(line.size(), column), ' ');
  while (!right.empty()) {
    const std::size_t end = std::min(right.find(' '), right.size());
    if (line.size() > column && line.size() + end > kWidth) {
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

std::string argument_title(const ArgumentSpec& argument) {
  std::string title(argument.name);
  if (argument.repeats) title += "...";
  return argument.required ? title : "[" + title + "]";
}

}  // namespace

std::string command_help(const CommandSpec& spec) {
  std::string out = wrapped(fmt::format("tidemark {}: {}", spec.name, spec.summary), kWidth, 0);
  out += fmt::format("\n  tidemark {}", spec.name);
  for (const ArgumentSpec& argument : spec.arguments) out += " " + argument_title(argument);
  if (!spec.options.empty()) out += " [options]";
  out += "\n";
  if (!spec.about.empty()) {
    std::string about(spec.about);
    std::replace(about.begin(), about.end(), '\n', ' ');
    out += "\n" + wrapped(about, kWidth, 0);
  }
  std::size_t column = 0;
  for (const ArgumentSpec& argument : spec.arguments) {
    column = std::max(column, argument.name.size());
  }
  for (const OptionSpec& option : spec.options)
    column = std::max(column, option_title(option).size());
  column = std::min<std::size_t>(column, 28) + kIndent + 2;
  if (!spec.arguments.empty()) {
    out += "\nArguments\n";
    for (const ArgumentSpec& argument : spec.arguments) {
      add_row(out, argument.name, argument.help, column);
    }
  }
  if (!spec.options.empty()) {
    out += "\nOptions\n";
    for (const OptionSpec& option : spec.options) {
      add_row(out, option_title(option), option_help(option), column);
    }
  }
  if (!spec.examples.empty()) {
    out += "\nExamples\n";
    for (const ExampleSpec& example : spec.examples) {
      out += fmt::format("  {}\n{}", example.command, wrapped(example.what, kWidth, 6));
    }
  }
  return out;
}

std::string program_help() {
  std::string out =
      "tidemark: what a PyTorch program does to GPU memory, to the byte, with no GPU and no "
      "PyTorch\n\n"
      "  tidemark COMMAND [arguments] [options]\n\nCommands\n";
  std::size_t column = 7;
  for (const auto& command : commands()) column = std::max(column, command->spec().name.size());
  column += kIndent + 2;
  for (const auto& command : commands()) {
    const CommandSpec spec = command->spec();
    add_row(out, spec.name, spec.summary, column);
  }
  add_row(out, "help", "explain a command: tidemark help COMMAND", column);
  out += "\nOptions\n";
  add_row(out, "--help", "this text; after a command, its own", column + 2);
  add_row(out, "--version", "the program's version", column + 2);
  out +=
      "\nExit codes\n  0 done   1 a comparison differs   2 wrong input   3 out of memory "
      "(--fail-on-oom)\n"
      "  4 a file cannot be read or written   5 an assertion failed   70 a bug in tidemark   77 no "
      "GPU\n";
  return out;
}

}  // namespace tidemark::cli
