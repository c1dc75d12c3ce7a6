# Temporaries live until what consumes them returns; a Python function owns its arguments, others do not.
def consume(x):
    print("consume", x)
    x = None
    print("dropped within")
    return probe("made")


def keep(x):
    print("keep", x)
    return 1


def nothing():
    return None


consume(probe("arg"))
print("-")
keep(consume(probe("inner")))
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


c = C(probe("init arg"))
c.method(probe("method arg"))
print("- stored bound method")
m = c.method
m(probe("bound arg"))
print("- __call__")
c(probe("call arg"))
print("- static and class")
c.static(probe("static arg"))
C.static(probe("static arg 2"))
c.klass(probe("class arg"))
print("- star")
args = (probe("t1"), probe("t2"))


def two(a, b):
    a = None
    b = None
    print("two")


two(*args)
print("tuple still there")
args = None
two(*(probe("u1"), probe("u2")))
print("- list star")
two(*[probe("v1"), probe("v2")])
print("- keywords")
two(a=probe("k1"), b=probe("k2"))
two(**{"a": probe("d1"), "b": probe("d2")})
print("- star with more")
two(probe("w1"), *[probe("w2")])
print("- builtins hold")
print(len([probe("e1"), probe("e2")]))
print(isinstance(probe("i"), int))
print("- varargs")


def var(*args, **kwargs):
    print("var")
    del args
    print("args gone")


var(probe("x1"), probe("x2"), k=probe("xk"))
print("- default")


def default(a, b=probe("default value")):
    b = None
    print("default")


default(1)
default(2)
print("- lambda")
(lambda q: print("lambda", q))(probe("lambda arg"))
(lambda: probe("lambda result"))()
print("- nested calls")


def chain(x):
    return probe("chain")


chain(chain(chain(probe("start"))))
print("- temporaries of an expression")
t = (probe("left"), probe("right"))[0]
print("indexed")
del t
[probe("elem")][0]
print("- attribute of a temporary")


class Holder:
    def __init__(self, name):
        self.p = probe(name)

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
list(map(keep, [probe("m1"), probe("m2")]))
print("end")
