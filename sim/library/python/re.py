import _tidemark

I = IGNORECASE = 2
L = LOCALE = 4
M = MULTILINE = 8
S = DOTALL = 16
U = UNICODE = 32
X = VERBOSE = 64
A = ASCII = 256


class error(Exception):
    pass


def _is_digit(c):
    return "0" <= c <= "9"


def _is_word(c):
    return c.isalnum() or c == "_"


def _is_space(c):
    return c in " \t\n\r\f\v"


_classes = {"d": _is_digit, "w": _is_word, "s": _is_space}
_escapes = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


def _class_of(c):
    test = _classes[c.lower()]
    return test if c.islower() else lambda x: not test(x)


class _Parser:
    """makes nodes: functions of a state, a position and what has to match after them"""

    def __init__(self, pattern, flags):
        self.pattern, self.at, self.flags = pattern, 0, flags
        self.groups, self.names = 0, {}

    def more(self):
        return self.at < len(self.pattern)

    def peek(self, text):
        return self.pattern.startswith(text, self.at)

    def take(self, text):
        if not self.peek(text):
            return False
        self.at += len(text)
        return True

    def until(self, end):
        text, found, rest = self.pattern[self.at:].partition(end)
        if not found:
            raise error(f"missing {end}, unterminated name")
        self.at += len(text) + len(end)
        return text

    def choice(self):
        branches = [self.sequence()]
        while self.take("|"):
            branches.append(self.sequence())
        if len(branches) == 1:
            return branches[0]

        def match(state, i, then):
            for branch in branches:
                end = branch(state, i, then)
                if end is not None:
                    return end
            return None

        return match

    def sequence(self):
        parts = []
        while self.more() and not self.peek("|") and not self.peek(")"):
            if self.flags & X and self.pattern[self.at] in " \t\n":
                self.at += 1
                continue
            part = self.repeated(self.atom())
            if part is not None:
                parts.append(part)

        def match(state, i, then):
            def step(n, j):
                return then(j) if n == len(parts) else parts[n](state, j, lambda k: step(n + 1, k))

            return step(0, i)

        return match

    def repeated(self, atom):
        while True:
            if self.take("*"):
                least, most = 0, None
            elif self.take("+"):
                least, most = 1, None
            elif self.take("?"):
                least, most = 0, 1
            elif self.peek("{") and self.bounds() is not None:
                least, most = self.bounds()
                self.until("}")
            else:
                return atom
            lazy = self.take("?")
            self.take("+")
            atom = _repeat(atom, least, most, lazy)

    def bounds(self):
        text, found, rest = self.pattern[self.at + 1:].partition("}")
        parts = text.split(",") if found else []
        if not parts or len(parts) > 2 or any([p and not p.isdigit() for p in parts]) or parts == [""]:
            return None
        least = int(parts[0] or 0)
        return least, least if len(parts) == 1 else int(parts[1]) if parts[1] else None

    def atom(self):
        c = self.pattern[self.at]
        self.at += 1
        if c == "(":
            return self.group()
        if c == "[":
            return _one(self.set())
        if c == ".":
            return _one((lambda x: True) if self.flags & S else lambda x: x != "\n")
        if c == "^":
            lines = self.flags & M
            return _where(lambda text, i: i == 0 or lines and text[i - 1] == "\n")
        if c == "$":
            lines = self.flags & M
            return _where(lambda text, i: i == len(text) or text[i:] == "\n" or lines and text[i] == "\n")
        if c == "\\":
            return self.escape()
        return self.literal(c)

    def literal(self, c):
        if self.flags & I:
            return _one(lambda x: x.lower() == c.lower())
        return _one(lambda x: x == c)

    def escape(self):
        c = self.pattern[self.at]
        self.at += 1
        if c in "dwsDWS":
            return _one(_class_of(c))
        if c in "bB":
            inside = c == "b"
            return _where(
                lambda text, i: (((i > 0 and _is_word(text[i - 1])) != (i < len(text) and _is_word(text[i])))) == inside
            )
        if c == "A":
            return _where(lambda text, i: i == 0)
        if c == "Z":
            return _where(lambda text, i: i == len(text))
        if c in "123456789":
            return _again(int(c))
        return self.literal(_escapes.get(c, c))

    def set(self):
        negated = self.take("^")
        tests, first = [], True
        while first or not self.peek("]"):
            first = False
            if not self.more():
                raise error("unterminated character set")
            c = self.pattern[self.at]
            self.at += 1
            if c == "\\":
                c = self.pattern[self.at]
                self.at += 1
                if c in "dwsDWS":
                    tests.append(_class_of(c))
                    continue
                c = _escapes.get(c, c)
            if self.peek("-") and not self.peek("-]"):
                self.at += 1
                last = self.pattern[self.at]
                self.at += 1
                tests.append(_between(c, last))
            else:
                tests.append(_between(c, c))
        self.at += 1
        if self.flags & I:
            plain = tests
            tests = [lambda x: any([t(x.lower()) or t(x.upper()) for t in plain])]
        return lambda x: any([t(x) for t in tests]) != negated

    def group(self):
        if self.take("?:"):
            inner = self.choice()
        elif self.take("?P<"):
            name = self.until(">")
            self.groups += 1
            self.names[name] = self.groups
            inner = self.captured(self.groups)
        elif self.take("?P="):
            return _again(self.names[self.until(")")])
        elif self.peek("?=") or self.peek("?!"):
            wanted = self.peek("?=")
            self.at += 2
            ahead = self.choice()
            inner = _look(ahead, wanted)
        elif self.take("?#"):
            self.until(")")
            return None
        elif self.peek("?"):
            _tidemark.refuse(f"this part of a regular expression is not modelled: '({self.pattern[self.at:]}'")
        else:
            self.groups += 1
            inner = self.captured(self.groups)
        if not self.take(")"):
            raise error("missing ), unterminated subpattern")
        return inner

    def captured(self, number):
        inner = self.choice()

        def match(state, i, then):
            before = state.spans.get(number)

            def close(j):
                kept = state.spans.get(number)
                state.spans[number] = (i, j)
                end = then(j)
                if end is None:
                    state.spans[number] = kept
                return end

            end = inner(state, i, close)
            if end is None:
                state.spans[number] = before
            return end

        return match


def _between(low, high):
    return lambda x: low <= x <= high


def _one(test):
    def match(state, i, then):
        return then(i + 1) if i < len(state.text) and test(state.text[i]) else None

    return match


def _where(test):
    def match(state, i, then):
        return then(i) if test(state.text, i) else None

    return match


def _again(number):
    def match(state, i, then):
        span = state.spans.get(number)
        if span is None or not state.text.startswith(state.text[span[0]:span[1]], i):
            return None
        return then(i + span[1] - span[0])

    return match


def _look(inner, wanted):
    def match(state, i, then):
        found = inner(state, i, lambda j: j) is not None
        return then(i) if found == wanted else None

    return match


def _repeat(atom, least, most, lazy):
    def match(state, i, then):
        def step(count, j):
            def again(k):
                return None if k == j and count >= least else step(count + 1, k)

            if count < least:
                return atom(state, j, again)
            if lazy:
                end = then(j)
                return end if end is not None or count == most else atom(state, j, again)
            if count != most:
                end = atom(state, j, again)
                if end is not None:
                    return end
            return then(j)

        return step(0, i)

    return match


class _State:
    def __init__(self, text):
        self.text, self.spans = text, {}


class Match:
    def __init__(self, pattern, state, start, end):
        self.re, self.string, self._spans, self.pos = pattern, state.text, state.spans, 0
        self._spans[0] = (start, end)

    def _number(self, group):
        number = self.re.groupindex.get(group) if isinstance(group, str) else group
        if number is None or number > self.re.groups:
            raise IndexError("no such group")
        return number

    def span(self, group=0):
        return self._spans.get(self._number(group)) or (-1, -1)

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

    __getitem__ = group

    def groups(self, default=None):
        return tuple([self._text(i + 1, default) for i in range(self.re.groups)])

    def groupdict(self, default=None):
        return {name: self._text(i, default) for name, i in self.re.groupindex.items()}

    @property
    def lastindex(self):
        return max([i for i, span in self._spans.items() if i and span], default=None)

    def expand(self, template):
        out, i = "", 0
        while i < len(template):
            c = template[i]
            i += 1
            if c == "\\" and i < len(template):
                c = template[i]
                i += 1
                if c.isdigit():
                    out += self._text(int(c)) or ""
                elif c == "g":
                    name = template[i + 1:].partition(">")[0]
                    out += self._text(int(name) if name.isdigit() else name) or ""
                    i += len(name) + 2
                else:
                    out += _escapes.get(c, c)
            else:
                out += c
        return out

    def __repr__(self):
        return f"<re.Match object; span={self.span()}, match={self.group()!r}>"


class Pattern:
    def __init__(self, pattern, flags):
        parser = _Parser(pattern, flags)
        self._node = parser.choice()
        if parser.more():
            raise error("unbalanced parenthesis")
        self.pattern, self.flags, self.groups, self.groupindex = pattern, flags, parser.groups, parser.names

    def _at(self, string, start, whole):
        state = _State(string)
        end = self._node(state, start, lambda j: j if not whole or j == len(string) else None)
        return None if end is None else Match(self, state, start, end)

    def match(self, string, pos=0):
        return self._at(string, pos, False)

    def fullmatch(self, string, pos=0):
        return self._at(string, pos, True)

    def search(self, string, pos=0):
        for start in range(pos, len(string) + 1):
            found = self._at(string, start, False)
            if found is not None:
                return found
        return None

    def finditer(self, string, pos=0):
        while pos <= len(string):
            found = self.search(string, pos)
            if found is None:
                return
            yield found
            pos = found.end() if found.end() > found.start() else found.end() + 1

    def findall(self, string, pos=0):
        out = []
        for found in self.finditer(string, pos):
            groups = found.groups("")
            out.append(found.group() if not groups else groups[0] if len(groups) == 1 else groups)
        return out

    def subn(self, repl, string, count=0):
        out, at, done = "", 0, 0
        for found in self.finditer(string):
            out += string[at:found.start()] + (repl(found) if callable(repl) else found.expand(repl))
            at = found.end()
            done += 1
            if done == count:
                break
        return out + string[at:], done

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def split(self, string, maxsplit=0):
        out, at = [], 0
        for found in self.finditer(string):
            out.append(string[at:found.start()])
            out.extend(found.groups())
            at = found.end()
            maxsplit -= 1
            if maxsplit == 0:
                break
        return out + [string[at:]]

    def __repr__(self):
        return f"re.compile({self.pattern!r})"


_kept = {}


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        return pattern
    if (pattern, flags) not in _kept:
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
