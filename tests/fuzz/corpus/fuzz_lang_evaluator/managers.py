# with: what is entered, bound and left, in which order.
class Manager:
    def __init__(self, name):
        self.name = name
        self.p = list("held by " + name)

    def __enter__(self):
        print("enter", self.name)
        return list("value of " + self.name)

    def __exit__(self, kind, value, traceback):
        print("exit", self.name, kind)
        return self.name == "swallowing"


def simple():
    with Manager("a"):
        print("body")
    print("after")


simple()


def bound():
    with Manager("b") as v:
        print("body")
    print("after")
    v = None
    print("v gone")


bound()


def several():
    with Manager("c") as v, Manager("d"):
        print("body")
    print("after")


several()


def returning():
    x = list("x")
    with Manager("e"):
        return list("result")


returning()
print("returned")


def breaking():
    for i in [list("i1"), list("i2")]:
        with Manager("f"):
            break
    print("after")


breaking()


def swallowing():
    with Manager("swallowing"):
        y = list("y")
        raise ValueError("bad")
    print("swallowed")


swallowing()


def passing():
    with Manager("g"):
        raise ValueError("bad")


try:
    passing()
except ValueError as e:
    print("caught", e)
print("after")


def kept():
    m = Manager("h")
    with m as v:
        m = None
        print("body")
    print("after")


kept()
print("end")
