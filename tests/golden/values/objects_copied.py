"""What enumerations, wrapped functions, dataclasses and paths have of what they are made from."""

import dataclasses
import enum
import functools
import os


class Mixed(enum.Enum):
    A = 1
    B = [1]
    C = 1.0
    D = [1]
    E = frozenset({1})
    F = {1}


print([(name, member.name) for name, member in Mixed.__members__.items()])


class Late(enum.Enum):
    A = {1}
    B = frozenset({1})


print([(name, member.name) for name, member in Late.__members__.items()])


class Based(enum.Enum):
    @property
    def shown(self):
        return "a property"


class Redirected(Based):
    shown = 3
    other = 4


print(Redirected.shown, Redirected.other.shown)


def plain(x: int) -> int:
    "its text"
    return x


plain.mark, plain.__dict__["other"] = 1, [2]


@functools.wraps(plain)
def wrapped(*args):
    return plain(*args)


print(wrapped.__name__, wrapped.__doc__, wrapped.mark, wrapped.other is plain.other, wrapped.__wrapped__ is plain)
print([name for name in vars(wrapped) if name[0] != "_"], sorted(vars(plain)), wrapped.__annotations__)
print(vars(plain).get("mark"), vars(plain).get("none"), vars(plain).get("none", 5), "mark" in vars(plain))


class Called:
    def __init__(self):
        self.own = 1

    def __call__(self):
        return self.own


wrapped_object = functools.update_wrapper(lambda: 0, Called())
print([name for name in vars(wrapped_object) if name[0] != "_"], wrapped_object.own)


@dataclasses.dataclass
class Config:
    a: int
    b: list = dataclasses.field(default_factory=list)
    c: str = "c"


first = Config(1, [2])
second = dataclasses.replace(first, c="d")
print(second, second.b is first.b, first)


@dataclasses.dataclass
class Derived:
    a: int
    twice: int = dataclasses.field(init=False)
    factor: dataclasses.InitVar[int] = 2

    def __post_init__(self, factor):
        self.twice = self.a * factor


print(dataclasses.replace(Derived(3), a=4, factor=5))
for changes in ({"twice": 1}, {"none": 1}):
    try:
        dataclasses.replace(Derived(3), **changes)
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)

text = "a text that is long enough"
print("".join([text]) is text, ", ".join((text,)) is text, ", ".join([text, "b"]))
for path in ("/a//b/./c", "a/../b/", "../a/..", "/../a", "", ".", "/", "a/b/../../..", "/a/.b"):
    print(repr(path), os.path.normpath(path))

os.makedirs("made/inner", exist_ok=True)
with open("made/file.txt", "w") as file:
    file.write("written\n")
with os.scandir("made") as entries:
    print(sorted((entry.name, entry.is_dir(), entry.is_file()) for entry in entries))
print(sorted(os.listdir("made")), open("made/file.txt").read())
with open("made/file.txt", "w") as file:
    file.write("anew\n")
print(open("made/file.txt").read())
