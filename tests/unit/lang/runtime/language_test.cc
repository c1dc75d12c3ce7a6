#include "tests/support/lang_program.h"

using namespace tidemark;
using namespace tidemark::lang;

namespace {

std::string run(const std::string& text) {
  LangProgram program;
  return program.run(text);
}

}  // namespace

TEST_CASE("integers follow Python's rules") {
  CHECK(run("print(7 // 2, -7 // 2, 7 // -2, 7 % 3, -7 % 3, 7 % -3, -7 % -3)") ==
        "3 -4 -4 1 2 -2 -1\n");
  CHECK(run("print(2 ** 10, 2 ** -1, 1 << 5, -8 >> 1, 6 & 3, 6 | 3, 6 ^ 3, ~5)") ==
        "1024 0.5 32 -4 2 7 5 -6\n");
  CHECK(run("print(9223372036854775807, 0x_ff, 0b101, 1_000)") ==
        "9223372036854775807 255 5 1000\n");
  CHECK(run("print(True + 1, True & False, int('  -12 '), int('ff', 16), int(3.9), int(-3.9))") ==
        "2 False -12 255 3 -3\n");
  CHECK(run("print(2 ** 63, 9223372036854775807 + 1, (1 << 64) - 1, 2 ** 70 // 2 ** 69)") ==
        "9223372036854775808 9223372036854775808 18446744073709551615 2\n");
}

TEST_CASE("floats print as Python prints them") {
  CHECK(run("print(1.0, 0.1, 1e16, 1e15, 1e-4, 1e-5, 1.5e300, float('inf'), -0.0, 100000.0 / 3)") ==
        "1.0 0.1 1e+16 1000000000000000.0 0.0001 1e-05 1.5e+300 inf -0.0 33333.333333333336\n");
  CHECK(run("print(7.5 // 2, -7.5 % 2, 1 / 3, round(2.5), round(3.5), round(2.675, 2), round(1234, "
            "-2))") == "3.0 0.5 0.3333333333333333 2 4 2.67 1200\n");
}

TEST_CASE("formats") {
  CHECK(run("print(f'{3.14159:.2f}|{42:>6}|{42:06d}|{1234567:,}|{0.5:.1%}|{255:x}|{\"a\":^5}|{1e6:."
            "3e}|{2.0:g}')") == "3.14|    42|000042|1,234,567|50.0%|ff|  a  |1.000e+06|2\n");
  CHECK(run("x = 3\nprint(f'{x=} {x!r:>3} {{}} {x:{x}d}')") == "x=3   3 {}   3\n");
  CHECK(run("print('%s has %d of %5.2f%% %r' % ('a', 3, 2.5, 'b'), '{} {1} {k:>3}'.format(1, 2, "
            "k=3) if 0 else '{0} {k:>3}'.format(1, k=3))") == "a has 3 of  2.50% 'b' 1   3\n");
}

TEST_CASE("assignment in all its forms") {
  CHECK(run("a, (b, *c), d = 1, (2, 3, 4), 5\nprint(a, b, c, d)") == "1 2 [3, 4] 5\n");
  CHECK(run("x = y = [1]\nx += [2]\nprint(y, x is y)\ny = y + [3]\nprint(x, y)") ==
        "[1, 2] True\n[1, 2] [1, 2, 3]\n");
  CHECK(run("d = {}\nd['a'], d['b'] = 1, 2\nd['a'] += 5\nprint(d)\ndel d['a']\nprint(d)") ==
        "{'a': 6, 'b': 2}\n{'b': 2}\n");
  CHECK(run("x: int = 3\ny: str\nprint(x)\nif (n := 4) > 3: print(n)") == "3\n4\n");
  CHECK(run("a = [0, 1, 2, 3, 4, 5]\na[1:3] = ['x']\na[::2] = 'abc'\nprint(a)\ndel "
            "a[::2]\nprint(a)") == "['a', 'x', 'b', 4, 'c']\n['x', 4]\n");
}

TEST_CASE("control flow") {
  CHECK(run("for i in range(5):\n    if i == 1: continue\n    if i == 3: break\n    "
            "print(i)\nelse:\n    print('else')") == "0\n2\n");
  CHECK(run("n = 0\nwhile n < 2: n += 1\nelse: print('done', n)") == "done 2\n");
  CHECK(run("def f(x):\n    if x > 0: return 'pos'\n    elif x < 0: return 'neg'\n    else: return "
            "'zero'\nprint(f(1), f(-1), f(0))") == "pos neg zero\n");
  CHECK(run("print(1 < 2 < 3, 1 < 3 < 2, 1 if [] else 2, [] or 'x', 0 and 1, not 0, 'a' in 'cat', "
            "3 not in [1])") == "True False 2 x 0 True True True\n");
  CHECK(run("a = 1; b = 2; print(a, b)") == "1 2\n");
}

TEST_CASE("functions bind arguments as Python does") {
  CHECK(run("def f(a, /, b, c=3, *args, d, e=5, **kw):\n    print(a, b, c, args, d, e, kw)\n"
            "f(1, 2, d=4)\nf(1, 2, 9, 8, 7, d=4, z=0)\nf(1, b=2, d=4, **{'c': 6})\nf(*[1, 2], "
            "**dict(d=0))") ==
        "1 2 3 () 4 5 {}\n1 2 9 (8, 7) 4 5 {'z': 0}\n1 2 6 () 4 5 {}\n1 2 3 () 0 5 {}\n");
  CHECK(run("def make(n):\n    def add(x): return x + n\n    return add\nprint(make(3)(4), (lambda "
            "*a, k=2: (a, k))(1, k=5))") == "7 ((1,), 5)\n");
  CHECK(run("def count():\n    n = 0\n    def step():\n        nonlocal n\n        n += 1\n        "
            "return n\n    return step\n"
            "c = count(); c(); print(c())") == "2\n");
  CHECK(run("total = 0\ndef add(x):\n    global total\n    total += x\nadd(2); add(3); "
            "print(total)") == "5\n");
  CHECK(run("fs = [lambda i=i: i for i in range(3)]\nprint([f() for f in fs])") == "[0, 1, 2]\n");
}

TEST_CASE("classes") {
  CHECK(run("class A:\n    kind = 'a'\n    def __init__(self, x): self.x = x\n    def who(self): "
            "return self.kind + str(self.x)\n"
            "class B(A):\n    kind = 'b'\n    def who(self): return '<' + super().who() + '>'\n"
            "print(A(1).who(), B(2).who(), B.who(B(3)), isinstance(B(1), A), issubclass(A, B), "
            "type(B(1)).__name__)") == "a1 <b2> <b3> True False B\n");
  CHECK(run("class A:\n    def f(self): return 'A'\nclass B(A):\n    def f(self): return 'B' + "
            "super().f()\n"
            "class C(A):\n    def f(self): return 'C' + super().f()\nclass D(B, C):\n    def "
            "f(self): return 'D' + super().f()\n"
            "print(D().f(), [c.__name__ for c in D.__mro__])") ==
        "DBCA ['D', 'B', 'C', 'A', 'object']\n");
  CHECK(run("class V:\n    def __init__(self, x): self.x = x\n    def __add__(self, o): return "
            "V(self.x + (o.x if isinstance(o, V) else o))\n"
            "    __radd__ = __add__\n    def __eq__(self, o): return self.x == o.x\n    def "
            "__lt__(self, o): return self.x < o.x\n"
            "    def __repr__(self): return f'V({self.x})'\n    def __len__(self): return "
            "self.x\n    def __getitem__(self, i): return self.x * i\n"
            "    def __contains__(self, i): return i == 7\n    def __call__(self, *a): return "
            "a\n    def __bool__(self): return self.x > 1\n"
            "    def __iadd__(self, o):\n        self.x += o\n        return self\n    def "
            "__neg__(self): return V(-self.x)\n"
            "v = V(2)\nw = v\nw += 3\nprint(v + V(1), 1 + v, sum([V(1), V(2)]), v == V(5), v != "
            "V(5), len(v), v[3], 7 in v, v(1, 2), bool(V(1)), -v, sorted([V(3), V(1)]), max(V(1), "
            "V(4)))") ==
        "V(6) V(6) V(3) True False 5 15 True (1, 2) False V(-5) [V(1), V(3)] V(4)\n");
  CHECK(run("class P:\n    def __init__(self): self._v = 1\n    @property\n    def v(self): return "
            "self._v\n    @v.setter\n    def v(self, x): self._v = x * 2\n"
            "    @staticmethod\n    def s(x): return x\n    @classmethod\n    def c(cls): return "
            "cls.__name__\n"
            "p = P(); p.v = 4; print(p.v, P.s(3), p.c(), P.c())") == "8 3 P P\n");
  CHECK(run("class D:\n    def __getattr__(self, name): return 'no ' + name\n    def "
            "__setattr__(self, name, value): super().__setattr__(name, value + 1)\n"
            "d = D(); d.a = 1; print(d.a, d.b, hasattr(d, 'x'), getattr(d, 'a'))") ==
        "2 no b True 2\n");
  CHECK(run("class N:\n    def __new__(cls, *a):\n        o = object.__new__(cls)\n        o.made "
            "= a\n        return o\nprint(N(1, 2).made)") == "(1, 2)\n");
  CHECK(run("class It:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return "
            "self\n    def __next__(self):\n"
            "        if self.n == 0: raise StopIteration\n        self.n -= 1\n        return "
            "self.n\nprint(list(It(3)), [*It(2)])") == "[2, 1, 0] [1, 0]\n");
}

TEST_CASE("comprehensions and generators") {
  CHECK(run("print([x * y for x in range(3) for y in range(x) if y], {x % 2 for x in range(4)}, "
            "{k: v for k, v in zip('ab', [1, 2])})") == "[2] {0, 1} {'a': 1, 'b': 2}\n");
  CHECK(run("g = (x for x in [1, 2, 3] if x > 1)\nprint(next(g), list(g), next(g, 'end'))") ==
        "2 [3] end\n");
  CHECK(run("def gen(n):\n    for i in range(n):\n        try:\n            got = yield i\n        "
            "    if got: print('got', got)\n"
            "        finally:\n            print('f', i)\n    return\n"
            "g = gen(2)\nprint(next(g), g.send('x'), list(g))\ndef both():\n    yield from "
            "gen(1)\n    yield 'end'\nprint(list(both()))") ==
        "got x\nf 0\nf 1\n0 1 []\nf 0\n[0, 'end']\n");
  CHECK(run("print(any(x > 2 for x in [1, 2, 3]), all(x for x in []), sum(x for x in range(4)), "
            "list(enumerate('ab', 1)))") == "True True 6 [(1, 'a'), (2, 'b')]\n");
  CHECK(run("x = 'outer'\nprint([x for x in [1]], x, [y := 5, y ** 2])") == "[1] outer [5, 25]\n");
}

TEST_CASE("exceptions") {
  CHECK(run("try:\n    {}['k']\nexcept (ValueError, KeyError) as e:\n    print(type(e).__name__, "
            "e, e.args)\nelse:\n    print('no')\nfinally:\n    print('fin')") ==
        "KeyError 'k' ('k',)\nfin\n");
  CHECK(run("class Mine(ValueError):\n    def __init__(self, code):\n        "
            "super().__init__('mine', code)\n        self.code = code\n"
            "try:\n    raise Mine(3)\nexcept ValueError as e:\n    print(e.code, e, repr(e))") ==
        "3 ('mine', 3) Mine('mine', 3)\n");
  CHECK(run("def f():\n    try:\n        return 1\n    finally:\n        "
            "print('clean')\nprint(f())") == "clean\n1\n");
  CHECK(run("try:\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        raise "
            "RuntimeError('x') from None\nexcept RuntimeError as e:\n    print(e, e.__cause__, "
            "type(e.__context__).__name__)") == "x None ZeroDivisionError\n");
  CHECK(run("def deep(n): return deep(n + 1)\ntry:\n    deep(0)\nexcept RecursionError as e:\n    "
            "print(e)") == "maximum recursion depth exceeded\n");
  CHECK(run("for i in range(3):\n    try:\n        if i == 1: continue\n        if i == 2: break\n "
            "   finally:\n        print('f', i)") == "f 0\nf 1\nf 2\n");
}

TEST_CASE("sibling files are imported once") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "tidemark_lang_siblings";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "sibling.py")
      << "print('loaded', __name__)\nvalue = 3\ndef double(x): return 2 * x\n_hidden = 1\n";
  LangProgram program({}, folder);
  CHECK(program.run("import sibling\nfrom sibling import double as d, value\nimport sibling as "
                    "again\nfrom .sibling import value\n"
                    "from sibling import *\nprint(d(value), again is sibling, double(1))") ==
        "loaded sibling\n6 True 2\n");
  std::filesystem::remove_all(folder);
}
