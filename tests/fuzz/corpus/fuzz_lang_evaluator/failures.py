# Expressions that fail half-way: what was evaluated dies in the order in which CPython unwinds.
class N:
    def __init__(self, n): self.p = list(n)
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
t(lambda: len(list("1")))
t(lambda: print(list("0"), (list("1"), list("2")), N("x") + 1))
def sa(): N("o").bad = list("v")
t(sa)
def si(): N("o")[list("i")] = list("v")
t(si)
def un(): a, b = [list("1")]
t(un)
def aug():
    x = N("x"); x += N("y")
t(aug)
t(lambda: [list("l1"), N("q") + 1])
t(lambda: {"a": list("l1"), "b": N("q") + 1})
t(lambda: (list("t1"), list("t2"), N("q") + 1))
t(lambda: f"{list('f1')} {N('f2') + 1}")
def noret():
    with N("notmanager"): pass
t(noret)
def lst():
    for a in [list("1"), list("2")]:
        for b in (N("g") + 1 for _ in [1]): pass
t(lst)
class M:
    def __enter__(self): raise ValueError
    def __exit__(self, *a): pass
def me():
    with M() as q: pass
t(me)
t(lambda: sorted([list("1"), list("2")]))
t(lambda: sum([list("1"), list("2")]))
t(lambda: [N("c") + 1 for i in range(3)])
t(lambda: isinstance(N("a"), list("b")))
def f(a, b): c = list("c"); raise ValueError
t(lambda: f(list("a"), b=list("b")))
t(lambda: f(*[list("a"), list("b")]))
t(lambda: f(list("a"), **{"b": list("b")}))
def outer():
    def inner(): 
        x = list("ix")
        return N("z") + x
    y = list("oy")
    inner()
t(outer)
def reuse():
    e2 = None
    try:
        outer()
    except ValueError as e:
        e2 = e
    print("kept")
    z = list("z")
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
        yield list("y")
        outer()
    except ValueError as e:
        print("in g")
        yield list("z")
    print("post")
for q in g(): print("got")
q = None
def ctx():
    p = list("ctx p")
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
            x = list("w%d" % n)
            if n < 3: raise ValueError
            break
        except ValueError:
            pass
    print("done")
whileexc()
print("end")
