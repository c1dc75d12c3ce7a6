#include "sim/base/problem.h"
#include "sim/cli/command.h"

namespace tidemark::cli {
namespace {

CommandSpec sample_spec() {
  CommandSpec spec;
  spec.name = "run";
  spec.summary = "simulate a scenario";
  spec.arguments = {{"SCENARIO", "what to simulate"}};
  spec.options = {{"format", "text|json|csv", "how to print", "text"},
                  {"set", "KEY=VALUE", "override a parameter", "", true},
                  {"device-bytes", "BYTES", "memory of the device", ""},
                  {"repeat", "N", "how often", "1"},
                  {"fail-on-oom", "", "exit with 3", ""}};
  return spec;
}

std::string refusal(const std::vector<std::string>& words) {
  try {
    Arguments::parse(sample_spec(), words);
  } catch (const InputError& e) {
    return render_problems(e.problems());
  }
  return "accepted";
}

TEST_CASE("options and arguments may come in any order, with = or a space") {
  const Arguments args = Arguments::parse(
      sample_spec(),
      {"--set", "batch=64", "a.yaml", "--format=json", "--set=steps=-2", "--fail-on-oom"});
  CHECK(args.positional() == std::vector<std::string>{"a.yaml"});
  CHECK(args.value("format") == "json");
  CHECK(args.values("set") == std::vector<std::string>{"batch=64", "steps=-2"});
  CHECK(args.has("fail-on-oom"));
  CHECK_FALSE(args.has("device-bytes"));
}

TEST_CASE("an option that is not given has its fallback, or no value") {
  const Arguments args = Arguments::parse(sample_spec(), {"a.yaml"});
  CHECK(args.value("format") == "text");
  CHECK(args.values("set").empty());
  CHECK(args.number("repeat", 1, 10) == 1);
  CHECK_FALSE(args.bytes("device-bytes").has_value());
}

TEST_CASE("a value may start with a dash") {
  CHECK(Arguments::parse(sample_spec(), {"a", "--set=-x"}).value("set") == "-x");
}

TEST_CASE("words after two dashes are arguments") {
  CHECK(Arguments::parse(sample_spec(), {"--", "--odd"}).positional() ==
        std::vector<std::string>{"--odd"});
}

TEST_CASE("every mistake of a command line is told at once, with a suggestion where one is near") {
  CHECK(refusal({"--fromat", "json", "a.yaml", "b.yaml", "--format", "jsn", "--bogus"}) ==
        "error: unknown option '--fromat'; did you mean '--format'?\n"
        "error: unexpected argument 'b.yaml'\n"
        "error: --format: expected one of text, json, csv; found 'jsn'; did you mean 'json'?\n"
        "error: unknown option '--bogus'; keys of the scenario are given as --set bogus=VALUE\n");
  CHECK(refusal({"a", "--batch", "64"}) ==
        "error: unknown option '--batch'; keys of the scenario are given as --set batch=VALUE\n");
}

TEST_CASE("what no option is may be one of the script that is run") {
  CHECK(refusal({"train.py", "--batch-size", "64", "--amp"}) ==
        "error: unknown option '--batch-size'; the script's own options come after '--': "
        "-- --batch-size 64\n"
        "error: unknown option '--amp'; the script's own options come after '--': -- --amp\n");
  CHECK(refusal({"--lr=3e-4", "train.py"}) ==
        "error: unknown option '--lr'; the script's own options come after '--': -- --lr=3e-4\n");
  CHECK(refusal({"--fromat", "json", "train.py"}) ==
        "error: unknown option '--fromat'; did you mean '--format'?\n");
  CHECK(refusal({"a.yaml", "--lr", "1", "--", "train.py"}) ==
        "error: unknown option '--lr'; keys of the scenario are given as --set lr=VALUE\n"
        "error: unexpected argument 'train.py'\n");
}

TEST_CASE("mistakes with values and arguments") {
  CHECK(refusal({}) == "error: missing argument SCENARIO\n");
  CHECK(refusal({"a", "batch=64"}) ==
        "error: unexpected argument 'batch=64'; did you mean '--set batch=64'?\n");
  CHECK(refusal({"a", "--format"}) == "error: --format: needs a value: --format text|json|csv\n");
  CHECK(refusal({"a", "--format", "csv", "--format", "csv"}) == "error: --format: given twice\n");
  CHECK(refusal({"a", "--fail-on-oom=yes"}) == "error: --fail-on-oom: takes no value\n");
  CHECK(refusal({"a", "-f"}) == "error: unknown option '-f'\n");
  CHECK(refusal({"a", "--form", "csv"}) ==
        "error: unknown option '--form'; did you mean '--format'?\n");
}

TEST_CASE("numbers and amounts are checked where they are read") {
  const Arguments args =
      Arguments::parse(sample_spec(), {"a", "--repeat", "0", "--device-bytes", "12XB"});
  CHECK_THROWS_WITH(args.number("repeat", 1, 10),
                    "error: --repeat: expected a whole number from 1 to 10, found '0'\n");
  CHECK_THROWS_WITH(args.bytes("device-bytes"),
                    "error: --device-bytes: expected an amount of memory such as 80GiB, 512MiB or "
                    "bytes, found '12XB'\n");
  CHECK(Arguments::parse(sample_spec(), {"a", "--device-bytes", "2GiB"}).bytes("device-bytes") ==
        2 * kGiB);
}

}  // namespace
}  // namespace tidemark::cli
