import _tidemark
import re
from functools import update_wrapper

filters = []
defaultaction, onceregistry = "default", {}
_recorders = []


class WarningMessage:
    def __init__(self, message, category, filename, lineno, file=None, line=None, source=None):
        self.message, self.category, self.filename, self.lineno = message, category, filename, lineno
        self.file, self.line, self.source = file, line, source
        self._category_name = category.__name__ if category else None

    def __str__(self):
        return (
            f"{{message : {self.message!r}, category : {self._category_name!r}, filename : {self.filename!r}, "
            f"lineno : {self.lineno}, line : {self.line!r}}}"
        )


def warn(message, category=None, stacklevel=1, source=None, *, skip_file_prefixes=()):
    if isinstance(message, Warning):
        category = message.__class__
    category = category or UserWarning
    if not (isinstance(category, type) and issubclass(category, Warning)):
        raise TypeError(f"category must be a Warning subclass, not '{type(category).__name__}'")
    if not filters and not _recorders:
        return  # nobody looks
    frame = _tidemark.frame(max(stacklevel, 1)) or _tidemark.frame(1)
    names = frame.f_globals
    warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, names.get("__name__", "<string>"),
                  names.setdefault("__warningregistry__", {}) if isinstance(names, dict) else None)


def warn_explicit(message, category, filename, lineno, module=None, registry=None, module_globals=None, source=None):
    text = str(message)
    if isinstance(message, Warning):
        category = message.__class__
    else:
        message = category(message)
    module = module or filename.removesuffix(".py")
    action = defaultaction
    for wanted, pattern, kind, place, line in filters:
        if (
            (pattern is None or pattern.match(text))
            and issubclass(category, kind)
            and (place is None or place.match(module))
            and line in (0, lineno)
        ):
            action = wanted
            break
    if action == "ignore":
        return
    if action == "error":
        raise message
    if action != "always" and registry is not None:
        key = (text, category) if action != "default" else (text, category, lineno)
        if action == "once":
            registry = onceregistry
        if registry.get(key):
            return
        registry[key] = True
    if _recorders and _recorders[-1] is not None:
        _recorders[-1].append(WarningMessage(message, category, filename, lineno, source=source))
    else:
        showwarning(message, category, filename, lineno)


def formatwarning(message, category, filename, lineno, line=None):
    return f"{filename}:{lineno}: {category.__name__}: {message}\n"


def showwarning(message, category, filename, lineno, file=None, line=None):
    if file is not None:
        file.write(formatwarning(message, category, filename, lineno, line))


def _add(item, append):
    if item in filters:
        filters.remove(item)
    filters.insert(len(filters) if append else 0, item)


_ACTIONS = ("error", "ignore", "always", "default", "module", "once")


def filterwarnings(action, message="", category=Warning, module="", lineno=0, append=False):
    if action not in _ACTIONS:
        raise AssertionError(f"invalid action: {action!r}")
    _add(
        (
            action,
            re.compile(message, re.I) if message else None,
            category or Warning,
            re.compile(module) if module else None,
            lineno,
        ),
        append,
    )


def simplefilter(action, category=Warning, lineno=0, append=False):
    if action not in _ACTIONS:
        raise AssertionError(f"invalid action: {action!r}")
    _add((action, None, category or Warning, None, lineno), append)


def resetwarnings():
    filters.clear()


class catch_warnings:
    def __init__(self, *, record=False, module=None, action=None, category=Warning, lineno=0, append=False):
        self._record, self._filter = record, None if action is None else (action, category, lineno, append)

    def __enter__(self):
        self._filters = filters[:]
        found = [] if self._record else _recorders[-1] if _recorders else None
        _recorders.append(found)
        if self._filter is not None:
            simplefilter(*self._filter)
        return found if self._record else None

    def __exit__(self, *error):
        filters[:] = self._filters
        _recorders.pop()


def deprecated(message, /, *, category=DeprecationWarning, stacklevel=1):
    def mark(arg):
        if isinstance(arg, type) or category is None:
            arg.__deprecated__ = message
            return arg

        def wrapper(*args, **kwargs):
            warn(message, category, stacklevel + 1)
            return arg(*args, **kwargs)

        wrapper.__deprecated__ = arg.__deprecated__ = message
        return update_wrapper(wrapper, arg)

    return mark
