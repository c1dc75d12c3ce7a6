# Calls that cannot bind, attribute order, formats, comparisons, library functions.
def f(a): pass
try: f(probe("1"), probe("2"))
except TypeError as e: print("h")
print('--')
try: f(probe("1"), probe("2"), probe("3"))
except TypeError as e: print("h")
print('--')
try: f()
except TypeError as e: print("h")
def g(a,b,c): pass
print('--')
try: g(probe("1"), probe("2"))
except TypeError as e: print("h")
print('--')
try: g(probe("1"), x=probe("2"))
except TypeError as e: print("h")
print('--')
try: g(probe("1"), probe("2"), a=probe("3"))
except TypeError as e: print("h")
print('--')
class C:
    def __init__(self, a): pass
try: C(probe("1"), probe("2"))
except TypeError as e: print("h")
try: g(*(probe("1"), probe("2")))
except TypeError as e: print("h")
def cb():
    c = probe("c"); a = probe("a")
    def inner(): return c, a
    d = probe("d")
    raise ValueError
try: cb()
except ValueError: print("h")
class O:
    def __init__(self, n): self.x = probe(n+"x"); self.y = probe(n+"y")
o = O("1")
class Q: pass
q = Q(); q.a = probe("qa"); q.b = probe("qb")
r = Q(); r.b = probe("rb"); r.a = probe("ra")
q = None; r = None
def sub(): 
    l = [probe("l0")]
    l[0], x = probe("l1"), probe("x")
    x, l[0] = probe("x2"), probe("l2")
    (x) = l
    x = y = z = probe("xyz")
    x, y, z = y, z, probe("new")
    print("s")
sub()
def tryret():
    try:
        a = probe("a")
        return a
    except ValueError: pass
    finally:
        a = None
        b = probe("b")
tryret()
def fstr():
    x = f"{probe('f')}"
    print("after f")
    y = "%s %s" % (probe("p1"), probe("p2"))
    print("after %")
fstr()
def cmp():
    x = probe("a") == probe("b")
    print("eq")
    x = probe("a") is probe("b")
    print("is")
    x = probe("a") in [probe("b"), probe("c")]
    print("in")
    x = probe("a") is not None is probe("z")
cmp()
def deltup():
    a, b, c = 1, 2, probe("c")
    d = {"x": probe("dx")}
    del a, d["x"], c
    print("del")
deltup()
def lam():
    fs = [lambda i=probe("d%d" % i): i for i in range(2)]
    fs = None
lam()
class K:
    a = probe("class attr")
    b = [probe("x") for _ in range(2)]
    del b
K.a = None
print("class")
def loopdel():
    lst = [probe("p%d"%i) for i in range(3)]
    while lst:
        x = lst.pop()
        print("popped")
    for x in lst: pass
loopdel()
def inst():
    h = O("2"); h.x = h.y; h.y = None
    print("i")
inst()
def gen2():
    try:
        with_local = probe("wl")
        yield from [probe("yf1"), probe("yf2")]
    finally:
        print("fin")
for x in gen2(): print("it")
x = None
g = gen2(); next(g); g.close(); print("closed")
g = None
def passthru():
    a = [probe("1"), probe("2")]
    b = map(lambda x: x, a); a = None
    for x in b: print("m")
    b = filter(lambda x: True, [probe("f1"), probe("f2")])
    for x in b: print("f")
    print(any(probe("any") for _ in range(2)))
    m = max([probe("mx")], key=lambda p: 1); print("mm")
    s = sorted([probe("s1"), probe("s2")], key=lambda p: p.name if 0 else 1); print("ss")
    t = tuple(x for x in [probe("t1"), probe("t2")]); print("tt")
    d = dict(a=probe("da")); d = dict(d, b=probe("db")); print('dd')
    st = {1: probe("q")}.get(1); print("get")
    x = getattr(O("g"), "x"); print("ga")
    isinstance(O("i"), O); print("ii")
    x = [probe("sl1"), probe("sl2"), probe("sl3")][1:]; print("sl")
    x[0:1] = [probe("n1"), probe("n2")]; print("sa")
    x += [probe("app")]; x.insert(0, probe("ins")); x.remove(x[1]); print("rm")
    x.reverse(); x = None
passthru()
print("end")
