# Assignments of several names, augmented assignment, unpacking, swapping.
def swap():
    a = list("a")
    b = list("b")
    a, b = list("a2"), list("b2")
    print("two")
    a, b = b, a
    print("swapped")
    a, b = b, None
    print("shifted")


swap()


def three():
    a = list("a")
    b = list("b")
    c = list("c")
    a, b, c = list("a2"), list("b2"), list("c2")
    print("three")


three()


def four():
    a, b, c, d = list("a"), list("b"), list("c"), list("d")
    a, b, c, d = list("a2"), list("b2"), list("c2"), list("d2")
    print("four")


four()


def constants():
    a, b = list("a"), list("b")
    a, b = None, None
    print("constants")


constants()
print("- at module level")
a, b = list("a"), list("b")
a, b = list("a2"), list("b2")
print("two")
a, b = b, a
a, b = None, None


class O:
    pass


print("- attributes")
o = O()
o.x, o.y = list("x"), list("y")
o.x, o.y = list("x2"), list("y2")
print("attributes")


def mixed(o):
    a = list("a")
    a, o.x = list("a2"), list("x3")
    print("mixed")
    o.x, a = list("x4"), list("a3")
    print("mixed 2")


mixed(o)
o = None
print("- nested targets")


def nested():
    (a, b), c = (list("a"), list("b")), list("c")
    (a, b), c = (list("a2"), list("b2")), list("c2")
    print("nested")


nested()
print("- chained")


def chained():
    a = b = list("1")
    a = b = list("2")
    print("chained")
    x = [None]
    x[0] = y = list("3")
    x[0] = y = list("4")
    print("chained 2")


chained()
print("- augmented")


class N:
    def __init__(self, name):
        self.name = name
        self.p = list(name)

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
    if (w := list("w")) and True:
        print("w there")
    t = list("yes") if list("test") else list("no")
    print("chosen")
    t = list("first") or list("second")
    t = list("third") and list("fourth")
    print("and")
    t = not list("fifth")
    t = list("sixth") is None
    print("compared")
    while list("condition"):
        print("loop")
        break
    assert list("asserted")
    print("end of others")


others()
print("- del of several")
a, b = list("a"), list("b")
del b, a
print("- global")


def use_global():
    global g
    g = list("g1")
    g = list("g2")


use_global()
print("still")
del g
print("end")
