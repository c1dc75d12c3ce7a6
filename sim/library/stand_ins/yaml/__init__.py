"""YAML as configurations are written in it; what is not read here is refused by name."""
import _tidemark
from yaml._reader import MarkedYAMLError, ScannerError, YAMLError, documents
from yaml._writer import text_of

__version__ = "6.0"
__with_libyaml__ = False


class BaseLoader:
    """how a text is loaded: all of them here as the safe one"""

    @classmethod
    def add_constructor(cls, tag, constructor):
        _tidemark.refuse(f"yaml: constructors of own tags ({tag}) are not modelled", "give the folder of PyYAML")

    add_implicit_resolver = add_multi_constructor = add_constructor


class SafeLoader(BaseLoader):
    pass


class FullLoader(SafeLoader):
    pass


class Loader(FullLoader):
    pass


class UnsafeLoader(FullLoader):
    pass


CSafeLoader, CFullLoader, CLoader = SafeLoader, FullLoader, Loader


class SafeDumper:
    @classmethod
    def add_representer(cls, data_type, representer):
        _tidemark.refuse("yaml: representers of own types are not modelled", "give the folder of PyYAML")


class Dumper(SafeDumper):
    pass


CSafeDumper, CDumper = SafeDumper, Dumper


def _text(stream):
    text = stream if isinstance(stream, (str, bytes)) else stream.read()
    return text.decode("utf-8") if isinstance(text, bytes) else text


def load_all(stream, Loader):
    return iter(documents(_text(stream)))


def load(stream, Loader):
    found = documents(_text(stream))
    if len(found) > 1:
        raise YAMLError("expected a single document in the stream, but found another document")
    return found[0] if found else None


def safe_load(stream):
    return load(stream, SafeLoader)


def safe_load_all(stream):
    return load_all(stream, SafeLoader)


full_load, full_load_all, unsafe_load = safe_load, safe_load_all, safe_load


def dump(
    data, stream=None, Dumper=Dumper, *, default_flow_style=False, sort_keys=True, indent=None, width=None,
    allow_unicode=None, default_style=None, explicit_start=None, **options,
):
    if default_style or options:
        given = ", ".join(["default_style", *options] if default_style else options)
        _tidemark.refuse(f"yaml.dump with {given} is not modelled", "give the folder of PyYAML")
    text = text_of(data, bool(default_flow_style), sort_keys, indent or 2, width or 80, bool(allow_unicode))
    text = "--- " * bool(explicit_start) + text if not isinstance(data, (dict, list)) else "---\n" * bool(
        explicit_start) + text
    if stream is None:
        return text
    stream.write(text)


def safe_dump(data, stream=None, **options):
    return dump(data, stream, SafeDumper, **options)
