#include "sim/lang/imports/library_code.h"

#include <array>

namespace tidemark::lang {

namespace {

constexpr std::string_view kDataclasses = R"py(
import _tidemark


class FrozenInstanceError(AttributeError):
    pass


class _Missing:
    pass


MISSING = _Missing()


class Field:
    def __init__(self, name, default, default_factory, init, repr_, compare, kw_only, metadata):
        self.name, self.default, self.default_factory, self.init = name, default, default_factory, init
        self.repr, self.compare, self.kw_only, self.metadata = repr_, compare, kw_only, metadata or {}
        self._is_init_var = False


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=MISSING):
    return Field(None, default, default_factory, init, repr, compare, kw_only, metadata)


def _collect(cls, kw_only):
    found = {}
    for base in cls.__mro__[::-1]:
        if base is not cls and _tidemark.own_attribute(base, "_dataclass_parts") is not NotImplemented:
            for f in base._dataclass_parts.values():
                found[f.name] = f
    for name, annotation in _tidemark.annotations(cls).items():
        kind = annotation.split("[")[0].split(".")[-1].strip("'\"")
        if kind == "ClassVar":
            continue
        if kind == "KW_ONLY":
            kw_only = True
            continue
        value = _tidemark.own_attribute(cls, name)
        if isinstance(value, Field):
            f = value
            f.name = name
            f.kw_only = kw_only if f.kw_only is MISSING else f.kw_only
            if f.default is not MISSING:
                setattr(cls, name, f.default)
            else:
                delattr(cls, name)
        else:
            if isinstance(value, (list, dict, set)):
                raise ValueError(f"mutable default {type(value)} for field {name} is not allowed: use default_factory")
            f = Field(name, MISSING if value is NotImplemented else value, MISSING, True, True, True, kw_only, None)
        f._is_init_var = kind == "InitVar"
        found[name] = f
    return found


def _decorate(cls, frozen, eq, init, repr_, order, kw_only, match_args):
    if order and not eq:
        raise ValueError("eq must be true if order is true")
    fields_ = _collect(cls, kw_only)
    cls._dataclass_parts = fields_
    cls.__dataclass_fields__ = {f.name: f for f in fields_.values() if not f._is_init_var}
    names = [f.name for f in fields_.values() if f.init]
    by_place = [f.name for f in fields_.values() if f.init and not f.kw_only]
    shown = [f.name for f in cls.__dataclass_fields__.values() if f.repr]
    compared = [f.name for f in cls.__dataclass_fields__.values() if f.compare]
    init_vars = [f.name for f in fields_.values() if f._is_init_var]
    title = cls.__name__
    assign = object.__setattr__ if frozen else setattr

    def __init__(self, *args, **kwargs):
        if len(args) > len(by_place):
            raise TypeError(f"{title}.__init__() takes {len(by_place) + 1} positional argument{'s' if by_place else ''} but {len(args) + 1} were given")
        given = dict(zip(by_place, args))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError(f"{title}.__init__() got an unexpected keyword argument '{name}'")
            if name in given:
                raise TypeError(f"{title}.__init__() got multiple values for argument '{name}'")
            given[name] = value
        missing = [n for n in names if n not in given and fields_[n].default is MISSING and fields_[n].default_factory is MISSING]
        if missing:
            words = " and ".join([f"'{n}'" for n in missing]) if len(missing) < 3 else ", ".join([f"'{n}'" for n in missing[:-1]]) + f", and '{missing[-1]}'"
            raise TypeError(f"{title}.__init__() missing {len(missing)} required positional argument{'s' if len(missing) > 1 else ''}: {words}")
        for f in cls.__dataclass_fields__.values():
            if f.name in given:
                assign(self, f.name, given[f.name])
            elif f.default_factory is not MISSING:
                assign(self, f.name, f.default_factory())
            elif f.default is not MISSING:
                assign(self, f.name, f.default)
        if hasattr(self, "__post_init__"):
            self.__post_init__(*[given[n] if n in given else fields_[n].default for n in init_vars])

    def __repr__(self):
        return title + "(" + ", ".join([f"{n}={getattr(self, n)!r}" for n in shown]) + ")"

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return all([getattr(self, n) == getattr(other, n) for n in compared])

    def __hash__(self):
        return hash(tuple([getattr(self, n) for n in compared]))

    def ordered(compare):
        def method(self, other):
            if type(other) is not type(self):
                return NotImplemented
            return compare(tuple([getattr(self, n) for n in compared]), tuple([getattr(other, n) for n in compared]))

        return method

    def __setattr__(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field '{name}'")

    absent = NotImplemented
    if match_args and _tidemark.own_attribute(cls, "__match_args__") is absent:
        cls.__match_args__ = tuple(by_place)
    if init and _tidemark.own_attribute(cls, "__init__") is absent:
        cls.__init__ = __init__
    if repr_ and _tidemark.own_attribute(cls, "__repr__") is absent:
        cls.__repr__ = __repr__
    if eq and _tidemark.own_attribute(cls, "__eq__") is absent:
        cls.__eq__ = __eq__
        if frozen:
            cls.__hash__ = __hash__
    if frozen:
        cls.__setattr__ = __setattr__
    if order:
        cls.__lt__, cls.__le__ = ordered(lambda a, b: a < b), ordered(lambda a, b: a <= b)
        cls.__gt__, cls.__ge__ = ordered(lambda a, b: a > b), ordered(lambda a, b: a >= b)
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False, kw_only=False, slots=False, match_args=True, weakref_slot=False):
    if cls is None:
        return lambda c: _decorate(c, frozen, eq, init, repr, order, kw_only, match_args)
    return _decorate(cls, frozen, eq, init, repr, order, kw_only, match_args)


def fields(instance):
    return tuple(instance.__dataclass_fields__.values())


def is_dataclass(obj):
    return hasattr(obj, "__dataclass_fields__")


def asdict(instance, *, dict_factory=dict):
    return dict_factory([(n, _plain(getattr(instance, n), dict_factory)) for n in instance.__dataclass_fields__])


def _plain(value, dict_factory):
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value, dict_factory=dict_factory)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_plain(v, dict_factory) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([_plain(v, dict_factory) for v in value])
    if isinstance(value, dict):
        return {_plain(k, dict_factory): _plain(v, dict_factory) for k, v in value.items()}
    return _tidemark.deepcopy(value)


class KW_ONLY:
    pass


class InitVar:
    def __class_getitem__(cls, item):
        return cls


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **options):
    names = dict(namespace or {})
    names["__annotations__"] = annotations = {}
    for each in fields:
        name, kind = (each, "Any") if isinstance(each, str) else (each[0], str(each[1]))
        annotations[name] = kind
        if not isinstance(each, str) and len(each) == 3:
            names[name] = each[2]
    return dataclass(type(cls_name, bases, names), **options)


def astuple(instance):
    return tuple([getattr(instance, n) for n in instance.__dataclass_fields__])


def replace(instance, /, **changes):
    return type(instance)(**{**{n: getattr(instance, n) for n in instance.__dataclass_fields__}, **changes})
)py";

constexpr std::string_view kContextlib = R"py(
from functools import update_wrapper


class nullcontext:
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, *error):
        pass


class suppress:
    def __init__(self, *exceptions):
        self._exceptions = exceptions

    def __enter__(self):
        pass

    def __exit__(self, kind, value, traceback):
        return kind is not None and issubclass(kind, self._exceptions)


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *error):
        self.thing.close()


class ContextDecorator:
    def __call__(self, func):
        def inner(*args, **kwds):
            with self:
                return func(*args, **kwds)

        return update_wrapper(inner, func)


class _GeneratorContextManager:
    def __init__(self, func, args, kwds):
        self.gen = func(*args, **kwds)
        self.func, self.args, self.kwds = func, args, kwds

    def __call__(self, func):
        make = lambda: _GeneratorContextManager(self.func, self.args, self.kwds)

        def inner(*args, **kwds):
            with make():
                return func(*args, **kwds)

        return update_wrapper(inner, func)

    def __enter__(self):
        self.args = self.kwds = self.func = None
        try:
            return next(self.gen)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, kind, value, traceback):
        if kind is None:
            try:
                next(self.gen)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        try:
            self.gen.throw(value)
        except StopIteration as error:
            return error is not value
        except BaseException as error:
            if error is not value:
                raise
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(func):
    def managed(*args, **kwds):
        return _GeneratorContextManager(func, args, kwds)

    return update_wrapper(managed, func)


class redirect_stdout:
    """what is printed goes where it always goes"""

    def __init__(self, new_target):
        self._target = new_target

    def __enter__(self):
        return self._target

    def __exit__(self, *error):
        pass


redirect_stderr = redirect_stdout


class AbstractContextManager:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class ExitStack:
    def __init__(self):
        self._exits = []

    def __enter__(self):
        return self

    def enter_context(self, manager):
        result = manager.__enter__()
        self._exits.append(manager.__exit__)
        return result

    def push(self, exit):
        self._exits.append(exit.__exit__ if hasattr(exit, "__exit__") else exit)
        return exit

    def pop_all(self):
        out = type(self)()
        out._exits, self._exits = self._exits, []
        return out

    def callback(self, func, /, *args, **kwds):
        def leave(*error):
            func(*args, **kwds)
            return False

        self._exits.append(leave)
        return func

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, kind, value, traceback):
        swallowed = False
        while self._exits:
            leave = self._exits.pop()
            if kind is not None and not swallowed:
                swallowed = bool(leave(kind, value, traceback))
            else:
                leave(None, None, None)
        return swallowed
)py";

constexpr std::string_view kCopy = R"py(
import _tidemark

deepcopy = _tidemark.deepcopy


def copy(x):
    if x is None or type(x) in (int, float, bool, str, tuple, frozenset):
        return x
    if hasattr(type(x) if isinstance(x, (list, dict)) else x, "__copy__"):
        return x.__copy__()
    if isinstance(x, set):
        return x.copy()
    if isinstance(x, (int, float, str, tuple, frozenset)):
        return x
    return _tidemark.shallow_copy(x)
)py";

constexpr std::string_view kGc = R"py(
import _tidemark

collect = _tidemark.collect


def enable():
    pass


def disable():
    pass


def isenabled():
    return False


def freeze():
    pass
)py";

constexpr std::string_view kWarnings = R"py(
def warn(message, category=None, stacklevel=1, source=None):
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
)py";

constexpr std::string_view kAbc = R"py(
class ABC:
    pass


ABCMeta = type


def abstractmethod(funcobj):
    return funcobj


def abstractproperty(fget):
    return property(fget)


abstractclassmethod, abstractstaticmethod = classmethod, staticmethod
)py";

constexpr std::string_view kFuture = "annotations = division = print_function = None\n";

constexpr std::array kFiles = std::to_array<LibraryFile>({
    {"dataclasses", kDataclasses},
    {"contextlib", kContextlib},
    {"copy", kCopy},
    {"gc", kGc},
    {"warnings", kWarnings},
    {"abc", kAbc},
    {"__future__", kFuture},
});

}  // namespace

std::span<const LibraryFile> library_files() { return kFiles; }

}  // namespace tidemark::lang
