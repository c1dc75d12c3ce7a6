import _files
import os.path


class PurePath:
    """a path as text"""

    def __new__(cls, *args, **kwargs):
        return object.__new__(PurePosixPath if cls is PurePath else cls)

    def __init__(self, *parts):
        self._text = os.path.join(*parts) or "." if parts else "."
        if len(self._text) > 1:
            self._text = self._text.rstrip("/")
        if "//" in self._text or "./" in self._text or "/." in self._text:
            begin = "/" if self._text.startswith("/") else ""
            self._text = begin + "/".join([p for p in self._text.split("/") if p not in ("", ".")]) or "."

    def match(self, path_pattern):
        from fnmatch import fnmatchcase

        wanted = [p for p in str(path_pattern).split("/") if p]
        own = [p for p in self._text.split("/") if p]
        if str(path_pattern).startswith("/") and len(wanted) != len(own):
            return False
        return len(own) >= len(wanted) and all([fnmatchcase(a, b) for a, b in zip(own[-len(wanted) :], wanted)])

    def __truediv__(self, other):
        return type(self)(self, other)

    def __rtruediv__(self, other):
        return type(self)(other, self)

    def joinpath(self, *others):
        return type(self)(self, *others)

    @property
    def name(self):
        return self._text.split("/")[-1]

    @property
    def suffix(self):
        return "." + self.name.split(".")[-1] if "." in self.name.lstrip(".") else ""

    @property
    def suffixes(self):
        return ["." + s for s in self.name.lstrip(".").split(".")[1:]]

    @property
    def stem(self):
        return self.name[:len(self.name) - len(self.suffix)]

    @property
    def parent(self):
        if "/" not in self._text:
            return type(self)()
        return type(self)("/".join(self._text.split("/")[:-1]) or "/")

    @property
    def parents(self):
        out, at = [], self
        while at.parent != at:
            at = at.parent
            out.append(at)
        return out

    @property
    def drive(self):
        return ""

    @property
    def root(self):
        return "/" if self._text.startswith("/") else ""

    anchor = root

    @property
    def parts(self):
        return tuple(p or "/" for p in self._text.split("/"))

    def with_suffix(self, suffix):
        return type(self)(self._text[:len(self._text) - len(self.suffix)] + suffix)

    def with_name(self, name):
        return self.parent / name

    def with_stem(self, stem):
        return self.parent / (stem + self.suffix)

    def is_absolute(self):
        return self._text.startswith("/")

    def relative_to(self, other, *_, walk_up=False):
        out = os.path.relpath(self, other)
        is_apart = self.is_absolute() != type(self)(other).is_absolute() or out.split("/")[0] == ".."
        if is_apart and not walk_up:
            raise ValueError(f"{self._text!r} is not in the subpath of {str(other)!r} OR one path is "
                             "relative and the other is absolute.")
        return type(self)(out)

    def as_posix(self):
        return self._text

    def __str__(self):
        return self._text

    __fspath__ = __str__

    def __repr__(self):
        return f"{type(self).__name__}('{self._text}')"

    def __eq__(self, other):
        return isinstance(other, PurePath) and self._text == other._text

    def __lt__(self, other):
        return self._text < other._text

    def __hash__(self):
        return hash(self._text)


class PurePosixPath(PurePath):
    pass


class Path(PurePath):
    """a path of the system that the program runs on"""

    def __new__(cls, *args, **kwargs):
        return object.__new__(PosixPath if cls is Path else cls)

    @classmethod
    def cwd(cls):
        return cls(_files.working_folder)

    @classmethod
    def home(cls):
        return cls("/root")

    def resolve(self, strict=False):
        return type(self)(os.path.abspath(self))

    absolute = resolve

    def expanduser(self):
        return type(self)(os.path.expanduser(self))

    def mkdir(self, mode=511, parents=False, exist_ok=False):
        if not exist_ok and self.exists():
            raise FileExistsError(f"[Errno 17] File exists: '{self._text}'")
        _files.make_folder(self)

    def touch(self, mode=438, exist_ok=True):
        if not self.exists():
            _files.keep(self, [])

    def exists(self):
        return os.path.exists(self)

    def is_file(self):
        return _files.is_file(self)

    def is_dir(self):
        return _files.is_folder(self)

    def unlink(self, missing_ok=False):
        if not missing_ok or self.exists():
            _files.drop(self)

    def rename(self, target):
        _files.move(self, target)
        return type(self)(target)

    replace = rename

    def rmdir(self):
        _files.drop_folder(self)

    def open(self, mode="r", buffering=-1, encoding=None, errors=None, newline=None):
        return _files.open(self, mode)

    def write_text(self, data, encoding=None, errors=None, newline=None):
        return _files.open(self, "w").write(data)

    def read_text(self, encoding=None, errors=None):
        return _files.open(self).read()

    def iterdir(self):
        return iter([self / name for name in _files.names_in(self)])

    def glob(self, pattern):
        return _selected(self, _parts_of(pattern))

    def rglob(self, pattern):
        return _selected(self, ["**", *_parts_of(pattern)])


class PosixPath(Path, PurePosixPath):
    pass


def _parts_of(pattern):
    text = _files.text_of(pattern)
    if not text:
        raise ValueError(f"Unacceptable pattern: {text!r}")
    if text[0] == "/":
        raise NotImplementedError("Non-relative patterns are unsupported")
    return [part for part in text.split("/") if part not in ("", ".")]


def _selected(path, parts):
    """what matches, each once; hidden names too"""
    seen = {}
    for each in _select(path, parts):
        if each._text not in seen:
            seen[each._text] = True
            yield each


def _select(path, parts):
    from fnmatch import fnmatchcase

    if not parts:
        yield path
        return
    part, *rest = parts
    if part == "**":
        yield from _select(path, rest)
        for name in _names_in(path):
            if (path / name).is_dir():
                yield from _select(path / name, parts)
    elif any([c in part for c in "*?["]):
        for name in _names_in(path):
            if fnmatchcase(name, part) and (not rest or (path / name).is_dir()):
                yield from _select(path / name, rest)
    elif (path / part).is_dir() or not rest and (path / part).is_file():
        yield from _select(path / part, rest)


def _names_in(path):
    return _files.names_in(path) if path.is_dir() else ()


class PureWindowsPath(PurePath):
    @property
    def drive(self):
        return self._text[:2] if self._text[1:2] == ":" and self._text[0].isalpha() else ""

    @property
    def root(self):
        return "\\" if self._text[len(self.drive):][:1] in ("/", "\\") else ""


class WindowsPath(Path, PureWindowsPath):
    pass
