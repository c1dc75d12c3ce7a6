import _tidemark
from importlib._machinery import ModuleSpec, PathFinder, SourceFileLoader

SOURCE_SUFFIXES = [".py"]
BYTECODE_SUFFIXES = [".pyc"]
EXTENSION_SUFFIXES = [".cpython-311-x86_64-linux-gnu.so", ".abi3.so", ".so"]


class ExtensionFileLoader(SourceFileLoader):
    pass


class FileFinder:
    def __init__(self, path, *loader_details):
        self.path, self._endings = path, [ending for _, endings in loader_details for ending in endings]

    def find_spec(self, fullname, target=None):
        for entry in _tidemark.list_folder(self.path):
            if entry in [fullname + ending for ending in self._endings]:
                path = self.path + "/" + entry
                return ModuleSpec(fullname, ExtensionFileLoader(fullname, path), origin=path)
        return None


def all_suffixes():
    return SOURCE_SUFFIXES + BYTECODE_SUFFIXES + EXTENSION_SUFFIXES
