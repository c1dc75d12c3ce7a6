# `match`: which case is taken, what it binds, and when the subject dies.
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from enum import Enum

Pair = namedtuple("Pair", "a b")


class Color(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Conv:
    out: int
    k: int = 3
    stride: int = field(default=1, kw_only=True)


class Point:
    __match_args__ = ("x", "y")
    limit = 7

    def __init__(self, x, y):
        self.x, self.y = x, y


def which(x):
    match x:
        case 0:
            return "zero"
        case -1 | -2.5:
            return "negative"
        case True:
            return "true"
        case None:
            return "none"
        case "relu" | "gelu" as name:
            return "activation " + name
        case Color.RED:
            return "red"
        case Point.limit:
            return "seven"
        case str(s) if s.startswith("leaky"):
            return "leaky " + s[6:]
        case [] | ():
            return "empty"
        case [one]:
            return f"one {one}"
        case ["res", int(n), *rest]:
            return f"res {n} {rest}"
        case [first, *_, last] if first == last:
            return f"ends {first}"
        case (1 | 2) as n, (a, b):
            return f"pair {n} {a} {b}"
        case [*some, 9]:
            return f"nine after {some}"
        case {"type": "drop", "p": float(p) | int(p), **kw}:
            return f"drop {p} {kw}"
        case {"kind": {"name": str() as name}}:
            return f"kind {name}"
        case {1: _, "one": _}:
            return "keys"
        case {}:
            return "mapping"
        case Conv(out, 1):
            return f"pointwise {out}"
        case Conv(out=out, stride=2, k=k):
            return f"strided {out} {k}"
        case Conv():
            return "conv"
        case Pair(a, b=0):
            return f"flat pair {a}"
        case Point(x=0, y=0) | Point(9, 9):
            return "origin"
        case Point(x, y) if x == y:
            return f"diagonal {x}"
        case Point(missing=_):
            return "never"
        case int() | float() as number:
            return f"number {number}"
        case list(items):
            return f"list {items}"
        case set():
            return "set"
        case _:
            return "other"


for value in (0, False, -1, -2.5, True, None, "relu", "gelu", "tanh", "leaky:0.1", Color.RED, Color.BLUE, 7, 7.5, [], (), [5], (5,),
              ["res", 2, "x", "y"], ("res", 2), [3, 4, 5, 3], (1, (2, 3)), [2, [4, 5]], [4, 5, 9], range(3), range(0), deque([9, 9]), "ab",
              {"type": "drop", "p": 0.5, "inplace": True}, {"type": "drop", "p": "x"}, {"kind": {"name": "cos", "T": 3}}, {1: 2, "one": 3, "more": 4}, {},
              defaultdict(list), OrderedDict(kind=1), Conv(8, 1), Conv(8, 5, stride=2), Conv(4), Pair(1, 0), Pair(1, 2), Point(0, 0), Point(9, 9), Point(3, 3),
              Point(3, 4), {1, 2}, [1, 2, 3], frozenset(), len):
    print(repr(value) if isinstance(value, (int, float, str, list, tuple, dict)) else type(value).__name__, "->", which(value))


def too_many():
    match Point(1, 2):
        case Point(a, b, c):
            pass


def too_many_of_int():
    match 1:
        case int(a, b):
            pass


def twice():
    match Point(1, 2):
        case Point(a, x=b):
            pass


def no_class():
    match Point(1, 2):
        case twice():
            pass


def no_places():
    match Color.RED:
        case object(x):
            pass


for wrong in (too_many, too_many_of_int, twice, no_class, no_places):
    try:
        wrong()
    except TypeError as e:
        print(wrong.__name__, e)
match = {"case": 1}
match["case"] = 2
match, case = 3, match
print(match, case["case"])
match (case):
    case {"case": 2}:
        print("soft keywords")
print(match)


# The subject dies before the body runs, after the names are bound; those of a pattern that failed are not bound.
def subjects():
    match probe("subject"), probe("other"):
        case (a, None):
            print("no")
        case (1, b):
            print("no")
        case (a, b):
            print("bound")
    print("after")
    del b
    print("end")


subjects()


def kept():
    x = probe("old")
    match [probe("new"), 1]:
        case [x, 2]:
            print("no")
        case [x, 1]:
            print("rebound")
    print("left")


kept()


def ignored():
    match probe("ignored"):
        case 1:
            print("no")
        case _:
            print("default")
    print("after default")
    match probe("alone"):
        case _:
            print("only")
    match probe("guarded"):
        case x if print("guard"):
            print("no")
        case y:
            print("last")
    print("both bound", x is y)


ignored()


def order(b, a):
    match {"a": probe("va"), "b": probe("vb")}:
        case {"b": late, "a": early}:
            pass
    print("order")


order(1, 2)


def steps(items):
    for item in items:
        match item:
            case int(n) if n < 0:
                continue
            case 99:
                break
            case [*inner]:
                yield from steps(inner)
            case {"send": x}:
                got = yield x
                print("got", got)
            case n:
                yield n


g = steps([1, -5, [2, [3]], {"send": 4}, 99, 6])
print(next(g), next(g), next(g), next(g), g.send("hello") if False else list(g))


def unmatched(x):
    match x:
        case 1:
            return "one"
    return "none of them"


print(unmatched(1), unmatched(2))
