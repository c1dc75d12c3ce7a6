"""Of which class a path is, and what is made of it."""
import pathlib
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath

for path in (Path("a"), PurePath("a"), PosixPath("a"), PurePosixPath("a"), Path("a") / "b", PurePath("a/b").parent,
             Path("a/b.txt").with_suffix(".md"), PurePath("a/b").with_name("c"), "x" / Path("y"),
             Path("a/b/c").relative_to("a")):
    print(type(path).__name__, repr(path), isinstance(path, Path), isinstance(path, PosixPath),
          isinstance(path, PurePath), isinstance(path, PurePosixPath))
print(type(PureWindowsPath("c:/a")).__name__, PureWindowsPath("c:/a").drive)
print([c.__name__ for c in PosixPath.__mro__], hasattr(PurePath("a"), "exists"), hasattr(Path("a"), "exists"))
print(PurePath("a") == Path("a"), hash(PurePath("a")) == hash(Path("a")), Path("b") > Path("a"))


class Mine(type(pathlib.Path())):
    pass


print(type(Mine("a") / "b").__name__, isinstance(Mine("a"), Path))
