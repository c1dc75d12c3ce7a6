import re
from collections import ChainMap

ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_letters = ascii_lowercase + ascii_uppercase
digits = "0123456789"
hexdigits = digits + "abcdef" + "ABCDEF"
octdigits = "01234567"
punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
whitespace = " \t\n\r\x0b\x0c"
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    return (sep or " ").join([word.capitalize() for word in s.split(sep)])


class Template:
    delimiter = "$"
    idpattern = r"(?a:[_a-z][_a-z0-9]*)"
    braceidpattern = None
    flags = re.IGNORECASE

    def __init_subclass__(cls):
        super().__init_subclass__()
        cls._make_pattern()

    @classmethod
    def _make_pattern(cls):
        pattern = cls.__dict__.get("pattern")
        if pattern is None:
            mark = re.escape(cls.delimiter)
            braced = cls.braceidpattern or cls.idpattern
            pattern = (
                rf"{mark}(?:(?P<escaped>{mark})|(?P<named>{cls.idpattern})|"
                rf"{{(?P<braced>{braced})}}|(?P<invalid>))"
            )
            cls.pattern = re.compile(pattern, cls.flags)
        else:
            cls.pattern = re.compile(pattern, cls.flags | re.VERBOSE)

    def __init__(self, template):
        self.template = template

    def _invalid(self, found):
        at = found.start("invalid")
        lines = self.template[:at].splitlines(keepends=True)
        column = at - len("".join(lines[:-1])) if lines else 1
        raise ValueError(f"Invalid placeholder in string: line {len(lines) or 1}, col {column}")

    def _unnamed(self):
        raise ValueError("Unrecognized named group in pattern", self.pattern)

    def _filled(self, mapping, kws, missing):
        values = mapping if not kws else ChainMap(kws, mapping)

        def fill(found):
            name = found.group("named") or found.group("braced")
            if name is not None:
                if not missing:
                    return str(values[name])
                try:
                    return str(values[name])
                except KeyError:
                    return found.group()
            if found.group("escaped") is not None:
                return self.delimiter
            if found.group("invalid") is None:
                self._unnamed()
            return found.group() if missing else self._invalid(found)

        return self.pattern.sub(fill, self.template)

    def substitute(self, mapping={}, /, **kws):
        return self._filled(mapping, kws, False)

    def safe_substitute(self, mapping={}, /, **kws):
        return self._filled(mapping, kws, True)

    def is_valid(self):
        for found in self.pattern.finditer(self.template):
            if found.group("invalid") is not None:
                return False
            if not (found.group("named") or found.group("braced") or found.group("escaped") is not None):
                self._unnamed()
        return True

    def get_identifiers(self):
        names = {}
        for found in self.pattern.finditer(self.template):
            name = found.group("named") or found.group("braced")
            if name is not None:
                names[name] = True
            elif found.group("invalid") is None and found.group("escaped") is None:
                self._unnamed()
        return list(names)


Template._make_pattern()


class Formatter:
    def format(self, format_string, /, *args, **kwargs):
        return self.vformat(format_string, args, kwargs)

    def vformat(self, format_string, args, kwargs):
        used = set()
        text, _ = self._vformat(format_string, args, kwargs, used, 2)
        self.check_unused_args(used, args, kwargs)
        return text

    def _vformat(self, format_string, args, kwargs, used_args, recursion_depth, auto_arg_index=0):
        if recursion_depth < 0:
            raise ValueError("Max string recursion exceeded")
        parts = []
        for literal, name, spec, conversion in self.parse(format_string):
            if literal:
                parts.append(literal)
            if name is None:
                continue
            if name == "":
                if auto_arg_index is False:
                    raise ValueError("cannot switch from manual field specification to automatic field numbering")
                name = str(auto_arg_index)
                auto_arg_index += 1
            elif name.isdigit():
                if auto_arg_index:
                    raise ValueError("cannot switch from manual field specification to automatic field numbering")
                auto_arg_index = False
            value, key = self.get_field(name, args, kwargs)
            used_args.add(key)
            value = self.convert_field(value, conversion)
            spec, auto_arg_index = self._vformat(spec, args, kwargs, used_args, recursion_depth - 1, auto_arg_index)
            parts.append(self.format_field(value, spec))
        return "".join(parts), auto_arg_index

    def get_value(self, key, args, kwargs):
        return args[key] if isinstance(key, int) else kwargs[key]

    def check_unused_args(self, used_args, args, kwargs):
        pass

    def format_field(self, value, format_spec):
        return format(value, format_spec)

    def convert_field(self, value, conversion):
        if conversion is None:
            return value
        if conversion in ("s", "r", "a"):
            return {"s": str, "r": repr, "a": ascii}[conversion](value)
        raise ValueError(f"Unknown conversion specifier {conversion!s}")

    def parse(self, format_string):
        return _pieces(format_string)

    def get_field(self, field_name, args, kwargs):
        first, rest = _steps(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            value = getattr(value, key) if is_attribute else value[key]
        return value, first


def _pieces(text):
    """The literal text, and the field that follows it: its name, its format and its conversion."""
    literal, at = "", 0
    while at < len(text):
        c = text[at]
        at += 1
        if c not in "{}":
            end = at
            while end < len(text) and text[end] not in "{}":
                end += 1
            literal += text[at - 1:end]
            at = end
            continue
        if text[at:at + 1] == c:
            yield literal + c, None, None, None
            literal = ""
            at += 1
            continue
        if c == "}":
            raise ValueError("Single '}' encountered in format string")
        if at == len(text):
            raise ValueError("Single '{' encountered in format string")
        start, depth, bracket = at, 1, False
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        if depth:
            raise ValueError("expected '}' before end of string")
        yield (literal,) + _field(text[start:at - 1])
        literal = ""
    if literal:
        yield literal, None, None, None


def _field(text):
    end, bracket = 0, False
    while end < len(text) and (bracket or text[end] not in ":!"):
        if text[end] == "{" and not bracket:
            raise ValueError("unexpected '{' in field name")
        bracket = text[end] == "[" or bracket and text[end] != "]"
        end += 1
    if end == len(text):
        return text, "", None
    if text[end] == ":":
        return text[:end], text[end + 1:], None
    conversion, rest = text[end + 1:end + 2], text[end + 2:]
    if not conversion:
        raise ValueError("end of string while looking for conversion specifier")
    if rest and rest[0] != ":":
        raise ValueError("expected ':' after conversion specifier")
    return text[:end], rest[1:], conversion


def _steps(name):
    """`a.b[0]`: the first name, and the attributes and items that follow."""
    end = 0
    while end < len(name) and name[end] not in ".[":
        end += 1
    first, steps = name[:end], []
    while end < len(name):
        if name[end] == ".":
            start = end = end + 1
            while end < len(name) and name[end] not in ".[":
                end += 1
            key, is_attribute = name[start:end], True
        elif name[end] == "[":
            close = name.find("]", end)
            if close < 0:
                raise ValueError("Missing ']' in format string")
            key, is_attribute, end = name[end + 1:close], False, close + 1
        else:
            raise ValueError("Only '.' or '[' may follow ']' in format field specifier")
        if not key:
            raise ValueError("Empty attribute in format string")
        steps.append((is_attribute, int(key) if not is_attribute and key.isdigit() else key))
    return int(first) if first.isdigit() else first, steps
