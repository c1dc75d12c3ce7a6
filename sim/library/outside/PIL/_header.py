import _files
import _tidemark

_seen = {}


def _big(text, at, count):
    out = 0
    for c in text[at:at + count]:
        out = out * 256 + ord(c)
    return out


def _little(text, at, count):
    out = 0
    for c in reversed(text[at:at + count]):
        out = out * 256 + ord(c)
    return out


def _png(begin):
    depth, colours = ord(begin[24]), ord(begin[25])
    grey = "1" if depth == 1 else "I;16" if depth == 16 else "L"
    mode = {0: grey, 2: "RGB", 3: "P", 4: "LA", 6: "RGBA"}.get(colours, "RGB")
    return mode, (_big(begin, 16, 4), _big(begin, 20, 4))


def _jpeg(begin):
    """None: the frame's header lies further on"""
    at = 2
    while at + 10 <= len(begin):
        if begin[at] != "\xff":
            return None
        kind = ord(begin[at + 1])
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            mode = {1: "L", 4: "CMYK"}.get(ord(begin[at + 9]), "RGB")
            return mode, (_big(begin, at + 7, 2), _big(begin, at + 5, 2))
        at += 1 if kind == 0xFF else 2 if 0xD0 <= kind <= 0xD8 else 2 + _big(begin, at + 2, 2)
    return None


def _bmp(begin):
    mode = {1: "1", 8: "P"}.get(_little(begin, 28, 2), "RGB")
    height = _little(begin, 22, 4)
    return mode, (_little(begin, 18, 4), height if height < 1 << 31 else (1 << 32) - height)


def _webp(begin):
    kind = begin[12:16]
    if kind == "VP8 ":
        return "RGB", (_little(begin, 26, 2) % (1 << 14), _little(begin, 28, 2) % (1 << 14))
    if kind == "VP8L":
        bits = _little(begin, 21, 4)
        return ("RGBA" if bits >> 28 & 1 else "RGB"), (bits % (1 << 14) + 1, (bits >> 14) % (1 << 14) + 1)
    mode = "RGBA" if ord(begin[20]) & 16 else "RGB"
    return mode, (_little(begin, 24, 3) + 1, _little(begin, 27, 3) + 1)


def _portable(begin):
    """P1 to P6: a text of width, height and, but for bits, the largest number; `#` begins a comment"""
    words = []
    for line in begin[2:].split("\n"):
        words += line.partition("#")[0].split()
        if len(words) >= 3:
            break
    if len(words) < 2 or not (words[0].isdigit() and words[1].isdigit()):
        return None
    is_wide = begin[1] in "25" and words[2:] and words[2].isdigit() and int(words[2]) > 255
    mode = {"1": "1", "4": "1", "3": "RGB", "6": "RGB"}.get(begin[1], "I" if is_wide else "L")
    return mode, (int(words[0]), int(words[1]))


def _of(begin):
    if begin[:1] == "P" and begin[1:2] in ("1", "2", "3", "4", "5", "6") and begin[2:3].isspace():
        return _portable(begin)
    if begin[:8] == "\x89PNG\r\n\x1a\n" and len(begin) >= 26:
        return _png(begin)
    if begin[:2] == "\xff\xd8":
        return _jpeg(begin)
    if begin[:4] == "GIF8" and len(begin) >= 10:
        return "P", (_little(begin, 6, 2), _little(begin, 8, 2))
    if begin[:2] == "BM" and len(begin) >= 30:
        return _bmp(begin)
    if begin[:4] == "RIFF" and begin[8:12] == "WEBP" and len(begin) >= 30:
        return _webp(begin)
    return None


def mode_and_size(path):
    """what the header of a picture's file says; None where it cannot be read"""
    name = _files.clean(path)
    if name not in _seen:
        found = None
        if _tidemark.refusal(name) is None:
            for count in (512, 1 << 13, 1 << 17):
                begin = _tidemark.read_begin(name, count)
                found = None if begin is None else _of(begin)
                if found is not None or begin is None or len(begin) < count:
                    break
        _seen[name] = found
    return _seen[name]
