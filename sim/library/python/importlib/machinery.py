from importlib._machinery import ModuleSpec, SourceFileLoader

SOURCE_SUFFIXES = [".py"]
BYTECODE_SUFFIXES = [".pyc"]
EXTENSION_SUFFIXES = [".so"]


class ExtensionFileLoader(SourceFileLoader):
    pass


def all_suffixes():
    return SOURCE_SUFFIXES + BYTECODE_SUFFIXES + EXTENSION_SUFFIXES
