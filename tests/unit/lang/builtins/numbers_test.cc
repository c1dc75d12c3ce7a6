#include "tests/support/lang_program.h"

using namespace tidemark::lang;

namespace {

std::string run(const std::string& text) {
  LangProgram program;
  return program.run(text);
}

}  // namespace

// What is expected is what CPython 3.11 prints.

TEST_CASE("decimals are exact and rounded once") {
  CHECK(run("from decimal import *\nD = Decimal\n"
            "print(D('1.10') + D('2.2'), D(1) / D(3), D(-7) % 3, D('1.1') ** 10, D(2) ** -3)") ==
        "3.30 0.3333333333333333333333333333 -1 2.5937424601 0.125\n");
  CHECK(run("from decimal import *\nD = Decimal\n"
            "print(D(2).sqrt(), D(10).ln(), D(3).log10(), D('-2.5').exp())") ==
        "1.414213562373095048801688724 2.302585092994045684017991455 "
        "0.4771212547196624372950279033 0.08208499862389879516952867447\n");
  CHECK(
      run("from decimal import *\nD = Decimal\n"
          "print(round(D('2.675'), 2), D('2.675').quantize(D('.01'), rounding=ROUND_DOWN), "
          "f\"{D('1234567.891'):,.2f}\", D('120.00').normalize(), hash(D('1.5')) == hash(1.5))") ==
      "2.68 2.67 1,234,567.89 1.2E+2 True\n");
  CHECK(run("from decimal import *\n"
            "with localcontext() as c:\n    c.prec = 5\n    print(Decimal(1) / 7)\n"
            "try:\n    Decimal(1) / 0\nexcept DivisionByZero as e:\n    print(type(e).__name__)\n"
            "print(getcontext().prec, getcontext().flags[Inexact])") ==
        "0.14286\nDivisionByZero\n28 False\n");
}

TEST_CASE("statistics are exact until the result") {
  CHECK(run("import statistics as s\nfrom fractions import Fraction as F\n"
            "print(s.mean([1, 1e100, -1e100]), s.mean([F(1, 3), F(1, 6)]), s.variance([1, 2, 4]), "
            "s.stdev([1.5, 2.5, 4.0]))") ==
        "0.3333333333333333 1/4 2.3333333333333335 1.2583057392117916\n");
  CHECK(run("import statistics as s\n"
            "print(s.quantiles([1, 2, 3, 4, 5], n=4), s.harmonic_mean([40, 60]), "
            "s.median_grouped([1, 2, 2, 3, 4]), s.multimode('aabb'))") ==
        "[1.5, 3.0, 4.5] 48.0 2.25 ['a', 'b']\n");
  CHECK(run("from statistics import NormalDist, linear_regression\n"
            "print(NormalDist(100, 15).inv_cdf(0.975), NormalDist(5, 3) + NormalDist(1, 4), "
            "linear_regression([1, 2, 3], [3, 5, 7]))") ==
        "129.3994597681008 NormalDist(mu=6.0, sigma=5.0) "
        "LinearRegression(slope=2.0, intercept=1.0)\n");
}

TEST_CASE("large integers are divided to the nearest float") {
  CHECK(run("print((10**40 + 1) / (3 * 10**25), 9007199254740993 / 3, 2**1100 / 2**1090, 1 / "
            "2**1074)\n"
            "try:\n    2**1100 / 3\nexcept OverflowError as e:\n    print(e)") ==
        "333333333333333.3 3002399751580331.0 1024.0 5e-324\n"
        "integer division result too large for a float\n");
}

TEST_CASE("math's functions of integers take any size") {
  CHECK(run("import math\nn = 10 ** 40\n"
            "print(math.isqrt(n + 1) == 10 ** 20, math.isqrt(15), math.lcm(n, 6, 4) == 3 * n, "
            "math.gcd(n, 2 ** 50) == 2 ** 40, math.lcm(0, 5), math.isqrt(0))") ==
        "True 3 True True 0 0\n");
}

TEST_CASE("random takes texts and floats as seeds, and gives integers of any size") {
  CHECK(run("import random\nrandom.seed('hello')\nprint(random.random(), random.getrandbits(100))\n"
            "random.seed(1.5)\nprint(random.vonmisesvariate(1, 2))") ==
        "0.3537754404730722 122613929955893299734890635727\n1.7835327170093276\n");
}

TEST_CASE("abstract classes have no instances") {
  CHECK(run("from abc import ABC, abstractmethod\nclass A(ABC):\n    @abstractmethod\n"
            "    def f(self): ...\nclass B(A):\n    def f(self): return 1\n"
            "try:\n    A()\nexcept TypeError as e:\n    print(e)\nprint(B().f(), "
            "A.__abstractmethods__)") ==
        "Can't instantiate abstract class A with abstract method f\n1 frozenset({'f'})\n");
}

TEST_CASE("members of flags are put together in the class's body") {
  CHECK(run("from enum import Flag, auto\nclass P(Flag):\n    R = auto()\n    W = auto()\n"
            "    RW = R | W\nprint(P.RW, (P.R | P.W) is P.RW, list(P), ~P.R, P(0))") ==
        "P.RW True [<P.R: 1>, <P.W: 2>] P.W P(0)\n");
}
