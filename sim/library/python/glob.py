import _files
import re
from fnmatch import fnmatchcase


def glob(pathname, *, root_dir=None, dir_fd=None, recursive=False, include_hidden=False):
    return list(iglob(pathname, root_dir=root_dir, recursive=recursive, include_hidden=include_hidden))


def iglob(pathname, *, root_dir=None, dir_fd=None, recursive=False, include_hidden=False):
    text = _files.text_of(pathname)
    root = "" if root_dir is None else _files.text_of(root_dir)
    *above, last = text.split("/")
    folders = [""] if not above else ["/"] if above == [""] else _matching(above, root, recursive, include_hidden)
    for folder in folders:
        for found in _names(folder, last, root, recursive, include_hidden, True):
            if found:
                yield found


def has_magic(s):
    return any([c in s for c in "*?["])


def _matching(parts, root, recursive, hidden):
    """the folders that the first parts of a pattern name, as they are written there"""
    found = [""]
    for i, part in enumerate(parts):
        if i == 0 and part == "":
            found = ["/"]
        else:
            found = [each for folder in found for each in _names(folder, part, root, recursive, hidden, False)]
    return found


def _names(folder, part, root, recursive, hidden, is_last):
    begin = folder if folder in ("", "/") else folder + "/"
    where = _joined(root, folder) or "."
    if part == "**" and recursive:
        yield begin if is_last else folder
        yield from _below(begin, where, hidden, is_last)
    elif has_magic(part):
        for name in _files.names_in(where) if _files.is_folder(where) else ():
            if (hidden or name[0] != "." or part[0] == ".") and fnmatchcase(name, part):
                if is_last or _files.is_folder(where + "/" + name):
                    yield begin + name
    elif part == "":
        if is_last and _files.is_folder(where):
            yield begin
        elif not is_last:
            yield folder
    elif not is_last or _files.is_file(where + "/" + part) or _files.is_folder(where + "/" + part):
        yield begin + part


def _below(begin, where, hidden, with_files):
    for name in _files.names_in(where) if _files.is_folder(where) else ():
        if not hidden and name[0] == ".":
            continue
        is_folder = _files.is_folder(where + "/" + name)
        if is_folder or with_files:
            yield begin + name
        if is_folder:
            yield from _below(begin + name + "/", where + "/" + name, hidden, with_files)


def _joined(root, folder):
    return folder if folder[:1] == "/" or not root else root if not folder else root + "/" + folder


def escape(pathname):
    return re.sub(r"([*?[])", r"[\1]", pathname)
