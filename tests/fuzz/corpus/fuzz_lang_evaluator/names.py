# A name keeps its value until it is rebound, deleted or its frame ends; the new value exists first.
a = list("a1")
print("bound")
a = list("a2")
print("rebound")
b = a
del a
print("deleted one name")
b = None
print("gone")
x = y = list("shared")
x = 0
print("one left")
y = 0


def f(p, q):
    r = list("r")
    s = list("s")
    p = list("p2")
    print("in f")
    return list("result")


f(list("p"), list("q"))
print("called")
out = f(list("p"), list("q"))
print("called again")
del out


def order_of_first_binding(c):
    if c:
        z = list("z")
    else:
        z = None
    y = list("y")
    x = list("x")
    y = list("y again")


order_of_first_binding(True)


def read_before_bound(flag):
    if not flag:
        print(late)
    early = list("early")
    late = list("late")


read_before_bound(True)


def deleted():
    a = list("a")
    b = list("b")
    del a
    print("a is gone")


deleted()


def rebinding(n):
    x = list("x0")
    for i in range(n):
        x = list("x%d" % (i + 1))
        print("turn", i)
    print("after")


rebinding(3)
for loop_variable in [list("l1"), list("l2")]:
    print("body")
print("loop ended")
del loop_variable
print("end")
