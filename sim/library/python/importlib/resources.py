"""Files beside a package's modules, as paths."""
import importlib
import pathlib
from contextlib import contextmanager


def files(package):
    module = importlib.import_module(package) if isinstance(package, str) else package
    paths = getattr(module, "__path__", None)
    if paths:
        return pathlib.Path(list(paths)[0])
    return pathlib.Path(module.__file__).parent


@contextmanager
def as_file(path):
    yield path


@contextmanager
def path(package, resource):
    yield files(package) / resource


def read_text(package, resource, encoding="utf-8", errors="strict"):
    return (files(package) / resource).read_text(encoding=encoding)


def read_binary(package, resource):
    return (files(package) / resource).read_bytes()


def open_text(package, resource, encoding="utf-8", errors="strict"):
    return (files(package) / resource).open("r")


def open_binary(package, resource):
    return (files(package) / resource).open("rb")


def is_resource(package, name):
    return (files(package) / name).is_file()


def contents(package):
    return [each.name for each in files(package).iterdir()]
