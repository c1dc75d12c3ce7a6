import re

_SPECIAL = re.compile(r'[\x00-\x1f\\"]')
_NOT_ASCII = re.compile(r'([\\"]|[^\ -~])')
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}  # by their texts: a number may not be known
_SHORT = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escaped(found):
    c = found.group()
    if c in _SHORT:
        return _SHORT[c]
    code = ord(c)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 | code >> 10:04x}\\u{0xDC00 | code & 0x3FF:04x}"


def encode_basestring(s):
    return '"' + _SPECIAL.sub(_escaped, s) + '"'


def encode_basestring_ascii(s):
    return '"' + _NOT_ASCII.sub(_escaped, s) + '"'


class JSONEncoder:
    item_separator, key_separator = ", ", ": "

    def __init__(
        self,
        *,
        skipkeys=False,
        ensure_ascii=True,
        check_circular=True,
        allow_nan=True,
        sort_keys=False,
        indent=None,
        separators=None,
        default=None,
    ):
        self.skipkeys, self.ensure_ascii, self.check_circular = skipkeys, ensure_ascii, check_circular
        self.allow_nan, self.sort_keys, self.indent = allow_nan, sort_keys, indent
        if separators is not None:
            self.item_separator, self.key_separator = separators
        elif indent is not None:
            self.item_separator = ","
        if default is not None:
            self.default = default

    def default(self, o):
        raise TypeError(f"Object of type {o.__class__.__name__} is not JSON serializable")

    def encode(self, o):
        return "".join(self._chunks(o))

    def iterencode(self, o, _one_shot=False):
        yield from self._chunks(o)

    def _chunks(self, o):
        out = []
        indent = self.indent if self.indent is None or isinstance(self.indent, str) else " " * self.indent
        quoted = encode_basestring_ascii if self.ensure_ascii else encode_basestring
        _write(self, o, out, quoted, indent, "\n", {} if self.check_circular else None)
        return out


def _number(encoder, o):
    if isinstance(o, int):
        return repr(int(o))
    text = _NOT_FINITE.get(repr(float(o)))
    if text is None:
        return repr(float(o))
    if not encoder.allow_nan:
        raise ValueError("Out of range float values are not JSON compliant")
    return text


def _plain(encoder, o, quoted):
    """The text of what holds nothing else; None of anything else."""
    if isinstance(o, str):
        return quoted("" + o)
    if o is None:
        return "null"
    if o is True:
        return "true"
    if o is False:
        return "false"
    return _number(encoder, o) if isinstance(o, (int, float)) else None


def _write(encoder, o, out, quoted, indent, inner, holders):
    text = _plain(encoder, o, quoted)
    if text is not None:
        out.append(text)
        return
    if holders is not None:
        if id(o) in holders:
            raise ValueError("Circular reference detected")
        holders[id(o)] = o
    first = inner if indent is None else inner + indent
    between = encoder.item_separator + ("" if indent is None else first)
    if isinstance(o, dict):
        _write_members(encoder, o, out, quoted, indent, inner, first, between, holders)
    elif isinstance(o, (list, tuple)):
        if not o:
            out.append("[]")
        else:
            out.append("[" if indent is None else "[" + first)
            started = False
            for item in o:
                if started:
                    out.append(between)
                started = True
                _write(encoder, item, out, quoted, indent, first, holders)
            out.append("]" if indent is None else inner + "]")
    else:
        _write(encoder, encoder.default(o), out, quoted, indent, inner, holders)
    if holders is not None:
        del holders[id(o)]


def _write_members(encoder, o, out, quoted, indent, inner, first, between, holders):
    if not o:
        out.append("{}")
        return
    started = False
    for key, value in sorted(o.items()) if encoder.sort_keys else o.items():
        if not isinstance(key, str):
            text = _plain(encoder, key, quoted)
            if text is None:
                if encoder.skipkeys:
                    continue
                raise TypeError(f"keys must be str, int, float, bool or None, not {key.__class__.__name__}")
            key = text
        out.append(between if started else "{" if indent is None else "{" + first)
        started = True
        out.append(quoted("" + key) + encoder.key_separator)
        _write(encoder, value, out, quoted, indent, first, holders)
    if not started:
        out.append("{" if indent is None else "{" + first)
    out.append("}" if indent is None else inner + "}")


c_make_encoder = None
