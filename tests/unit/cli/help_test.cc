#include <algorithm>
#include <utility>

#include "sim/cli/program.h"

namespace tidemark::cli {
namespace {

struct Printed {
  ExitCode code;
  std::string out;
  std::string err;
};

/// Of a terminal of a hundred columns.
class WideOutput final : public Output {
 public:
  void write(std::string_view text) override { text_ += text; }
  [[nodiscard]] int width() const override { return 100; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Printed run(const std::vector<std::string>& words) {
  WideOutput out;
  StringOutput err;
  const ExitCode code = run_program(words, out, err);
  return {code, out.text(), err.text()};
}

TEST_CASE("help is laid out from the command's table") {
  CommandSpec spec;
  spec.name = "weigh";
  spec.summary = "weigh a file";
  spec.about = "Weighs it twice.";
  spec.arguments = {{"FILE", "what to weigh"}, {"MORE", "others", false, true}};
  spec.options = {
      {"unit", "kg|lb", "the unit", "kg"},
      {"note", "TEXT",
       "a text that is kept beside the weight for as long as the file stays where it is on disk",
       "", true}};
  spec.examples = {{"tidemark weigh a", "once"}};
  CHECK(command_help(spec, {100, false}) == R"(tidemark weigh: weigh a file

  tidemark weigh FILE [MORE...] [options]

Weighs it twice.

Arguments
  FILE          what to weigh
  MORE          others

Options
  --unit kg|lb  the unit (default: kg)
  --note TEXT   a text that is kept beside the weight for as long as the file stays where it is
                on disk (may be repeated)

Examples
  tidemark weigh a
      once
)");
}

TEST_CASE("options that commands share are named in their helps and explained by a topic") {
  const std::string run_help = run({"help", "run"}).out;
  CHECK(run_help.find("Files with all that happened: tidemark help files\n  --events FILE   ") !=
        std::string::npos);
  CHECK(run_help.find("write every allocator event") == std::string::npos);
  const std::string files = run({"help", "files"}).out;
  CHECK(files.starts_with("Files with all that happened: options of run, replay\n"));
  CHECK(files.find("write every allocator event") != std::string::npos);
  CHECK(files.find("--segments FILE") != std::string::npos);
  CHECK(run({"help", "programs"}).out.find("--packages FOLDER") != std::string::npos);
  CHECK(topic_help("file").empty());
}

TEST_CASE("no command is wrong input and shows the help on standard error") {
  const Printed printed = run({});
  CHECK(printed.code == ExitCode::kInput);
  CHECK(printed.out.empty());
  CHECK(printed.err == program_help());
}

TEST_CASE("help and version are results") {
  CHECK(run({"--help"}).out == program_help({100, false}));
  CHECK(run({"help"}).out == program_help({100, false}));
  CHECK(run({"--version"}).out == version_text());
  CHECK(run({"--version"}).code == ExitCode::kDone);
}

TEST_CASE("a misspelt command or option gets a suggestion") {
  const Printed command = run({"halp"});
  CHECK(command.code == ExitCode::kInput);
  CHECK(command.err == "error: unknown command 'halp'; did you mean 'help'?\n");
  CHECK(run({"--hepl"}).err == "error: unknown option '--hepl'; did you mean '--help'?\n");
}

TEST_CASE("a command is made by the name that it has") {
  REQUIRE(command_makers().size() == commands().size());
  for (std::size_t i = 0; i < commands().size(); ++i) {
    CHECK(command_makers()[i].name == commands()[i]->spec().name);
    CHECK(make_command(command_makers()[i].name)->spec().name == command_makers()[i].name);
  }
}

TEST_CASE(
    "every command's help has an example, starts with its name, and fits 100 columns and a "
    "screen") {
  for (const auto& command : commands()) {
    const CommandSpec spec = command->spec();
    const Printed printed = run({"help", std::string(spec.name)});
    INFO(spec.name);
    CHECK(printed.code == ExitCode::kDone);
    CHECK(printed.out == run({std::string(spec.name), "--help"}).out);
    CHECK(printed.out.starts_with("tidemark " + std::string(spec.name) + ": "));
    CHECK_FALSE(spec.examples.empty());
    for (const ExampleSpec& example : spec.examples) {
      CHECK(example.command.starts_with("tidemark " + std::string(spec.name)));
    }
    CHECK(std::count(printed.out.begin(), printed.out.end(), '\n') <= 50);
    const std::string narrow = command_help(spec, {80, false});
    CHECK(std::count(narrow.begin(), narrow.end(), '\n') <= 50);
    std::size_t begin = 0;
    while (begin < printed.out.size()) {
      const std::size_t end = printed.out.find('\n', begin);
      CHECK(end - begin <= 100);
      begin = end + 1;
    }
  }
}

/// The words of a command line up to a pipe or redirection, quotes undone.
std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool is_word = false;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      is_word = true;
    } else if (c == '|' || c == '>') {
      break;
    } else if (c != ' ') {
      word += c;
      is_word = true;
    } else if (is_word) {
      words.push_back(std::exchange(word, {}));
      is_word = false;
    }
  }
  if (is_word) words.push_back(word);
  return words;
}

TEST_CASE("every example of every command is a command line that it takes") {
  for (const auto& command : commands()) {
    const CommandSpec spec = command->spec();
    for (const ExampleSpec& example : spec.examples) {
      INFO(example.command);
      std::vector<std::string> words = shell_words(example.command);
      REQUIRE(words.size() >= 2);
      words.erase(words.begin(), words.begin() + 2);
      CHECK_NOTHROW(Arguments::parse(spec, words));
    }
  }
}

TEST_CASE("the list of commands fits a screen, and any terminal's width") {
  for (const std::size_t width : {60UL, 80UL, 200UL}) {
    const std::string help = program_help({width, false});
    if (width >= 80) CHECK(std::count(help.begin(), help.end(), '\n') <= 50);
    std::size_t begin = 0;
    while (begin < help.size()) {
      const std::size_t end = help.find('\n', begin);
      CHECK(end - begin <= std::min<std::size_t>(width, 96));
      begin = end + 1;
    }
  }
  CHECK(program_help().find('\x1b') == std::string::npos);
  CHECK(program_help({96, true}).find("\x1b[1mCommands\x1b[0m") != std::string::npos);
}

TEST_CASE("the manual page and the completions know every command and option") {
  const std::string page = run({"man"}).out;
  CHECK(page.starts_with(".TH TIDEMARK 1 "));
  const std::string bash = run({"completion", "bash"}).out;
  const std::string zsh = run({"completion", "zsh"}).out;
  const std::string fish = run({"completion", "fish"}).out;
  for (const auto& command : commands()) {
    const CommandSpec spec = command->spec();
    INFO(spec.name);
    CHECK(page.find("\n.SS tidemark " + std::string(spec.name)) != std::string::npos);
    CHECK(bash.find("\n    " + std::string(spec.name) + ")\n") != std::string::npos);
    CHECK(zsh.find("\n        " + std::string(spec.name) + ")\n") != std::string::npos);
    const std::string seen = "from " + std::string(spec.name) + "' -l ";
    for (const OptionSpec& option : spec.options) {
      INFO(option.name);
      std::string dashed = "--" + std::string(option.name);
      CHECK(bash.find(dashed) != std::string::npos);
      CHECK(zsh.find(dashed) != std::string::npos);
      CHECK(fish.find(seen + std::string(option.name)) != std::string::npos);
      for (std::size_t at = 0; (at = dashed.find('-', at)) != std::string::npos; at += 2)
        dashed.insert(at, 1, '\\');
      CHECK(page.find(dashed) != std::string::npos);
    }
  }
  CHECK(run({"completion", "csh"}).err ==
        "error: expected one of bash, zsh, fish, values; found 'csh'; did you mean 'zsh'?\n"
        "See 'tidemark help completion'.\n");
}

TEST_CASE("no option table names an option twice") {
  for (const auto& command : commands()) {
    std::vector<std::string_view> names;
    for (const OptionSpec& option : command->spec().options) names.push_back(option.name);
    std::sort(names.begin(), names.end());
    INFO(command->spec().name);
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  }
}

}  // namespace
}  // namespace tidemark::cli
