class d(dict):
    pass
x=d(a=1); x.z=3
print(x, repr(x), x.z, type(x), x=={"a":1}, type(x.copy()), type(x|{}), type({}|x))
class l(list): pass
y=l([1,2]); print(y, type(y[:1]), type(y+[1]), type(y*2), type(y.copy()), y==[1,2])
class t(tuple): pass
print(t([1,2]), type(t([1])[:1]), t((1,2))==(1,2), hash(t((1,)))==hash((1,)))
class s(str): pass
print(s("ab"), type(s("ab")+"c"), type(s("x").upper()), s("a")=="a", {"a":1}[s("a")], repr(s("q")), len(s("qq")))
class i(int):
    def __new__(cls, v): return super().__new__(cls, v*2)
print(i(3), i(3)+1, type(i(3)+1), repr(i(4)), i(2)==4)
from collections import OrderedDict, defaultdict, Counter, namedtuple
class O(OrderedDict): pass
print(O(a=1), O([("b",2)]))
class D(defaultdict): pass
print(D(list, {1:[2]}), D(int)[3])
c=Counter("abca"); print(c, list(c.elements()), c.most_common(1), c+c, c-Counter("a"), c["zz"], c.total(), type(c)); c.update("aa"); c.subtract({"b":5}); print(c)
P2=namedtuple("P2","x y", defaults=[5]); p=P2(1); print(p, p._replace(y=2), p._asdict(), P2._make([7,8]), P2._fields, P2._field_defaults)
class PP(namedtuple("PP","x y")):
    __slots__=()
    def n(self): return self.x+self.y
    def __new__(cls, x, y=4): return super().__new__(cls, x, y)
print(PP(1), PP(1).n(), PP(1)._replace(y=9), PP._make([1,2]))
T3=type("T3",(d,),{"k":5,"m":lambda self: self.k}); print(T3(a=1), T3().m(), T3.__name__, T3)
class Base:
    reg={}
    def __init_subclass__(cls, /, name=None, **kw):
        super().__init_subclass__(**kw); cls.reg[name]=cls
class Sub(Base, name="sub"): pass
print(Base.reg)
class Meta(type):
    _inst={}
    def __call__(cls,*a,**k):
        if cls not in cls._inst: cls._inst[cls]=super().__call__(*a,**k)
        return cls._inst[cls]
class Sing(metaclass=Meta):
    def __init__(self, v): self.v=v
print(Sing(1) is Sing(2), Sing(3).v, type(Sing), Meta)
class Reg(type):
    all=[]
    def __new__(m, name, bases, ns, **kw):
        c=super().__new__(m,name,bases,ns); m.all.append(name); return c
    def __init__(cls, name, bases, ns, **kw):
        super().__init__(name, bases, ns); cls.tag=name.lower()
class RA(metaclass=Reg): pass
class RB(RA, z=1): pass
print(Reg.all, RB.tag, type(RB))
from functools import cached_property, singledispatch, singledispatchmethod

class Cached(dict):
    @cached_property
    def total(self): print("computed"); return sum(self.values())
k=Cached(a=1, b=2); k.extra=5; print(k.total, k.total, vars(k), k)
@singledispatch
def size(x): return "unknown"
@size.register(int)
def _(x): return x
@size.register(list)
@size.register(tuple)
def _(x): return len(x)
print(size(3), size([1, 2]), size("s"), size(True), size(l([4])), size(p))
class Walker:
    @singledispatchmethod
    def walk(self, x): return "leaf"
    @walk.register(dict)
    def _(self, x): return [self.walk(v) for v in x.values()]
print(Walker().walk({"a": 1, "b": {"c": 2}}))
import copy

k2=copy.copy(k); print(k2, type(k2) is Cached, k2.extra, k2 is not k, k2.total)
k3=copy.deepcopy(k); k3["a"]=9; k3.extra=6; print(k3, k, k.extra, type(k3) is Cached)
print(copy.copy([1, [2]]), copy.copy({1: 2}), type(copy.copy(O(a=1))) is O, copy.deepcopy(y), type(copy.deepcopy(y)) is l)
