"""Attributes in slots and beside them, tables of classes, classes registered with abstract ones."""
import abc
import collections.abc
import copy
import dataclasses
import types
import typing

class S:
    __slots__ = ("a", "b")
s = S()
try:
    print(s.__dict__)
except AttributeError as e:
    print(e)
print(hasattr(s, "__dict__"))
try:
    print(vars(s))
except TypeError as e:
    print(e)
class T(S):
    pass
t = T(); t.a = 1; t.z = 2
print(t.__dict__, vars(t))
class U(S):
    __slots__ = ("c", "__dict__")
u = U(); u.a = 1; u.c = 2; u.q = 3
print(u.__dict__)
class P:
    __slots__ = "only"
p = P(); p.only = 1
print(hasattr(p, "__dict__"), sorted(n for n in dir(s) if not n.startswith("_")))
class Priv:
    __slots__ = ("__x", "y")
    def __init__(self): self.__x = 1
print(hasattr(Priv(), "__dict__"), hasattr(Priv(), "y"))
class V(tuple):
    __slots__ = ()
print(hasattr(V(), "__dict__"))
class W(tuple): pass
w = W(); w.k = 1
print(w.__dict__)
class E2(Exception):
    __slots__ = ("q",)
e = E2(); e.r = 1; e.q = 2
print(e.__dict__, e.q)
class Ab(abc.ABC):
    __slots__ = ("m",)
print(hasattr(Ab(), "__dict__"))
T_ = typing.TypeVar("T_")
class G(typing.Generic[T_]):
    __slots__ = ("m",)
print(hasattr(G(), "__dict__"))
@dataclasses.dataclass(slots=True)
class D1:
    a: int = 1
    b: list = dataclasses.field(default_factory=list)
d1 = D1(2)
print(hasattr(d1, "__dict__"), d1, dataclasses.asdict(d1), dataclasses.replace(d1, a=5), d1 == D1(2), copy.copy(d1), copy.deepcopy(d1))
x = T(); x.a = 5; x.extra = 6
y = copy.copy(x); z = copy.deepcopy(x)
print(y.a, y.extra, z.a, z.extra)
x.__dict__["more"] = 7
print(x.more, sorted(x.__dict__), len(x.__dict__), "a" in x.__dict__)
x.__dict__.update(u=1)
print(x.u, x.a)

class A:
    pass
print(isinstance(A.__dict__, types.MappingProxyType))
try:
    A.__dict__["q"] = 1
except TypeError as e:
    print(e)
p = types.MappingProxyType({"a": 1, "b": 2})
print(p, p["a"], len(p), list(p), "a" in p, p.get("z", 5), dict(p), p | {"c": 3}, p == {"a": 1, "b": 2})
try:
    p["a"] = 2
except TypeError as e:
    print(e)
try:
    del p["a"]
except TypeError as e:
    print(e)
print(p.copy(), list(p.items()), list(p.keys()), list(p.values()), list(reversed(p)))
d = {"k": 1}
q = types.MappingProxyType(d); d["k"] = 9; d["l"] = 2
print(q, q["l"])
class C(A):
    k = 1
    def f(self): return 2
print(C.__dict__["k"], "f" in C.__dict__, "nope" in C.__dict__, C.__dict__.get("nope"), [n for n in C.__dict__ if not n.startswith("__")], vars(C)["k"])
print({n: v for n, v in C.__dict__.items() if n == "k"}, dict(C.__dict__)["k"], isinstance(C.__dict__, dict))
print(isinstance(C.__dict__, collections.abc.Mapping))
for f in (lambda: C.__dict__.update(a=1), lambda: C.__dict__.pop("k"), lambda: C.__dict__.clear(), lambda: C.__dict__.setdefault("z", 1)):
    try:
        f(); print("no error")
    except (AttributeError, TypeError) as e:
        print(type(e).__name__, e)
C.k = 5
print(C.__dict__["k"])
n = type("N", (), dict(C.__dict__))
print(n().f(), n.k)
print({**C.__dict__}["k"])

class Q: pass
collections.abc.Sequence.register(Q)
print(isinstance(Q(), collections.abc.Sequence), issubclass(Q, collections.abc.Sequence), isinstance(Q(), collections.abc.Collection), isinstance(Q(), collections.abc.Mapping))
@collections.abc.Mapping.register
class R: pass
print(isinstance(R(), collections.abc.Mapping), R.__name__)
class S1: pass
collections.abc.MutableSequence.register(S1)
for n in ("Sequence", "MutableSequence", "Reversible", "Collection", "Sized", "Iterable", "Container", "Mapping", "Set"):
    c = getattr(collections.abc, n)
    print(n, isinstance(S1(), c), issubclass(S1, c))
class Kept:
    shared = 7
kept = Kept(); kept.a = 1; kept.none = None
table = kept.__dict__
print(table.get("a"), table.get("b"), table.get("b", 5), table.get("none", 6), table.get("shared"), table.get(3, "no"))
print("a" in table, "b" in table, "none" in table, "shared" in table, 3 in table, None in table, ("a",) in table)
kept.b = 2; del kept.a
print(table.get("a", 0), table.get("b"), "a" in table, "b" in vars(kept), vars(u).get("a", "in a slot"), "q" in u.__dict__)
def made(): pass
made.x = 1
print(made.__dict__.get("x"), made.__dict__.get("y"), "x" in made.__dict__, "__name__" in made.__dict__)
print(Kept.__dict__.get("shared"), "a" in Kept.__dict__, Kept.__dict__.get("a", "none"))
class Asked:
    def __getattribute__(self, name):
        own = super().__getattribute__("__dict__").get("own")
        return f"{name} of {own}" if name.startswith("ask") and own else super().__getattribute__(name)
asked = Asked()
print(hasattr(asked, "ask"), getattr(asked, "ask", None)); asked.own = "one"
print(asked.ask, getattr(asked, "asks", None), hasattr(asked, "other"), asked.own, [name for name in ("ask", "own") if name in vars(asked)])
