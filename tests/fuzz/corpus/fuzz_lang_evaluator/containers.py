# The order in which containers drop what they hold.
x = [list("l1"), list("l2"), list("l3")]
del x
print("- tuple")
x = (list("t1"), list("t2"), list("t3"))
x = None
print("- dict")
x = {"a": list("d1"), "b": list("d2"), "c": list("d3")}
x = None
print("- nested")
x = [[list("n1"), list("n2")], (list("n3"), list("n4"))]
x = None
print("- replace an element")
x = [list("r1"), list("r2")]
x[0] = list("r3")
print("replaced")
x.append(list("r4"))
x.pop()
print("popped")
x.pop(0)
x.clear()
print("- del an element")
x = [list("e1"), list("e2"), list("e3"), list("e4")]
del x[1]
print("-")
del x[0:2]
print("-")
x[:] = [list("e5"), list("e6")]
print("-")
x.extend([list("e7")])
x *= 2
print("doubled")
x = None
print("- dict again")
d = {"k": list("k1")}
d["k"] = list("k2")
d["j"] = list("j1")
d.pop("k")
print("popped")
d.update({"j": list("j2"), "i": list("i1")})
del d["j"]
d = None
print("- attributes")


class O:
    pass


o = O()
o.a = list("attr a")
o.b = list("attr b")
o.a = list("attr a2")
o.c = list("attr c")
del o.b
print("deleted b")
o = None
print("- concatenation")
x = [list("c1")] + [list("c2")]
x = None
x = (list("c3"),) + (list("c4"),)
x = None
print("- list of lists by multiplication")
x = [[list("m1")]] * 2
x = None
print("- slices")
x = [list("s1"), list("s2"), list("s3")]
y = x[:2]
x = None
print("x gone")
y = None
print("- unpacked")
a, b, c = [list("a"), list("b"), list("c")]
print("names")
a, *rest = [list("a2"), list("b2"), list("c2")]
print("starred")
rest = None
a = b = c = None
print("- star display")
x = [*[list("q1"), list("q2")], list("q3")]
x = None
x = (*[list("q4")], list("q5"))
x = None
x = {**{"a": list("q6")}, "b": list("q7")}
x = None
print("- sorted, reversed")
x = sorted([3, 1, 2])
print("end")
