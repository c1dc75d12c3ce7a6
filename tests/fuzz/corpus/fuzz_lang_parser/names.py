# A name keeps its value until it is rebound, deleted or its frame ends; the new value exists first.
a = probe("a1")
print("bound")
a = probe("a2")
print("rebound")
b = a
del a
print("deleted one name")
b = None
print("gone")
x = y = probe("shared")
x = 0
print("one left")
y = 0


def f(p, q):
    r = probe("r")
    s = probe("s")
    p = probe("p2")
    print("in f")
    return probe("result")


f(probe("p"), probe("q"))
print("called")
out = f(probe("p"), probe("q"))
print("called again")
del out


def order_of_first_binding(c):
    if c:
        z = probe("z")
    else:
        z = None
    y = probe("y")
    x = probe("x")
    y = probe("y again")


order_of_first_binding(True)


def read_before_bound(flag):
    if not flag:
        print(late)
    early = probe("early")
    late = probe("late")


read_before_bound(True)


def deleted():
    a = probe("a")
    b = probe("b")
    del a
    print("a is gone")


deleted()


def rebinding(n):
    x = probe("x0")
    for i in range(n):
        x = probe("x%d" % (i + 1))
        print("turn", i)
    print("after")


rebinding(3)
for loop_variable in [probe("l1"), probe("l2")]:
    print("body")
print("loop ended")
del loop_variable
print("end")
