import re


def stringify_path(filepath):
    if isinstance(filepath, str):
        return filepath
    return filepath.__fspath__() if hasattr(filepath, "__fspath__") else getattr(filepath, "path", filepath)


def get_protocol(url):
    """what stands before ://, "file" where nothing does"""
    parts = re.split(r"(\:\:|\://)", stringify_path(url), maxsplit=1)
    return parts[0] if len(parts) > 1 else "file"


def isfilelike(f):
    return all(hasattr(f, name) for name in ("read", "close", "tell"))
