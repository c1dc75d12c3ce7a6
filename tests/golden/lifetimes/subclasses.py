from collections import OrderedDict, defaultdict, namedtuple
from enum import Enum, IntEnum


print("-- a list's own attributes go before its items, the items last first")


class Bag(list):
    def __init__(self, *names):
        super().__init__(probe(name) for name in names)
        self.label = probe("label")
        self.owner = probe("owner")


bag = Bag("a", "b", "c")
print(len(bag), type(bag).__name__, bag == list(bag), bag[-1], bag[:1].__class__.__name__)
bag.pop(0)
print("popped")
bag.label = None
print("label set")
del bag
print("bag gone")

print("-- clear() leaves attributes")
bag = Bag("d", "e")
bag.clear()
print("cleared")
bag = None

print("-- a dict with attributes")


class Output(OrderedDict):
    def __setattr__(self, name, value):
        super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __getitem__(self, key):
        return super().__getitem__(key) if isinstance(key, str) else list(self.values())[key]


def forward():
    out = Output()
    out.loss = probe("loss")
    out.logits = probe("logits")
    return out


out = forward()
print(out["loss"], out[1], out.logits, list(out), isinstance(out, dict))
del out["loss"]
print("item gone")
out.loss = None
print("attribute gone")
del out
print("out gone")


class dotdict(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


print("-- dotdict")
d = dotdict(x=probe("x"))
d.y = probe("y")
print(d.x, d["y"], d.z, d)
del d.x
print("x deleted")
d.y = 3
print(d, d | {"k": 1}, type(d.copy()).__name__)


class AttrDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


print("-- a dict that is its own __dict__ is a cycle")
a = AttrDict(p=probe("p"))
a.q = probe("q")
print(a.p, a["q"], sorted(a))
del a.p
print("p deleted")
a = None
print("q is kept by the cycle")
import gc

gc.collect()
print("collected")


class Pair(tuple):
    def __new__(cls, left, right):
        return super().__new__(cls, (left, right))

    @property
    def left(self):
        return self[0]


print("-- tuples")
pair = Pair(probe("left"), probe("right"))
pair.note = probe("note")
print(pair.left, len(pair), pair.note)
left = pair.left
del pair
print("pair gone")
left = None


class Point(namedtuple("Point", "x y")):
    def swapped(self):
        return self._replace(x=self.y, y=self.x)


point = Point(probe("px"), probe("py"))
other = point.swapped()
print(other.x, other.y, type(other).__name__, Point._make([1, 2]), Point._fields)
point = None
print("the other holds both")
other = None


class Registry(type):
    made = {}

    def __new__(mcs, name, bases, namespace, **options):
        cls = super().__new__(mcs, name, bases, namespace)
        mcs.made[name] = options
        return cls

    def __call__(cls, *args):
        print("calling", cls.__name__)
        return super().__call__(*args)


class Model(metaclass=Registry, size=3):
    def __init__(self, x):
        self.x = x


print("-- metaclass")
model = Model(probe("arg"))
print(Registry.made, type(Model).__name__)
model = None

Made = type("Made", (Bag,), {"extra": 5})
made = Made("m")
print(type(made).__name__, made.extra, len(made))
made = None


class Mode(str, Enum):
    TRAIN = "train"
    EVAL = "eval"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Holder(Enum):
    FIRST = probe("first")
    SECOND = probe("second")

    def __init__(self, held):
        self.held = held


print("-- enumerations keep what they hold")
print(Holder.FIRST.held, [m.name for m in Holder])
kept = {Mode.TRAIN: probe("by member"), "eval": probe("by text")}
print(kept["train"], kept[Mode.EVAL], Mode("eval") is Mode.EVAL, Mode["TRAIN"].value)
kept.pop(Mode("train"))
print("popped")
kept.pop(Mode.EVAL)
print([probe("l0"), probe("l1"), probe("l2")][Level.HIGH])


class Default(defaultdict):
    pass


print("-- defaultdict's subclass")
table = Default(list)
table["k"].append(probe("in list"))
table.tag = probe("tag")
table["k"].clear()
print("list cleared")
table = None
