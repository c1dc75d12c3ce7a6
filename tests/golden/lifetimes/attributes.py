# __dict__ and vars() are the attributes themselves; descriptors, deleters and __set_name__ rule over them.
import copy
import functools
from dataclasses import FrozenInstanceError, asdict, dataclass, field


class Net:
    def __init__(self, **options):
        self.__dict__.update(options)


net = Net(first=probe("first"), second=2)
print(vars(net), net.second, len(net.__dict__), "first" in vars(net), vars(net).get("third", "none"))
vars(net)["third"] = probe("third")
net.__dict__["first"] = None
print("replaced", net.third, sorted(net.__dict__), list(net.__dict__.values()))
print(vars(net).pop("third"), hasattr(net, "third"))
print("popped", vars(net).setdefault("fourth", 4), net.fourth, {**vars(net)} == dict(**vars(net)), vars(net) == {"first": None, "second": 2, "fourth": 4})
print(isinstance(vars(net), dict), vars(net).keys() & {"second", "x"}, vars(net) | {"y": 1})
shallow, deep = copy.copy(vars(net)), copy.deepcopy(vars(net))
shallow["second"] = deep["second"] = 3
print(net.second)
for name, value in vars(net).items():
    net.__dict__[name] = (name, value)
print(net.first)
try:
    for name in vars(net):
        setattr(net, name + "_", 0)
except RuntimeError as e:
    print(e)
del net.__dict__["first_"]
vars(net).clear()
print(vars(net))


class Settings:
    width = 3
    depth = 2


print({name: value for name, value in vars(Settings).items() if not name.startswith("_")})
try:
    Settings.__dict__["width"] = 4
except TypeError:
    print("a class's is read only")


class Doubled:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return owner.__name__ if instance is None else getattr(instance, self.name)

    def __set__(self, instance, value):
        setattr(instance, self.name, value * 2)


class Lazy:
    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner):
        return self.function(owner if instance is None else instance)


class Block:
    size = Doubled()

    def __init__(self):
        self.held = probe("held")

    @Lazy
    def kind(self):
        return "lazy"

    @functools.cached_property
    def table(self):
        print("made once")
        return probe("table")

    @property
    def only(self):
        return self.held

    @only.deleter
    def only(self):
        print("deleter")
        del self.held


block = Block()
block.size = 4
print(block.size, vars(block)["_size"], Block.size, block.kind, block.table is block.table)
del block.table
del block.only
print("deleted", list(vars(block)))


@dataclass(frozen=True, order=True)
class Point:
    x: int
    name: str = field(default="", compare=False, repr=False)
    parts: list = field(default_factory=list)


print(Point(1) < Point(2), Point(1, "a") == Point(1, "b"), Point(3, "q"), asdict(Point(1, parts=[Point(2)])))
try:
    Point(1).x = 2
except FrozenInstanceError as e:
    print(e)


@dataclass(kw_only=True)
class Options:
    a: int = 1


try:
    Options(2)
except TypeError as e:
    print(Options(a=2), e)


class Traced:
    def __setattr__(self, name, value):
        print("set", name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        print("del", name)
        super().__delattr__(name)


traced = Traced()
traced.x = probe("x")
traced.__dict__["y"] = probe("y")
del traced.x
try:
    del traced.z
except AttributeError as e:
    print(e)
