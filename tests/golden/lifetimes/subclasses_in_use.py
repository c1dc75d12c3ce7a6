# lifetimes under stress
from collections import OrderedDict, namedtuple
from enum import Enum
class Cache(dict):
    def __setitem__(self, k, v):
        print("set", k)
        super().__setitem__(k, v)
    def __delitem__(self, k):
        print("del", k)
        super().__delitem__(k)
    def __len__(self):
        return super().__len__() + 100
    def __contains__(self, k):
        return super().__contains__(k)
    def __iter__(self):
        return iter(sorted(super().__iter__()))
c = Cache()
c["b"] = probe("b1")
c["a"] = probe("a1")
c["b"] = probe("b2")
print(len(c), "a" in c, [k for k in c], list(c.items()))
del c["a"]
def use(cache):
    x = cache["b"]
    cache["b"] = None
    print("still x")
    return x
y = use(c)
print("returned")
y = None
print(Cache(a=probe("kw"))["a"])
print("after temp")
class Stack(list):
    def push(self, x):
        self.append(x)
        return self
s = Stack().push(probe("s1")).push(probe("s2"))
s.extra = s
s = None
print("cycle kept")
import gc
gc.collect()
print("collected")
def loop():
    for i in range(3):
        out = Out(loss=probe(f"loss{i}"), logits=probe(f"logits{i}"))
        loss = out.loss
        del out
        print("step", i)
    return None
class Out(OrderedDict):
    def __getattr__(self, name):
        if name in self: return self[name]
        raise AttributeError(name)
loop()
print("loop done")
class T(tuple):
    pass
t = T([probe("t0"), probe("t1")])
t.x = probe("tx")
u = t + (1,)
t = None
print("t dropped")
u = None
Point = namedtuple("Point", ["x", "y"], defaults=[None])
def make():
    p = Point(probe("px"))
    q = p._replace(y=probe("qy"))
    d = q._asdict()
    p = None
    print("p rebound")
    q = None
    print("q rebound")
    return d
d = make()
print("made", d["x"])
d.clear()
print("cleared")
class Meta(type):
    instances = {}
    def __call__(cls, *a, **k):
        if cls not in cls.instances:
            cls.instances[cls] = super().__call__(*a, **k)
        return cls.instances[cls]
class One(metaclass=Meta):
    def __init__(self, v):
        self.v = v
One(probe("one")); One(probe("two"))
print("singleton", One(None).v)
Meta.instances.clear()
print("cleared")
class Base:
    subs = []
    def __init_subclass__(cls, tag=None, **kw):
        super().__init_subclass__(**kw)
        cls.tag = tag
        Base.subs.append(cls.__name__)
class A(Base, tag=probe("tag")): pass
A.tag = None
print(Base.subs)
try:
    c["nope"]
except KeyError as e:
    print("KeyError", e)
try:
    Stack()[3]
except IndexError as e:
    print(e)
class L2(list):
    def __init__(self, it=()):
        super().__init__(x for x in it)
    def __enter__(self): return self
    def __exit__(self, *e): self.clear(); return False
with L2([probe("m1"), probe("m2")]) as l:
    print(len(l))
print("left")
args = L2([1, 2]); 
def g(a, b): return a + b
print(g(*args), [*args, 3], {**Cache(z=1)})
x, y = L2([probe("u1"), probe("u2")])
x = y = None
class Mode(Enum):
    A = 1
    def run(self, p):
        return {Mode.A: lambda q: q}[self](p)
print(Mode.A.run(probe("ran")))
print("end")
