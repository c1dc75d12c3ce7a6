import re

ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_letters = ascii_lowercase + ascii_uppercase
digits = "0123456789"
hexdigits = digits + "abcdef" + "ABCDEF"
octdigits = "01234567"
punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
whitespace = " \t\n\r"
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    return (sep or " ").join([word.capitalize() for word in s.split(sep)])


class Template:
    delimiter = "$"

    def __init__(self, template):
        self.template = template

    def _filled(self, values, missing):
        def fill(found):
            if found.group() == "$$":
                return "$"
            name = found.group(1) or found.group(2)
            if name is None:
                if missing:
                    return found.group()
                raise ValueError("Invalid placeholder in string")
            return found.group() if missing and name not in values else str(values[name])

        return re.sub(r"\$(?:\$|([_a-zA-Z][_a-zA-Z0-9]*)|\{([_a-zA-Z][_a-zA-Z0-9]*)\}|)", fill, self.template)

    def substitute(self, mapping={}, /, **kws):
        return self._filled({**mapping, **kws}, False)

    def safe_substitute(self, mapping={}, /, **kws):
        return self._filled({**mapping, **kws}, True)
