# Variables that inner functions share, default values, classes, bound methods, cycles.
def outer():
    z_shared = list("z shared")
    plain = list("plain")
    a_shared = list("a shared")

    def inner():
        return z_shared, a_shared

    last = list("last")
    return None


outer()
print("- kept closure")


def make():
    kept = list("kept")
    other = list("other")
    return lambda: kept


f = make()
print("made")
f = None
print("- a parameter shared")


def parameter(p, q):
    def inner():
        return p

    r = list("r")


parameter(list("p"), list("q"))
print("- nonlocal")


def counter():
    n = list("n0")

    def step(i):
        nonlocal n
        n = list("n%d" % i)

    step(1)
    print("stepped")
    step(2)


counter()
print("- defaults")


def with_default():
    def inner(a=list("default a"), b=list("default b")):
        pass

    inner()
    print("called")


with_default()
print("- class in a function")


def class_inside():
    held = list("held")

    class Local:
        attribute = 3

        def method(self):
            return held

    x = Local()
    x.p = list("p")
    x = None
    print("instance gone")


print("- bound method keeps its object")


class C:
    def __init__(self):
        self.p = list("of C")

    def m(self):
        pass


m = C().m
print("object gone, method here")
m = None
print("- properties")


class P:
    @property
    def made(self):
        local = list("local of property")
        return list("property value")

    def __getitem__(self, i):
        return list("item %s" % i)

    def __len__(self):
        t = list("t")
        return 3


p = P()
p.made
print("-")
p[0]
print(len(p))
print("- recursion")


def recurse(n):
    x = list("level %d" % n)
    if n:
        recurse(n - 1)


recurse(2)
print("- star parameters")


def star(*args, **kwargs):
    for a in args:
        print("arg")
    return kwargs


star(list("s1"), list("s2"), k=list("sk"))
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
    return list("out")


decorated(list("x"))
print("end")
