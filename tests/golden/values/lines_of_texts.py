"""Lists of a long text's lines: what split() and splitlines() give stays a list of strings like any other."""
import copy
import pickle

KINDS = ["import os", "", "    return x", "\tpass", "@mark", "def f():", "class C:", ")", "# é – note", "__all__ = ["]
texts = {
    "plain": "\n".join(KINDS[i % len(KINDS)] + f" {i}" for i in range(200)),
    "ended": "\n".join(f"line {i}" for i in range(300)) + "\n",
    "twice": "x" * 2000 + "\n\n",
    "returns": "\r\n".join(f"row {i}" for i in range(200)),
    "marks": "\n".join(f"a{i}\x0bb\x1cc\x85d\u2028e" for i in range(120)),
    "one": "y" * 3000,
    "empty lines": "\n" * 1500,
}
for name, text in texts.items():
    for lines in (text.split("\n"), text.splitlines()):
        print(name, len(lines), hash(tuple(map(len, lines))) == hash(tuple([len(x) for x in lines])))
        print(*[len(x) if name == "marks" else repr(x[:20]) for x in (lines[0], lines[-1], lines[len(lines) // 2])])
    print("\n".join(text.split("\n")) == text, text.split("\n") == text.split("\n"))
    print(text.splitlines(True) == text.splitlines(), len(text.split("\n", 3)), len(text.rsplit("\n", 2)))

text = texts["plain"]
lines = text.split("\n")
print(lines[3] is lines[3], lines[3:][0] is lines[3], lines[3:6][1] is lines[4], lines[-1] is lines[199])
tail = lines[120:]
held = [lines[i] for i in range(110, 190)]
print(all(a is b for a, b in zip(held[10:], tail)), len(tail), tail[0], tail[-1], tail[-80])
print(lines[10:5], lines[500:], lines[::50], lines[-3:-1], lines[5:8], lines[True])
for wrong in (200, -201):
    try:
        lines[wrong]
    except IndexError as error:
        print(error)
try:
    lines["a"]
except TypeError as error:
    print(error)

# Back and forth: lines above the one asked for last, near and far.
marked = ("\n\n" + "\n".join(f"{i}" * (i % 7) for i in range(1200)) + "\n\n").split("\n")
whole = [marked[i] for i in range(len(marked))]
apart = ("\n\n" + "\n".join(f"{i}" * (i % 7) for i in range(1200)) + "\n\n").split("\n")
asked = [900, 899, 890, 700, 701, 2, 1, 0, 3, 258, 2, 1203, 1202, 1000, 0]
print([apart[i] == whole[i] for i in asked].count(True), len(asked), [apart[i] for i in (9, 8, 7, 2, 1, 0)])
for i, line in enumerate(apart):
    if line.startswith("9"):
        near = [apart[i - 1], apart[i - 2:i] == whole[i - 2:i], apart[i + 1]]
print(near, i)

fresh = text.split("\n")
fresh.append("more")
print(len(fresh), fresh[-1], fresh[199], fresh.pop(), fresh.pop(0), fresh[0] == lines[1])
fresh = text.split("\n")
fresh[1] = "set"
del fresh[0]
print(fresh[:2], len(fresh))
fresh = text.split("\n")
fresh[2:150] = []
fresh += ["end"]
print(len(fresh), fresh[-2:], "end" in fresh, fresh.index("end"), fresh.count("end"))
fresh = text.split("\n")
fresh.sort()
print(fresh[:3], sorted(text.split("\n"))[:3] == fresh[:3], max(text.split("\n")), text.split("\n").index("def f(): 5"))
fresh.clear()
print(fresh, bool(text.split("\n")), bool(fresh))
fresh = text.split("\n")
fresh.reverse()
print(fresh[0], list(reversed(text.split("\n")))[0], next(iter(reversed(fresh))))
first, second, *rest, last = text.split("\n")
print(first, second, len(rest), last)
print(copy.copy(lines) == lines, copy.deepcopy(tail) == tail, pickle.loads(pickle.dumps(tail)) == tail)
print((lines + ["a"])[-1], len(lines * 2), ["b"] + tail[:1], lines == tail, tail < lines, lines[120:] == tail)
print([i for i, line in enumerate(text.split("\n")) if line.startswith("@")][:4], "@mark 4" in text.split("\n"))
print(dict(enumerate(tail))[3], set(text.split("\n")) == set(lines), list(zip(tail, lines))[1], [*tail][:1])
print(str(tail[:1]), repr(texts["ended"].split("\n")[-2:]), isinstance(lines, list), type(tail).__name__)

# A loop that grows what it goes through, one that stops, one that goes on afterwards.
grown = text.split("\n")
for line in grown:
    if line.startswith("@"):
        grown.append("added") if len(grown) < 203 else None
print(len(grown), grown[-1], line)
walk = iter(text.split("\n"))
print(next(walk), next(walk), len(list(walk)), next(walk, "none"))
for i, line in enumerate(lines):
    if not line.startswith(("class", "def")):
        continue
    if i > 60:
        break
print(i, line)
found = None
for i, line in enumerate(text.splitlines()):
    if line.startswith("__all__"):
        found = i
print(found, i, line)
part = text.splitlines()[found:]
print(part[0], len(part), part[0].startswith("__all__"))
for i, line in enumerate(text.split("\n")):
    if line.startswith((" ", "\t", "@", ")")) and not line.startswith("@mark 9"):
        continue
    last_seen = line
    if "é" in line and i > 100:
        break
print(i, line, last_seen)
count = 0
for line in texts["empty lines"].split("\n"):
    if line.startswith("") or "x" in line:
        count += 1
print(count, repr(line))
for line in texts["ended"].split("\n"):
    if "line 29" not in line:
        continue
    count += 1
print(count, repr(line))
for line in texts["ended"].splitlines()[290:]:
    if line.startswith("line 299"):
        print("the last one", line)
for i, line in enumerate(texts["one"].split("\n"), 7):
    if line.startswith("z"):
        print("not here")
print(i, len(line))

# Searches in long texts give the same when they are asked again.
for part in ("é", "class C: 96", "nowhere", "", "\n", "import os 0", "def f(): 195"):
    print([(part in text, text.find(part), text.count(part) > 0) for _ in range(2)])

# Many lines are found one by one: what a loop costs grows with the text.
many = "\n".join("def f():" if i % 2 else "    x = " + "y" * 40 for i in range(60000))
count = 0
for i, line in enumerate(many.split("\n")):
    if line.startswith("def"):
        count += i
print(count, i, sum([1 for line in many.splitlines() if line.startswith("def")]))
