import enum
from enum import Enum, IntEnum, Flag, auto
class M(str, Enum):
    A="a"; B="b"
print(M.A, repr(M.A), f"{M.A}", "%s"%M.A, M.A=="a", {"a":1}[M.A], M("a") is M.A, M["B"], list(M), len(M), M.A.upper(), M.A+"x", "a" in [M.A], isinstance(M.A,str), M.A.value, M.A.name, type(M.A), type(M), M)
class P(IntEnum):
    LO=1; HI=2
print(P.LO, repr(P.LO), f"{P.LO}", "%d %s"%(P.LO,P.LO), P.LO<P.HI, P.LO+1, [1,2,3][P.HI], P(2), max(P), sorted(P, reverse=True), sum(P), range(P.HI), 2 == P.HI, {2:"x"}[P.HI], P.HI.value)
class S(str, Enum):
    def __str__(self): return self.value
    X="x"
print(S.X, f"{S.X}", "%s" % S.X, "-".join([S.X, "y"]))
try: M("zz")
except ValueError as e: print(e)
try: M["zz"]
except KeyError as e: print("KeyError", e)
try: M.A = 3
except AttributeError as e: print(e)
try:
    class Q(M): pass
except TypeError as e: print(e)
class Planet(Enum):
    EARTH=(1,2); MARS=(3,4)
    def __init__(self, m, r): self.m=m; self.r=r
    @property
    def g(self): return self.m*self.r
    @classmethod
    def best(cls): return cls.MARS
print(Planet.EARTH.g, Planet.best(), Planet.EARTH.value, Planet((3,4)))
class A2(Enum):
    X=1; Y=1; Z=auto()
print(list(A2), A2.Y, A2.__members__, A2.Z.value, A2.X in A2, A2.X != A2.Z, A2.X == 1)
class MM(Enum):
    @classmethod
    def _missing_(cls, v):
        return cls.D
    D=0
print(MM("q"))
class F(Flag):
    R=auto(); W=auto()
print(F.R|F.W, (F.R|F.W).value, F.R in (F.R|F.W), bool(F.R & F.W))
class SA(str, Enum):
    def _generate_next_value_(name, start, count, last): return name.lower()
    FOO=auto()
print(SA.FOO.value)
from enum import StrEnum
class T(StrEnum):
    RED=auto()
print(T.RED, repr(T.RED), f"{T.RED}")
class Fn(Enum):
    f = lambda x: x
print(list(Fn), M.__name__, hash(M.A)==hash("a"), M.A.__class__, [m.value for m in M], {m.name: m for m in M}, M.A in M)
