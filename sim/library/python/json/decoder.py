import re
from json import scanner

_CONSTANTS = {"-Infinity": -float("inf"), "Infinity": float("inf"), "NaN": float("nan")}
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HEX = re.compile(r"[0-9A-Fa-f]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class JSONDecodeError(ValueError):
    def __init__(self, msg, doc, pos):
        before = doc[:pos]
        lineno, colno = before.count("\n") + 1, pos - before.rfind("\n")
        super().__init__(f"{msg}: line {lineno} column {colno} (char {pos})")
        self.msg, self.doc, self.pos, self.lineno, self.colno = msg, doc, pos, lineno, colno

    def __reduce__(self):
        return self.__class__, (self.msg, self.doc, self.pos)


def _hex(s, at):
    found = _HEX.match(s, at)
    if found is None:
        raise JSONDecodeError("Invalid \\uXXXX escape", s, at - 1)
    return int(found.group(), 16)


def scanstring(s, end, strict=True):
    """The text whose first character is at `end`, and the place behind its closing quote."""
    begin, parts = end - 1, []
    while True:
        found = _PLAIN.match(s, end)
        if found.end() > end:
            parts.append(found.group())
            end = found.end()
        c = s[end:end + 1]
        if c == '"':
            return "".join(parts), end + 1
        if not c:
            raise JSONDecodeError("Unterminated string starting at", s, begin)
        if c != "\\":
            if strict:
                raise JSONDecodeError(f"Invalid control character {c!r} at", s, end)
            parts.append(c)
            end += 1
            continue
        escape = s[end + 1:end + 2]
        if not escape:
            raise JSONDecodeError("Unterminated string starting at", s, begin)
        if escape != "u":
            if escape not in _ESCAPES:
                raise JSONDecodeError(f"Invalid \\escape: {escape!r}", s, end)
            parts.append(_ESCAPES[escape])
            end += 2
            continue
        code = _hex(s, end + 2)
        end += 6
        if 0xD800 <= code <= 0xDBFF and s[end:end + 2] == "\\u":
            low = _hex(s, end + 2)
            if 0xDC00 <= low <= 0xDFFF:
                code = 0x10000 + ((code - 0xD800) << 10 | low - 0xDC00)
                end += 6
        parts.append(chr(code))


class JSONDecoder:
    def __init__(
        self,
        *,
        object_hook=None,
        parse_float=None,
        parse_int=None,
        parse_constant=None,
        strict=True,
        object_pairs_hook=None,
    ):
        self.object_hook, self.object_pairs_hook, self.strict = object_hook, object_pairs_hook, strict
        self.parse_float, self.parse_int = parse_float or float, parse_int or int
        self.parse_constant = parse_constant or _CONSTANTS.__getitem__
        self.memo = {}
        self.scan_once = scanner.make_scanner(self)

    def decode(self, s):
        obj, end = self.raw_decode(s, scanner.behind_blanks(s, 0))
        end = scanner.behind_blanks(s, end)
        if end != len(s):
            raise JSONDecodeError("Extra data", s, end)
        return obj

    def raw_decode(self, s, idx=0):
        try:
            return self.scan_once(s, idx)
        except StopIteration as error:
            raise JSONDecodeError("Expecting value", s, error.value) from None
