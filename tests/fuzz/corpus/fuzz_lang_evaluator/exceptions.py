# An exception holds the frames it went through, and they their variables, until its handler ends.
def fail(x):
    local = list("local of fail")
    raise ValueError("bad")


def middle(y):
    local = list("local of middle")
    fail(list("argument of fail"))


def handled():
    try:
        middle(list("argument of middle"))
    except ValueError:
        print("handling")
    print("handled")


handled()
print("- with a name")


def named():
    before = list("before")
    try:
        middle(list("argument"))
    except ValueError as e:
        print("handling", e)
        print(e.args)
    print("handled")
    try:
        print(e)
    except UnboundLocalError:
        print("e is gone")


named()
print("- kept")


def kept():
    saved = None
    try:
        middle(list("argument"))
    except ValueError as e:
        saved = e
    print("handled")
    saved = None
    print("forgotten")


kept()
print("- temporaries die on the way")


def two(a, b):
    return a


def temporaries():
    try:
        two(list("t1"), two(list("t2"), fail(list("t3"))))
    except ValueError:
        print("handling")


temporaries()
print("- loops die on the way")


def loop():
    for x in [list("x1"), list("x2")]:
        for y in [list("y1"), list("y2")]:
            fail(None)


try:
    loop()
except ValueError:
    print("handling")
print("handled")
print("- finally")


def finally_():
    a = list("a")
    try:
        b = list("b")
        return list("result")
    finally:
        print("finally")


finally_()
print("-")


def finally_raising():
    try:
        try:
            fail(list("arg"))
        finally:
            print("finally")
    except ValueError:
        print("handling")
    print("after")


finally_raising()
print("- reraise")


def reraise():
    inner = list("inner of reraise")
    try:
        fail(None)
    except ValueError:
        print("once")
        raise


try:
    reraise()
except ValueError:
    print("twice")
print("after")
print("- another from within")


def another():
    try:
        fail(list("first"))
    except ValueError as e:
        raise RuntimeError("second")


try:
    another()
except RuntimeError as e:
    print("handling", repr(e.__context__))
print("after")


def chained():
    try:
        fail(list("cause"))
    except ValueError as e:
        raise RuntimeError("second") from e


try:
    chained()
except RuntimeError:
    print("handling")
print("after")
print("- handler returns")


def handler_returns():
    try:
        fail(list("arg"))
    except ValueError as e:
        return list("from handler")


handler_returns()
print("returned")


def handler_continues():
    for i in range(2):
        x = list("x%d" % i)
        try:
            fail(list("f%d" % i))
        except ValueError:
            continue
    print("done")


handler_continues()
print("- else")


def with_else():
    try:
        x = list("x")
    except ValueError:
        pass
    else:
        print("else")
        x = None
    print("end")


with_else()
print("- unbound arguments")


def wants_one(a):
    pass


try:
    wants_one(list("1"), list("2"))
except TypeError as e:
    print(e)
print("- class instances")


class Net:
    def __init__(self):
        self.w = list("weight")

    def forward(self, x):
        y = list("activation")
        raise MemoryError("full")

    def __call__(self, x):
        return self.forward(x)


def step():
    net = Net()
    try:
        out = net(list("input"))
    except MemoryError as e:
        print("full")
        print("still in handler")
    print("out of handler")


step()
print("- in a generator")


def broken():
    held = list("held by generator")
    yield 1
    raise ValueError("inside")


def drive():
    g = broken()
    try:
        for x in g:
            print("got", x)
    except ValueError:
        print("handling")
    print("handled")


drive()
print("- comprehension")
try:
    [fail(x) for x in [list("c1"), list("c2")]]
except ValueError:
    print("handling")
print("end")
