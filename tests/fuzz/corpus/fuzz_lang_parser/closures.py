# Variables that inner functions share, default values, classes, bound methods, cycles.
def outer():
    z_shared = probe("z shared")
    plain = probe("plain")
    a_shared = probe("a shared")

    def inner():
        return z_shared, a_shared

    last = probe("last")
    return None


outer()
print("- kept closure")


def make():
    kept = probe("kept")
    other = probe("other")
    return lambda: kept


f = make()
print("made")
f = None
print("- a parameter shared")


def parameter(p, q):
    def inner():
        return p

    r = probe("r")


parameter(probe("p"), probe("q"))
print("- nonlocal")


def counter():
    n = probe("n0")

    def step(i):
        nonlocal n
        n = probe("n%d" % i)

    step(1)
    print("stepped")
    step(2)


counter()
print("- defaults")


def with_default():
    def inner(a=probe("default a"), b=probe("default b")):
        pass

    inner()
    print("called")


with_default()
print("- class in a function")


def class_inside():
    held = probe("held")

    class Local:
        attribute = 3

        def method(self):
            return held

    x = Local()
    x.p = probe("p")
    x = None
    print("instance gone")


print("- bound method keeps its object")


class C:
    def __init__(self):
        self.p = probe("of C")

    def m(self):
        pass


m = C().m
print("object gone, method here")
m = None
print("- properties")


class P:
    @property
    def made(self):
        local = probe("local of property")
        return probe("property value")

    def __getitem__(self, i):
        return probe("item %s" % i)

    def __len__(self):
        t = probe("t")
        return 3


p = P()
p.made
print("-")
p[0]
print(len(p))
print("- recursion")


def recurse(n):
    x = probe("level %d" % n)
    if n:
        recurse(n - 1)


recurse(2)
print("- star parameters")


def star(*args, **kwargs):
    for a in args:
        print("arg")
    return kwargs


star(probe("s1"), probe("s2"), k=probe("sk"))
print("- decorated")


def decorate(function):
    def wrapper(*args, **kwargs):
        print("before")
        out = function(*args, **kwargs)
        print("after")
        return out

    return wrapper


@decorate
def decorated(x):
    x = None
    print("inside")
    return probe("out")


decorated(probe("x"))
print("end")
