from importlib._machinery import SourceFileLoader


class Loader:
    pass


class MetaPathFinder:
    pass


class PathEntryFinder:
    pass


class Traversable:
    pass


SourceLoader = InspectLoader = ExecutionLoader = FileLoader = SourceFileLoader
