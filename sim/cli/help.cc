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

/// Options that several commands share: their helps name them, and a topic of its own explains
/// them.
struct Topic {
  std::string_view name;
  std::string_view title;
  std::vector<std::string_view> options;
};

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all{
      {"programs",
       "How a program runs",
       {"packages", "env", "steps", "until", "assume", "routing", "compile", "world", "rank",
        "nproc-per-node", "nnodes"}},
      {"files",
       "Files with all that happened",
       {"events", "timeline", "host-timeline", "stats", "segments", "trace-out", "plot", "snapshot",
        "perfetto", "columns"}},
  };
  return all;
}

bool has_option(const Topic& topic, const OptionSpec& option) {
  return std::find(topic.options.begin(), topic.options.end(), option.name) != topic.options.end();
}

/// Those of a topic that a command has. None where they are few: its own help explains them.
std::vector<OptionSpec> options_of(const Topic& topic, const CommandSpec& spec) {
  constexpr std::size_t kFew = 3;
  std::vector<OptionSpec> out;
  for (const OptionSpec& option : spec.options) {
    if (has_option(topic, option)) out.push_back(option);
  }
  if (out.size() <= kFew) out.clear();
  return out;
}

bool has_a_topic(const CommandSpec& spec, const OptionSpec& option) {
  return std::any_of(topics().begin(), topics().end(), [&](const Topic& topic) {
    return has_option(topic, option) && !options_of(topic, spec).empty();
  });
}

/// The widest title that has its help beside it, and the space around it.
std::size_t column_for(std::size_t widest) { return std::min(widest, kWidestTitle) + kIndent + 2; }

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
    if (!has_a_topic(spec, option)) column = std::max(column, option_title(option).size());
  }
  column = column_for(column);
  if (!spec.arguments.empty()) {
    out += heading("Arguments", style);
    for (const ArgumentSpec& argument : spec.arguments) {
      add_row(out, argument.name, argument.help, column, width);
    }
  }
  if (!spec.options.empty()) out += heading("Options", style);
  for (const OptionSpec& option : spec.options) {
    if (!has_a_topic(spec, option))
      add_row(out, option_title(option), option_help(option), column, width);
  }
  for (const Topic& topic : topics()) {
    std::vector<std::string> titles;
    for (const OptionSpec& option : options_of(topic, spec)) titles.push_back(option_title(option));
    if (!titles.empty())
      out += heading(fmt::format("{}: tidemark help {}", topic.title, topic.name), style) +
             in_rows(titles, width);
  }
  if (!spec.examples.empty()) {
    out += heading("Examples", style);
    for (const ExampleSpec& example : spec.examples) {
      out += fmt::format("  {}\n{}", example.command, wrapped(example.what, width, 6));
    }
  }
  return out;
}

std::string topic_help(std::string_view name, const TextStyle& style) {
  const auto topic = std::find_if(topics().begin(), topics().end(),
                                  [name](const Topic& each) { return each.name == name; });
  if (topic == topics().end()) return {};
  std::vector<OptionSpec> options;
  std::string takers;
  std::size_t column = 0;
  for (const auto& command : commands()) {
    const CommandSpec spec = command->spec();
    const std::vector<OptionSpec> own = options_of(*topic, spec);
    if (!own.empty()) takers += fmt::format("{}{}", takers.empty() ? "" : ", ", spec.name);
    for (const OptionSpec& option : own) {
      const bool is_known = std::any_of(options.begin(), options.end(),
                                        [&](const auto& each) { return each.name == option.name; });
      if (is_known) continue;
      options.push_back(option);
      column = std::max(column, option_title(option).size());
    }
  }
  const std::size_t width = std::min(style.width, kWidth);
  std::string out =
      wrapped(fmt::format("{}: options of {}", topic->title, takers), width, 0) + "\n";
  for (const OptionSpec& option : options)
    add_row(out, option_title(option), option_help(option), column_for(column), width);
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
