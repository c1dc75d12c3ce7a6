# An exception holds the frames it went through, and they their variables, until its handler ends.
def fail(x):
    local = probe("local of fail")
    raise ValueError("bad")


def middle(y):
    local = probe("local of middle")
    fail(probe("argument of fail"))


def handled():
    try:
        middle(probe("argument of middle"))
    except ValueError:
        print("handling")
    print("handled")


handled()
print("- with a name")


def named():
    before = probe("before")
    try:
        middle(probe("argument"))
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
        middle(probe("argument"))
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
        two(probe("t1"), two(probe("t2"), fail(probe("t3"))))
    except ValueError:
        print("handling")


temporaries()
print("- loops die on the way")


def loop():
    for x in [probe("x1"), probe("x2")]:
        for y in [probe("y1"), probe("y2")]:
            fail(None)


try:
    loop()
except ValueError:
    print("handling")
print("handled")
print("- finally")


def finally_():
    a = probe("a")
    try:
        b = probe("b")
        return probe("result")
    finally:
        print("finally")


finally_()
print("-")


def finally_raising():
    try:
        try:
            fail(probe("arg"))
        finally:
            print("finally")
    except ValueError:
        print("handling")
    print("after")


finally_raising()
print("- reraise")


def reraise():
    inner = probe("inner of reraise")
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
        fail(probe("first"))
    except ValueError as e:
        raise RuntimeError("second")


try:
    another()
except RuntimeError as e:
    print("handling", repr(e.__context__))
print("after")


def chained():
    try:
        fail(probe("cause"))
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
        fail(probe("arg"))
    except ValueError as e:
        return probe("from handler")


handler_returns()
print("returned")


def handler_continues():
    for i in range(2):
        x = probe("x%d" % i)
        try:
            fail(probe("f%d" % i))
        except ValueError:
            continue
    print("done")


handler_continues()
print("- else")


def with_else():
    try:
        x = probe("x")
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
    wants_one(probe("1"), probe("2"))
except TypeError as e:
    print(e)
print("- class instances")


class Net:
    def __init__(self):
        self.w = probe("weight")

    def forward(self, x):
        y = probe("activation")
        raise MemoryError("full")

    def __call__(self, x):
        return self.forward(x)


def step():
    net = Net()
    try:
        out = net(probe("input"))
    except MemoryError as e:
        print("full")
        print("still in handler")
    print("out of handler")


step()
print("- in a generator")


def broken():
    held = probe("held by generator")
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
    [fail(x) for x in [probe("c1"), probe("c2")]]
except ValueError:
    print("handling")
print("end")
