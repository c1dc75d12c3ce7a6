#include "sim/run/script.h"

#include <catch2/catch.hpp>

using namespace tidemark;

namespace {

std::shared_ptr<const SourceText> script(std::string text) {
  return std::make_shared<const SourceText>(SourceText{"train.py", std::move(text)});
}

std::string constants_of(std::string text) {
  const auto source = script(std::move(text));
  std::string out;
  for (const ScriptConstant& constant : script_constants(source))
    out += std::string(constant.name) + "=" + std::string(constant.value) + ";";
  return out;
}

}  // namespace

TEST_CASE("A script's constants are its assignments of one line at the left margin") {
  CHECK(constants_of("BATCH = 64  # of 64 = 8 * 8\nlr: float=1e-3\nsizes = [1, 2]\n") ==
        "BATCH=64;lr=1e-3;sizes=[1, 2];");
  CHECK(constants_of("BATCH = 8; EPOCHS = 2\n") == "BATCH=8;EPOCHS=2;");
  CHECK(constants_of("text = '''\nBATCH = 1\n'''\ndef f():\n    WIDTH = 2\nif x:\n    DEPTH = 3\n")
            .empty());
  CHECK(constants_of("a = b = 1\nc += 2\nd: int\nx.y = 3\nsizes = [1,\n  2]\n").empty());
  CHECK(constants_of("BATCH = (\n").empty());
}

TEST_CASE("A script's constants get other values where they stand") {
  std::vector<Problem> problems;
  const auto changed =
      with_constants(script("'''BATCH = 1'''\nBATCH=64# BATCH = 2\nWIDTH : int =  3\n"),
                     {{"WIDTH", "[4, 5]", {}}, {"BATCH", "8", 8}}, problems);
  CHECK(problems.empty());
  CHECK(changed->text == "'''BATCH = 1'''\nBATCH=8# BATCH = 2\nWIDTH : int =  [4, 5]\n");
}

TEST_CASE("A constant that a script does not have is a problem with the ones it has") {
  std::vector<Problem> problems;
  with_constants(script("BATCH = 64\n"), {{"BATHC", "8", 8}}, problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message == "train.py has no line 'BATHC = ...' at its left margin");
  CHECK(problems[0].hint == "did you mean 'BATCH'?");
}
