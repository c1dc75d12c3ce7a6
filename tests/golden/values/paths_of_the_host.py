"""What has a path: texts have none, and a class of the program's own has one where it says so."""
import os
import pathlib


class Place:
    def __fspath__(self):
        return "place"


class Named(os.PathLike):
    def __fspath__(self):
        return "named"


for each in ("a", b"a", ["a"], 3, None, pathlib.Path("a"), Place(), Named()):
    print(isinstance(each, os.PathLike))
print(issubclass(Place, os.PathLike), issubclass(int, os.PathLike), os.fspath(Named()))
