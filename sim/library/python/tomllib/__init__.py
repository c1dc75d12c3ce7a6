"""TOML 1.0, as Python's own module reads it. Source: https://toml.io/en/v1.0.0."""
import re
from datetime import date, datetime, time, timedelta, timezone


class TOMLDecodeError(ValueError):
    """what is wrong, and where"""


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NUMBER = re.compile(
    r"0(?:x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|b[01](?:_?[01])*|o[0-7](?:_?[0-7])*)"
    r"|[+-]?(?:0|[1-9](?:_?[0-9])*)((?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?)"
)
_TIME = r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,6})[0-9]*)?"
_LOCAL_TIME = re.compile(_TIME)
_DATE_TIME = re.compile(
    r"([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"(?:[Tt ]" + _TIME + r"(?:([Zz])|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))?)?"
)
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_WORDS = {"true": True, "false": False}
_FLOATS = ("inf", "+inf", "-inf", "nan", "+nan", "-nan")


def load(fp, /, *, parse_float=float):
    text = fp.read()
    if not isinstance(text, bytes):
        raise TypeError("File must be opened in binary mode, e.g. use `open('foo.toml', 'rb')`")
    return loads(text.decode(), parse_float=parse_float)


def loads(s, /, *, parse_float=float):
    if not isinstance(s, str):
        raise TypeError(f"Expected str object, not '{type(s).__name__}'")
    return _Reader(s.replace("\r\n", "\n"), parse_float).document()


class _Reader:
    """a text, and how far it is read. Tables that are closed, and those that a header named, are known by id"""

    def __init__(self, text, parse_float):
        self.text, self.at, self.parse_float = text, 0, parse_float
        self.closed, self.named, self.made_by_keys = set(), set(), set()
        self.kept = []  # so that no id is given twice

    def fail(self, what, at=None):
        at = self.at if at is None else at
        if at >= len(self.text):
            raise TOMLDecodeError(f"{what} (at end of document)")
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        raise TOMLDecodeError(f"{what} (at line {line}, column {column})")

    def peek(self):
        return self.text[self.at : self.at + 1]

    def take(self, word):
        found = self.text.startswith(word, self.at)
        if found:
            self.at += len(word)
        return found

    def blanks(self):
        while self.peek() in (" ", "\t"):
            self.at += 1

    def comment(self):
        if self.peek() == "#":
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            for at in range(self.at, end):
                if self.text[at] < " " and self.text[at] != "\t" or self.text[at] == "\x7f":
                    self.fail(f"Found invalid character {self.text[at]!r}", at)
            self.at = end

    def blank_lines(self):
        while True:
            self.blanks()
            self.comment()
            if not self.take("\n"):
                return

    def document(self):
        whole = {}
        table, prefix = whole, ()
        while True:
            self.blanks()
            if self.at >= len(self.text):
                return whole
            if self.take("\n"):
                continue
            if self.peek() == "[":
                table, prefix = self.header(whole)
            elif self.peek() != "#":
                self.pair(table, prefix)
            self.blanks()
            self.comment()
            if self.at < len(self.text) and not self.take("\n"):
                self.fail("Expected newline or end of document after a statement")

    def header(self, whole):
        is_array = self.take("[[")
        if not is_array:
            self.take("[")
        self.blanks()
        names = self.key()
        table = whole
        for name in names[:-1]:
            table = table.setdefault(name, {})
            if isinstance(table, list) and id(table) not in self.closed:
                table = table[-1]
            if not isinstance(table, dict) or id(table) in self.closed:
                self.fail("Cannot overwrite a value" if is_array else f"Cannot declare {names} twice")
        last = names[-1]
        if is_array:
            rows = table.setdefault(last, [])
            if not isinstance(rows, list) or id(rows) in self.closed:
                self.fail(f"Cannot mutate immutable namespace {names}")
            rows.append({})
            table = rows[-1]
        else:
            table = table.setdefault(last, {})
            if not isinstance(table, dict) or id(table) in (self.closed | self.named | self.made_by_keys):
                self.fail(f"Cannot declare {names} twice")
            self.kept.append(table)
            self.named.add(id(table))
        if not self.take("]]" if is_array else "]"):
            self.fail(f"Expected {']]' if is_array else ']'!r} at the end of a table declaration")
        return table, names

    def pair(self, table, prefix):
        names = self.key()
        if not self.take("="):
            self.fail("Expected '=' after a key in a key/value pair")
        self.blanks()
        value = self.value()
        for name in names[:-1]:
            is_new = name not in table
            table = table.setdefault(name, {})
            if not isinstance(table, dict) or id(table) in (self.closed | self.named):
                self.fail(f"Cannot mutate immutable namespace {prefix + names[:-1]}")
            if is_new:
                self.kept.append(table)
                self.made_by_keys.add(id(table))
        if names[-1] in table:
            self.fail("Cannot overwrite a value")
        table[names[-1]] = value

    def key(self):
        names = [self.key_part()]
        self.blanks()
        while self.take("."):
            self.blanks()
            names.append(self.key_part())
            self.blanks()
        return tuple(names)

    def key_part(self):
        bare = _BARE.match(self.text, self.at)
        if bare:
            self.at = bare.end()
            return bare.group()
        if self.peek() == "'":
            return self.literal()
        if self.peek() == '"':
            return self.basic()
        self.fail("Invalid initial character for a key part")

    def value(self):
        first = self.peek()
        if first == '"':
            return self.several_lines('"') if self.take('"""') else self.basic()
        if first == "'":
            return self.several_lines("'") if self.take("'''") else self.literal()
        if first == "[":
            return self.array()
        if first == "{":
            return self.inline_table()
        for word, value in _WORDS.items():
            if self.take(word):
                return value
        moment = _DATE_TIME.match(self.text, self.at)
        if moment:
            self.at = moment.end()
            return self.moment(moment)
        clock = _LOCAL_TIME.match(self.text, self.at)
        if clock:
            self.at = clock.end()
            return time(*self.clock(clock.groups()))
        number = _NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            return self.parse_float(number.group()) if number.group(1) else int(number.group(), 0)
        for word in _FLOATS:
            if self.take(word):
                return self.parse_float(word)
        self.fail("Invalid value")

    def clock(self, parts):
        hour, minute, second, fraction = parts
        return int(hour), int(minute), int(second), int((fraction or "0").ljust(6, "0"))

    def moment(self, found):
        year, month, day, *clock = found.groups()
        try:
            if clock[0] is None:
                return date(int(year), int(month), int(day))
            zone = None
            if clock[4]:
                zone = timezone.utc
            elif clock[5]:
                off = timedelta(hours=int(clock[6]), minutes=int(clock[7]))
                zone = timezone(-off if clock[5] == "-" else off)
            return datetime(int(year), int(month), int(day), *self.clock(clock[:4]), tzinfo=zone)
        except ValueError:
            self.fail("Invalid date or datetime", found.start())

    def array(self):
        self.at += 1
        values = []
        self.kept.append(values)
        self.closed.add(id(values))
        self.blank_lines()
        while not self.take("]"):
            values.append(self.value())
            self.blank_lines()
            if not self.take(",") and self.peek() != "]":
                self.fail("Unclosed array")
            self.blank_lines()
        return values

    def inline_table(self):
        self.at += 1
        table = {}
        self.blanks()
        if not self.take("}"):
            while True:
                self.blanks()
                self.pair(table, ())
                self.blanks()
                if self.take("}"):
                    break
                if not self.take(","):
                    self.fail("Unclosed inline table")
        self.close(table)
        return table

    def close(self, table):
        """nothing is added to it from here on"""
        self.kept.append(table)
        self.closed.add(id(table))
        for value in table.values():
            if isinstance(value, dict):
                self.close(value)

    def literal(self):
        end = self.text.find("'", self.at + 1)
        line = self.text.find("\n", self.at + 1)
        if end < 0 or 0 <= line < end:
            self.fail("Expected \"'\"", len(self.text) if line < 0 else line)
        text, self.at = self.text[self.at + 1 : end], end + 1
        return text

    def basic(self):
        self.at += 1
        parts = []
        while True:
            letter = self.peek()
            if letter == '"':
                self.at += 1
                return "".join(parts)
            if letter == "\\":
                parts.append(self.escape(False))
            elif letter == "" or letter < " " and letter != "\t" or letter == "\x7f":
                self.fail("Unterminated string" if letter == "" else f"Illegal character {letter!r}")
            else:
                parts.append(letter)
                self.at += 1

    def several_lines(self, quote):
        self.take("\n")
        parts, end = [], 3 * quote
        while True:
            letter = self.peek()
            if letter == "":
                self.fail("Unterminated string" if quote == '"' else "Expected \"'''\"")
            if letter == quote and self.take(end):
                # Two more quotes may belong to the text.
                for _ in range(2):
                    if self.peek() == quote:
                        parts.append(quote)
                        self.at += 1
                return "".join(parts)
            if letter == "\\" and quote == '"':
                parts.append(self.escape(True))
            elif letter < " " and letter not in "\t\n" or letter == "\x7f":
                self.fail(f"Illegal character {letter!r}")
            else:
                parts.append(letter)
                self.at += 1

    def escape(self, may_end_line):
        letter = self.text[self.at + 1 : self.at + 2]
        if may_end_line and letter and letter in " \t\n":
            # The end of a line goes, and all blanks behind it.
            self.at += 1
            self.blanks()
            if not self.take("\n"):
                self.fail("Unescaped '\\' in a string")
            while self.peek() and self.peek() in " \t\n":
                self.at += 1
            return ""
        if letter in ("u", "U"):
            count = 4 if letter == "u" else 8
            digits = self.text[self.at + 2 : self.at + 2 + count]
            self.at += 2 + count
            if not re.fullmatch("[0-9A-Fa-f]{%d}" % count, digits):
                self.fail("Invalid hex value")
            code = int(digits, 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                self.fail("Escaped character is not a Unicode scalar value")
            return chr(code)
        self.at += 2
        if letter not in _ESCAPES:
            self.fail("Unescaped '\\' in a string" if letter else "Unterminated string")
        return _ESCAPES[letter]
