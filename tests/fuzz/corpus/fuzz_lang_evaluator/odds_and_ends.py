# Calls that cannot bind, attribute order, formats, comparisons, library functions.
def f(a): pass
try: f(list("1"), list("2"))
except TypeError as e: print("h")
print('--')
try: f(list("1"), list("2"), list("3"))
except TypeError as e: print("h")
print('--')
try: f()
except TypeError as e: print("h")
def g(a,b,c): pass
print('--')
try: g(list("1"), list("2"))
except TypeError as e: print("h")
print('--')
try: g(list("1"), x=list("2"))
except TypeError as e: print("h")
print('--')
try: g(list("1"), list("2"), a=list("3"))
except TypeError as e: print("h")
print('--')
class C:
    def __init__(self, a): pass
try: C(list("1"), list("2"))
except TypeError as e: print("h")
try: g(*(list("1"), list("2")))
except TypeError as e: print("h")
def cb():
    c = list("c"); a = list("a")
    def inner(): return c, a
    d = list("d")
    raise ValueError
try: cb()
except ValueError: print("h")
class O:
    def __init__(self, n): self.x = list(n+"x"); self.y = list(n+"y")
o = O("1")
class Q: pass
q = Q(); q.a = list("qa"); q.b = list("qb")
r = Q(); r.b = list("rb"); r.a = list("ra")
q = None; r = None
def sub(): 
    l = [list("l0")]
    l[0], x = list("l1"), list("x")
    x, l[0] = list("x2"), list("l2")
    (x) = l
    x = y = z = list("xyz")
    x, y, z = y, z, list("new")
    print("s")
sub()
def tryret():
    try:
        a = list("a")
        return a
    except ValueError: pass
    finally:
        a = None
        b = list("b")
tryret()
def fstr():
    x = f"{list('f')}"
    print("after f")
    y = "%s %s" % (list("p1"), list("p2"))
    print("after %")
fstr()
def cmp():
    x = list("a") == list("b")
    print("eq")
    x = list("a") is list("b")
    print("is")
    x = list("a") in [list("b"), list("c")]
    print("in")
    x = list("a") is not None is list("z")
cmp()
def deltup():
    a, b, c = 1, 2, list("c")
    d = {"x": list("dx")}
    del a, d["x"], c
    print("del")
deltup()
def lam():
    fs = [lambda i=list("d%d" % i): i for i in range(2)]
    fs = None
lam()
class K:
    a = list("class attr")
    b = [list("x") for _ in range(2)]
    del b
K.a = None
print("class")
def loopdel():
    lst = [list("p%d"%i) for i in range(3)]
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
        with_local = list("wl")
        yield from [list("yf1"), list("yf2")]
    finally:
        print("fin")
for x in gen2(): print("it")
x = None
g = gen2(); next(g); g.close(); print("closed")
g = None
def passthru():
    a = [list("1"), list("2")]
    b = map(lambda x: x, a); a = None
    for x in b: print("m")
    b = filter(lambda x: True, [list("f1"), list("f2")])
    for x in b: print("f")
    print(any(list("any") for _ in range(2)))
    m = max([list("mx")], key=lambda p: 1); print("mm")
    s = sorted([list("s1"), list("s2")], key=lambda p: p.name if 0 else 1); print("ss")
    t = tuple(x for x in [list("t1"), list("t2")]); print("tt")
    d = dict(a=list("da")); d = dict(d, b=list("db")); print('dd')
    st = {1: list("q")}.get(1); print("get")
    x = getattr(O("g"), "x"); print("ga")
    isinstance(O("i"), O); print("ii")
    x = [list("sl1"), list("sl2"), list("sl3")][1:]; print("sl")
    x[0:1] = [list("n1"), list("n2")]; print("sa")
    x += [list("app")]; x.insert(0, list("ins")); x.remove(x[1]); print("rm")
    x.reverse(); x = None
passthru()
print("end")
