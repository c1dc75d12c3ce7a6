"""Sets of numbers and of tuples of numbers: their order by their history, thousands of drawn ones."""
import copy
import random

random.seed(20)


def element(kind):
    if kind == "small":
        return random.randrange(40)
    if kind == "large":
        return random.choice([random.randrange(-10**6, 10**6), random.randrange(-2**63, 2**63), random.randrange(2**90)])
    if kind == "real":
        return random.choice([random.random(), random.uniform(-1e300, 1e300), random.randrange(9) / 4, -1.0, 1e-320])
    if kind == "tuple":
        return tuple(random.randrange(-3, 60) for _ in range(random.randrange(4)))
    if kind == "frozen":
        return frozenset(random.randrange(12) for _ in range(random.randrange(5)))
    return random.choice([True, False, -1, -2, 0, 1.0, 2**61 - 1, 2**61, -(2**61), 0.5, float("inf"), (1, (2, 3)), ()])


def made(kind, count):
    items = [element(kind) for _ in range(random.randrange(count))]
    how = random.randrange(8)
    if how == 0:
        return set(items)
    if how == 1:
        return {item for item in items}
    if how == 2:
        return set(dict.fromkeys(items))
    if how == 3:
        return set(frozenset(items))
    if how == 4:
        return frozenset(items)
    if how == 5:
        return set(items) | set(items[::2])
    if how == 6:
        return set(dict.fromkeys(items).keys())
    out = set()
    for item in items:
        out.add(item)
    return out


def changed(held, kind, count):
    how = random.randrange(26)
    other = made(kind, count)
    if how == 0:
        return held | other
    if how == 1:
        return held & other
    if how == 2:
        return held - other
    if how == 3:
        return held ^ other
    if how == 4:
        return held.union(other, list(other))
    if how == 5:
        return held.intersection(list(other))
    if how == 6:
        return held.difference(list(other))
    if how == 7:
        return held.symmetric_difference(list(other))
    if how == 8:
        return held.copy()
    if how == 9:
        return copy.deepcopy(held)
    if how == 10:
        return held.difference(dict.fromkeys(other))
    if how == 11:
        return dict.fromkeys(held).keys() & other
    if how == 12:
        return dict.fromkeys(held).keys() - other
    if how == 13:
        return other | dict.fromkeys(held).keys()
    if how == 14:
        return dict.fromkeys(held).keys() ^ dict.fromkeys(other).keys()
    if isinstance(held, frozenset):
        return set(held)
    if how == 15:
        held |= other
    elif how == 16:
        held &= other
    elif how == 17:
        held -= other
    elif how == 18:
        held ^= other
    elif how == 19:
        held.update(other, dict.fromkeys(made(kind, count)), [element(kind)])
    elif how == 20:
        held.difference_update(list(other))
    elif how == 21:
        held.symmetric_difference_update(list(other))
    elif how == 22:
        for _ in range(min(len(held), random.randrange(4))):
            held.pop()
    elif how == 23 and random.random() < 0.2:
        held.clear()
    elif how == 24:
        for item in list(held)[:: random.randrange(1, 4)]:
            held.remove(item)
    else:
        for item in other:
            held.add(item)
            if random.random() < 0.3:
                held.discard(element(kind))
    return held


def digest(items):
    out = 7
    for item in items:
        out = (out * 1000003 + hash(item)) % (2**61 - 1)
    return out


for kind in ("small", "large", "real", "tuple", "frozen", "odd"):
    for count in (6, 20, 90, 400):
        out = 1
        for sequence in range(120 if count < 400 else 30):
            held = made(kind, count)
            for step in range(random.randrange(1, 14)):
                held = changed(held, kind, count)
                if random.random() < 0.5:
                    out = (out * 31 + digest(held)) % (2**61 - 1)
            out = (out * 31 + digest(held)) % (2**61 - 1)
        print(kind, count, out, len(held))

print({3, 1, 2}, {10, 3, 1, 2, 40, 7, 0, 100}, {8, 0}, {0, 8}, {-1, -2, 5}, {1.5, 0.25, 1e10, 3}, set(range(10, 0, -1)))
print([x for x in {50, 40, 30, 20, 10, 5}], {(2, 3), (1, 2), (0, 0)}, frozenset([9, 17, 1]))
for x in {64, 32, 96, 1, 2, 33}:
    print(x, end=" ")
print()
large = set(range(0, 300000, 3)) | set(range(0, 300000, 7))
large -= set(range(0, 300000, 2))
print(len(large), list(large)[:5], digest(large))
work, seen = {1}, []
while work and len(seen) < 3000:
    x = work.pop()
    seen.append(x)
    work.update(y for y in (x * 3 % 10007, x * 5 % 10007) if y not in seen[-50:])
print(digest(seen), len(work))
print(hash(2**61 - 1), hash(-1), hash(1.5), hash((1, 2)), hash(frozenset([1, 2])), hash(-(2**64)), hash(10**30), hash(0.1))
print(max({3, 9, 4}), sorted({5, 1, 3}), sum({1, 2}), list({True, 0, 2}), next(iter({9, 1})), *{7, 8, 16})
print(" ".join(map(str, {i * i % 31 for i in range(31)})), {3.0, 3, True, 1}, set([4, 1]) == {1, 4})
texts = set()
for word in ("b", "a"):
    texts.add(word)
print(sorted(texts), len({1, "a", 2}), sorted({1, 2} | {3}))
