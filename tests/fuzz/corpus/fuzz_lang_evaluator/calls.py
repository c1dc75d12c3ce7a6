# Temporaries live until what consumes them returns; a Python function owns its arguments, others do not.
def consume(x):
    print("consume", x)
    x = None
    print("dropped within")
    return list("made")


def keep(x):
    print("keep", x)
    return 1


def nothing():
    return None


consume(list("arg"))
print("-")
keep(consume(list("inner")))
print("- a bound method")


class C:
    def method(self, x):
        x = None
        print("method")

    def __call__(self, x):
        x = None
        print("called")

    def __init__(self, x=None):
        x = None
        print("init")

    @staticmethod
    def static(x):
        x = None
        print("static")

    @classmethod
    def klass(cls, x):
        x = None
        print("classmethod")


c = C(list("init arg"))
c.method(list("method arg"))
print("- stored bound method")
m = c.method
m(list("bound arg"))
print("- __call__")
c(list("call arg"))
print("- static and class")
c.static(list("static arg"))
C.static(list("static arg 2"))
c.klass(list("class arg"))
print("- star")
args = (list("t1"), list("t2"))


def two(a, b):
    a = None
    b = None
    print("two")


two(*args)
print("tuple still there")
args = None
two(*(list("u1"), list("u2")))
print("- list star")
two(*[list("v1"), list("v2")])
print("- keywords")
two(a=list("k1"), b=list("k2"))
two(**{"a": list("d1"), "b": list("d2")})
print("- star with more")
two(list("w1"), *[list("w2")])
print("- builtins hold")
print(len([list("e1"), list("e2")]))
print(isinstance(list("i"), int))
print("- varargs")


def var(*args, **kwargs):
    print("var")
    del args
    print("args gone")


var(list("x1"), list("x2"), k=list("xk"))
print("- default")


def default(a, b=list("default value")):
    b = None
    print("default")


default(1)
default(2)
print("- lambda")
(lambda q: print("lambda", q))(list("lambda arg"))
(lambda: list("lambda result"))()
print("- nested calls")


def chain(x):
    return list("chain")


chain(chain(chain(list("start"))))
print("- temporaries of an expression")
t = (list("left"), list("right"))[0]
print("indexed")
del t
[list("elem")][0]
print("- attribute of a temporary")


class Holder:
    def __init__(self, name):
        self.p = list(name)

    def get(self):
        return self.p

    def itself(self):
        return self


h = Holder("held").p
print("holder gone, not what it held")
del h
Holder("via method").get()
print("- chained methods")
Holder("chained").itself().itself().get()
print("- map and partial calls")
list(map(keep, [list("m1"), list("m2")]))
print("end")
