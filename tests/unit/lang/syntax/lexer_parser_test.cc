#include <filesystem>
#include <span>

#include "sim/lang/syntax/lexer.h"
#include "sim/lang/syntax/parser.h"
#include "tests/support/lang_program.h"

using namespace tidemark;
using namespace tidemark::lang;

namespace {

std::vector<Tok> kinds(const std::string& text) {
  Names names;
  std::vector<Problem> problems;
  std::vector<Tok> out;
  const auto source = std::make_shared<const SourceText>(SourceText{"t.py", text});
  for (const Token& token : tokenize(source, whole(*source), names, problems))
    out.push_back(token.kind);
  CHECK(problems.empty());
  return out;
}

}  // namespace

TEST_CASE("indentation becomes tokens") {
  CHECK(kinds("if a:\n    b\n\n  # comment\n    c\nd") ==
        std::vector<Tok>{Tok::kIf, Tok::kName, Tok::kColon, Tok::kNewline, Tok::kIndent, Tok::kName,
                         Tok::kNewline, Tok::kName, Tok::kNewline, Tok::kDedent, Tok::kName,
                         Tok::kNewline, Tok::kEnd});
}

TEST_CASE("lines go on inside brackets and after a backslash") {
  CHECK(kinds("a = (1,\n   2)\nb = 1 + \\\n  2\n") ==
        std::vector<Tok>{Tok::kName, Tok::kAssign, Tok::kLeftParen, Tok::kInt, Tok::kComma,
                         Tok::kInt, Tok::kRightParen, Tok::kNewline, Tok::kName, Tok::kAssign,
                         Tok::kInt, Tok::kPlus, Tok::kInt, Tok::kNewline, Tok::kEnd});
}

TEST_CASE("the longest operator wins") {
  CHECK(kinds("a **= b // c ... <<= := -> !=") ==
        std::vector<Tok>{Tok::kName, Tok::kDoubleStarAssign, Tok::kName, Tok::kDoubleSlash,
                         Tok::kName, Tok::kEllipsis, Tok::kShiftLeftAssign, Tok::kWalrus,
                         Tok::kArrow, Tok::kNotEqual, Tok::kNewline, Tok::kEnd});
}

TEST_CASE("strings of every form") {
  LangProgram program;
  CHECK(program.run(
            "print('a\\tb\\x41\\u00e9\\101', r'\\n', 'a' \"b\" f'{1}c', '''x\ny''', 'q\\\nr')") ==
        "a\tbAéA \\n ab1c x\ny qr\n");
  CHECK(program.run("d = {'k': [1, 2]}\nprint(f\"{d['k'][1]} {'n' if d else 'm'} "
                    "{len(d)!s:>3}|{(lambda: 4)()}\")") == "2 n   1|4\n");
}

TEST_CASE("precedence") {
  LangProgram program;
  CHECK(program.run("print(2 + 3 * 4 ** 2 ** 0, -2 ** 2, 2 ** -1, not 1 == 2, 1 | 2 ^ 3 & 4, 7 - 3 "
                    "- 2, 1 + 1 << 2, ~1 + 1)") == "14 -4 0.5 True 3 2 8 -1\n");
}

TEST_CASE("several problems of a file are found in one pass") {
  Names names;
  std::vector<Problem> problems;
  const auto source = std::make_shared<const SourceText>(SourceText{
      "t.py", "x = = 1\ndef f(a b):\n    pass\ny = 2\nif y\n    z = 1\nfor in x: pass\n"});
  parse_module(source, names, problems);
  REQUIRE(problems.size() == 4);
  CHECK(problems[0].at.line == 1);
  CHECK(problems[1].at.line == 2);
  CHECK(problems[2].at.line == 5);
  CHECK(problems[3].at.line == 7);
}

TEST_CASE("a line of which nothing is a token") {
  Names names;
  std::vector<Problem> problems;
  const auto source = std::make_shared<const SourceText>(SourceText{"t.py", ")\nx = 1\n\x01\n"});
  parse_module(source, names, problems);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].message == "unmatched ')'");
  CHECK(problems[1].message == "invalid character with code 1");
}

TEST_CASE("an expression alone") {
  LangProgram program;
  program.run("def Adam(lr, betas=(0.9, 0.999)): return (lr, betas)");
  const auto source = std::make_shared<const SourceText>(SourceText{"cli", "Adam(lr=1e-3)"});
  CHECK(program.interp().repr(program.interp().evaluate(program.module(), source)) ==
        "(0.001, (0.9, 0.999))");
}

TEST_CASE("__class__ in the body of a class within a method is the class around") {
  LangProgram program;
  CHECK(program.run("class T:\n    def m(self):\n        class X:\n            x = __class__\n"
                    "            def f(self):\n                return __class__\n"
                    "        return X.x.__name__, X().f().__name__\nprint(T().m())\n") ==
        "('T', 'X')\n");
}
