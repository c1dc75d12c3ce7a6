# Loops, caches, hooks and retries as training code has them.
class Opt:
    def __init__(self, ps): self.ps = list(ps)
    def step(self):
        for p in self.ps:
            g = probe("g%s" % p.n)
class P:
    def __init__(self, n): self.n = n; self.p = probe("p%d" % n)
ps = [P(i) for i in range(2)]
opt = Opt(p for p in ps)
opt.step()
def train(n):
    losses = []
    for step in range(n):
        x, y = probe("x%d" % step), probe("y%d" % step)
        out = (lambda a: probe("out%d" % step))(x)
        loss = [probe("loss%d" % step)][0]
        if step % 2: losses.append(loss)
        del out
    print("end train")
    return losses[-1]
r = train(3)
print("got")
r = None
def oom(n):
    b = 64
    while b:
        try:
            x = probe("b%d" % b)
            acts = []
            for i in range(3):
                acts.append(probe("act%d" % i))
                if i == 1 and b > 16: raise RuntimeError("oom")
            return b
        except RuntimeError as e:
            print("oom at", b)
            b //= 2
        print("retry")
print(oom(1))
class Hook:
    def __init__(self): self.fs = []
    def reg(self, f): self.fs.append(f); return f
h = Hook()
@h.reg
def f(x, memo={}): memo[len(memo)] = x; return memo
f(probe("m0")); f(probe("m1"))
h = None
f = None
print("hook gone")
def kv():
    cache = None
    for t in range(3):
        new = probe("k%d" % t)
        cache = (cache, new) if cache is not None else (new,)
        print("t", t)
    cache = None
    print("cleared")
kv()
def ternary(flag):
    x = probe("a") if flag else probe("b")
    y = (x, probe("c"))[flag]
    return y is x
print(ternary(True))
def slices():
    l = [probe(str(i)) for i in range(5)]
    a, b = l[:2], l[3:]
    l = l[1:2] + b
    print("sliced")
    a = [*a, *b][::-1]
    print("reversed")
slices()
def kwargs_flow(**kw):
    def inner(a, b=None): print("inner"); a = None; print("a none")
    inner(kw.pop("a"), **kw)
kwargs_flow(a=probe("ka"), b=probe("kb"))
def starred(*xs):
    first, *rest = xs
    xs = None
    print("unpacked")
    rest = tuple(rest)
    first = None
starred(probe("s0"), probe("s1"), probe("s2"))
x = {k: v for k, v in zip("ab", [probe("za"), probe("zb")])}
x["a"] = x["b"]
x.clear()
print("cleared")
def setdef():
    d = {}
    d.setdefault("k", []).append(probe("sd"))
    d["k"] += [probe("sd2")]
    v = d.pop("k").pop()
    print("popped")
setdef()
def nestfn():
    a = probe("na")
    def g():
        b = probe("nb")
        def h(): return a, b
        return h
    k = g()
    print("k")
    k = None
    print("k none")
nestfn()
class It:
    def __init__(self): self.i = 0; self.p = probe("it")
    def __iter__(self): return self
    def __next__(self):
        self.i += 1
        if self.i > 2: raise StopIteration
        return probe("i%d" % self.i)
for x in It(): print("it", x)
x = None
def wh():
    while (x := probe("cond")) and not isinstance(x, int):
        x = 3
        print("int")
        break
    with open_() as (a, b): print("tuple")
class open_:
    def __enter__(self): return probe("wa"), probe("wb")
    def __exit__(self, *a): print("exit")
wh()
print("end")
