# Special methods that change the container which is being worked on: what has been asked of them is asked first, the bounds after.
import bisect
import collections
import functools
import heapq


class Doing:
    """an object whose special methods do something first"""

    def __init__(self, do, value=0):
        self.do, self.value = do, value

    def _done(self):
        self.do()
        return self.value

    __index__ = __hash__ = __len__ = __int__ = _done

    def __eq__(self, other):
        self.do()
        return self.value == other

    def __lt__(self, other):
        self.do()
        return True

    def __repr__(self):
        self.do()
        return "Doing"

    def __iter__(self):
        self.do()
        return iter([1, 2])

    def __bool__(self):
        self.do()
        return bool(self.value)


def told(what, function):
    try:
        print(what, function())
    except Exception as error:
        print(what, type(error).__name__, error)


def listed(*items):
    return list(items) or list(range(8))


# --- lists, by index
a = listed()
told("get", lambda: a[Doing(a.clear, 5)])
a = listed()
told("get negative", lambda: a[Doing(lambda: a.pop(), -1)])
a = listed()
told("set", lambda: a.__setitem__(Doing(a.clear, 5), 1))
a = listed()
told("del", lambda: a.__delitem__(Doing(a.clear, 5)))
a = listed()
told("pop", lambda: a.pop(Doing(a.clear, 5)))
a = listed()
told("pop of less", lambda: a.pop(Doing(lambda: a.__delitem__(slice(3, None)), 5)))
a = listed()
told("insert", lambda: (a.insert(Doing(a.clear, 5), "x"), a))
a = listed()
told("slice", lambda: a[Doing(a.clear, 2):Doing(lambda: None, 6)])
a = listed()
told("slice grows", lambda: a[Doing(lambda: a.extend([9] * 90), 2):Doing(lambda: None, 60)][:12])
a = listed()
told("slice with a step", lambda: a[Doing(a.clear, 7):None:Doing(lambda: None, -2)])
a = listed()
a[Doing(a.clear, 2):Doing(lambda: None, 5)] = ["x", "y"]
print("slice set", a)
a = listed()
told("slice with a step set", lambda: a.__setitem__(slice(Doing(a.clear, 0), 8, 2), [1, 2, 3, 4]))
a = listed()
a[1:3] = (a.clear() or x for x in [1, 2, 3])
print("slice set from a generator", a)
a = listed()
del a[Doing(a.clear, 2):Doing(lambda: None, 5)]
print("slice deleted", a)
a = listed()
a *= Doing(lambda: a.append(9), 2) if False else 2
print("repeated", a)

# --- lists, by their elements
a = listed(Doing(lambda: a.clear(), 1), 2, 3)
told("index", lambda: a.index(3))
a = listed(Doing(lambda: a.clear(), 1), 2, 3)
told("count", lambda: a.count(3))
a = listed(Doing(lambda: a.clear(), 3), 2, 3)
told("remove", lambda: (a.remove(3), a))
a = listed(Doing(lambda: a.clear(), 1), 2, 3)
told("contains", lambda: 3 in a)
a, b = listed(Doing(lambda: (a.clear(), b.clear()), 1), 2, 3), listed(1, 2, 3)
told("equal", lambda: a == b)
a, b = listed(Doing(lambda: (a.clear(), b.clear()), 1), 2, 3), listed(1, 2, 3)
told("less", lambda: a < b)
a, b = listed(Doing(lambda: a.extend([1] * 99), 1), 2), listed(1, 2, 3)
told("less, growing", lambda: (a < b, len(a)))
a = listed(Doing(lambda: a.clear(), 1), 2, 3)
told("repr", lambda: repr(a))
a = listed(Doing(lambda: a.extend([0] * 3), 1), 2)
told("repr growing", lambda: repr(a))
a = listed(1, 2)
a.append(a)
told("repr of itself", lambda: repr([a, {1: a}, (a,)]))
a = listed(3, 1, 2)
told("sort by a key that appends", lambda: a.sort(key=lambda x: a.append(x) or x))
print(a)
a = listed(3, 1, 2)
told("sort by a key that fails", lambda: a.sort(key=lambda x: 1 // (x - 1)))
print(a)
a = listed(3, 1, 2)
told("sort sees nothing", lambda: (a.sort(key=lambda x: (len(a), x)), a))
a = listed(*[Doing(lambda: a.append(1), i) for i in range(3)])
told("sort by comparisons that append", lambda: a.sort())
a = listed()
told("extend by itself", lambda: (a.extend(x for x in a if len(a) < 12), a))
a = listed()
told("reversed", lambda: [(x, a.pop(0)) for x in reversed(a)])
a = listed()
told("iterated", lambda: [(x, a.pop()) for x in a])
a = listed()
told("unpacked", lambda: functools.reduce(lambda x, y: (a.clear(), x + y)[1], a, 0))
a = listed(1, 2, 3)
told("joined", lambda: ",".join(str(a.pop()) for x in a))
a = listed(Doing(lambda: a.clear(), 1), 2, 3)
told("min", lambda: min(a, key=lambda x: a.clear() or 1).value)
a = listed(5, 4, Doing(lambda: a.clear(), 1))
told("heap", lambda: (heapq.heapify([1, 2]), bisect.bisect([1, 2, 3], Doing(lambda: None, 2))))

# --- dicts and sets
d = {i: i for i in range(12)}
told("dict iterated", lambda: [d.pop(x) for x in d])
d = {i: i for i in range(3)}
told("dict grows", lambda: [d.__setitem__(x + 10, 1) for x in d])
s = set(range(12))
told("set iterated", lambda: [s.discard(x + 1) for x in s])
d = {}
key = Doing(lambda: d.clear(), 1)
d[key] = "first"
told("found", lambda: d.get(1))
for size in (4, 20):
    d = {i: i for i in range(100, 100 + size)}
    d[Doing(lambda: d.clear(), 7)] = "x"
    told("set while cleared", lambda: (d.__setitem__(7, "y"), list(d.values())))
    d = {i: i for i in range(100, 100 + size)}
    d[Doing(lambda: d.update({i: i for i in range(500, 600)}), 7)] = "x"
    told("found while grown", lambda: (d[7], len(d)))
    d = {i: i for i in range(100, 100 + size)}
    d[Doing(lambda: d.pop(100, None), 7)] = "x"
    told("removed while another is", lambda: (d.pop(7), len(d)))
d, e = {1: Doing(lambda: e.clear(), 1)}, {1: 1}
told("dicts equal", lambda: (d == e, e))
d = {1: 2}
d[2] = d
told("dict of itself", lambda: repr(d))
d = {i: Doing(lambda: d.clear(), i) for i in range(3)}
told("dict repr", lambda: repr(d))
d = dict.fromkeys(range(9))
for _ in range(3):
    for i in range(100):
        d[1000 + i] = i
    for i in range(100):
        d.popitem()
print("refilled", len(d), list(d))
d = collections.OrderedDict((i, i) for i in range(5))
print("from the front", [d.popitem(last=False) for _ in range(3)], list(d))
told("update by pairs", lambda: {}.update([(1, 2), Doing(lambda: None)]))

# --- deques
q = collections.deque(range(5))
told("deque index", lambda: (q.clear(), len(q)))
q = collections.deque(range(5))
told("deque rotated", lambda: (q.rotate(7), list(q)))
q = collections.deque([1, 2, 3], 2)
told("deque bounded", lambda: (q, q.append(4), q.appendleft(9), list(q)))

# --- iterators
z = zip(iter([1, 2, 3]), (next(z, None) for _ in range(3)))
told("zip in itself", lambda: list(z))
told("iter with a sentinel", lambda: list(iter(Doing(lambda: None, 1).__len__, 1)))
g = (next(g) for _ in range(2))
told("generator in itself", lambda: list(g))
pairs = enumerate([1, 2, 3])
kept = next(pairs)
print(kept, next(pairs), kept)

# --- numbers at their ends
big = 9223372036854775807
told("slice with a large step", lambda: [0, 1, 2][1::big])
told("in a range", lambda: (-big in range(big, -big, -2), 5 in range(-5, 9, 5), -big - 1 in range(0, 3, 1)))
told("range of a slice", lambda: list(range(0, 10)[2:8][::-2]))
told("reversed range", lambda: list(reversed(range(5, 5))) + list(reversed(range(1, 9, 3))))
told("int base", lambda: int("z", Doing(lambda: None, 36)))
told("int base out of range", lambda: int("1", 99))
told("int base of text", lambda: int("1", "2"))
told("round", lambda: (round(-15, -1), round(25, -1), round(big // 10, -18), round(7, -30)))
told("format", lambda: "{:{0}}".format("{0}", 5) if False else "{:{w}}|".format("x", w=3))
