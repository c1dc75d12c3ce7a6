import _tidemark


class JSONDecodeError(ValueError):
    pass


class JSONEncoder:
    def default(self, o):
        raise TypeError(f"Object of type {type(o).__name__} is not JSON serializable")


JSONDecoder = _tidemark.later("json.JSONDecoder")


def _quoted(text):
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return '"' + text + '"'


def _key(key):
    return key if isinstance(key, str) else {None: "null"}.get(key) or _text(key, None, "", None, False, None)


def _text(obj, indent, inner, default, sort_keys, separators):
    if obj is None:
        return "null"
    if obj is True or obj is False:
        return "true" if obj else "false"
    if isinstance(obj, float) and (obj != obj or obj in (float("inf"), -float("inf"))):
        return "NaN" if obj != obj else "Infinity" if obj > 0 else "-Infinity"
    if isinstance(obj, int):
        return repr(int(obj))
    if isinstance(obj, float):
        return repr(float(obj))
    if isinstance(obj, str):
        return _quoted("" + obj)
    first = "" if indent is None else inner + " " * indent
    between, colon = separators or (", " if indent is None else ",", ": ")
    if isinstance(obj, dict):
        pairs = sorted(obj.items()) if sort_keys else obj.items()
        items, ends = [
            _quoted(_key(k)) + colon + _text(v, indent, first, default, sort_keys, separators) for k, v in pairs
        ], "{}"
    elif isinstance(obj, (list, tuple)):
        items, ends = [_text(v, indent, first, default, sort_keys, separators) for v in obj], "[]"
    elif default is not None:
        return _text(default(obj), indent, inner, default, sort_keys, separators)
    else:
        raise TypeError(f"Object of type {type(obj).__name__} is not JSON serializable")
    if not items:
        return ends
    if indent is None:
        return ends[0] + between.join(items) + ends[1]
    return ends[0] + first + (between + first).join(items) + inner + ends[1]


def dumps(obj, *, indent=None, sort_keys=False, default=None, separators=None, cls=None, ensure_ascii=True, **options):
    if cls is not None:
        default = cls().default
    out = _text(obj, indent, "\n", default, sort_keys, separators)
    return out if out.isascii() or not ensure_ascii else "".join([c if c.isascii() else _escaped(c) for c in out])


def _escaped(character):
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 | code >> 10:04x}\\u{0xDC00 | code & 0x3FF:04x}"


def dump(obj, fp, **options):
    fp.write(dumps(obj, **options))


class _Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def blanks(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\n\r":
            self.at += 1

    def fail(self):
        raise JSONDecodeError(f"Expecting value: char {self.at}")

    def take(self, wanted):
        self.blanks()
        if not self.text.startswith(wanted, self.at):
            return False
        self.at += len(wanted)
        return True

    def many(self, end, one):
        if self.take(end):
            return
        while True:
            one()
            if self.take(end):
                return
            if not self.take(","):
                self.fail()

    def value(self):
        self.blanks()
        for word, value in (
            ("null", None),
            ("true", True),
            ("false", False),
            ("NaN", float("nan")),
            ("Infinity", float("inf")),
            ("-Infinity", -float("inf")),
        ):
            if self.take(word):
                return value
        if self.take("["):
            items = []
            self.many("]", lambda: items.append(self.value()))
            return items
        if self.take("{"):
            members = {}

            def member():
                self.blanks()
                key = self.string()
                if not self.take(":"):
                    self.fail()
                members[key] = self.value()

            self.many("}", member)
            return members
        if self.text[self.at:self.at + 1] == '"':
            return self.string()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "+-0123456789.eE":
            self.at += 1
        word = self.text[start:self.at]
        if not word:
            self.fail()
        return float(word) if "." in word or "e" in word.lower() else int(word)

    def string(self):
        if not self.take('"'):
            self.fail()
        out = ""
        while self.text[self.at] != '"':
            c = self.text[self.at]
            self.at += 1
            if c == "\\":
                c = self.text[self.at]
                self.at += 1
                if c == "u":
                    c = chr(int(self.text[self.at:self.at + 4], 16))
                    self.at += 4
                else:
                    c = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(c, c)
            out += c
        self.at += 1
        return out


def loads(s, **options):
    reader = _Reader(s)
    value = reader.value()
    reader.blanks()
    if reader.at != len(s):
        raise JSONDecodeError(f"Extra data: char {reader.at}")
    return value


def load(fp, **options):
    return loads(fp.read())
