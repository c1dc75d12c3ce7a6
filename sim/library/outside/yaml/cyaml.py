"""The parser that is compiled: yaml's own one reads and writes the same."""
from yaml.dumper import BaseDumper, Dumper, SafeDumper
from yaml.loader import BaseLoader, FullLoader, Loader, SafeLoader, UnsafeLoader

__all__ = [
    "CBaseLoader", "CSafeLoader", "CFullLoader", "CUnsafeLoader", "CLoader", "CBaseDumper", "CSafeDumper", "CDumper",
]
CBaseLoader, CSafeLoader, CFullLoader = BaseLoader, SafeLoader, FullLoader
CUnsafeLoader, CLoader = UnsafeLoader, Loader
CBaseDumper, CSafeDumper, CDumper = BaseDumper, SafeDumper, Dumper
