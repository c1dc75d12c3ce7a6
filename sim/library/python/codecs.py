import _tidemark
import builtins

BOM_UTF8 = b"\xef\xbb\xbf"
BOM_LE = BOM_UTF16_LE = BOM = BOM_UTF16 = b"\xff\xfe"
BOM_BE = BOM_UTF16_BE = b"\xfe\xff"
BOM_UTF32_LE = BOM_UTF32 = b"\xff\xfe\x00\x00"
BOM_UTF32_BE = b"\x00\x00\xfe\xff"
_searches = []
_NAMES = {
    "utf8": "utf-8", "u8": "utf-8", "utf": "utf-8", "cp65001": "utf-8", "ascii": "ascii", "us_ascii": "ascii",
    "646": "ascii", "latin1": "iso8859-1", "latin_1": "iso8859-1", "iso8859_1": "iso8859-1", "iso_8859_1": "iso8859-1",
    "l1": "iso8859-1", "utf_8": "utf-8", "utf_16": "utf-16", "utf16": "utf-16", "utf_16_le": "utf-16-le",
    "utf_16_be": "utf-16-be", "utf_32": "utf-32", "utf32": "utf-32", "utf_32_le": "utf-32-le", "utf_32_be": "utf-32-be",
}


class CodecInfo(tuple):
    def __new__(cls, encode, decode, streamreader=None, streamwriter=None, incrementalencoder=None,
                incrementaldecoder=None, name=None, *, _is_text_encoding=None):
        self = tuple.__new__(cls, (encode, decode, streamreader, streamwriter))
        self.name, self.encode, self.decode = name, encode, decode
        self.incrementalencoder, self.incrementaldecoder = incrementalencoder, incrementaldecoder
        self.streamwriter, self.streamreader = streamwriter, streamreader
        return self

    def __repr__(self):
        return f"<codecs.CodecInfo object for encoding {self.name}>"


class Codec:
    def encode(self, input, errors="strict"):
        raise NotImplementedError

    def decode(self, input, errors="strict"):
        raise NotImplementedError


class IncrementalEncoder:
    def __init__(self, errors="strict"):
        self.errors, self.buffer = errors, ""

    def reset(self):
        pass


class IncrementalDecoder:
    def __init__(self, errors="strict"):
        self.errors = errors

    def reset(self):
        pass


def register(search_function):
    if not callable(search_function):
        raise TypeError("argument must be callable")
    _searches.append(search_function)


def unregister(search_function):
    if search_function in _searches:
        _searches.remove(search_function)


def lookup(encoding):
    plain = encoding.lower().replace("-", "_").replace(" ", "_")
    name = _NAMES.get(plain)
    if name is not None:
        return CodecInfo(
            lambda text, errors="strict": (text.encode(name, errors), len(text)),
            lambda data, errors="strict": (bytes(data).decode(name, errors), len(data)),
            name=name,
        )
    for search in _searches:
        found = search(plain)
        if found is not None:
            return found
    raise LookupError(f"unknown encoding: {encoding}")


def getencoder(encoding):
    return lookup(encoding).encode


def getdecoder(encoding):
    return lookup(encoding).decode


def encode(obj, encoding="utf-8", errors="strict"):
    return lookup(encoding).encode(obj, errors)[0]


def decode(obj, encoding="utf-8", errors="strict"):
    return lookup(encoding).decode(obj, errors)[0]


def open(filename, mode="r", encoding=None, errors="strict", buffering=-1):
    return builtins.open(filename, mode, encoding=encoding)


register_error = _tidemark.later("codecs.register_error")
lookup_error = _tidemark.later("codecs.lookup_error")
getreader = _tidemark.later("codecs.getreader")
getwriter = _tidemark.later("codecs.getwriter")
getincrementaldecoder = _tidemark.later("codecs.getincrementaldecoder")
getincrementalencoder = _tidemark.later("codecs.getincrementalencoder")
iterdecode = _tidemark.later("codecs.iterdecode")
iterencode = _tidemark.later("codecs.iterencode")
escape_decode = _tidemark.later("codecs.escape_decode")
