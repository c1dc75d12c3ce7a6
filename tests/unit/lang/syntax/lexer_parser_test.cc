#include <filesystem>
#include <span>

#include "sim/lang/imports/library_index.h"
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
  for (const bool at_once : {true, false}) {
    problems.clear();
    if (at_once) {
      parse_module(source, names, problems);
    } else {
      parse_part(source, whole(*source), names, problems);
    }
    REQUIRE(problems.size() == 2);
    CHECK(problems[0].message == "unmatched ')'");
    CHECK(problems[1].message == "invalid character with code 1");
  }
}

TEST_CASE("an expression alone") {
  LangProgram program;
  program.run("def Adam(lr, betas=(0.9, 0.999)): return (lr, betas)");
  const auto source = std::make_shared<const SourceText>(SourceText{"cli", "Adam(lr=1e-3)"});
  CHECK(program.interp().repr(program.interp().evaluate(program.module(), source)) ==
        "(0.001, (0.9, 0.999))");
}

namespace {

/// Codes of a text whose functions' bodies are read one by one; what is wrong goes to `problems`.
std::size_t codes_by_parts(const std::shared_ptr<const SourceText>& source, Names& names,
                           std::vector<Problem>& problems) {
  const auto tree = parse_part(source, whole(*source), names, problems);
  std::size_t codes = tree->codes.size();
  for (const UnreadBody& unread : tree->unread)
    codes += parse_body(unread, names, problems)->codes.size() - 1;  // each has a module's code
  return codes;
}

}  // namespace

TEST_CASE("Tidemark's own texts are the same read at once and function by function") {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Library* root : library::all()) {
    for (const LibraryModule& module : root->modules) texts.emplace_back(module.name, module.text);
  }
  CHECK(texts.size() >= 200);
  std::size_t functions = 0;
  for (const auto& [name, text] : texts) {
    CAPTURE(name);
    Names names;
    std::vector<Problem> problems;
    const auto source = std::make_shared<const SourceText>(SourceText{name, text});
    const auto whole_tree = parse_module(source, names, problems);
    CHECK(codes_by_parts(source, names, problems) == whole_tree->codes.size());
    CHECK(problems.empty());
    functions += whole_tree->codes.size();
  }
  CHECK(functions > 3000);
}

TEST_CASE("a body that is read when its function is called") {
  LangProgram program;
  const auto source = std::make_shared<const SourceText>(SourceText{"own", R"(
class Base:
    def name(self):
        return "base"

class Derived(Base):
    rate = 2

    def name(self, *, loud=True):
        """one line,
           and another"""

        # nothing here
        twice = [self.rate * k for k in range(2)]
        return super().name().upper() + str(twice) if loud else __class__.__name__

    def parts(self):
        for k in range(self.rate):
            yield (lambda: k * total)()

    def short(self): return 7

def outer(a, b=3):
    def inner():
        nonlocal a
        a += b
        return a
    return inner

total = 10
)"});
  program.run("");
  program.interp().run_part(program.module(), source, whole(*source));
  const auto calls = std::make_shared<const SourceText>(SourceText{"calls", R"(
d = Derived()
print(d.name(), d.name(loud=False), list(d.parts()), d.short())
f = outer(1)
print(f(), f(), outer.__name__, f.__qualname__)
try:
    outer()
except TypeError as e:
    print(e)
)"});
  program.interp().run_in(program.module(), calls);
  CHECK(program.output() ==
        "BASE[0, 2] Derived [0, 10] 7\n4 7 outer outer.<locals>.inner\n"
        "outer() missing 1 required positional argument: 'a'\n");
}
