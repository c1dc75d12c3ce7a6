"""what a class's own __hash__ may give: integers of any size, and of any class of them"""
class Key:
    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        return self.number == other.number


class Number(int):
    def __hash__(self):
        return 99


class Pair(tuple):
    def __hash__(self):
        return 1 + (1 << 66) + tuple.__hash__(self)


print(hash(Key(5)), hash(Key(True)), hash(Key(Number(7))), hash(Key(-1)))
print(hash(Key(1 << 70)), hash(Key(-(1 << 90) - 5)), hash(Key((1 << 63) - 1)), hash(Key(-(1 << 63))))
print(len({Key(1 << 70), Key(1 << 70), Key(3)}), {Key(2**65 + 1): "found"}[Key(2**65 + 1)])
print(hash(Pair((1, 2))), len({Pair((1, 2)), Pair((1, 2)), Pair((2, 1))}))
total = sum(hash((1 << n, n)) for n in range(60, 70))
print(total > 1 << 62 or total < -(1 << 62), hash(Key(total)) == hash(total))
try:
    hash(Key("a"))
except TypeError as error:
    print(error)
