"""Objects that stand for others in tests, and say what was asked of them."""

import importlib
from functools import update_wrapper
from io import StringIO

__all__ = (
    "Mock", "MagicMock", "NonCallableMock", "NonCallableMagicMock", "patch", "sentinel", "DEFAULT", "ANY", "call",
    "mock_open", "PropertyMock",
)


class _SentinelObject:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"sentinel.{self.name}"


class _Sentinel:
    def __init__(self):
        self._made = {}

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._made.setdefault(name, _SentinelObject(name))


sentinel = _Sentinel()
DEFAULT = sentinel.DEFAULT


class _Any:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __repr__(self):
        return "<ANY>"


ANY = _Any()


class _Call(tuple):
    """The name, the positional and the named arguments of a call; `call` makes ones to compare with."""

    def __new__(cls, value=(), name="", parent=None, two=False):
        args, kwargs = (), {}
        for each in value:
            if isinstance(each, str):
                name = each
            elif isinstance(each, tuple):
                args = each
            else:
                kwargs = each
        return tuple.__new__(cls, (args, kwargs) if two else (name, args, kwargs))

    def __init__(self, value=(), name="", parent=None, two=False):
        self._mock_name = name

    @property
    def args(self):
        return self[-2]

    @property
    def kwargs(self):
        return self[-1]

    def __eq__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        mine, theirs = _Call(tuple(self)), _Call(tuple(other))
        same = len(self) == 2 or len(other) == 2 or tuple.__getitem__(mine, 0) == tuple.__getitem__(theirs, 0)
        return same and mine.args == theirs.args and mine.kwargs == theirs.kwargs

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __call__(self, /, *args, **kwargs):
        return _Call((self._mock_name or "", args, kwargs))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _Call(name=f"{self._mock_name}.{name}" if self._mock_name else name)

    def __repr__(self):
        name = self[0] if len(self) == 3 else ""
        shown = [repr(each) for each in self.args] + [f"{key}={value!r}" for key, value in self.kwargs.items()]
        return f"call{'.' + name if name else ''}({', '.join(shown)})"


call = _Call()


class NonCallableMock:
    def __init__(self, spec=None, wraps=None, name=None, spec_set=None, parent=None, _name="", **kwargs):
        put = self.__dict__
        kind = spec if spec is not None else spec_set
        put["_mock_methods"] = None if kind is None else list(kind) if isinstance(kind, (list, tuple)) else dir(kind)
        put["_spec_class"] = None if isinstance(kind, (list, tuple)) else kind if isinstance(kind, type) else type(kind)
        put["_has_spec"], put["_spec_set"] = kind is not None, spec_set is not None
        put["_mock_wraps"], put["_mock_name"] = wraps, name
        put["_mock_parent"], put["_mock_children"], put["_own_name"] = parent, {}, _name
        put["return_value_"], put["side_effect"] = kwargs.pop("return_value", DEFAULT), kwargs.pop("side_effect", None)
        self.reset_mock()
        self.configure_mock(**kwargs)

    def reset_mock(self, visited=None, *, return_value=False, side_effect=False):
        put = self.__dict__
        put["called"], put["call_count"], put["call_args"] = False, 0, None
        put["call_args_list"], put["mock_calls"], put["method_calls"] = [], [], []
        if return_value:
            put["return_value_"] = DEFAULT
        if side_effect:
            put["side_effect"] = None
        for child in self._mock_children.values():
            if isinstance(child, NonCallableMock):
                child.reset_mock(return_value=return_value, side_effect=side_effect)

    def configure_mock(self, **kwargs):
        for key, value in sorted(kwargs.items(), key=lambda pair: pair[0].count(".")):
            *path, last = key.split(".")
            holder = self
            for each in path:
                holder = getattr(holder, each)
            setattr(holder, last, value)

    @property
    def __class__(self):
        return self._spec_class if self._has_spec and self._spec_class is not None else type(self)

    def _get_child_mock(self, **kwargs):
        kind = type(self)
        if kind is NonCallableMock:
            kind = Mock
        elif kind is NonCallableMagicMock:
            kind = MagicMock
        return kind(**kwargs)

    def __getattr__(self, name):
        if name in ("_mock_methods", "_mock_children", "_has_spec"):
            raise AttributeError(name)
        if name == "return_value":
            return self._result()
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name.startswith(("assert", "assret", "asert", "aseert", "assrt")):
            raise AttributeError(f"{name!r} is not a valid assertion. Use a spec for the mock if {name!r} is meant to "
                                 "be an attribute.")
        if self._mock_methods is not None and name not in self._mock_methods:
            raise AttributeError(f"Mock object has no attribute {name!r}")
        if name not in self._mock_children:
            wraps = None if self._mock_wraps is None else getattr(self._mock_wraps, name)
            self._mock_children[name] = self._get_child_mock(parent=self, _name=name, wraps=wraps)
        return self._mock_children[name]

    def __setattr__(self, name, value):
        if name == "return_value":
            self.__dict__["return_value_"] = value
            return
        if self._spec_set and self._mock_methods is not None and name not in self._mock_methods and (
            name not in self.__dict__
        ):
            raise AttributeError(f"Mock object has no attribute '{name}'")
        if isinstance(value, NonCallableMock) and value._mock_parent is None and value._mock_name is None:
            value.__dict__["_mock_parent"], value.__dict__["_own_name"] = self, name
            self._mock_children[name] = value
        if name.startswith("__") and name.endswith("__"):
            self.__dict__.setdefault("_magic", {})[name] = value
            return
        self.__dict__[name] = value

    def __delattr__(self, name):
        self.__dict__.pop(name, None)
        self._mock_children.pop(name, None)
        known = self._mock_methods if self._mock_methods is not None else dir(self)
        self.__dict__["_mock_methods"] = [each for each in known if each != name]

    def _result(self):
        if self.return_value_ is DEFAULT:
            self.__dict__["return_value_"] = self._get_child_mock(parent=self, _name="()")
        return self.return_value_

    def attach_mock(self, mock, attribute):
        mock.__dict__["_mock_parent"], mock.__dict__["_own_name"] = None, ""
        mock.__dict__["_mock_name"] = None
        setattr(self, attribute, mock)

    def __repr__(self):
        parts, each = [], self
        while each is not None and each._mock_name is None:
            parts.append(each._own_name)
            each = each._mock_parent
        parts.append("mock" if each is None else each._mock_name)
        shown = ""
        for part in [part for part in reversed(parts) if part]:
            shown += part if part == "()" or not shown else "." + part
        name = "" if shown == "mock" else f" name={shown!r}"
        spec = f" spec={self._spec_class.__name__!r}" if self._has_spec and self._spec_class is not None else ""
        return f"<{type(self).__name__}{name}{spec} id='{id(self)}'>"

    def __dir__(self):
        own = [name for name in dir(type(self)) if not name.startswith("_")]
        names = own + (self._mock_methods or []) + list(self.__dict__) + list(self._mock_children)
        return sorted({name for name in names if not name.startswith("_") or self._mock_methods})

    def _said(self, text):
        return AssertionError(text.replace("{}", self._mock_name or self._own_name or "mock"))

    def assert_called(self):
        if self.call_count == 0:
            raise self._said("Expected '{}' to have been called.")

    def assert_not_called(self):
        if self.call_count:
            raise self._said(f"Expected '{{}}' to not have been called. Called {self.call_count} times.\n"
                             f"Calls: {self.call_args_list}.")

    def assert_called_once(self):
        if self.call_count != 1:
            raise self._said(f"Expected '{{}}' to have been called once. Called {self.call_count} times.")

    def assert_called_with(self, /, *args, **kwargs):
        wanted = _Call((args, kwargs), two=True)
        if self.call_args is None:
            raise self._said(f"expected call not found.\nExpected: {{}}{repr(wanted)[4:]}\nActual: not called.")
        if self.call_args != wanted:
            raise self._said(f"expected call not found.\nExpected: {{}}{repr(wanted)[4:]}\n"
                             f"Actual: {{}}{repr(self.call_args)[4:]}")

    def assert_called_once_with(self, /, *args, **kwargs):
        if self.call_count != 1:
            raise self._said(f"Expected '{{}}' to be called once. Called {self.call_count} times.")
        self.assert_called_with(*args, **kwargs)

    def assert_any_call(self, /, *args, **kwargs):
        wanted = _Call((args, kwargs), two=True)
        if not any([each == wanted for each in self.call_args_list]):
            raise self._said(f"{{}}{repr(wanted)[4:]} call not found")

    def assert_has_calls(self, calls, any_order=False):
        made = list(self.mock_calls)
        if any_order:
            for each in calls:
                if each not in made:
                    raise self._said(f"{each!r} not all found in call list")
                made.remove(each)
            return
        calls = list(calls)
        for start in range(len(made) - len(calls) + 1):
            if made[start:start + len(calls)] == calls:
                return
        raise self._said(f"Calls not found.\nExpected: {calls}\nActual: {made}")


class _Callable:
    def __call__(self, /, *args, **kwargs):
        put = self.__dict__
        put["called"], put["call_count"] = True, self.call_count + 1
        put["call_args"] = made = _Call((args, kwargs), two=True)
        self.call_args_list.append(made)
        self.mock_calls.append(_Call(("", args, kwargs)))
        name, each = self._own_name, self._mock_parent
        while each is not None:
            each.mock_calls.append(_Call((name, args, kwargs)))
            if "()" not in name:
                each.method_calls.append(_Call((name, args, kwargs)))
            name = f"{each._own_name}.{name}" if each._own_name and name != "()" else each._own_name + name
            each = each._mock_parent
        effect = self.side_effect
        if effect is not None:
            if isinstance(effect, BaseException) or isinstance(effect, type) and issubclass(effect, BaseException):
                raise effect
            if not callable(effect):
                if not hasattr(effect, "__next__"):
                    put["side_effect"] = effect = iter(effect)
                found = next(effect)
                if isinstance(found, BaseException) or isinstance(found, type) and issubclass(found, BaseException):
                    raise found
            else:
                found = effect(*args, **kwargs)
            if found is not DEFAULT:
                return found
        if self._mock_wraps is not None and self.return_value_ is DEFAULT:
            return self._mock_wraps(*args, **kwargs)
        return self._result()


class Mock(_Callable, NonCallableMock):
    pass


def _magic(name, otherwise):
    def method(self, /, *args, **kwargs):
        own = self.__dict__.get("_magic", {}).get(name)
        if own is None:
            return otherwise(self)
        return own(*args, **kwargs) if isinstance(own, NonCallableMock) else own(self, *args, **kwargs)

    return method


class _Magic:
    __len__, __bool__ = _magic("__len__", lambda self: 0), _magic("__bool__", lambda self: True)
    __int__, __float__ = _magic("__int__", lambda self: 1), _magic("__float__", lambda self: 1.0)
    __index__, __iter__ = _magic("__index__", lambda self: 1), _magic("__iter__", lambda self: iter([]))
    __contains__ = _magic("__contains__", lambda self: False)
    __getitem__ = _magic("__getitem__", lambda self: self._special("__getitem__"))
    __setitem__ = _magic("__setitem__", lambda self: None)
    __delitem__ = _magic("__delitem__", lambda self: None)
    __enter__ = _magic("__enter__", lambda self: self._special("__enter__"))
    __exit__ = _magic("__exit__", lambda self: False)
    __add__ = _magic("__add__", lambda self: self._special("__add__"))
    __sub__ = _magic("__sub__", lambda self: self._special("__sub__"))
    __mul__ = _magic("__mul__", lambda self: self._special("__mul__"))
    __truediv__ = _magic("__truediv__", lambda self: self._special("__truediv__"))

    def _special(self, name):
        return self._mock_children.setdefault(name, self._get_child_mock(parent=self, _name=name))._result()


class NonCallableMagicMock(_Magic, NonCallableMock):
    pass


class MagicMock(_Magic, Mock):
    pass


class PropertyMock(Mock):
    def __get__(self, obj, obj_type=None):
        return self()

    def __set__(self, obj, value):
        self(value)


class _Patch:
    def __init__(self, target, name, new, spec, create, new_callable, kwargs):
        self._target, self._name, self._new, self._spec = target, name, new, spec
        self._create, self._new_callable, self._kwargs = create, new_callable, kwargs

    def __enter__(self):
        target = self._target() if callable(self._target) and getattr(self._target, "_finds", False) else self._target
        own = vars(target).get(self._name, DEFAULT) if hasattr(target, "__dict__") else DEFAULT
        self._was, self._on = (getattr(target, self._name, DEFAULT) if own is DEFAULT else own), target
        self._is_own = own is not DEFAULT
        if self._was is DEFAULT and not self._create:
            raise AttributeError(f"{target!r} does not have the attribute {self._name!r}")
        new = self._new
        if new is DEFAULT:
            options = dict(self._kwargs)
            if self._spec is not None:
                options["spec"] = self._was if self._spec is True else self._spec
            new = (self._new_callable or MagicMock)(**options)
        setattr(target, self._name, new)
        return new

    def __exit__(self, *error):
        if self._was is DEFAULT or not self._is_own and isinstance(self._on, type):
            delattr(self._on, self._name)
        else:
            setattr(self._on, self._name, self._was)
        return False

    start = __enter__

    def stop(self):
        return self.__exit__(None, None, None)

    def __call__(self, func):
        if isinstance(func, type):
            for name in dir(func):
                if name.startswith("test") and callable(getattr(func, name)):
                    setattr(func, name, self(getattr(func, name)))
            return func

        def patched(*args, **kwargs):
            with self as new:
                return func(*args, *([new] if self._new is DEFAULT else []), **kwargs)

        return update_wrapper(patched, func)


def _place(path):
    """The object of a dotted path: a module, or what modules have."""
    names = path.split(".")
    found = importlib.import_module(names[0])
    for end, name in enumerate(names[1:], 2):
        if not hasattr(found, name):
            importlib.import_module(".".join(names[:end]))
        found = getattr(found, name)
    return found


def _patch(target, new=DEFAULT, spec=None, create=False, spec_set=None, autospec=None, new_callable=None, **kwargs):
    if "." not in target:
        raise TypeError(f"Need a valid target to patch. You supplied: {target!r}")
    place, _, name = target.rpartition(".")

    def find():
        return _place(place)

    find._finds = True
    return _Patch(find, name, new, spec or spec_set or autospec, create, new_callable, kwargs)


def _patch_object(
    target, attribute, new=DEFAULT, spec=None, create=False, spec_set=None, autospec=None, new_callable=None, **kwargs
):
    return _Patch(target, attribute, new, spec or spec_set or autospec, create, new_callable, kwargs)


class _PatchDict:
    def __init__(self, in_dict, values=(), clear=False, **kwargs):
        self.in_dict, self.values, self.clear = in_dict, {**dict(values), **kwargs}, clear

    def __enter__(self):
        if isinstance(self.in_dict, str):
            self.in_dict = _place(self.in_dict)
        self._was = dict(self.in_dict)
        if self.clear:
            self.in_dict.clear()
        for key, value in self.values.items():
            self.in_dict[key] = value
        return self.in_dict

    def __exit__(self, *error):
        for key in list(self.in_dict):
            if key not in self._was:
                del self.in_dict[key]
        for key, value in self._was.items():
            self.in_dict[key] = value
        return False

    start = __enter__

    def stop(self):
        return self.__exit__(None, None, None)

    def __call__(self, func):
        def patched(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return update_wrapper(patched, func)


class _Patcher:
    object, dict = staticmethod(_patch_object), _PatchDict

    def __call__(self, target, new=DEFAULT, **options):
        return _patch(target, new, **options)


patch = _Patcher()


def mock_open(mock=None, read_data=""):
    mock = mock or MagicMock(name="open")

    def opened(*args, **kwargs):
        handle, text = MagicMock(), StringIO(read_data)
        handle.read.side_effect, handle.readline.side_effect = text.read, text.readline
        handle.readlines.side_effect = text.readlines
        handle.__enter__, handle.__iter__ = lambda self: handle, lambda self: iter(text)
        mock.return_value = handle
        return handle

    mock.side_effect = opened
    return mock
