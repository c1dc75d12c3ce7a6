from _files import (
    absolute as abspath, is_file as isfile, is_folder as isdir, normal as normpath, size_of as _size_of,
    text_of as _text, time_of as getmtime,
)

sep, pathsep, altsep, curdir, pardir, extsep = "/", ":", None, ".", "..", "."
defpath, devnull = "/bin:/usr/bin", "/dev/null"


def join(first, *rest):
    out = first if isinstance(first, str) else _text(first)
    for part in rest:
        part = part if isinstance(part, str) else _text(part)
        out = part if part.startswith("/") else out + part if out == "" or out.endswith("/") else out + "/" + part
    return out


def normcase(s):
    return _text(s)


def basename(p):
    return _text(p).split("/")[-1]


def dirname(p):
    head = _text(p)[:len(_text(p)) - len(basename(p))]
    return head.rstrip("/") or head


def split(p):
    return dirname(p), basename(p)


def splitext(p):
    p = _text(p)
    name = basename(p).lstrip(".")
    if "." not in name:
        return p, ""
    end = "." + name.split(".")[-1]
    return p[:len(p) - len(end)], end


def exists(path):
    return isfile(path) or isdir(path)


lexists = exists


def islink(path):
    return False


def isabs(s):
    return _text(s).startswith("/")


realpath = abspath


def relpath(path, start="."):
    parts, others = [[part for part in abspath(each).split("/") if part] for each in (path, start)]
    same = 0
    while same < min(len(parts), len(others)) and parts[same] == others[same]:
        same += 1
    return "/".join([".."] * (len(others) - same) + parts[same:]) or "."


def expanduser(path):
    return _text(path).replace("~", "/root", 1) if _text(path).startswith("~") else _text(path)


def expandvars(path):
    """$NAME and ${NAME}; one that is not set stays"""
    import os
    import re

    text = _text(path)
    if "$" not in text:
        return text
    return re.sub(r"\$(\w+|\{[^}]*\})", lambda found: os.environ.get(found[1].strip("{}"), found[0]), text)


def getsize(filename):
    return _size_of(filename)


getatime = getctime = getmtime


def samefile(f1, f2):
    return abspath(f1) == abspath(f2)


def commonprefix(m):
    m = list(m)
    least, most = min(m, default=""), max(m, default="")
    n = 0
    while n < len(least) and least[n] == most[n]:
        n += 1
    return least[:n]


def commonpath(paths):
    paths = [_text(path) for path in paths]
    if not paths:
        raise ValueError("commonpath() arg is an empty sequence")
    if len({path.startswith("/") for path in paths}) != 1:
        raise ValueError("Can't mix absolute and relative paths")
    split = [[part for part in path.split("/") if part and part != "."] for path in paths]
    least, most = min(split), max(split)
    n = 0
    while n < len(least) and least[n] == most[n]:
        n += 1
    return ("/" if paths[0].startswith("/") else "") + "/".join(least[:n])
