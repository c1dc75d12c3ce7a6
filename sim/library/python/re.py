import _regex
import _tidemark

I = IGNORECASE = 2
L = LOCALE = 4
M = MULTILINE = 8
S = DOTALL = 16
U = UNICODE = 32
X = VERBOSE = 64
A = ASCII = 256


class error(Exception):
    def __init__(self, msg, pattern=None, pos=None):
        super().__init__(msg)
        self.msg, self.pattern, self.pos = msg, pattern, pos


_escapes = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\x07", "b": "\x08", "\\": "\\"}


def _reference(template, at, groups, names):
    """the group that \\g<...> names from `at` on, and where it ends"""
    if not template.startswith("<", at):
        raise error(f"missing < at position {at}")
    name, found, rest = template[at + 1:].partition(">")
    if not found:
        raise error(f"missing >, unterminated name at position {at + 1}")
    if name.isdigit():
        number = int(name)
        if number > groups:
            raise error(f"invalid group reference {number} at position {at + 1}")
    elif name.isidentifier():
        if name not in names:
            raise IndexError(f"unknown group name {name!r}")
        number = names[name]
    elif name:
        raise error(f"bad character in group name {name!r} at position {at + 1}")
    else:
        raise error(f"missing group name at position {at + 1}")
    return number, at + len(name) + 2


def _is_octal(text):
    return len(text) > 0 and all([c in "01234567" for c in text])


def _parts(template, groups, names):
    """a template as texts and numbers of groups"""
    parts, at = [], 0
    while True:
        text, found, rest = template[at:].partition("\\")
        parts.append(text)
        at += len(text) + 1
        if not found:
            return parts
        c = template[at:at + 1]
        if c == "g":
            number, at = _reference(template, at + 1, groups, names)
            parts.append(number)
        elif c == "0" or _is_octal(template[at:at + 3]) and len(template[at:at + 3]) == 3:
            size = 1
            while size < 3 and _is_octal(template[at + size:at + size + 1]):
                size += 1
            parts.append(chr(int(template[at:at + size], 8)))
            at += size
        elif c.isdigit():
            size = 2 if template[at + 1:at + 2].isdigit() else 1
            number = int(template[at:at + size])
            if number > groups:
                raise error(f"invalid group reference {number} at position {at}")
            parts.append(number)
            at += size
        elif c in _escapes and c:
            parts.append(_escapes[c])
            at += 1
        elif c.isalpha():
            raise error(f"bad escape \\{c} at position {at - 1}")
        elif not c:
            raise error(f"bad escape (end of pattern) at position {at - 1}")
        else:
            parts.append("\\")


class Match:
    def __init__(self, pattern, string, spans, pos, endpos):
        self.re, self.string, self._spans, self.pos, self._endpos = pattern, string, spans, pos, endpos
        self.lastindex = spans[-1]

    @property
    def endpos(self):
        return min(self._endpos, len(self.string))  # the length costs a look through the text

    def _number(self, group):
        number = self.re.groupindex.get(group) if isinstance(group, str) else group
        if number is None or number < 0 or number > self.re.groups:
            raise IndexError("no such group")
        return number

    @property
    def lastgroup(self):
        for name, number in self.re.groupindex.items():
            if number == self.lastindex:
                return name
        return None

    def span(self, group=0):
        number = self._number(group)
        return self._spans[2 * number], self._spans[2 * number + 1]

    @property
    def regs(self):
        return tuple([self.span(i) for i in range(self.re.groups + 1)])

    def start(self, group=0):
        return self.span(group)[0]

    def end(self, group=0):
        return self.span(group)[1]

    def _text(self, group, default=None):
        start, end = self.span(group)
        return default if start < 0 else self.string[start:end]

    def group(self, *groups):
        found = [self._text(g) for g in groups or (0,)]
        return found[0] if len(found) == 1 else tuple(found)

    def __getitem__(self, group):
        return self._text(group)

    def groups(self, default=None):
        return tuple([self._text(i + 1, default) for i in range(self.re.groups)])

    def groupdict(self, default=None):
        return {name: self._text(i, default) for name, i in self.re.groupindex.items()}

    def _filled(self, parts):
        return "".join([part if isinstance(part, str) else self._text(part) or "" for part in parts])

    def expand(self, template):
        return self._filled(_parts(template, self.re.groups, self.re.groupindex))

    def __repr__(self):
        return f"<re.Match object; span={self.span()}, match={self.group()!r}>"


_no_end = 9223372036854775807


def _checked(string):
    if not isinstance(string, str):
        raise TypeError(f"expected string or bytes-like object, got {type(string).__name__!r}")
    return string


class Pattern:
    def __init__(self, pattern, flags):
        if not isinstance(pattern, str):
            _tidemark.refuse("regular expressions are modelled for str, not for bytes")
        code = _regex.compile(pattern, int(flags))
        if isinstance(code, str):
            raise error(code, pattern)
        self._code, self.pattern = code, pattern
        self.groups, self.groupindex, self.flags = _regex.describe(code)
        if not self.flags & A:
            self.flags |= U

    def _found(self, string, pos, endpos, anchored, whole):
        spans = _regex.find(self._code, _checked(string), pos, endpos, anchored, whole)
        return None if spans is None else Match(self, string, spans, pos, endpos)

    def match(self, string, pos=0, endpos=_no_end):
        return self._found(string, pos, endpos, True, False)

    def fullmatch(self, string, pos=0, endpos=_no_end):
        return self._found(string, pos, endpos, True, True)

    def search(self, string, pos=0, endpos=_no_end):
        return self._found(string, pos, endpos, False, False)

    def _matches(self, string, pos=0, endpos=_no_end, most=0):
        found = _regex.find_all(self._code, _checked(string), pos, endpos, most)
        return [Match(self, string, spans, pos, endpos) for spans in found]

    def finditer(self, string, pos=0, endpos=_no_end):
        return iter(self._matches(string, pos, endpos))

    def findall(self, string, pos=0, endpos=_no_end):
        if self.groups <= 1:
            return _regex.find_texts(self._code, _checked(string), pos, endpos, self.groups)
        found = _regex.find_all(self._code, _checked(string), pos, endpos, 0)
        return [Match(self, string, spans, pos, endpos).groups("") for spans in found]

    def subn(self, repl, string, count=0):
        parts = None if callable(repl) else _parts(repl, self.groups, self.groupindex)
        out, at, done = [], 0, 0
        for found in self._matches(string, most=count):
            out.append(string[at:found.start()])
            filled = repl(found) if parts is None else found._filled(parts)
            out.append("" if filled is None else filled)
            at = found.end()
            done += 1
        out.append(string[at:])
        return "".join(out), done

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def split(self, string, maxsplit=0):
        out, at = [], 0
        for found in self._matches(string, most=maxsplit) if maxsplit >= 0 else ():
            out.append(string[at:found.start()])
            out.extend(found.groups())
            at = found.end()
        out.append(string[at:])
        return out

    def scanner(self, string):
        _tidemark.refuse("re.Pattern.scanner() is not modelled", "finditer() gives the same matches")

    def __eq__(self, other):
        if not isinstance(other, Pattern):
            return NotImplemented
        return self.pattern == other.pattern and self.flags == other.flags

    def __hash__(self):
        return hash((self.pattern, self.flags))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"re.compile({self.pattern!r})"


_kept = {}


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    if (pattern, flags) not in _kept:
        if len(_kept) >= 512:
            _kept.clear()
        _kept[pattern, flags] = Pattern(pattern, flags)
    return _kept[pattern, flags]


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def escape(pattern):
    return "".join(["\\" + c if c in "()[]{}?*+-|^$\\.&~# \t\n\r\v\f" else c for c in pattern])


def purge():
    _kept.clear()
