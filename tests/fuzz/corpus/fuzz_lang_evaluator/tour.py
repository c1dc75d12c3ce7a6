import math
from dataclasses import dataclass, field
from contextlib import nullcontext, contextmanager
import itertools, functools, collections
print("hello", 1+2, 7//-2, -7%3, 2**10, 1/3, 1e16, 1e-5, 5.0, [1,(2,),{3:'x'}], f"{3.14159:.2f} {'a'!r:>5} {1000000:,}")
class A:
    x = 1
    def __init__(self, y=3, *args, k=2, **kw):
        self.y = y; self.k = k
    def f(self):
        return self.y + self.x
    @property
    def p(self): return self.y * 2
    @staticmethod
    def s(a): return a
    @classmethod
    def c(cls, a): return cls.__name__, a
    def __repr__(self): return f"A({self.y})"
class B(A):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.z = 9
    def f(self): return super().f() * 100
b = B(5, k=7)
print(b.f(), b.p, B.s(3), b.c(4), b, isinstance(b, A), b.k)
def gen(n):
    try:
        for i in range(n):
            got = yield i
            if got: print("got", got)
    finally:
        print("fin")
g = gen(3)
print(next(g), g, list(g))
print([x*y for x in range(3) for y in range(3) if x != y], {i: i*i for i in range(3)}, sum(i for i in range(10)))
try:
    raise ValueError("bad", 3)
except (KeyError, ValueError) as e:
    print(repr(e), e.args)
@dataclass
class C:
    a: int = 1
    b: list = field(default_factory=list)
print(C(), C(2), C(b=[1]) == C(1,[1]))
@contextmanager
def cm(x):
    print("in", x)
    try:
        yield x*2
    finally:
        print("out")
with cm(4) as q, nullcontext(3) as r: print(q, r)
def outer():
    n = 0
    def inc():
        nonlocal n
        n += 1
        return n
    return inc
i = outer(); i(); print(i())
print(list(itertools.chain([1],[2,3])), list(itertools.product("ab", [1,2])), functools.reduce(lambda a,b: a*b, [1,2,3,4]))
P = collections.namedtuple("P", "x y"); p = P(1, y=2); print(p, p.x, p[1], p._asdict())
d = collections.defaultdict(list); d["a"].append(1); print(d, collections.Counter("abca").most_common(1))
print("%s has %d%% %5.1f|%-5s|" % ("x", 3, 2.5, "ab"), "{} {k:>4}".format(1, k=2))
a, *m, z = range(5); print(a, m, z)
print(sorted([3,1,2], reverse=True), max([1,5,2], key=lambda v: -v), list(zip([1,2],[3,4])), list(map(lambda a,b: a+b, [1,2],[3,4])))
x = [1,2,3,4]; x[1:3] = [9]; del x[0]; print(x, x[::-1], "hello"[1:-1], (1,2)+(3,))
print(1 < 2 < 3, not 1, 1 if 0 else 2, (y := 5), y, {**{'a':1}, 'b':2}, [*range(3), *"ab"])
for i in range(3):
    if i == 5: break
else: print("else")
while True:
    break
print(math.sqrt(16), math.ceil(1.2), math.inf, round(2.5), round(3.14159, 2), divmod(-7,2), int("12"), float("1.5"), str(3), bool([]))
