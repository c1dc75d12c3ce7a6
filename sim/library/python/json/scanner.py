import re
from json import decoder

_BLANKS = re.compile(r"[ \t\n\r]*")
NUMBER_RE = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS = (("null", None), ("true", True), ("false", False))


def behind_blanks(s, at):
    return _BLANKS.match(s, at).end() if s[at:at + 1] in (" ", "\t", "\n", "\r") else at


def make_scanner(context):
    parse_float, parse_int, parse_constant = context.parse_float, context.parse_int, context.parse_constant
    strict, object_hook, object_pairs_hook = context.strict, context.object_hook, context.object_pairs_hook
    memo = context.memo

    def value(s, at):
        """What stands at a place, and the place behind it. StopIteration: nothing does."""
        c = s[at:at + 1]
        if c == '"':
            return decoder.scanstring(s, at + 1, strict)
        if c == "{":
            return members(s, at + 1)
        if c == "[":
            return items(s, at + 1)
        found = NUMBER_RE.match(s, at)
        if found is not None:
            whole, part, power = found.groups()
            if part or power:
                return parse_float(whole + (part or "") + (power or "")), found.end()
            return parse_int(whole), found.end()
        for word, meaning in _WORDS:
            if s.startswith(word, at):
                return meaning, at + len(word)
        for word in ("NaN", "Infinity", "-Infinity"):
            if s.startswith(word, at):
                return parse_constant(word), at + len(word)
        if c == "?":  # as a number that nobody knows was written
            import torch

            return torch.empty((), dtype=torch.float64).item(), at + 1
        raise StopIteration(at)

    def expected(s, at):
        try:
            return value(s, at)
        except StopIteration as error:
            raise decoder.JSONDecodeError("Expecting value", s, error.value) from None

    def items(s, at):
        found, at = [], behind_blanks(s, at)
        if s[at:at + 1] == "]":
            return found, at + 1
        while True:
            item, at = expected(s, at)
            found.append(item)
            at = behind_blanks(s, at)
            c = s[at:at + 1]
            if c == "]":
                return found, at + 1
            if c != ",":
                raise decoder.JSONDecodeError("Expecting ',' delimiter", s, at)
            at = behind_blanks(s, at + 1)

    def members(s, at):
        pairs, at = [], behind_blanks(s, at)
        if s[at:at + 1] == "}":
            return made(pairs), at + 1
        while True:
            if s[at:at + 1] != '"':
                raise decoder.JSONDecodeError("Expecting property name enclosed in double quotes", s, at)
            key, at = decoder.scanstring(s, at + 1, strict)
            key = memo.setdefault(key, key)
            at = behind_blanks(s, at)
            if s[at:at + 1] != ":":
                raise decoder.JSONDecodeError("Expecting ':' delimiter", s, at)
            item, at = expected(s, behind_blanks(s, at + 1))
            pairs.append((key, item))
            at = behind_blanks(s, at)
            c = s[at:at + 1]
            if c == "}":
                return made(pairs), at + 1
            if c != ",":
                raise decoder.JSONDecodeError("Expecting ',' delimiter", s, at)
            at = behind_blanks(s, at + 1)

    def made(pairs):
        if object_pairs_hook is not None:
            return object_pairs_hook(pairs)
        return dict(pairs) if object_hook is None else object_hook(dict(pairs))

    def scan_once(s, idx):
        if idx < 0:
            raise ValueError("idx cannot be negative")
        try:
            return value(s, idx)
        finally:
            memo.clear()

    return scan_once
