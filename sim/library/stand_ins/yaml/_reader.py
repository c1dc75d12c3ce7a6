import re


class YAMLError(Exception):
    pass


class MarkedYAMLError(YAMLError):
    pass


class ScannerError(MarkedYAMLError):
    pass


# What plain scalars are, in YAML 1.1 as PyYAML takes it.
_BOOLS = {
    "yes": True, "no": False, "true": True, "false": False, "on": True, "off": False,
}
_INT = re.compile(
    r"[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+"
)
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_DATE = re.compile(r"(\d\d\d\d)-(\d\d)-(\d\d)")
_TIME = re.compile(r"\d\d\d\d-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d.*")
_ESCAPES = {
    "0": "\0", "a": "\x07", "b": "\x08", "t": "\t", "\t": "\t", "n": "\n", "v": "\x0b", "f": "\x0c", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "\\": "\\", "/": "/", "N": "\x85", "_": "\xa0",
}
_KEY = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\-?:,\[\]{}#&*!|>'"%@`].*?|[-?:](?=\S).*?|[&*]\S+)\s*:(?=\s|$)"""
)


def resolved(text):
    """the value of a plain scalar"""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text.lower() in _BOOLS and text in (text.lower(), text.upper(), text.capitalize()):
        return _BOOLS[text.lower()]
    if _INT.fullmatch(text):
        return _whole(text.replace("_", ""))
    if _FLOAT.fullmatch(text):
        return _real(text.replace("_", "").lower())
    found = _DATE.fullmatch(text)
    if found:
        from datetime import date

        return date(int(found[1]), int(found[2]), int(found[3]))
    if _TIME.fullmatch(text):
        raise YAMLError(f"a moment ({text}) is not read here; give the folder of PyYAML (--packages)")
    return text


def _whole(text):
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-")
    if ":" in digits:
        total = 0
        for part in digits.split(":"):
            total = total * 60 + int(part)
        return sign * total
    base = {"0b": 2, "0x": 16}.get(digits[:2], 8 if digits[0] == "0" and len(digits) > 1 else 10)
    return sign * int(digits[2:] if base in (2, 16) else digits, base)


def _real(text):
    sign = -1.0 if text[0] == "-" else 1.0
    digits = text.lstrip("+-")
    if digits == ".inf":
        return sign * float("inf")
    if digits == ".nan":
        return float("nan")
    if ":" in digits:
        total = 0.0
        for part in digits.split(":"):
            total = total * 60 + float(part)
        return sign * total
    return sign * float(digits)


def documents(text):
    """the values of all documents of a text"""
    found, lines, begun = [], [], False
    for line in text.replace("\r\n", "\n").split("\n"):
        if line == "---" or line.startswith("--- "):
            if begun or any([each.strip() and not each.lstrip().startswith("#") for each in lines]):
                found.append(_Reader(lines).document())
            lines, begun = [line[4:]], True
        elif line == "..." or line.startswith("... "):
            found.append(_Reader(lines).document())
            lines, begun = [], False
        elif not (line.startswith("%") and not begun):
            lines.append(line)
    if begun or any([each.strip() and not each.lstrip().startswith("#") for each in lines]):
        found.append(_Reader(lines).document())
    return found


class _Reader:
    def __init__(self, lines):
        self.lines, self.at, self.anchors = lines, 0, {}

    def wrong(self, what):
        raise ScannerError(f"{what}, line {self.at + 1}")

    def skip(self):
        """to the next line that says something; its indent, -1 at the end"""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            text = line.lstrip(" ")
            if text and not text.lstrip().startswith("#") and text.strip():
                if text.startswith("\t"):
                    self.wrong("found character '\\t' that cannot start any token")
                return len(line) - len(text)
            self.at += 1
        return -1

    def document(self):
        indent = self.skip()
        if indent < 0:
            return None
        value = self.block(indent, -1)
        if self.skip() >= 0:
            self.wrong("expected <block end>, but found more")
        return value

    def block(self, indent, above):
        """the value that begins at this line and indent"""
        line = self.lines[self.at]
        text = line[indent:]
        if text.startswith("- ") or text.rstrip() == "-":
            return self.sequence(indent)
        if text.startswith("? "):
            self.wrong("keys after '?' are not read here; give the folder of PyYAML (--packages)")
        if text[0] not in "[{" and _KEY.match(text) and not text.startswith("&") or self.key_after_anchor(text):
            return self.mapping(indent)
        self.lines[self.at] = " " * indent + text
        return self.value(text, indent, above)

    def key_after_anchor(self, text):
        found = re.match(r"&\S+ +(?=\S)", text)
        return bool(found) and _KEY.match(text[found.end():]) is not None

    def sequence(self, indent):
        out = []
        while self.skip() == indent:
            text = self.lines[self.at][indent:]
            if not (text.startswith("- ") or text.rstrip() == "-"):
                break
            rest = text[1:].lstrip(" ")
            if not rest or rest.startswith("#"):
                self.at += 1
                out.append(self.nested(indent))
                continue
            inner = indent + len(text) - len(rest)
            self.lines[self.at] = " " * inner + rest
            out.append(self.block(inner, indent))
        return out

    def nested(self, indent, same=False):
        """the block below a key or a dash; nothing where nothing is deeper"""
        deeper = self.skip()
        if deeper > indent:
            return self.block(deeper, indent)
        if same and deeper == indent:
            text = self.lines[self.at][indent:]
            if text.startswith("- ") or text.rstrip() == "-":
                return self.sequence(indent)
        return None

    def mapping(self, indent):
        out, merged, own = {}, [], {}
        first = self.lines[self.at][indent:]
        if first.startswith("&"):
            name = first.split()[0]
            rest = first[len(name):].lstrip()
            self.anchors[name[1:]] = out
            self.lines[self.at] = " " * indent + rest
        while self.skip() == indent:
            text = self.lines[self.at][indent:]
            found = _KEY.match(text)
            if found is None:
                self.wrong("could not find expected ':'")
            key = found[0][:-1].rstrip()
            name = self.quoted(key) if key[0] in "\"'" else self.anchors[key[1:]] if key[0] == "*" else resolved(key)
            value = self.value(text[found.end():].lstrip(), indent, indent, True)
            if key == "<<":
                merged += value if isinstance(value, list) else [value]
            else:
                own[name] = value
        for each in merged[::-1]:
            out.update(each)
        out.update(own)
        return out

    def value(self, text, indent, above, in_mapping=False):
        """of what stands behind a key or alone in a block; goes on to the next line"""
        anchor = None
        kind = None
        while text[:1] in ("&", "!") and text[:1]:
            word = text.split()[0]
            text = text[len(word):].lstrip()
            if word[0] == "&":
                anchor = word[1:]
            else:
                kind = word
        made = self._value(text, indent, above, in_mapping, kind)
        if anchor is not None:
            self.anchors[anchor] = made
        return made

    def _value(self, text, indent, above, in_mapping, kind):
        if kind is not None and kind not in ("!!str", "!!int", "!!float", "!!bool", "!!map", "!!seq", "!!null"):
            self.wrong(f"could not determine a constructor for the tag {kind!r}")
        if not text or text.startswith("#"):
            self.at += 1
            return self.nested(above, in_mapping)
        if text[0] == "*":
            self.at += 1
            name = text[1:].split()[0]
            if name not in self.anchors:
                self.wrong(f"found undefined alias {name!r}")
            return self.anchors[name]
        if text[0] in "|>":
            return self.literal(text, above)
        if text[0] in "[{\"'":
            whole = self.closed(text)
            return _Flow(whole, self).value()
        if text == "-" or text.startswith("- "):
            self.wrong("block sequence entries are not allowed in this context")
        if text[0] in "@`%":
            self.wrong(f"found character {text[0]!r} that cannot start any token")
        plain = self.plain(text, above)
        if in_mapping and _KEY.match(text) and not text.startswith(":"):
            self.wrong("mapping values are not allowed here")
        return plain if kind == "!!str" else float(plain) if kind == "!!float" else resolved(plain)

    def plain(self, text, above):
        """a plain scalar; deeper lines below go on with it"""
        parts = [_uncommented(text)]
        self.at += 1
        is_over = len(parts[0]) < len(text.rstrip())
        blank = 0
        while not is_over and self.at < len(self.lines):
            line = self.lines[self.at]
            more = line.strip()
            if not more:
                blank += 1
                self.at += 1
                continue
            if len(line) - len(line.lstrip(" ")) <= above or more.startswith("#"):
                break
            if _KEY.match(more):
                self.wrong("mapping values are not allowed here")
            parts.append("\n" * blank if blank else " ")
            blank = 0
            parts.append(_uncommented(more))
            is_over = len(parts[-1]) < len(more)
            self.at += 1
        return "".join(parts)

    def literal(self, text, above):
        head = _uncommented(text)
        chomp = "+" if "+" in head else "-" if "-" in head else ""
        given = [int(c) for c in head if c.isdigit()]
        self.at += 1
        lines, indent = [], above + given[0] if given and above >= 0 else given[0] if given else None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            depth = len(line) - len(line.lstrip(" "))
            if not line.strip(" "):
                lines.append(line[indent:] if indent is not None else "")
            else:
                if indent is None:
                    if depth <= above:
                        break
                    indent = depth
                if depth < indent:
                    break
                lines.append(line[indent:])
            self.at += 1
        if self.at == len(self.lines) and lines and not lines[-1]:
            lines.pop()  # what follows the text's last line end is no line
        kept = len(lines)
        while kept and not lines[kept - 1]:
            kept -= 1
        body = lines[:kept]
        joined = "\n".join(body) if head[0] == "|" else _folded(body)
        ends = {"-": "", "+": "\n" * (len(lines) - kept + 1) if kept else "\n" * len(lines)}
        return joined + ends.get(chomp, "\n" if kept else "")

    def closed(self, text):
        """a quoted or bracketed text, over as many lines as it takes"""
        lines = [text]
        while True:
            end = _end_of(lines)
            if end is not None:
                break
            self.at += 1
            if self.at >= len(self.lines):
                self.wrong("found unexpected end of stream")
            lines.append(self.lines[self.at])
        self.at += 1
        rest = lines[-1][end:].strip()
        if rest and not rest.startswith("#"):
            self.wrong(f"expected <block end>, but found {rest[:20]!r}")
        lines[-1] = lines[-1][:end]
        return "\n".join(lines)

    def quoted(self, text):
        return _Flow(text, self).value()


def _uncommented(text):
    found = re.search(r"(?:^|\s)#", text)
    return (text[:found.start()] if found else text).rstrip()


def _folded(lines):
    """of `>`: one line end is a blank, more are one less; deeper lines stay as they are"""
    out, blank = "", 0
    for i, line in enumerate(lines):
        if not line:
            blank += 1
            continue
        if i:
            before = next((each for each in lines[:i][::-1] if each), None)
            is_deep = line[0] in " \t" or before is not None and before[0] in " \t"
            if before is None:
                out += "\n" * blank
            elif is_deep:
                out += "\n" * (blank + 1)
            else:
                out += "\n" * blank if blank else " "
        out += line
        blank = 0
    return out


def _end_of(lines):
    """where in the last line the text is closed; None: not yet"""
    depth, quote, at = 0, None, 0
    text = "\n".join(lines)
    while at < len(text):
        c = text[at]
        if quote == '"' and c == "\\":
            at += 1
        elif quote is not None:
            if c == quote and quote == "'" and text[at + 1:at + 2] == "'":
                at += 1
            elif c == quote:
                quote = None
                if depth == 0:
                    return at + 1 - (len(text) - len(lines[-1]))
        elif c in "\"'" and (at == 0 or text[at - 1] in " \n\t,[{:"):
            quote = c
        elif c == "#" and at and text[at - 1] in " \n\t":
            while at + 1 < len(text) and text[at + 1] != "\n":
                at += 1
        elif c in "[{":
            depth += 1
        elif c in "]}":
            depth -= 1
            if depth == 0:
                return at + 1 - (len(text) - len(lines[-1]))
        at += 1
    return None


class _Flow:
    """values in brackets and quotes"""

    def __init__(self, text, reader):
        self.text, self.at, self.reader = text, 0, reader

    def blanks(self):
        while self.at < len(self.text):
            if self.text[self.at] in " \n\t":
                self.at += 1
            elif self.text[self.at] == "#" and (self.at == 0 or self.text[self.at - 1] in " \n\t"):
                while self.at < len(self.text) and self.text[self.at] != "\n":
                    self.at += 1
            else:
                return
        return

    def peek(self):
        return self.text[self.at:self.at + 1]

    def value(self):
        self.blanks()
        anchor = None
        if self.peek() == "&":
            anchor = self.word()[1:]
            self.blanks()
        c = self.peek()
        if c == "[":
            made = self.sequence()
        elif c == "{":
            made = self.mapping()
        elif c and c in "\"'":
            made = self.quoted(c)
        elif c == "*":
            made = self.reader.anchors[self.word()[1:]]
        elif c == "!":
            self.reader.wrong(f"could not determine a constructor for the tag {self.word()!r}")
        else:
            made = resolved(self.plain())
        if anchor is not None:
            self.reader.anchors[anchor] = made
        return made

    def word(self):
        found = re.match(r"[^\s,\[\]{}]+", self.text[self.at:])
        self.at += found.end()
        return found[0]

    def plain(self):
        begin = self.at
        while self.at < len(self.text):
            c = self.text[self.at]
            after = self.text[self.at + 1:self.at + 2]
            is_end = c in ",[]{}" or c == ":" and (not after or after in " \n\t,[]{}")
            if is_end or c == "#" and self.text[self.at - 1] in " \n\t":
                break
            self.at += 1
        return re.sub(r"\s*\n\s*", " ", self.text[begin:self.at].strip())

    def sequence(self):
        self.at += 1
        out = []
        while True:
            self.blanks()
            if self.peek() == "]":
                self.at += 1
                return out
            item = self.value()
            self.blanks()
            if self.peek() == ":":
                self.at += 1
                item = {item: self.value()}
                self.blanks()
            out.append(item)
            self.more("]")

    def more(self, end):
        if self.peek() == ",":
            self.at += 1
        elif self.peek() != end:
            self.reader.wrong(f"expected ',' or {end!r}, but got {self.peek()!r}")

    def mapping(self):
        self.at += 1
        out, merged = {}, []
        while True:
            self.blanks()
            if self.peek() == "}":
                self.at += 1
                for each in merged:
                    out = {**each, **out}
                return out
            begin = self.at
            key = self.value()
            is_merge = self.text[begin:self.at].strip() == "<<"
            self.blanks()
            value = None
            if self.peek() == ":":
                self.at += 1
                self.blanks()
                value = None if self.peek() in (",", "}") else self.value()
                self.blanks()
            if is_merge:
                merged += value if isinstance(value, list) else [value]
            else:
                out[key] = value
            self.more("}")

    def quoted(self, quote):
        self.at += 1
        out = []
        while True:
            c = self.peek()
            if not c:
                self.reader.wrong("found unexpected end of stream")
            self.at += 1
            if c == quote:
                if quote == "'" and self.peek() == "'":
                    out.append("'")
                    self.at += 1
                    continue
                return "".join(out)
            if c == "\\" and quote == '"':
                out.append(self.escape())
            elif c == "\n":
                while out and out[-1] in (" ", "\t"):
                    out.pop()
                ends = 1
                while self.peek() and self.peek() in " \t\n":
                    ends += self.peek() == "\n"
                    self.at += 1
                out.append("\n" * (ends - 1) if ends > 1 else " ")
            else:
                out.append(c)

    def escape(self):
        c = self.peek()
        self.at += 1
        if c == "\n":
            while self.peek() and self.peek() in " \t":
                self.at += 1
            return ""
        if c in _ESCAPES:
            return _ESCAPES[c]
        if c in ("x", "u", "U"):
            size = {"x": 2, "u": 4, "U": 8}[c]
            self.at += size
            return chr(int(self.text[self.at - size:self.at], 16))
        self.reader.wrong(f"found unknown escape character {c!r}")
