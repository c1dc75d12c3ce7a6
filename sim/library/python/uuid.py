import random

_whole = int


class UUID:
    def __init__(self, hex=None, bytes=None, bytes_le=None, fields=None, int=None, version=None):
        if [hex, bytes, bytes_le, fields, int].count(None) != 4:
            raise TypeError("one of the hex, bytes, bytes_le, fields, or int arguments must be given")
        if bytes_le is not None:
            bytes = bytes_le[3::-1] + bytes_le[5:3:-1] + bytes_le[7:5:-1] + bytes_le[8:]
        if fields is not None:
            low, mid, high, first, second, node = fields
            int = low << 96 | mid << 80 | high << 64 | first << 56 | second << 48 | node
        if bytes is not None:
            int = sum(byte << 8 * (15 - i) for i, byte in enumerate(bytes))
        if int is None:
            self.hex = hex.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "").lower()
            if len(self.hex) != 32:
                raise ValueError("badly formed hexadecimal UUID string")
        else:
            self.hex = f"{int:032x}"

    @property
    def int(self):
        return _whole(self.hex, 16)

    @property
    def bytes(self):
        return bytes.fromhex(self.hex)

    @property
    def version(self):
        return _whole(self.hex[12], 16) if self.hex[16] in "89ab" else None

    def __lt__(self, other):
        return self.hex < other.hex

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
