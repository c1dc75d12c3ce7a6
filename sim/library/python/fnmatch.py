import re

__all__ = ["filter", "fnmatch", "fnmatchcase", "translate"]
_compiled = {}


def translate(pat):
    """The pattern as a regular expression. After a `*` the first place that fits will do, so it is not tried again."""
    parts, at, size = [], 0, len(pat)
    while at < size:
        c = pat[at]
        at += 1
        if c == "*":
            if not parts or parts[-1] is not None:
                parts.append(None)
        elif c == "?":
            parts.append(".")
        elif c != "[":
            parts.append(re.escape(c))
        else:
            end = at
            if end < size and pat[end] == "!":
                end += 1
            if end < size and pat[end] == "]":
                end += 1
            while end < size and pat[end] != "]":
                end += 1
            if end >= size:
                parts.append("\\[")
            else:
                parts.append(_of_set(pat[at:end]))
                at = end + 1
    return rf"(?s:{_joined(parts)})\Z"


def _of_set(text):
    if "-" in text:
        # Ranges whose end lies before their start are empty.
        chunks, start, found = [], 0, text.find("-", 2 if text[0] == "!" else 1)
        while found >= 0:
            chunks.append(text[start:found])
            start = found + 1
            found = text.find("-", found + 3)
        rest = text[start:]
        if rest:
            chunks.append(rest)
        else:
            chunks[-1] += "-"
        for place in range(len(chunks) - 1, 0, -1):
            if chunks[place - 1][-1] > chunks[place][0]:
                chunks[place - 1] = chunks[place - 1][:-1] + chunks[place][1:]
                del chunks[place]
        text = "-".join([chunk.replace("\\", "\\\\").replace("-", "\\-") for chunk in chunks])
    else:
        text = text.replace("\\", "\\\\")
    text = re.sub(r"([&~|])", r"\\\1", text)
    if not text:
        return "(?!)"
    if text == "!":
        return "."
    if text[0] == "!":
        text = "^" + text[1:]
    elif text[0] in ("^", "["):
        text = "\\" + text
    return f"[{text}]"


def _joined(parts):
    out, at = [], 0
    while at < len(parts) and parts[at] is not None:
        out.append(parts[at])
        at += 1
    while at < len(parts):
        at += 1  # a star
        fixed = []
        while at < len(parts) and parts[at] is not None:
            fixed.append(parts[at])
            at += 1
        if not fixed:
            out.append(".*")
        elif at == len(parts):
            out.append(".*" + "".join(fixed))
        else:
            out.append(f"(?>.*?{''.join(fixed)})")
    return "".join(out)


def _pattern(pat):
    if pat not in _compiled:
        if len(_compiled) > 32768:
            _compiled.clear()
        text = translate(pat.decode("latin-1")).encode("latin-1") if isinstance(pat, bytes) else translate(pat)
        _compiled[pat] = re.compile(text)
    return _compiled[pat]


def fnmatchcase(name, pat):
    return _pattern(pat).match(name) is not None


fnmatch = fnmatchcase


def filter(names, pat):
    match = _pattern(pat).match
    return [name for name in names if match(name)]
