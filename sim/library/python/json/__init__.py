from json.decoder import JSONDecodeError, JSONDecoder
from json.encoder import JSONEncoder

__all__ = ["dump", "dumps", "load", "loads", "JSONDecoder", "JSONDecodeError", "JSONEncoder"]


def dumps(
    obj,
    *,
    skipkeys=False,
    ensure_ascii=True,
    check_circular=True,
    allow_nan=True,
    cls=None,
    indent=None,
    separators=None,
    default=None,
    sort_keys=False,
    **kw,
):
    return (JSONEncoder if cls is None else cls)(
        skipkeys=skipkeys,
        ensure_ascii=ensure_ascii,
        check_circular=check_circular,
        allow_nan=allow_nan,
        indent=indent,
        separators=separators,
        default=default,
        sort_keys=sort_keys,
        **kw,
    ).encode(obj)


def dump(obj, fp, **options):
    fp.write(dumps(obj, **options))


def detect_encoding(b):
    if b.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return "utf-32"
    if b.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    zeros = [byte == 0 for byte in b[:4]]
    if len(zeros) == 4:
        if zeros[0]:
            return "utf-32-be" if zeros[1] else "utf-16-be"
        if zeros[1]:
            return "utf-32-le" if zeros[2] and zeros[3] else "utf-16-le"
    elif len(zeros) == 2:
        if zeros[0]:
            return "utf-16-be"
        if zeros[1]:
            return "utf-16-le"
    return "utf-8"


def loads(
    s,
    *,
    cls=None,
    object_hook=None,
    parse_float=None,
    parse_int=None,
    parse_constant=None,
    object_pairs_hook=None,
    **kw,
):
    if isinstance(s, str):
        if s.startswith("\ufeff"):
            raise JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", s, 0)
    elif isinstance(s, (bytes, bytearray)):
        encoding = detect_encoding(s)
        s = s[3:].decode() if encoding == "utf-8-sig" else s.decode(encoding)
    else:
        raise TypeError(f"the JSON object must be str, bytes or bytearray, not {type(s).__name__}")
    given = {
        "object_hook": object_hook,
        "parse_float": parse_float,
        "parse_int": parse_int,
        "parse_constant": parse_constant,
        "object_pairs_hook": object_pairs_hook,
    }
    kw.update({name: value for name, value in given.items() if value is not None})
    return (JSONDecoder if cls is None else cls)(**kw).decode(s)


def load(fp, **options):
    return loads(fp.read(), **options)
