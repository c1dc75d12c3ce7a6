import random


class UUID:
    def __init__(self, hex=None):
        self.hex = hex.replace("-", "")

    def __str__(self):
        parts, at = [], 0
        for size in (8, 4, 4, 4, 12):
            parts.append(self.hex[at:at + size])
            at += size
        return "-".join(parts)

    def __repr__(self):
        return f"UUID('{self}')"

    def __eq__(self, other):
        return isinstance(other, UUID) and self.hex == other.hex

    def __hash__(self):
        return hash(self.hex)


_made = [0]


def uuid4():
    """another one each time, the same in every run"""
    _made[0] += 1
    return UUID(f"{_made[0]:032x}")


uuid1 = uuid4
