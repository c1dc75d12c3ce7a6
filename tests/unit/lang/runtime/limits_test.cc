#include <new>

#include "sim/base/budget.h"
#include "tests/support/lang_program.h"

using namespace tidemark;
using namespace tidemark::lang;

namespace {

std::string problems(const std::string& text) { return LangProgram().problems(text); }

const std::string kDeep = "RecursionError: maximum recursion depth exceeded";

}  // namespace

TEST_CASE("values nested too deeply for the host's stack raise RecursionError") {
  const std::string nested = "for i in range(100000): ";
  CHECK(problems("t = int\n" + nested + "t = (t,)\nisinstance(1.5, t)\n").find(kDeep) !=
        std::string::npos);
  CHECK(problems("t = KeyError\n" + nested + "t = (t,)\ntry: raise ValueError\nexcept t: pass\n")
            .find(kDeep) != std::string::npos);
  CHECK(problems("m = [1]\n" + nested + "m = map(str, m)\nlist(m)\n").find(kDeep) !=
        std::string::npos);
  CHECK(problems("m = [1]\n" + nested + "m = zip(m)\nnext(m)\n").find(kDeep) != std::string::npos);
  CHECK(problems("class A: pass\nA.__call__ = A()\nA()()\n").find(kDeep) != std::string::npos);
}

TEST_CASE("what is nested as deeply is dropped without the host's stack") {
  LangProgram program;
  CHECK(program.run("x = 1\nfor i in range(300000): x = slice(x)\ndel x\nprint('dropped')\n") ==
        "dropped\n");
}

TEST_CASE("a class of many generations is made in the time of its order") {
  LangProgram program;
  CHECK(program.run("class A: own = 1\nfor i in range(1500): A = type('B', (A,), {})\n"
                    "print(A.own, len(A.__mro__))\n") == "1 1502\n");
}

TEST_CASE("a regular expression that tries too many ways is given up") {
  const std::string told = problems("import re\nre.match('(a+)+$', 'a' * 40 + 'b')\n");
  CHECK(told.find("matching a regular expression was given up after 20000000 tries") !=
        std::string::npos);
  CHECK(told.find("test.py:2:1") != std::string::npos);
}

TEST_CASE("what a regular expression finds costs what it passes over, not the rest of the text") {
  Limits limits;
  limits.steps = 10'000'000;
  // Three steps over a text of 229,000 bytes for each of 40,000 numbers were 140 million.
  LangProgram program(limits);
  CHECK(program.run("import re\nt = ' '.join(str(i) for i in range(40000))\n"
                    "print(len(re.findall(r'\\d+', t)), len(re.sub(r'\\d+', 'x', t)))\n") ==
        "40000 79999\n");
}

TEST_CASE("texts of any characters are searched from any place") {
  LangProgram program;
  CHECK(program.run("import re\nt = 'aé中x' * 3\np = re.compile('x|é')\n"
                    "print([m.span() for m in p.finditer(t)], p.search(t, 4).span(),\n"
                    "      p.search(t, 2, 5).span(), p.search(t, 0, 1), p.search(t, 99),\n"
                    "      p.match(t, 1).endpos, p.match(t, 1, 3).endpos, p.search(t, 9).span(),\n"
                    "      p.search(t, 1).span())\n") ==
        "[(1, 2), (3, 4), (5, 6), (7, 8), (9, 10), (11, 12)] (5, 6) (3, 4) None None 12 3 "
        "(9, 10) (1, 2)\n");
}

TEST_CASE("a program that takes too long is stopped where it is") {
  struct Restored {
    double seconds = budget().seconds;
    ~Restored() { budget().seconds = seconds; }
  } restored;
  budget().seconds = 0.05;
  CHECK(problems("x = 1\nwhile True: x = 1\n").find("the program was stopped after 0.05 seconds") !=
        std::string::npos);
}

TEST_CASE("memory beyond the budget ends a run at once where much is asked for, else soon") {
  struct Asked {
    int soon = 0;
    static void tell(void* asked, bool is_urgent) {
      if (is_urgent) throw std::bad_alloc();
      ++static_cast<Asked*>(asked)->soon;
    }
  } asked;
  const MemoryWatch watch(Asked::tell, &asked);
  take_memory(budget().memory);
  CHECK(asked.soon == 0);
  take_memory(16);
  CHECK(asked.soon == 1);
  CHECK_THROWS_AS(take_memory(std::size_t{1} << 21U), std::bad_alloc);
  // What the way out takes is granted.
  CHECK_NOTHROW(take_memory(std::size_t{1} << 21U));
}

TEST_CASE("the fields of a named tuple that code has set anew are looked at first") {
  LangProgram program;
  CHECK(program.run("import collections\nP = collections.namedtuple('P', 'a b')\np = P(1, 2)\n"
                    "P._fields = 5\ntry: print(p)\nexcept TypeError as error: print(error)\n"
                    "P._fields = ('a', 'b', 'c')\nprint(p, p._asdict())\n") ==
        "_fields of the named tuple 'P' must be a tuple of texts\nP(a=1, b=2) {'a': 1, 'b': 2}\n");
}
