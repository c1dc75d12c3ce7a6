#include "tests/support/lang_program.h"

using namespace tidemark;
using namespace tidemark::lang;

TEST_CASE("cycles live until they are collected") {
  LangProgram program;
  CHECK(program.run("import gc\nclass N: pass\na = N(); b = N()\na.other = b; b.other = a; a.p = "
                    "probe('in a cycle')\ndel a, b\n"
                    "print('still there')\nprint(gc.collect() > 0)\nprint('after')") ==
        "still there\ndrop in a cycle\nTrue\nafter\n");
  CHECK(program.run(
            "import gc\nl = [probe('reachable')]\nl.append(l)\ngc.collect()\nprint('kept')\nl = "
            "None\ngc.collect()\nprint('gone')") == "kept\ndrop reachable\ngone\n");
  CHECK(program.run("import gc\ndef f():\n    held = probe('by a closure')\n    def g(): return g, "
                    "held\nf()\nprint('returned')\ngc.collect()") ==
        "returned\ndrop by a closure\n");
}

TEST_CASE("an interpreter drops everything when it goes") {
  Ref<Heap> heap;
  {
    LangProgram program;
    program.run(
        "class N: pass\nn = N()\nn.self = n\nn.p = probe('x')\ndef f(): return n\n"
        "try:\n    1 / 0\nexcept Exception as e:\n    saved = e\n"
        "g = (x for x in [n])\nnext(g)\n");
    heap = Ref<Heap>(&program.interp().heap());
    CHECK(heap->tracked() > 0);
  }
  CHECK(heap->tracked() == 0);
}

TEST_CASE("structures linked a hundred thousand deep are dropped without exhausting the stack") {
  LangProgram program;
  CHECK(program.run(
            "x = None\nfor i in range(100000):\n    x = (x, i)\nx = None\nclass N: pass\nfor i in "
            "range(100000):\n    n = N()\n    n.next = x\n    x = n\nn = None\nx = None\n"
            "d = {}\nfor i in range(50000):\n    d = {'d': d}\nd = None\nf = None\nfor i in "
            "range(50000):\n    f = lambda f=f: f\nf = None\nprint('done')") == "done\n");
}
