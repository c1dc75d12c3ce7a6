"""doc"""
from __future__ import annotations
from typing import List, Optional, get_type_hints, ClassVar
import dataclasses
@dataclasses.dataclass
class A:
    x: int
    y: "str"
    z: List[ "A" ] = None
    w: Optional [int] = None
    k: ClassVar[int] = 4
    v: dict[str,int] = None
    u: (int) = 3
    t: int|None = None
print(A.__annotations__)
print([(f.name, f.type) for f in dataclasses.fields(A)])
print(get_type_hints(A))
def f(a: int, b: List[A] = None) -> "A": pass
print(f.__annotations__)
print(get_type_hints(f))
