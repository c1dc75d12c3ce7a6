_STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def b64encode(s, altchars=None):
    data, out = bytes(s), []
    for at in range(0, len(data), 3):
        three = data[at : at + 3]
        bits = int.from_bytes(three, "big") << 8 * (3 - len(three))
        four = "".join([_STANDARD[bits >> shift & 63] for shift in (18, 12, 6, 0)])
        out.append(four[: len(three) + 1] + "=" * (3 - len(three)))
    text = "".join(out)
    if altchars is not None:
        text = text.replace("+", chr(altchars[0])).replace("/", chr(altchars[1]))
    return text.encode()


def b64decode(s, altchars=None, validate=False):
    text = s if isinstance(s, str) else bytes(s).decode()
    if altchars is not None:
        marks = altchars if isinstance(altchars, str) else altchars.decode()
        text = text.replace(marks[0], "+").replace(marks[1], "/")
    digits = [_STANDARD.index(c) for c in text if c in _STANDARD]
    if len(digits) % 4 == 1 or (len(digits) + text.count("=")) % 4:
        raise ValueError("Incorrect padding")
    out = []
    for at in range(0, len(digits), 4):
        four = digits[at : at + 4]
        bits = 0
        for digit in four + [0] * (4 - len(four)):
            bits = bits << 6 | digit
        out.append(bits.to_bytes(3, "big")[: len(four) - 1])
    return b"".join(out)


def standard_b64encode(s):
    return b64encode(s)


def standard_b64decode(s):
    return b64decode(s)


def urlsafe_b64encode(s):
    return b64encode(s, b"-_")


def urlsafe_b64decode(s):
    return b64decode(s, b"-_")


def b16encode(s):
    return bytes(s).hex().upper().encode()


def b16decode(s, casefold=False):
    return bytes.fromhex(s if isinstance(s, str) else bytes(s).decode())


def encodebytes(s):
    text = b64encode(s).decode()
    return "".join([text[at : at + 76] + "\n" for at in range(0, len(text), 76)]).encode()


def decodebytes(s):
    return b64decode(s)
