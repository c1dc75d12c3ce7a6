#include "sim/yaml/yaml.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <limits>
#include <sstream>

#include "sim/yaml/yaml_fields.h"

namespace tidemark::lang {
namespace {

std::shared_ptr<const SourceText> source(std::string text) {
  return std::make_shared<SourceText>(SourceText{"file.yaml", std::move(text)});
}

yaml::Node parse(std::string text) { return yaml::parse(source(std::move(text))); }

std::string problem_of(const std::string& text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("values keep their kinds, their texts and their places") {
  const yaml::Node root = parse("a: 1\nb: {c: [x, \"2\", null], d: 'it''s'}\ne:\n");
  REQUIRE(root.kind == yaml::Node::Kind::kMap);
  REQUIRE(root.entries.size() == 3);
  CHECK(root.entries[1].key == "b");
  CHECK(root.entries[1].key_at.line == 2);
  const yaml::Node* list = root.find("b")->find("c");
  REQUIRE(list != nullptr);
  REQUIRE(list->items.size() == 3);
  CHECK(list->items[0].at.column == 9);
  CHECK(list->items[0].at.end_column == 10);
  CHECK(list->items[1].style == yaml::Node::Style::kQuoted);
  CHECK(list->items[1].at.end_column == 15);
  CHECK(list->items[2].kind == yaml::Node::Kind::kNull);
  const yaml::Node* quoted = root.find("b")->find("d");
  CHECK(quoted->text == "it's");
  CHECK(quoted->at.end_column - quoted->at.column == 7);
  CHECK(root.find("e")->kind == yaml::Node::Kind::kNull);
  CHECK(root.find("f") == nullptr);
  CHECK(parse("").kind == yaml::Node::Kind::kNull);
}

TEST_CASE("numbers and truth are plain scalars by YAML's core rules") {
  const auto node = [](const char* text) {
    return parse(std::string("v: ") + text).entries.at(0).value;
  };
  CHECK(yaml::integer(node("010")) == 10);
  CHECK(yaml::integer(node("-3")) == -3);
  CHECK(yaml::integer(node("+3")) == 3);
  CHECK_FALSE(yaml::integer(node("++3")));
  CHECK_FALSE(yaml::integer(node("3.0")));
  CHECK_FALSE(yaml::integer(node("\"3\"")));
  CHECK_FALSE(yaml::integer(node("9223372036854775808")));
  CHECK(yaml::number(node("1e-3")) == 0.001);
  CHECK(yaml::number(node("7")) == 7.0);
  CHECK_FALSE(yaml::number(node("inf")));
  CHECK_FALSE(yaml::number(node("1e999")));
  CHECK(yaml::boolean(node("true")) == true);
  CHECK(yaml::boolean(node("False")) == false);
  CHECK_FALSE(yaml::boolean(node("yes")));
  CHECK_FALSE(yaml::boolean(node("'true'")));
}

TEST_CASE("a text of one word is what it is in front of a line's end") {
  std::istringstream words(
      "x 7 1e-4 amp-bf16 SGD(lr=1e+4) true null Null NULL nullable a100-80gb ./a configs/a.py _x "
      "a:b "
      "a#b ... - = (x) a,b 0x1F 2.11");
  for (std::string text; words >> text;) {
    INFO(text);
    const yaml::Node word = parse(text);
    const yaml::Node line = parse(text + "\n");
    CHECK(word.kind == line.kind);
    CHECK(word.style == line.style);
    CHECK(word.text == line.text);
    CHECK(word.at.line == line.at.line);
    CHECK(word.at.column == line.at.column);
    CHECK(word.at.end_line == line.at.end_line);
    CHECK(word.at.end_column == line.at.end_column);
  }
}

TEST_CASE("what is not YAML is told with its place") {
  CHECK(problem_of("a: [1, 2\nb: 3\n") ==
        "file.yaml:2:2: error: not YAML: end of sequence flow not found\n    b: 3\n     ^\n");
  CHECK(problem_of("a:\n  b: 1\n  c 2\n  d: 3\n") ==
        "file.yaml:4:4: error: not YAML: illegal map value; expected 'key: value', indented as the "
        "lines about it\n      d: 3\n       ^\n");
  CHECK(problem_of("a:\n  b: 1\n\tc: 2\n") ==
        "file.yaml:3:1: error: not YAML: illegal tab when looking for indentation; the line begins "
        "with a tab, and YAML is indented by spaces\n    \tc: 2\n    ^\n");
  CHECK(
      problem_of("a: 1\nb: 2\na: 3\n") ==
      "file.yaml:3:1: error: key 'a' is there already; the first is in line 1\n    a: 3\n    ^\n");
  CHECK(problem_of("? [1]\n: 2\n") ==
        "file.yaml:1:3: error: a key must be a word, found a list\n    ? [1]\n      ^\n");
  CHECK(problem_of("a: 1\n---\nb: 2\n") ==
        "file.yaml:3:1: error: a second document; one file holds one\n    b: 2\n    ^\n");
}

TEST_CASE("a call in a flow list or map is one text") {
  const yaml::Node root = parse(
      "layers: [Linear(784, 512), ReLU(), Conv2d(3, 8, (3, 3), bias=False), x]\n"
      "train: {optimizer: SGD(lr=0.1, momentum=0.9), steps: 3}\n");
  const yaml::Node* layers = root.find("layers");
  REQUIRE(layers->items.size() == 4);
  CHECK(layers->items[0].text == "Linear(784, 512)");
  CHECK(layers->items[0].at.end_column - layers->items[0].at.column == 16);
  CHECK(layers->items[2].text == "Conv2d(3, 8, (3, 3), bias=False)");
  REQUIRE(root.find("train")->entries.size() == 2);
  CHECK(root.find("train")->find("optimizer")->text == "SGD(lr=0.1, momentum=0.9)");
  const yaml::Node block = parse("- f(1\n- 2)\n");
  CHECK(block.items.size() == 2);
}

TEST_CASE("aliases stand for their anchors, within a limit") {
  const yaml::Node root = parse("a: &x [1, 2]\nb: *x\n");
  REQUIRE(root.find("b")->items.size() == 2);
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += fmt::format(
        "a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i,
        i - 1);
  }
  CHECK(problem_of(bomb).find("more than 1000000 values") != std::string::npos);
}

TEST_CASE("code inside YAML keeps the file's lines and columns") {
  const yaml::Node root = parse("a: 1\nloop: |\n    x = 1\n    y = z\nexpr: \"f(x)\"\n");
  const auto loop = embedded_source(*root.find("loop"));
  CHECK(loop->text == "x = 1\ny = z\n");
  CHECK(render_problem({{loop, 2, 5, 2, 6}, {}, "no z", {}}) ==
        "file.yaml:4:9: error: no z\n    y = z\n        ^\n");
  const auto expression = embedded_source(*root.find("expr"));
  CHECK(render_problem({{expression, 1, 3, 1, 4}, {}, "no x", {}}) ==
        "file.yaml:5:10: error: no x\n    f(x)\n      ^\n");
}

TEST_CASE("a map is read strictly, and all that is wrong is told at once") {
  const yaml::Node root = parse(
      "steps: many\nlr: 5\nfits: perhaps\ntotal: 24 apples\nmode: trian\nbatchs: 3\nseq: -1\ntext: "
      "[1]\n");
  std::vector<Problem> problems;
  yaml::Fields fields(root, "train", problems);
  CHECK_FALSE(fields.integer("steps", 1, 100));
  CHECK_FALSE(fields.number("lr", 0, 1));
  CHECK_FALSE(fields.boolean("fits"));
  CHECK_FALSE(fields.bytes("total"));
  constexpr std::string_view kModes[] = {"train", "eval"};
  CHECK_FALSE(fields.choice("mode", kModes));
  CHECK_FALSE(fields.integer("seq", 0, std::numeric_limits<std::int64_t>::max()));
  CHECK_FALSE(fields.text("text"));
  fields.require("batch");
  fields.done();
  std::string all;
  for (const Problem& problem : problems) {
    all += fmt::format("{}: {}{}{}\n", problem.path, problem.message,
                       problem.hint.empty() ? "" : "; ", problem.hint);
  }
  CHECK(all ==
        "train.steps: expected an integer, found 'many'\n"
        "train.lr: must lie between 0 and 1, found 5\n"
        "train.fits: expected true or false, found 'perhaps'\n"
        "train.total: expected an amount of memory (\"24GiB\", \"512MiB\", or whole bytes), found "
        "'24 apples'\n"
        "train.mode: expected one of train, eval, found 'trian'; did you mean 'train'?\n"
        "train.seq: must be 0 or more, found -1\n"
        "train.text: expected text, found a list\n"
        "train: 'batch' is missing\n"
        "train: unknown key 'batchs'; did you mean 'batch'?\n");
}

TEST_CASE("a map reads what is right") {
  const yaml::Node root = parse("n: 3\nx: 0.5\nb: true\nm: 24GiB\nt: word\nnothing: null\n");
  std::vector<Problem> problems;
  yaml::Fields fields(root, "", problems);
  CHECK(fields.integer("n", 1, 3) == 3);
  CHECK(fields.number("x", 0, 1) == 0.5);
  CHECK(fields.boolean("b") == true);
  CHECK(fields.bytes("m") == 24 * kGiB);
  CHECK(fields.text("t") == "word");
  CHECK_FALSE(fields.has("nothing"));
  CHECK_FALSE(fields.has("absent"));
  fields.done();
  CHECK(problems.empty());
}

}  // namespace tidemark::lang
