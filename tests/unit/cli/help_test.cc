#include <algorithm>

#include "sim/cli/program.h"

namespace tidemark::cli {
namespace {

struct Printed {
  ExitCode code;
  std::string out;
  std::string err;
};

Printed run(const std::vector<std::string>& words) {
  StringOutput out;
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
  CHECK(command_help(spec) == R"(tidemark weigh: weigh a file

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

TEST_CASE("no command is wrong input and shows the help on standard error") {
  const Printed printed = run({});
  CHECK(printed.code == ExitCode::kInput);
  CHECK(printed.out.empty());
  CHECK(printed.err == program_help());
}

TEST_CASE("help and version are results") {
  CHECK(run({"--help"}).out == program_help());
  CHECK(run({"help"}).out == program_help());
  CHECK(run({"--version"}).out == version_text());
  CHECK(run({"--version"}).code == ExitCode::kDone);
}

TEST_CASE("a misspelt command or option gets a suggestion") {
  const Printed command = run({"halp"});
  CHECK(command.code == ExitCode::kInput);
  CHECK(command.err == "error: unknown command 'halp'; did you mean 'help'?\n");
  CHECK(run({"--hepl"}).err == "error: unknown option '--hepl'; did you mean '--help'?\n");
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
    std::size_t begin = 0;
    while (begin < printed.out.size()) {
      const std::size_t end = printed.out.find('\n', begin);
      CHECK(end - begin <= 100);
      begin = end + 1;
    }
  }
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
