class E_: pass
class Q(E_):
    def __repr__(self): return "Q" + str(len(super().__repr__()) > 4)
    def __hash__(self): return super().__hash__()
    def __eq__(self, o): return super().__eq__(o)
    def __ne__(self, o): return super().__ne__(o)
    def __str__(self): return super().__str__()
    def __getattribute__(self, n): return super().__getattribute__(n)
    def __init_subclass__(cls, **k): super().__init_subclass__(**k)
    def __dir__(self): return super().__dir__()
    def __format__(self, s): return super().__format__(s)
    def __sizeof__(self): return super().__sizeof__()
q = Q()
def tell(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
tell(lambda: repr(q)); tell(lambda: hash(q) == hash(q)); tell(lambda: q == q); tell(lambda: q != q); tell(lambda: str(q)); tell(lambda: q.__class__)
tell(lambda: f"{q}"); tell(lambda: "__repr__" in dir(q)); tell(lambda: E_.__repr__ is object.__repr__); tell(lambda: E_.__eq__ is object.__eq__); tell(lambda: int.__hash__(4)); tell(lambda: list.__hash__); tell(lambda: object.__hash__(q) == hash(q)); tell(lambda: str.__eq__('a', 'a')); tell(lambda: dict.__repr__({1: 2})); tell(lambda: (3).__repr__()); tell(lambda: [1].__eq__([1])); tell(lambda: 'a'.__hash__() == hash('a')); tell(lambda: (1).__lt__(2)); tell(lambda: list.__len__([1])); tell(lambda: (2.5).__str__()); tell(lambda: object.__str__(3)); tell(lambda: tuple.__hash__((1,)) == hash((1,)));tell(lambda: E_.__init__ is object.__init__); tell(lambda: type(q).__repr__ is Q.__repr__); tell(lambda: E_.__str__ is object.__str__); tell(lambda: E_.__hash__ is object.__hash__); tell(lambda: hasattr(3, '__add__')); tell(lambda: int.__add__(3, 4)); tell(lambda: float.__mul__(2.0, 3.0)); tell(lambda: [].__iter__ is not None); tell(lambda: 'a'.__len__()); tell(lambda: {}.__contains__(1)); tell(lambda: (1,).__getitem__(0))


class Big(list):
    def __add__(self, other): return Big(super().__add__(other))
    def __getitem__(self, i): return ("item", super().__getitem__(i))
    def __len__(self): return 10 + super().__len__()
    def __eq__(self, other): return "eq" if super().__eq__(other) else "ne"
    def __contains__(self, x): return not super().__contains__(x)
    def __repr__(self): return "Big" + super().__repr__()
    def __iter__(self): return iter([7] + list(super().__iter__()))


class Count(int):
    def __add__(self, other): return Count(super().__add__(other) + 100)
    def __lt__(self, other): return not super().__lt__(other)
    def __repr__(self): return f"Count({super().__repr__()})"
    def __bool__(self): return not super().__bool__()
    def __neg__(self): return super().__neg__() - 1


class Name(str):
    def __mod__(self, other): return "mod " + super().__mod__(other)
    def __len__(self): return super().__len__() * 2
    def __hash__(self): return super().__hash__()
    def __eq__(self, other): return super().__eq__(other) or other == "any"


class Wrong(ValueError):
    def __str__(self): return "wrong: " + super().__str__()
    def __repr__(self): return super().__repr__() + "!"


class Missing(KeyError):
    def __str__(self): return super().__str__()


class Late:
    def __getattr__(self, name): return "late " + name


b = Big([1, 2])
tell(lambda: (b + [3], b[0], len(b), b == [1, 2], b == [2], 5 in b, list(b)))
tell(lambda: b + (1,))
c = Count(5)
tell(lambda: (c + 1, c < 3, bool(c), -c, Count.__radd__(c, 2)))
n = Name("%s!")
tell(lambda: (n % 4, len(n), {n: 1}["%s!"], n == "any", n == "other"))
tell(lambda: (str(Wrong("a")), repr(Wrong("a", 2)), str(Wrong("a", 2)), str(Missing("k"))))
tell(lambda: (Late().__len__, hasattr(Late(), "__eq__"), Late().__eq__(3)))
tell(lambda: [hasattr(x, "__len__") for x in (1, "a", [1], (1,), {}, {1}, frozenset(), range(3), 1.5, None, b"a")])
tell(lambda: [hasattr(x, "__iter__") for x in (1, "a", [1], (1,), {}, {1}, frozenset(), range(3), 1.5, None)])
tell(lambda: [hasattr(x, "__getitem__") for x in (1, "a", [1], (1,), {}, {1}, range(3), 1.5, None)])
tell(lambda: [hasattr(x, "__lt__") for x in (1, "a", [1], {}, {1}, None, object())])
tell(lambda: [(1).__add__(2.5), (1.5).__add__(2), (3).__rsub__(10), (7).__floordiv__(2), "a".__add__("b"), (5).__and__(3)])
tell(lambda: [(1).__add__("a"), "a".__eq__(1), [1].__lt__([2]), {1}.__or__({2}), {1: 2}.__or__({3: 4}), (1).__eq__(1.0)])
tell(lambda: (map(str.__len__, ["a", "bb"]).__next__(), sorted(["b", "a"], key=str.__hash__) is not None))
tell(lambda: (object().__eq__(1), object().__ne__(1), object.__eq__(c, c), type(object().__hash__())))
tell(lambda: (list.__hash__, dict.__hash__, (1).__abs__(), (-2.5).__abs__(), (2.7).__int__(), (2.7).__trunc__(), (5).__invert__()))
tell(lambda: "a".__sub__("b"))
tell(lambda: (1).__nothing__)
