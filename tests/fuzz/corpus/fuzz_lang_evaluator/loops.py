# Loops, iterators and the tuples that enumerate, zip and items() keep.
def items(n, name):
    return [list("%s%d" % (name, i)) for i in range(n)]


def simple():
    for x in items(2, "s"):
        print("body")
    print("after")


simple()


def with_break():
    for x in items(3, "b"):
        print("body")
        break
    print("after break")


with_break()


def with_else():
    for x in items(2, "e"):
        x = None
        print("dropped name")
    else:
        print("else")


with_else()


def by_return():
    y = list("y")
    for x in items(3, "r"):
        return list("result")


by_return()
print("returned")


def enumerated():
    for i, x in enumerate(items(3, "n")):
        print("turn", i)
        x = None
        print("name gone")
    print("after enumerate")


enumerated()


def kept_pairs():
    pairs = []
    for pair in enumerate(items(3, "k")):
        pairs.append(pair)
    pair = None
    print("kept")


kept_pairs()


def zipped():
    for a, b in zip(items(2, "za"), items(3, "zb")):
        print("turn")
        a = b = None
        print("names gone")
    print("after zip")


zipped()


def dict_items():
    d = {"a": list("da"), "b": list("db")}
    for k, v in d.items():
        d[k] = None
        v = None
        print("turn", k)
    print("after items")
    for v in d.values():
        pass


dict_items()


def reversed_list():
    for x in reversed(items(2, "v")):
        print("turn")
    print("after reversed")


reversed_list()


def nested():
    for x in items(2, "o"):
        for y in items(2, "i"):
            print("inner")
            if x is y:
                return
        print("outer")


nested()


def while_loop():
    n = 0
    while n < 2:
        x = list("w%d" % n)
        n += 1
    else:
        print("done")


while_loop()


def generators():
    g = (list("g%d" % i) for i in range(3))
    for x in g:
        print("turn")
    print("after generator")
    g = (x for x in items(2, "h"))
    next(g)
    print("one taken")
    g = None
    print("generator dropped")


generators()


def made(n):
    local = list("local")
    for i in range(n):
        yield list("y%d" % i)
        print("resumed")
    print("finished")


def functions_with_yield():
    for x in made(2):
        print("got")
    print("after")
    it = made(3)
    next(it)
    print("one")
    x = next(it)
    it = None
    print("dropped it")


functions_with_yield()
total = sum([1, 2, 3])
print(list(x for x in [1, 2]))
print("- comprehensions")


def comprehensions():
    a = [list("c%d" % i) for i in range(2)]
    print("made")
    b = [x for x in a]
    a = None
    print("a gone")
    b = [None for x in b]
    print("b replaced")
    c = {k: list("v" + k) for k in "ab"}
    c = None
    d = [(x, y) for x in items(2, "p") for y in items(1, "q")]
    print("pairs")
    d = None
    e = [list("t") for x in items(2, "f") if x is None]
    print("filtered")


comprehensions()
print("- unpacking in for")
for (a, b), c in [((list("1"), list("2")), list("3"))]:
    print("unpacked")
a = b = c = None
for x, *y in [[list("4"), list("5"), list("6")]]:
    pass
x = y = None
print("end")
