# Expressions that fail half-way: what was evaluated dies in the order in which CPython unwinds.
class N:
    def __init__(self, n): self.p = probe(n)
    def __add__(self, o): raise ValueError
    def __getitem__(self, i): raise ValueError
    def __setattr__(self, k, v):
        if k == "bad": raise ValueError
        object.__setattr__(self, k, v)
    def __setitem__(self, i, v): raise ValueError
    def __call__(self, *a): raise ValueError
    def m(self, a): raise ValueError
    def __lt__(self, o): raise ValueError
def t(f):
    try: f()
    except (ValueError, TypeError) as e: print("h")
t(lambda: N("a") + N("b"))
t(lambda: N("a")[N("i")])
t(lambda: N("a") < N("b"))
t(lambda: N("a")(N("1"), N("2")))
t(lambda: N("a").m(N("1")))
t(lambda: N("a")(*(N("1"), N("2")), k=N("3")))
t(lambda: len(probe("1")))
t(lambda: print(probe("0"), (probe("1"), probe("2")), N("x") + 1))
def sa(): N("o").bad = probe("v")
t(sa)
def si(): N("o")[probe("i")] = probe("v")
t(si)
def un(): a, b = [probe("1")]
t(un)
def aug():
    x = N("x"); x += N("y")
t(aug)
t(lambda: [probe("l1"), N("q") + 1])
t(lambda: {"a": probe("l1"), "b": N("q") + 1})
t(lambda: (probe("t1"), probe("t2"), N("q") + 1))
t(lambda: f"{probe('f1')} {N('f2') + 1}")
def noret():
    with N("notmanager"): pass
t(noret)
def lst():
    for a in [probe("1"), probe("2")]:
        for b in (N("g") + 1 for _ in [1]): pass
t(lst)
class M:
    def __enter__(self): raise ValueError
    def __exit__(self, *a): pass
def me():
    with M() as q: pass
t(me)
t(lambda: sorted([probe("1"), probe("2")]))
t(lambda: sum([probe("1"), probe("2")]))
t(lambda: [N("c") + 1 for i in range(3)])
t(lambda: isinstance(N("a"), probe("b")))
def f(a, b): c = probe("c"); raise ValueError
t(lambda: f(probe("a"), b=probe("b")))
t(lambda: f(*[probe("a"), probe("b")]))
t(lambda: f(probe("a"), **{"b": probe("b")}))
def outer():
    def inner(): 
        x = probe("ix")
        return N("z") + x
    y = probe("oy")
    inner()
t(outer)
def reuse():
    e2 = None
    try:
        outer()
    except ValueError as e:
        e2 = e
    print("kept")
    z = probe("z")
    return e2
t(reuse)
x = None
def nested():
    try:
        try:
            outer()
        except ValueError as e:
            outer()
    except ValueError as e:
        print("n")
nested()
def g():
    try:
        yield probe("y")
        outer()
    except ValueError as e:
        print("in g")
        yield probe("z")
    print("post")
for q in g(): print("got")
q = None
def ctx():
    p = probe("ctx p")
    try:
        outer()
    finally:
        print("fin")
        p = None
t(ctx)
def whileexc():
    n = 0
    while True:
        try:
            n += 1
            x = probe("w%d" % n)
            if n < 3: raise ValueError
            break
        except ValueError:
            pass
    print("done")
whileexc()
print("end")
