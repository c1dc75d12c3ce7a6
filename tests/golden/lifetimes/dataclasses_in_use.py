import dataclasses, inspect
from dataclasses import *
from typing import *
def tell(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
@dataclass
class A:
    x: int
    y: "str" = "a"
    z: list = field(default_factory=list)
    w: ClassVar[int] = 3
    v: InitVar[int] = 5
    hidden: float = field(default=1.5, repr=False, compare=False)
    made: int = field(init=False, default=7)
    made2: dict = field(init=False, default_factory=dict)
    def __post_init__(self, v): self.v2 = v
a = A(1)
print(a, a.v2, A(1) == a, a.made2, [f.name for f in fields(A)], A.__match_args__)
print(inspect.signature(A.__init__), inspect.signature(A))
tell(lambda: A())
tell(lambda: A(1, 2, 3, 4, 5, 6))
tell(lambda: A(1, q=3))
tell(lambda: A(1, x=3))
tell(lambda: hash(a))
tell(lambda: replace(a, x=4))
tell(lambda: replace(a, made=4))
tell(lambda: asdict(a)); tell(lambda: astuple(a)); tell(lambda: asdict(3)); tell(lambda: asdict(A))
print(fields(A)[0].type, fields(A)[1].type, is_dataclass(A), is_dataclass(a), is_dataclass(3))
@dataclass(frozen=True, order=True)
class P:
    a: int = 0
    b: Tuple[int, ...] = (1, 2)
tell(lambda: P(1) < P(2)); tell(lambda: hash(P(1)) == hash(P(1))); tell(lambda: setattr(P(), 'a', 2)); tell(lambda: setattr(P(), 'q', 2)); tell(lambda: delattr(P(), 'a'))
tell(lambda: P(1) < 3)
tell(lambda: sorted([P(3), P(1, (0,)), P(1)]))
def bad(body):
    def run():
        exec(body, {**globals()})
    tell(run)
bad("@dataclass\nclass B:\n  x: int = 1\n  y: int\n")
bad("@dataclass\nclass B:\n  x: list = []\n")
bad("@dataclass\nclass B:\n  x = field()\n")
bad("@dataclass(frozen=True)\nclass B(A):\n  q: int = 1\n")
bad("@dataclass\nclass B(P):\n  q: int = 1\n")
bad("@dataclass(order=True)\nclass B:\n  q: int = 1\n  def __lt__(self, o): return True\n")
bad("@dataclass(eq=False, order=True)\nclass B:\n  q: int = 1\n")
bad("@dataclass(unsafe_hash=True)\nclass B:\n  q: int = 1\n  def __hash__(self): return 1\n")
bad("field(default=1, default_factory=int)")
@dataclass
class K(A):
    _: KW_ONLY
    k: int
    l: int = 4
    x: float = 2.0
tell(lambda: K(k=1)); tell(lambda: K(1)); print(K.__match_args__, inspect.signature(K))
@dataclass
class N:
    n: Any = None
    kids: List[A] = field(default_factory=lambda: [A(1), A(2)])
    d: Dict[str, A] = field(default_factory=lambda: {'a': A(3)})
n = N(); n.n = n
print(repr(n)[:40])
n.n = None
print(asdict(n), astuple(n))
M = make_dataclass('M', [('x', int), 'y', ('z', int, field(default=5))], namespace={'s': lambda self: self.x})
tell(lambda: M(1, 2)); tell(lambda: M(1, 2).s())
tell(lambda: make_dataclass('M', ['x', 'x'])); tell(lambda: make_dataclass('M', ['1x']))
@dataclass
class S:
    self: int
    cls: int = 2
tell(lambda: S(3))
class Desc:
    def __get__(self, o, t=None): return 9 if o is None else o._d
    def __set__(self, o, v): o._d = v * 2
@dataclass
class D:
    d: int = Desc()
tell(lambda: (D(), D(4), D(4).d))
@dataclass(repr=False, eq=False, init=False)
class E_:
    x: int = 1
tell(lambda: (E_().x, E_() == E_(), E_.__repr__ is object.__repr__))
@dataclass(slots=True, kw_only=True)
class F:
    x: int
    y: int = 2
tell(lambda: F(x=1)); tell(lambda: F(1))
@dataclass
class G:
    x: int
    def __init__(self, q): self.x = q + 1
    def __repr__(self): return "mine"
    def __eq__(self, o): return True
tell(lambda: (G(1), G(1).x, G(1) == 4))
print(P.__dataclass_params__, fields(P)[0].name, P.__init__.__qualname__, P.__eq__.__qualname__)
print(repr(MISSING)[:27], dataclasses.field(default=3).default)
match P(4):
    case P(a, b): print(a, b)
