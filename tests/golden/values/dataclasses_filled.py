"""What a dataclass's __init__ sets and replace() takes, where code of the class rules attributes and where none does."""
import dataclasses
import enum
import functools
import re
from dataclasses import dataclass, field, replace

order = []


def made(what):
    order.append(what)
    return [what]


class Watched:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, kind=None):
        if obj is None:
            return 7  # the default
        return getattr(obj, self.name)

    def __set__(self, obj, value):
        order.append((self.name, value, sorted(k for k in obj.__dict__ if k != self.name)))
        setattr(obj, self.name, value)


@dataclass
class Ruled:
    a: int
    b: int = Watched()
    c: list = field(default_factory=lambda: made("c"))
    d: int = Watched()
    e: list = field(default_factory=lambda: made("e"), init=False)


print(Ruled(1), order)
order.clear()
print(Ruled(1, 2, [3], 4), order)


@dataclass
class Told:
    a: int
    b: str = "b"

    def __setattr__(self, name, value):
        order.append(name)
        object.__setattr__(self, name, value)


order.clear()
told = replace(Told(1), b="c")
print(told, order)


@dataclass
class Plain:
    a: int
    b: str = "b"
    c: list = field(default_factory=list)
    d: int = field(default=4, kw_only=True)


@dataclass
class After(Plain):
    e: int = 5

    def __post_init__(self):
        self.sum = self.a + self.e


class Derived(Plain):
    extra = 1


plain = Plain(1, c=[2])
plain.beside = "not a field"
other = replace(plain, b="new", d=9)
print(plain, other, other.c is plain.c, hasattr(other, "beside"), list(other.__dict__))
print(replace(After(1), a=3), replace(After(1), a=3).sum, type(replace(Derived(1), a=2)).__name__)
for wrong in ({"z": 1}, {"a": 1, "z": 2}):
    try:
        replace(plain, **wrong)
    except TypeError as error:
        print(error)
del plain.c
try:
    replace(plain, a=1)
except AttributeError as error:
    print(error)


def counted(init):
    @functools.wraps(init)
    def wrapper(self, *args, **kwargs):
        order.append("wrapped")
        init(self, *args, **kwargs)

    return wrapper


order.clear()
Plain.__init__ = counted(Plain.__init__)
print(replace(Plain(1, c=[]), a=5), order)


@dataclass
class Slotted:
    __slots__ = ("x", "y")
    x: int
    y: int


print(replace(Slotted(1, 2), y=3))


@dataclass(frozen=True)
class Frozen:
    x: int
    y: list = field(default_factory=list)


print(replace(Frozen(1), x=2))


@dataclass
class Made:
    x: int

    def __new__(cls, *args, **kwargs):
        order.append("made")
        return super().__new__(cls)


order.clear()
print(replace(Made(1), x=2), order)


@dataclass
class Weights:
    url: str
    size: int = 0


class Kinds(enum.Enum):
    FIRST = Weights("a", 1)
    SECOND = Weights("b", 2)
    AGAIN = Weights("a", 1)
    LISTED = [1, 2]
    SAME = [1, 2]
    HELD = ([1],)
    ALSO = ([1],)
    PLAIN = 3


print([each.name for each in Kinds], Kinds.AGAIN is Kinds.FIRST, Kinds.SAME is Kinds.LISTED, Kinds.ALSO is Kinds.HELD)
print(Kinds(Weights("b", 2)), Kinds([1, 2]), Kinds(([1],)), Kinds(3))

# Searches that a text decides, in texts short and long.
long = "x = 1\n" * 200
for pattern in (r"^class\s+\w+\s*\([^)]*\bBackend\b", r"Backe(nd)?s?", r"Backend|x = 2", r"(?:Backend)?y", r"Backend+ ends"):
    for text in (long, long + "class A(Backend):\n", long + "Backendd ends", "Backend"):
        found = re.search(pattern, text, re.MULTILINE)
        print(found and found.span(), len(re.findall(pattern, text, re.M)), bool(re.match(pattern, text)), end=" ")
    print()
