# The library that scripts have around their loops, in use.
import abc
import argparse
import collections
import collections.abc
import contextlib
import csv
import dataclasses
import fnmatch
import io
import json
import logging
import os
import os.path as osp
import queue
import re
import shutil
import statistics
import sys
import tempfile
import textwrap
import types
import typing as t
from collections import ChainMap, UserDict, deque
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, field, make_dataclass, replace
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any, Dict, Generic, Iterator, List, Literal, Mapping, MutableMapping, NamedTuple, NewType, Optional, Protocol, TypedDict, TypeVar, Union, runtime_checkable

T = TypeVar("T")
P = t.ParamSpec("P")
Step = NewType("Step", int)


class Sample(TypedDict, total=False):
    x: int
    y: Optional[str]


class More(Sample):
    z: float


sample = More(x=1, z=2.5)
print(type(sample), sample, Step(4) + 1, t.get_args(Literal["a", "b"]), t.get_origin(List[int]) is list)


@runtime_checkable
class Scored(Protocol):
    name: str

    def score(self, x: int) -> float: ...


class Plain:
    name = "plain"

    def score(self, x):
        return x / 2


class Nameless:
    def score(self, x):
        return x


class Explicit(Scored):
    def score(self, x):
        return 1.0


print(isinstance(Plain(), Scored), isinstance(Nameless(), Scored), isinstance(Explicit(), Scored))


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: List[T] = []

    def push(self, item: T) -> "Stack[T]":
        self.items.append(item)
        return self


class Ints(Stack[int], abc.ABC):
    pass


print(Ints().push(3).push(4).items, issubclass(Ints, Stack))


class Lazy(Mapping[str, int]):
    def __getitem__(self, key):
        if key not in "abc":
            raise KeyError(key)
        return ord(key)

    def __iter__(self) -> Iterator[str]:
        return iter("abc")

    def __len__(self):
        return 3


class Store(MutableMapping):
    def __init__(self, **kw):
        self.kept = kw

    def __getitem__(self, k):
        return self.kept[k]

    def __setitem__(self, k, v):
        self.kept[k] = v

    def __delitem__(self, k):
        del self.kept[k]

    def __iter__(self):
        return iter(self.kept)

    def __len__(self):
        return len(self.kept)


lazy, store = Lazy(), Store(a=1)
store.update({"b": 2}, c=3)
print(list(lazy.items()), lazy.get("z", 0), "a" in lazy, {**lazy}, isinstance(lazy, collections.abc.Mapping), isinstance(lazy, dict))
print(store.pop("a"), store.setdefault("d", 9), sorted(store.keys()), dict(store), len(store.values()), store == {"b": 2, "c": 3, "d": 9})


class Rows(collections.abc.Sequence):
    def __getitem__(self, i):
        if i >= 3:
            raise IndexError
        return i * i

    def __len__(self):
        return 3


print(list(Rows()), 4 in Rows(), list(reversed(Rows())), Rows().index(4), isinstance(Rows(), t.Sequence))


class Defaults(UserDict):
    def __missing__(self, key):
        return key * 2


print(Defaults(a=1)["a"], Defaults()["b"], ChainMap({"a": 1}, {"a": 2, "b": 3})["b"], ChainMap({}, {"k": 1}).maps)

d = deque([1, 2, 3], maxlen=3)
d.append(4)
d.remove(3)
d.insert(1, 9)
print(d, 9 in d, d.index(4), d.count(2), d == deque([2, 9, 4]), d.copy(), list(reversed(d)), deque("ab") + deque("c"))


@dataclass
class Base:
    a: int
    scale: InitVar[float] = 2.0
    _: KW_ONLY
    b: List[int] = field(default_factory=list)
    total: float = field(init=False, default=0.0)

    def __post_init__(self, scale):
        self.total = self.a * scale


@dataclass(frozen=True, order=True)
class Point:
    x: int = 0
    inner: Any = field(default=None, compare=False)


print(Base(3), Base(3, 5.0, b=[1]), [f.name for f in dataclasses.fields(Base)], asdict(Point(1, [Point(2)])), Point.__match_args__)
print(replace(Point(1), x=5), Point(1) < Point(2), make_dataclass("Made", ["p", ("q", int, 7)])(1), asdict(Point(1), dict_factory=lambda kv: [k for k, v in kv]))
try:
    Point().x = 3
except dataclasses.FrozenInstanceError as e:
    print(e)

print(re.match(r"encoder\.(\d+)\.(?P<kind>\w+)", "encoder.12.weight").groupdict(), re.findall(r"(\w)=(\d+)", "a=1 b=22"), re.sub(r"^module\.", "", "module.fc.weight"))
print(re.split(r"[,\s]+", "a, b c"), re.compile(r"\.ln\d$").search("h.0.ln1").span(), re.fullmatch(r"(a|b)*?c", "abac").group(1), re.escape("a.b"), re.search("x", "y"))
print([m.start() for m in re.finditer("a(?=b)", "ab ac ab")], re.sub(r"(\d+)", lambda m: str(int(m.group()) + 1), "v1.9"), re.match("A", "a", re.I) is not None)

text = json.dumps({"b": [1, 2.5, None, True], "a": {"é": "q\"\n"}, "s": ()}, sort_keys=True, default=str, ensure_ascii=False)
print(text, json.loads(text) == {"b": [1, 2.5, None, True], "a": {"é": "q\"\n"}, "s": []}, json.dumps([1, {"k": 2}], separators=(",", ":")))
print(json.dumps({"p": Path("a/b"), "n": float("nan")}, default=str), json.loads("-1.5e3"), json.dumps({1: 2, None: 3}))


def options(words):
    p = argparse.ArgumentParser(description="train", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("data", nargs="?", default="here")
    p.add_argument("-b", "--batch-size", type=int, default=8, choices=[8, 16])
    p.add_argument("--lr", type=float, default="0.5")
    p.add_argument("--dims", nargs="+", type=int, default=[1])
    p.add_argument("--tag", action="append")
    p.add_argument("--amp", action=argparse.BooleanOptionalAction, default=True)
    p.add_argument("--fast", dest="slow", action="store_false")
    p.add_argument("-v", action="count", default=0)
    return p.parse_args(words)


print(options([]))
print(options(["there", "-b", "16", "--lr=-0.1", "--dims", "3", "4", "--tag", "x", "--tag", "y", "--no-amp", "--fast", "-v", "-v"]))

log = logging.getLogger("a.b")
log.setLevel(logging.DEBUG)
log.addHandler(logging.NullHandler())
print(log.name, log.isEnabledFor(logging.INFO), logging.getLogger("a.b") is log, logging.getLevelName(20), len(log.handlers))

folder = tempfile.mkdtemp()
path = Path(folder) / "run" / "log.txt"
path.parent.mkdir(parents=True)
with open(path, "w") as f:
    f.write("one\n")
    print("two", 2, file=f)
with open(path, "a") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow(["a,b", None, 3.5])
print(path.read_text().splitlines(), path.exists(), path.suffix, path.stem, path.with_suffix(".json").name, osp.splitext("a/b.tar.gz"), [line for line in path.open()][1:2])
print(sorted(os.listdir(path.parent)), osp.isdir(folder), osp.isfile(str(path)), [p.name for p in path.parent.glob("*.txt")], path.parent.parts[-1], osp.join("a", "/b"))
os.rename(path, path.with_name("old.txt"))
print(path.exists(), sorted(p.name for p in path.parent.iterdir()))
shutil.rmtree(folder)
print(osp.exists(folder), fnmatch.fnmatch("layer.1.weight", "layer.*.we[a-i]ght"), Path("a") / "b" == Path("a/b"), Path("x/y.pt").parent)
out = io.StringIO()
print("kept", file=out)
out.write("more")
print(repr(out.getvalue()))


class Net:
    def hello(self, who):
        return f"hello {who}"


def loud(self, who):
    return self.hello(who).upper()


net = Net()
net.shout = types.MethodType(loud, net)
print(net.shout("you"), isinstance(net.hello, types.MethodType), types.MappingProxyType({"a": 1})["a"], types.SimpleNamespace(a=1, b=[2]))
print(statistics.mean([1, 2, 3]), statistics.mean([1, 2]), statistics.median([3, 1, 2]), round(statistics.stdev([1, 2, 4]), 6), statistics.fmean([1, 2]))
print(textwrap.dedent("""
    a
      b
    """).split("\n"), textwrap.shorten("one two three four", 12), textwrap.fill("aa bb cc", 5).split("\n"))
q = queue.Queue(maxsize=2)
q.put(1)
q.put(2)
print(q.get(), q.qsize(), q.full(), q.empty())

with contextlib.ExitStack() as stack:
    stack.callback(print, "left last")
    stack.enter_context(contextlib.suppress(ValueError))
    kept = stack.pop_all()
    print("inside")
kept.close()


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Mode(str, Enum):
    TRAIN = "train"


print(list(range(Level.HIGH)), [10, 20, 30][Level.LOW], "-".join([Mode.TRAIN, "x"]), json.dumps({"m": Mode.TRAIN, "l": Level.HIGH}), getattr(net, "hel" + "lo")("a"))
print(globals()["Level"] is Level, "net" in globals(), [n for n in dir(Plain) if not n.startswith("_")])


def echo():
    got = None
    while got != "stop":
        got = (yield got)
    return "ended"


e = echo()
print(next(e), e.send("a"), e.send("b"))
try:
    e.send("stop")
except StopIteration as stop:
    print(stop.value)
except (IOError, FileExistsError, PermissionError):
    print("never")
