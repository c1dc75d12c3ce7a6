# Groups of exceptions, as PEP 654 says; `except*` asks taken() and left().


class BaseExceptionGroup(BaseException):
    def __new__(cls, message, exceptions, /):
        if not isinstance(message, str):
            raise TypeError(f"BaseExceptionGroup.__new__() argument 1 must be str, not {type(message).__name__}")
        if not isinstance(exceptions, (list, tuple)):
            raise TypeError("second argument (exceptions) must be a sequence")
        if not exceptions:
            raise ValueError("second argument (exceptions) must be a non-empty sequence")
        for i, each in enumerate(exceptions):
            if not isinstance(each, BaseException):
                raise ValueError(f"Item {i} of second argument (exceptions) is not an exception")
        plain = all([isinstance(each, Exception) for each in exceptions])
        if cls is BaseExceptionGroup and plain:
            cls = ExceptionGroup
        elif not plain and issubclass(cls, Exception):
            where = "an ExceptionGroup" if cls is ExceptionGroup else repr(cls.__name__)
            raise TypeError(f"Cannot nest BaseExceptions in {where}")
        group = super().__new__(cls, message, exceptions)
        group.message, group.exceptions = message, tuple(exceptions)
        return group

    def __init__(self, message, exceptions, *args):
        super().__init__(message, exceptions, *args)

    def __str__(self):
        count = len(self.exceptions)
        return f"{self.message} ({count} sub-exception{'' if count == 1 else 's'})"

    def derive(self, excs):
        return BaseExceptionGroup(self.message, excs)

    def subgroup(self, condition, /):
        return _split(self, _test_of(condition))[0]

    def split(self, condition, /):
        return _split(self, _test_of(condition))

    def __class_getitem__(cls, item):
        return cls


class ExceptionGroup(BaseExceptionGroup, Exception):
    pass


BaseExceptionGroup.__module__ = ExceptionGroup.__module__ = "builtins"


def _test_of(condition):
    kinds = condition if isinstance(condition, tuple) else (condition,)
    if all([isinstance(each, type) and issubclass(each, BaseException) for each in kinds]) and kinds:
        return lambda each: isinstance(each, condition)
    if callable(condition) and not isinstance(condition, type):
        return condition
    raise TypeError("expected a function, exception type or tuple of exception types")


def _derived(group, parts):
    if not parts:
        return None
    made = group.derive(parts)
    if not isinstance(made, BaseExceptionGroup):
        raise TypeError("derive must return an instance of BaseExceptionGroup")
    made.__traceback__, made.__cause__, made.__context__ = group.__traceback__, group.__cause__, group.__context__
    if hasattr(group, "__notes__"):
        made.__notes__ = list(group.__notes__)
    return made


def _split(exception, test):
    """(what fits, what does not); None stands for nothing"""
    if test(exception):
        return exception, None
    if not isinstance(exception, BaseExceptionGroup):
        return None, exception
    fitting, others = [], []
    for each in exception.exceptions:
        fits, does_not = _split(each, test)
        if fits is not None:
            fitting.append(fits)
        if does_not is not None:
            others.append(does_not)
    return _derived(exception, fitting), _derived(exception, others)


def taken(exception, kind):
    """(what a handler of that kind takes, what is left)"""
    for each in kind if isinstance(kind, tuple) else (kind,):
        if not (isinstance(each, type) and issubclass(each, BaseException)):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
        if issubclass(each, BaseExceptionGroup):
            raise TypeError("catching ExceptionGroup with except* is not allowed. Use except instead.")
    if not isinstance(exception, BaseExceptionGroup):
        if not isinstance(exception, kind):
            return None, exception
        return BaseExceptionGroup("", [exception]), None
    return _split(exception, lambda each: isinstance(each, kind))


def _leaves(exception, found):
    if isinstance(exception, BaseExceptionGroup):
        for each in exception.exceptions:
            _leaves(each, found)
    else:
        found[id(exception)] = True
    return found


def left(exception, rest, raised):
    """what goes on: what no handler took or was raised anew, and what handlers raised of their own"""
    if not isinstance(exception, BaseExceptionGroup):
        return raised[0] if raised else rest
    own = _leaves(exception, {})
    again = [each for each in raised if all([leaf in own for leaf in _leaves(each, {})])]
    new = [each for each in raised if all([each is not other for other in again])]
    kept = _leaves(rest, {}) if rest is not None else {}
    for each in again:
        _leaves(each, kept)
    if kept:
        going = _split(exception, lambda each: id(each) in kept)[0]
        if not new:
            return going
        new.append(going)
    return BaseExceptionGroup("", new) if new else None
