# Assignments of several names, augmented assignment, unpacking, swapping.
def swap():
    a = probe("a")
    b = probe("b")
    a, b = probe("a2"), probe("b2")
    print("two")
    a, b = b, a
    print("swapped")
    a, b = b, None
    print("shifted")


swap()


def three():
    a = probe("a")
    b = probe("b")
    c = probe("c")
    a, b, c = probe("a2"), probe("b2"), probe("c2")
    print("three")


three()


def four():
    a, b, c, d = probe("a"), probe("b"), probe("c"), probe("d")
    a, b, c, d = probe("a2"), probe("b2"), probe("c2"), probe("d2")
    print("four")


four()


def constants():
    a, b = probe("a"), probe("b")
    a, b = None, None
    print("constants")


constants()
print("- at module level")
a, b = probe("a"), probe("b")
a, b = probe("a2"), probe("b2")
print("two")
a, b = b, a
a, b = None, None


class O:
    pass


print("- attributes")
o = O()
o.x, o.y = probe("x"), probe("y")
o.x, o.y = probe("x2"), probe("y2")
print("attributes")


def mixed(o):
    a = probe("a")
    a, o.x = probe("a2"), probe("x3")
    print("mixed")
    o.x, a = probe("x4"), probe("a3")
    print("mixed 2")


mixed(o)
o = None
print("- nested targets")


def nested():
    (a, b), c = (probe("a"), probe("b")), probe("c")
    (a, b), c = (probe("a2"), probe("b2")), probe("c2")
    print("nested")


nested()
print("- chained")


def chained():
    a = b = probe("1")
    a = b = probe("2")
    print("chained")
    x = [None]
    x[0] = y = probe("3")
    x[0] = y = probe("4")
    print("chained 2")


chained()
print("- augmented")


class N:
    def __init__(self, name):
        self.name = name
        self.p = probe(name)

    def __add__(self, other):
        print("add", self.name, other.name)
        return N(self.name + other.name)

    def __mul__(self, other):
        return N(self.name + "*")

    def __rmul__(self, other):
        return N("*" + self.name)

    def __imul__(self, other):
        print("in place")
        return self

    def __neg__(self):
        return N("-" + self.name)

    def __matmul__(self, other):
        return N("(" + self.name + "@" + other.name + ")")


def augmented():
    x = N("x")
    x += N("y")
    print("added")
    x *= N("z")
    print("times")
    x = x + N("w")
    print("plus")
    x = -x
    y = 2 * x
    x = N("a") + N("b") + N("c")
    print("sum")
    x = N("d") @ N("e") + N("f") * 2
    print("products")
    lst = [N("g")]
    lst[0] += N("h")
    print("item")


augmented()
print("- walrus, conditional, boolean")


def others():
    if (w := probe("w")) and True:
        print("w there")
    t = probe("yes") if probe("test") else probe("no")
    print("chosen")
    t = probe("first") or probe("second")
    t = probe("third") and probe("fourth")
    print("and")
    t = not probe("fifth")
    t = probe("sixth") is None
    print("compared")
    while probe("condition"):
        print("loop")
        break
    assert probe("asserted")
    print("end of others")


others()
print("- del of several")
a, b = probe("a"), probe("b")
del b, a
print("- global")


def use_global():
    global g
    g = probe("g1")
    g = probe("g2")


use_global()
print("still")
del g
print("end")
print("- del of several, one of which is finalized")


class Finalized:
    def __init__(self, name):
        self.held = probe(name)

    def __del__(self):
        print("__del__")


several, other = Finalized("several"), probe("other")
del several, other
