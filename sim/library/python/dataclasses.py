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
        self._is_init_var, self.type, self.hash = False, None, None


class _DataclassParams:
    def __init__(self, init, repr_, eq, order, frozen):
        self.init, self.repr, self.eq, self.order, self.frozen = init, repr_, eq, order, frozen
        self.unsafe_hash, self.match_args, self.kw_only = False, True, False
        self.slots = self.weakref_slot = False


def field(
    *,
    default=MISSING,
    default_factory=MISSING,
    init=True,
    repr=True,
    hash=None,
    compare=True,
    metadata=None,
    kw_only=MISSING,
):
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
        f._is_init_var, f.type = kind == "InitVar", annotation
        found[name] = f
    return found


def _decorate(cls, frozen, eq, init, repr_, order, kw_only, match_args):
    if order and not eq:
        raise ValueError("eq must be true if order is true")
    fields_ = _collect(cls, kw_only)
    cls._dataclass_parts = fields_
    cls.__dataclass_fields__ = {f.name: f for f in fields_.values() if not f._is_init_var}
    cls.__dataclass_params__ = _DataclassParams(init, repr_, eq, order, frozen)
    names = [f.name for f in fields_.values() if f.init]
    by_place = [f.name for f in fields_.values() if f.init and not f.kw_only]
    shown = [f.name for f in cls.__dataclass_fields__.values() if f.repr]
    compared = [f.name for f in cls.__dataclass_fields__.values() if f.compare]
    init_vars = [f.name for f in fields_.values() if f._is_init_var]
    title = cls.__name__
    assign = object.__setattr__ if frozen else setattr

    def __init__(self, *args, **kwargs):
        if len(args) > len(by_place):
            raise TypeError(
                f"{title}.__init__() takes {len(by_place) + 1} positional "
                f"argument{'s' if by_place else ''} but {len(args) + 1} were given"
            )
        given = dict(zip(by_place, args))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError(f"{title}.__init__() got an unexpected keyword argument '{name}'")
            if name in given:
                raise TypeError(f"{title}.__init__() got multiple values for argument '{name}'")
            given[name] = value
        missing = [
            n
            for n in names
            if n not in given and fields_[n].default is MISSING and fields_[n].default_factory is MISSING
        ]
        if missing:
            words = (
                " and ".join([f"'{n}'" for n in missing])
                if len(missing) < 3
                else ", ".join([f"'{n}'" for n in missing[:-1]]) + f", and '{missing[-1]}'"
            )
            raise TypeError(
                f"{title}.__init__() missing {len(missing)} required positional "
                f"argument{'s' if len(missing) > 1 else ''}: {words}"
            )
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
        __init__._dataclass_fields = [f for f in fields_.values() if f.init]
        __init__.__qualname__ = cls.__qualname__ + ".__init__"
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


def dataclass(
    cls=None,
    /,
    *,
    init=True,
    repr=True,
    eq=True,
    order=False,
    unsafe_hash=False,
    frozen=False,
    kw_only=False,
    slots=False,
    match_args=True,
    weakref_slot=False,
):
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
