import _tidemark
import re
from yaml._reader import resolved

# How PyYAML writes plain data: mappings and sequences in blocks, scalars plain where they read back as themselves.


def _refuse(what):
    _tidemark.refuse(f"yaml.dump of {what} is not modelled", "give the folder of PyYAML")


def text_of(data, is_flow, sort_keys, indent, width, allow_unicode):
    own = _Writer(sort_keys, indent, width, allow_unicode)
    own.check(data, [])
    if indent != 2 and not is_flow:
        _refuse("data by another indent than 2")
    if isinstance(data, (dict, list, tuple)) and len(data) > 0:
        if is_flow:
            text = own.flow(data)
            if len(text) > width:
                _refuse("a flow longer than a line")
            return text + "\n"
        return "\n".join(own.lines(data, 0)) + "\n"
    text = own.flow(data)
    is_plain = not isinstance(data, (dict, list, tuple)) and text[0] not in "\"'"
    return text + ("\n...\n" if is_plain else "\n")


class _Writer:
    def __init__(self, sort_keys, indent, width, allow_unicode):
        self.sort_keys, self.indent, self.width, self.allow_unicode = sort_keys, indent, width, allow_unicode

    def check(self, data, seen):
        """what would be written with an anchor or a tag"""
        if data is None or isinstance(data, (bool, int, float, str)):
            if type(data) not in (type(None), bool, int, float, str):
                _refuse(type(data).__name__)
            return
        if type(data) not in (dict, list):
            _refuse(type(data).__name__)
        if data and any([each is data for each in seen]):
            _refuse("what it meets twice")
        seen.append(data)
        for each in data:
            self.check(each, seen)
            if isinstance(data, dict):
                self.check(data[each], seen)

    def items(self, data):
        if self.sort_keys:
            try:
                return sorted(data.items())
            except TypeError:
                pass
        return list(data.items())

    def lines(self, data, depth):
        out, pad = [], " " * depth
        if isinstance(data, dict):
            for key, value in self.items(data):
                name = self.scalar(key, True)
                if isinstance(value, dict) and value:
                    out += [f"{pad}{name}:", *self.lines(value, depth + self.indent)]
                elif isinstance(value, list) and value:
                    out += [f"{pad}{name}:", *self.lines(value, depth)]
                else:
                    out += self.wrapped(f"{pad}{name}: ", value, depth + self.indent)
            return out
        for value in data:
            if isinstance(value, (dict, list)) and value:
                inner = self.lines(value, depth + 2)
                out += [f"{pad}- {inner[0][depth + 2:]}", *inner[1:]]
            else:
                out += self.wrapped(f"{pad}- ", value, depth + 2)
        return out

    def wrapped(self, begin, value, depth):
        text = begin + self.flow(value)
        if len(text) > self.width and " " in text[len(begin):]:
            _refuse("a text longer than a line")
        return [text]

    def flow(self, data):
        if isinstance(data, dict):
            return "{" + ", ".join([f"{self.scalar(k, True)}: {self.flow(v)}" for k, v in self.items(data)]) + "}"
        if isinstance(data, list):
            return "[" + ", ".join([self.flow(each) for each in data]) + "]"
        return self.scalar(data, False)

    def scalar(self, data, is_key):
        if data is None:
            return "null"
        if isinstance(data, bool):
            return "true" if data else "false"
        if isinstance(data, int):
            return str(data)
        if isinstance(data, float):
            return self.number(data)
        if self.is_plain(data):
            return data
        if "\n" in data or any([ord(c) < 32 or ord(c) > 126 and not self.allow_unicode for c in data]):
            _refuse("a text with line ends or such signs")
        return "'" + data.replace("'", "''") + "'"

    def number(self, data):
        if data != data:
            return ".nan"
        if data in (float("inf"), float("-inf")):
            return ".inf" if data > 0 else "-.inf"
        text = repr(data).lower()
        return text.replace("e", ".0e", 1) if "." not in text and "e" in text else text

    def is_plain(self, text):
        if not text or text != text.strip() or not isinstance(resolved_or_text(text), str):
            return False
        if text[0] in "-?:,[]{}#&*!|>'\"%@`" and not (text[0] in "-?:" and text[1:2] not in ("", " ")):
            return False
        if text.startswith(("---", "...")) or text in ("=", "<<"):
            return False
        if re.search(r": |:$| #", text):
            return False
        return all([32 <= ord(c) < 127 or ord(c) > 159 and self.allow_unicode for c in text])


def resolved_or_text(text):
    try:
        return resolved(text)
    except Exception:
        return None
