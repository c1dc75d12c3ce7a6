filters = []


class WarningMessage:
    def __init__(self, message, category, filename, lineno, file=None, line=None, source=None):
        self.message, self.category, self.filename, self.lineno = message, category, filename, lineno


def warn(message, category=None, stacklevel=1, source=None, *, skip_file_prefixes=()):
    pass


def warn_explicit(message, category, filename, lineno, module=None, registry=None, module_globals=None, source=None):
    pass


def formatwarning(message, category, filename, lineno, line=None):
    return f"{filename}:{lineno}: {category.__name__}: {message}\n"


def showwarning(message, category, filename, lineno, file=None, line=None):
    pass


def filterwarnings(action, message="", category=None, module="", lineno=0, append=False):
    pass


def simplefilter(action, category=None, lineno=0, append=False):
    pass


def resetwarnings():
    pass


class catch_warnings:
    def __init__(self, *, record=False, **options):
        self._record = record

    def __enter__(self):
        return [] if self._record else None

    def __exit__(self, *error):
        pass


def deprecated(message, /, *, category=DeprecationWarning, stacklevel=1):
    return lambda arg: arg
