"""The text of an array."""
import math
from numpy._core.numerictypes import refuse


def _texts(values, kind):
    """the numbers of one array, as wide as each other"""
    if kind == "f":
        texts = []
        for value in values:
            if value != 0 and math.isfinite(value) and not 1e-4 <= abs(value) < 1e8:
                refuse("the text of very large and very small numbers")
            text = repr(round(value, 8))
            texts.append(text[:-1] if text.endswith(".0") else text)
        behind = max([len(text.partition(".")[2]) for text in texts], default=0)
        texts = [text + " " * (behind - len(text.partition(".")[2])) for text in texts]
    else:
        texts = [str(value).rjust(5 if kind == "b" else 0) for value in values]
    width = max([len(text) for text in texts], default=0)
    return [" " * (width - len(text)) + text for text in texts]


def _nested(texts, shape, comma, depth):
    if len(shape) == 1:
        return "[" + comma.join(texts) + "]"
    part = len(texts) // shape[0] if shape[0] else 0
    rows = [_nested(texts[i * part:(i + 1) * part], shape[1:], comma, depth + 1) for i in range(shape[0])]
    return "[" + (comma.rstrip() + "\n" * (len(shape) - 1) + " " * depth).join(rows) + "]"
