#include "sim/base/problem.h"

using namespace tidemark;

TEST_CASE("a problem prints its place, its path, the line and a caret") {
  const auto source =
      std::make_shared<const SourceText>(SourceText{"train.yaml", "a: 1\n  batch: lots\n"});
  const Problem problem{
      {source, 2, 10, 2, 14}, "train.batch", "expected an integer, found 'lots'", ""};
  CHECK(render_problem(problem) ==
        "train.yaml:2:10: error: train.batch: expected an integer, found 'lots'\n"
        "      batch: lots\n"
        "             ^~~~\n");
}

TEST_CASE("code inside a YAML file reports the YAML file's own lines") {
  const auto source =
      std::make_shared<const SourceText>(SourceText{"train.yaml", "x = y\n", 12, 4});
  const Problem problem{{source, 1, 5, 1, 6}, "", "name 'y' is not defined", "did you mean 'x'?"};
  CHECK(render_problem(problem) ==
        "train.yaml:12:9: error: name 'y' is not defined; did you mean 'x'?\n"
        "    x = y\n"
        "        ^\n");
}

TEST_CASE("a near name is suggested and a far one is not") {
  CHECK(did_you_mean("btach", {"batch", "steps"}) == "did you mean 'batch'?");
  CHECK(did_you_mean("haed", {"half", "head"}) == "did you mean 'head'?");
  CHECK(did_you_mean("batch_size", {"steps", "loss"}).empty());
}
