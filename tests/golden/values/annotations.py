import typing
from typing import *
import dataclasses
T = TypeVar("T")
class A:
    x: int
    y: "B"
    z: List[int] = []
    w: Optional[str] = None
    v: int | None = None
    u: dict[str, int]
    t: ClassVar[int] = 3
    s: T
    class Inner: pass
    r: Inner
print(A.__annotations__)
class B(A):
    q: A
class C(A): pass
print(B.__annotations__, C.__annotations__)
print(B().__annotations__, C().__annotations__ == A.__annotations__)
print(A.__dict__["__annotations__"]["x"], vars(B)["__annotations__"])
print(typing.get_type_hints(B))
def make(K):
    L = K
    class D:
        a: K
        b: List[L]
    def f(a: K, b: "L", *c: int, d: L = 3) -> K: return L
    return D, f
D, f = make(int)
print(D.__annotations__, f.__annotations__)
class N(NamedTuple):
    a: int
    b: "str" = "x"
print(N.__annotations__, N._fields, typing.get_type_hints(N))
@dataclasses.dataclass
class E:
    lr: float = 1e-3
    name: "str" = "x"
    betas: Tuple[float, float] = (0.9, 0.99)
    c: ClassVar[int] = 3
    i: dataclasses.InitVar[int] = 3
    opt: Optional[int] = None
print([(f.name, f.type) for f in dataclasses.fields(E)], E.__annotations__)
class M(type):
    def __new__(mcls, name, bases, ns, **kw):
        print("ns", ns.get("__annotations__"))
        return super().__new__(mcls, name, bases, ns)
class F(metaclass=M):
    a: int = 3
    b: "F"
print(F.__annotations__)
class G(TypedDict):
    a: int
    b: List[str]
class H(G, total=False):
    c: "int"
print(G.__annotations__, H.__annotations__, H.__required_keys__ == {"a", "b"}, G.__total__)
class P(Protocol):
    a: int
    def f(self) -> int: ...
print(P.__annotations__)
try:
    int.__annotations__
except AttributeError as e:
    print(e)
class Reg:
    def __init_subclass__(cls):
        print(cls.__name__, cls.__annotations__, cls.__dict__.get("__annotations__"))
class R1(Reg):
    a: int
    b: float = 2
class R2(Reg):
    pass
import inspect
print(inspect.get_annotations(B))
A.__annotations__["new"] = 3
print(list(A.__annotations__))
for n, t in E.__annotations__.items():
    print(n, t, isinstance(t, type), get_origin(t), get_args(t))
class S:
    a: List["B"]
    b: Dict[str, Tuple[int, ...]]
    c: Callable[[int], str]
    d: Union[int, str, None]
    e: Literal["a", "b"]
    f: Annotated[int, "meta"]
    g: Type["A"]
    h: Final[int] = 3
    i: Any
    j: None
    k: tuple[int, ...]
    l: list["A"]
    m: type[A]
print(S.__annotations__)
print(get_type_hints(S))
print(get_type_hints(S, include_extras=True)["f"])
def g(a: List["A"], b: Optional["A"] = None, *, c: int = None) -> "A": pass
print(g.__annotations__, get_type_hints(g))
print(inspect.signature(g))
def outer(a: int) -> None:
    def inner(b: float = 2.0, *args: int, **kw: str): pass
    return inner
print(outer(2).__annotations__, outer.__annotations__)
class Meth:
    def m(self, a: "Meth", b: int = 3) -> List[int]: pass
    @property
    def p(self) -> int: return 3
    @staticmethod
    def s(a: str) -> None: pass
    @classmethod
    def c(cls, a: str) -> None: pass
print(Meth.m.__annotations__, Meth().m.__annotations__)
print(Meth.p.fget.__annotations__, Meth.s.__annotations__, Meth.c.__annotations__)
Meth.m.__annotations__["b"] = str
print(Meth.m.__annotations__)
f.__annotations__ = {"z": 3}
print(f.__annotations__)
print((lambda x: x).__annotations__)
class Holder:
    class Part:
        pass

    def take(self, part: Part, parts: List[Part]) -> "Part":
        return part

print(Holder.take.__annotations__)
def scope(K):
    class Held:
        def m(self, k: K) -> K:
            return K
    return Held
print(scope(float).m.__annotations__, scope(int)().m.__annotations__)
