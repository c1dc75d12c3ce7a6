#include "sim/lang/edit/blocks.h"

#include <catch2/catch.hpp>

using namespace tidemark;
using namespace tidemark::lang;

namespace {

std::shared_ptr<const SourceText> source(std::string text) {
  return std::make_shared<const SourceText>(SourceText{"user.py", std::move(text)});
}

}  // namespace

TEST_CASE("Blocks are listed one around another before it") {
  const UserCode code(
      source("def f():\n  if a:\n    b\n  else:\n    c\n    d\ntry:\n  e\n"
             "except E:\n  g\n"));
  const std::vector<Block> blocks = blocks_of(code);
  // The module, f, try's two, if's two.
  REQUIRE(blocks.size() == 6);
  CHECK(blocks[0].owner == nullptr);
  CHECK(blocks[1].owner->kind == StmtKind::kFunction);
  CHECK(blocks[5].body.size == 2);
  CHECK(blocks[5].around == 1);
}

TEST_CASE("A statement's lines go to the end of its last branch, comments behind it too") {
  const std::string text = "a = (1 +\n     2)  # why\nif a:\n  b\nelse:\n  c  # end\nd\n";
  const UserCode code(source(text));
  CHECK(code.text(lines_of(code, *code.body()[0], *code.body()[0])) ==
        "a = (1 +\n     2)  # why\n");
  CHECK(code.text(lines_of(code, *code.body()[1], *code.body()[1])) ==
        "if a:\n  b\nelse:\n  c  # end\n");
}

TEST_CASE("Two statements on a line and branches stand not alone") {
  const UserCode code(source("a; b\nif c: d\nif e:\n  f\nelif g:\n  h\n"));
  CHECK_FALSE(stands_alone(code, *code.body()[0]));  // a
  CHECK_FALSE(stands_alone(code, *code.body()[1]));  // b
  CHECK_FALSE(stands_alone(code, *code.body()[2]));  // a branch on the line
  CHECK(stands_alone(code, *code.body()[3]));
  const auto* branch = static_cast<const IfStmt*>(code.body()[3])->otherwise[0];
  CHECK_FALSE(stands_alone(code, *branch));
}

TEST_CASE("Lines that begin within a text are not moved") {
  const UserCode code(source("if 1:\n  a = '''\nx\n'''\n\n  b\n"));
  const auto* branch = static_cast<const IfStmt*>(code.body()[0]);
  const Place lines = lines_of(code, *branch->body[0], *branch->body[1]);
  CHECK(edited(code.text(), indented(code, lines)) == "if 1:\n      a = '''\nx\n'''\n\n      b\n");
}

TEST_CASE("Names are told by what is read and what is bound") {
  const UserCode code(source("a, (b, *c) = d.e(f=g)\nh += 1\ni[j] = k\n"));
  const auto text = [&](const std::set<Name>& names) {
    std::set<std::string> out;
    for (const Name name : names) out.insert(std::string(code.name(name)));
    return out;
  };
  const NamesUsed first = names_used(*code.body()[0]);
  CHECK(text(first.bound) == std::set<std::string>{"a", "b", "c"});
  CHECK(text(first.read) == std::set<std::string>{"d", "g"});
  CHECK(text(names_used(*code.body()[1]).read) == std::set<std::string>{"h"});
  CHECK(text(names_used(*code.body()[2]).read) == std::set<std::string>{"i", "j", "k"});
}
