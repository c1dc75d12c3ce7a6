# The order in which containers drop what they hold.
x = [probe("l1"), probe("l2"), probe("l3")]
del x
print("- tuple")
x = (probe("t1"), probe("t2"), probe("t3"))
x = None
print("- dict")
x = {"a": probe("d1"), "b": probe("d2"), "c": probe("d3")}
x = None
print("- nested")
x = [[probe("n1"), probe("n2")], (probe("n3"), probe("n4"))]
x = None
print("- replace an element")
x = [probe("r1"), probe("r2")]
x[0] = probe("r3")
print("replaced")
x.append(probe("r4"))
x.pop()
print("popped")
x.pop(0)
x.clear()
print("- del an element")
x = [probe("e1"), probe("e2"), probe("e3"), probe("e4")]
del x[1]
print("-")
del x[0:2]
print("-")
x[:] = [probe("e5"), probe("e6")]
print("-")
x.extend([probe("e7")])
x *= 2
print("doubled")
x = None
print("- dict again")
d = {"k": probe("k1")}
d["k"] = probe("k2")
d["j"] = probe("j1")
d.pop("k")
print("popped")
d.update({"j": probe("j2"), "i": probe("i1")})
del d["j"]
d = None
print("- attributes")


class O:
    pass


o = O()
o.a = probe("attr a")
o.b = probe("attr b")
o.a = probe("attr a2")
o.c = probe("attr c")
del o.b
print("deleted b")
o = None
print("- concatenation")
x = [probe("c1")] + [probe("c2")]
x = None
x = (probe("c3"),) + (probe("c4"),)
x = None
print("- list of lists by multiplication")
x = [[probe("m1")]] * 2
x = None
print("- slices")
x = [probe("s1"), probe("s2"), probe("s3")]
y = x[:2]
x = None
print("x gone")
y = None
print("- unpacked")
a, b, c = [probe("a"), probe("b"), probe("c")]
print("names")
a, *rest = [probe("a2"), probe("b2"), probe("c2")]
print("starred")
rest = None
a = b = c = None
print("- star display")
x = [*[probe("q1"), probe("q2")], probe("q3")]
x = None
x = (*[probe("q4")], probe("q5"))
x = None
x = {**{"a": probe("q6")}, "b": probe("q7")}
x = None
print("- sorted, reversed")
x = sorted([3, 1, 2])
print("end")
