from dataclasses import dataclass, fields, field
from collections import OrderedDict, defaultdict, Counter, namedtuple
from typing import Optional, Any, NamedTuple, Dict, List
from enum import Enum, IntEnum, auto, unique, Flag, IntFlag
import copy, math

class ModelOutput(OrderedDict):
    def __post_init__(self):
        for f in fields(self):
            v = getattr(self, f.name)
            if v is not None:
                self[f.name] = v
    def __delitem__(self, *args, **kwargs):
        raise Exception(f"You cannot use ``__delitem__`` on a {self.__class__.__name__} instance.")
    def setdefault(self, *args, **kwargs):
        raise Exception("no setdefault")
    def __getitem__(self, k):
        if isinstance(k, str):
            inner_dict = dict(self.items())
            return inner_dict[k]
        else:
            return self.to_tuple()[k]
    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)
    def to_tuple(self):
        return tuple(self[k] for k in self.keys())

@dataclass
class CausalLMOutput(ModelOutput):
    loss: Optional[Any] = None
    logits: Any = None
    past: Optional[Any] = None

o = CausalLMOutput(loss=1.5, logits=[1, 2])
print(o.loss, o["logits"], o[0], o[1], o.past, list(o.keys()), len(o), o.to_tuple())
o.loss = 3
print(o["loss"], o.loss, "loss" in o, "past" in o)
try:
    del o["loss"]
except Exception as e:
    print(e)
loss, logits = o.to_tuple()
print(loss, logits, dict(o), {**o})

class Config(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)
    def __setattr__(self, name, value):
        self[name] = value
c = Config(lr=0.1, n=3)
c.batch = 5
print(c.lr, c.batch, c, hasattr(c, "zz"), getattr(c, "zz", 7), sorted(c.items()))
def f(lr, n, batch): return lr, n, batch
print(f(**c), isinstance(c, Dict), c == {"lr": 0.1, "n": 3, "batch": 5})
c.update(n=9); print(c.n, c.pop("n"), len(c), bool(Config()), bool(c))
for k in c: print(k, c[k])

class Nested(dict):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        for key, value in self.items():
            if isinstance(value, dict):
                self[key] = Nested(value)
    def __missing__(self, key):
        return f"missing {key}"
n = Nested(a={"b": {"c": 1}}); print(n["a"]["b"]["c"], n["q"], type(n["a"]), n)

class LayerList(list):
    def append(self, x):
        print("append", x); super().append(x)
    def __getitem__(self, i):
        r = super().__getitem__(i)
        return LayerList(r) if isinstance(i, slice) else r
    def __call__(self, x): return x + len(self)
ll = LayerList([1, 2]); ll.append(3); ll += [4]; ll.extend((5,))
print(ll, ll[1:3], type(ll[1:3]), ll(10), sum(ll), max(ll), [x for x in ll], list(reversed(ll)), 3 in ll, ll.index(4), *ll)
a, *b = ll; print(a, b, tuple(ll), sorted(ll, reverse=True), callable(ll), len(ll), ll == [1,2,3,4,5], ll != [1], ll < [2])
ll[0] = 9; del ll[1]; ll.sort(); print(ll); ll.tag = 1; print(vars(ll), ll.tag); del ll.tag; print(hasattr(ll, "tag"))

class Vec(tuple):
    def __new__(cls, *xs): return super().__new__(cls, xs)
    def __add__(self, o): return Vec(*[a + b for a, b in zip(self, o)])
    def __mul__(self, k): return Vec(*[a * k for a in self])
    __rmul__ = __mul__
    def __eq__(self, o): return tuple(self) == tuple(o)
    def __hash__(self): return hash(tuple(self))
    def __repr__(self): return "Vec" + tuple.__repr__(self)
v = Vec(1, 2) + Vec(3, 4); print(v, v * 2, 3 * v, v == (4, 6), v != (4, 6), {v: 1}[Vec(4, 6)], f"{v}", "%s" % (v,))

class Path2(str):
    def __truediv__(self, o): return Path2(str(self) + "/" + o)
    @property
    def parent(self): return Path2(self.rsplit("/", 1)[0])
p = Path2("a") / "b"; print(p, p.parent, type(p), p + "c", p.upper(), p[0], len(p), "a" in p, p == "a/b", {p: 1}["a/b"], p.split("/"), "-".join(p), p.startswith("a"), repr(p), f"{p:>6}|", sorted([p, "a"]), p.replace("a", "z"), p or "x", hash(p) == hash("a/b"))

class Celsius(float):
    def fahrenheit(self): return self * 9 / 5 + 32
t = Celsius(100); print(t, t.fahrenheit(), t + 1, t > 50, round(t), int(t), -t, abs(t), math.sqrt(t), isinstance(t, float), f"{t:.1f}", [t], t == 100.0)
class Bits(int):
    def on(self, i): return bool(self >> i & 1)
bb = Bits(5); print(bb, bb.on(0), bb.on(1), bb + 1, range(bb), [0] * bb, "x" * bb, bb // 2, bb % 3, 2 ** bb, bb == 5, {5: 1}[bb], "%d" % bb, f"{bb:03d}", [9,8,7,6,5,4][bb], bb.bit_length(), float(bb), divmod(bb, 2), hex(bb), max(bb, 3), bool(Bits(0)), list(range(10))[:bb])

@unique
class Act(Enum):
    RELU = "relu"
    GELU = "gelu"
    def __call__(self, x): return f"{self.value}({x})"
    @classmethod
    def default(cls): return cls.RELU
    @staticmethod
    def names(): return [a.name for a in Act]
    @property
    def pretty(self): return self.name.title()
    def __eq__(self, o): return isinstance(o, Act) and self.value == o.value
    def __hash__(self): return hash(self.value)
print(Act.default(), Act.RELU("x"), Act.names(), Act.GELU.pretty, Act.RELU is Act("relu"), Act.RELU in Act, {Act.RELU: 1}, Act.RELU != Act.GELU, Act.__members__.keys())
try:
    @unique
    class Dup(Enum):
        A = 1
        B = 1
except ValueError as e: print(e)
class Size(Enum):
    S = (64, 2)
    L = (512, 8)
    def __init__(self, width, heads): self.width, self.heads = width, heads
print(Size.S.width, Size["L"].heads, [s.value for s in Size], Size((64, 2)), len(Size), list(reversed(Size)))
class Opt(IntFlag):
    A = auto(); B = auto(); C = auto()
print(Opt.A | Opt.C, (Opt.A | Opt.C) & Opt.C == Opt.C, int(Opt.B), Opt(3) == 3, bool(Opt.A & Opt.B))
E1 = Enum("E1", "X Y Z"); print(list(E1), E1.X.value, E1["Y"])
E2 = Enum("E2", {"P": 10, "Q": 20}); print([e.value for e in E2], E2(20))
print(copy.deepcopy(Act.RELU) is Act.RELU, copy.copy(Act.RELU) is Act.RELU, isinstance(Act.RELU, Act), isinstance(Act, type), issubclass(Act, Enum), type(Act.RELU).__name__, Act.RELU.__class__ is Act)
cfg = {"act": Act.RELU, Act.GELU: 1}; print(cfg)
match_ = {Act.RELU: max, Act.GELU: min}; print(match_[Act("gelu")](1, 2))
try: Act.RELU.value = 3
except AttributeError as e: print("AttributeError")
try: Act.NOPE
except AttributeError as e: print("no", "NOPE" in str(e))
class WithNew(str, Enum):
    def __new__(cls, value, n):
        obj = str.__new__(cls, value); obj._value_ = value; obj.n = n
        return obj
    BF16 = ("bf16", 2)
    FP32 = ("fp32", 4)
print(WithNew("bf16").n, WithNew.FP32.n, WithNew.FP32 == "fp32", WithNew.BF16.value, [w.n for w in WithNew])
