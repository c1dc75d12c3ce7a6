import _tidemark
from types import new_class


class FrozenInstanceError(AttributeError):
    pass


class _Missing:
    def __repr__(self):
        return "<dataclasses._MISSING_TYPE object>"


class _Factory:
    def __repr__(self):
        return "<factory>"


MISSING = _Missing()
_FACTORY = _Factory()


class Field:
    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.name = self._type = self._owner = None
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.hash, self.compare = init, repr, hash, compare
        self.metadata, self.kw_only, self._kind = metadata or {}, kw_only, None

    @property
    def type(self):
        """The annotation's value, which is found when somebody looks."""
        if self._owner is not None:
            found = _tidemark.annotation_of(self._owner, self.name)
            self._type, self._owner = None if found is NotImplemented else found, None
        return self._type

    @type.setter
    def type(self, value):
        self._type, self._owner = value, None

    def __repr__(self):
        return (
            f"Field(name={self.name!r},type={self.type!r},default={self.default!r},"
            f"default_factory={self.default_factory!r},init={self.init!r},repr={self.repr!r},hash={self.hash!r},"
            f"compare={self.compare!r},metadata={self.metadata!r},kw_only={self.kw_only!r},_field_type={self._kind})"
        )


class _DataclassParams:
    def __init__(self, init, repr, eq, order, unsafe_hash, frozen):
        self.init, self.repr, self.eq, self.order = init, repr, eq, order
        self.unsafe_hash, self.frozen = unsafe_hash, frozen

    def __repr__(self):
        names = ("init", "repr", "eq", "order", "unsafe_hash", "frozen")
        return "_DataclassParams(" + ",".join([f"{n}={getattr(self, n)!r}" for n in names]) + ")"


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
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def _kind_of(annotation):
    """Which of the marks an annotation or its text is: ClassVar, InitVar, KW_ONLY, or a field's type."""
    if not isinstance(annotation, str):
        if annotation is InitVar or isinstance(annotation, InitVar):
            return "InitVar"
        if annotation is KW_ONLY:
            return "KW_ONLY"
        return "ClassVar" if getattr(annotation, "_name", None) == "ClassVar" else "field"
    word = annotation.strip("'\"").split("[")[0].split(".")[-1]
    return word if word in ("ClassVar", "InitVar", "KW_ONLY") else "field"


def _field_of(cls, name, kind, kw_only):
    value = _tidemark.own_attribute(cls, name)
    if isinstance(value, Field):
        f = value
        if f.default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, f.default)
            names_itself = getattr(type(f.default), "__set_name__", None)
            if names_itself is not None:
                names_itself(f.default, cls, name)
    else:
        f = Field(MISSING if value is NotImplemented else value, MISSING, True, True, None, True, None, MISSING)
        if f.default is not MISSING and hasattr(type(value), "__get__"):
            f.default = getattr(cls, name, MISSING)
    f.name, f._owner, f._kind = name, cls, kind
    if kind != "field" and f.default_factory is not MISSING:
        raise TypeError(f"field {name} cannot have a default factory")
    if kind == "ClassVar":
        if f.kw_only is not MISSING:
            raise TypeError(f"field {name} is a ClassVar but specifies kw_only")
    elif f.kw_only is MISSING:
        f.kw_only = kw_only
    changes = isinstance(f.default, (list, dict, set)) or getattr(type(f.default), "__hash__", True) is None
    if kind == "field" and changes:
        raise ValueError(f"mutable default {type(f.default)} for field {name} is not allowed: use default_factory")
    return f


def _collect(cls, kw_only):
    found = {}
    for base in cls.__mro__[:0:-1]:
        above = _tidemark.own_attribute(base, "__dataclass_fields__")
        if above is not NotImplemented:
            found.update(above)
    marked = False
    annotations = _tidemark.annotations(cls)
    for name, annotation in annotations.items():
        kind = _kind_of(annotation)
        if kind == "KW_ONLY":
            if marked:
                raise TypeError(f"{name!r} is KW_ONLY, but KW_ONLY has already been specified")
            marked = kw_only = True
            continue
        found[name] = _field_of(cls, name, kind, kw_only)
    for name, value in _tidemark.own_attributes(cls).items():
        if isinstance(value, Field) and name not in annotations:
            raise TypeError(f"{name!r} is a field but has no type annotation")
    return found


def _check_frozen(cls, frozen):
    parents = [
        base.__dataclass_params__.frozen
        for base in cls.__mro__[1:]
        if _tidemark.own_attribute(base, "__dataclass_fields__") is not NotImplemented
    ]
    if True in parents and not frozen:
        raise TypeError("cannot inherit non-frozen dataclass from a frozen one")
    if False in parents and frozen:
        raise TypeError("cannot inherit frozen dataclass from a non-frozen one")


def _init_of(cls, parts, frozen):
    """The text of __init__ is written and run: a call then costs what a call of a function costs."""
    owner = "__dataclass_self__" if "self" in parts else "self"
    names = {"__name__": cls.__module__, "_FACTORY": _FACTORY, "_set": object.__setattr__}
    by_place, by_name, body, sets, has_default = [], [], [], [], None
    for f in parts.values():
        if f._kind == "ClassVar":
            continue
        value, default = f.name, f"__dataclass_default_{f.name}__"
        if f.default_factory is not MISSING:
            names[default] = f.default_factory
            value = f"{default}() if {f.name} is _FACTORY else {f.name}" if f.init else f"{default}()"
        elif f.default is not MISSING:
            names[default] = f.default
        if f.init:
            optional = default in names
            if f.kw_only is True:
                pass
            elif optional:
                has_default = f.name
            elif has_default is not None:
                raise TypeError(f"non-default argument {f.name!r} follows default argument")
            given = "_FACTORY" if f.default_factory is not MISSING else default
            (by_name if f.kw_only is True else by_place).append(f"{f.name}={given}" if optional else f.name)
        elif f.default_factory is MISSING:
            continue
        if f._kind == "field" and frozen:
            body.append(f"_set({owner}, {f.name!r}, {value})")
        elif f._kind == "field":
            if not sets or f.default_factory is not MISSING:  # what it makes comes behind what is set before it
                sets.append((len(body), [], []))
                body.append(None)
            sets[-1][1].append(f.name)
            sets[-1][2].append(value)
    if hasattr(cls, "__post_init__"):
        init_vars = [f.name for f in parts.values() if f._kind == "InitVar"]
        body.append(f"{owner}.__post_init__({', '.join(init_vars)})")
    for at, of, values in sets:
        names[f"__dataclass_fill_{at}__"] = _tidemark.attribute_filler(of)
        body[at] = f"__dataclass_fill_{at}__({owner}, {', '.join(values)})"
    parameters = ", ".join([owner] + by_place + (["*"] + by_name if by_name else []))
    exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), names)
    made = names["__init__"]
    made._dataclass_fields = parts
    if not frozen and all(f._kind == "field" and f.init for f in parts.values()):
        # Under a name that a function which wraps this one does not take over.
        setattr(made, "<replaced>", (parts, _tidemark.attribute_replacer(list(parts))))
    return made


def _repr_of(fields_):
    shown = [f.name for f in fields_ if f.repr]
    running = set()

    def __repr__(self):
        if id(self) in running:
            return "..."
        running.add(id(self))
        try:
            return self.__class__.__qualname__ + "(" + ", ".join([f"{n}={getattr(self, n)!r}" for n in shown]) + ")"
        finally:
            running.discard(id(self))

    return __repr__


def _eq_of(compared):
    def __eq__(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return tuple([getattr(self, n) for n in compared]) == tuple([getattr(other, n) for n in compared])

    return __eq__


def _order_of(name, compare, compared):
    def method(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compare(tuple([getattr(self, n) for n in compared]), tuple([getattr(other, n) for n in compared]))

    method.__name__ = name
    return method


def _hash_of(fields_):
    hashed = [f.name for f in fields_ if (f.compare if f.hash is None else f.hash)]

    def __hash__(self):
        return hash(tuple([getattr(self, n) for n in hashed]))

    return __hash__


def _freeze(cls, fields_):
    names = tuple([f.name for f in fields_])

    def __setattr__(self, name, value):
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self, name):
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    for name, method in (("__setattr__", __setattr__), ("__delattr__", __delattr__)):
        if not _give(cls, name, method):
            raise TypeError(f"Cannot overwrite attribute {name} in class {cls.__name__}")


def _give(cls, name, method):
    """Whether the class has no method of its own under the name, and so takes this one."""
    if _tidemark.own_attribute(cls, name) is not NotImplemented:
        return False
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(cls, name, method)
    return True


def _give_hash(cls, fields_, eq, frozen, unsafe_hash):
    own = _tidemark.own_attribute(cls, "__hash__")
    explicit = own is not NotImplemented and not (
        own is None and _tidemark.own_attribute(cls, "__eq__") is not NotImplemented
    )
    if unsafe_hash:
        if explicit:
            raise TypeError(f"Cannot overwrite attribute __hash__ in class {cls.__name__}")
        cls.__hash__ = _hash_of(fields_)
    elif eq and not explicit:
        cls.__hash__ = _hash_of(fields_) if frozen else None


def _give_slots(cls, weakref_slot):
    if _tidemark.own_attribute(cls, "__slots__") is not NotImplemented:
        raise TypeError(f"{cls.__name__} already specifies __slots__")
    above = []
    for base in cls.__mro__[1:]:
        given = _tidemark.own_attribute(base, "__slots__")
        above += [] if given is NotImplemented else [given] if isinstance(given, str) else list(given)
    names = [f.name for f in fields(cls)] + (["__weakref__"] if weakref_slot else [])
    cls.__slots__ = tuple([name for name in names if name not in above])
    return cls


def _decorate(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only):
    if order and not eq:
        raise ValueError("eq must be true if order is true")
    _check_frozen(cls, frozen)
    parts = _collect(cls, kw_only)
    cls.__dataclass_fields__ = parts
    cls.__dataclass_params__ = _DataclassParams(init, repr, eq, order, unsafe_hash, frozen)
    fields_ = [f for f in parts.values() if f._kind == "field"]
    compared = [f.name for f in fields_ if f.compare]
    if init:
        _give(cls, "__init__", _init_of(cls, parts, frozen))
    if repr:
        _give(cls, "__repr__", _repr_of(fields_))
    _give_hash(cls, fields_, eq, frozen, unsafe_hash)
    if eq:
        _give(cls, "__eq__", _eq_of(compared))
    if order:
        for name, compare in (
            ("__lt__", lambda a, b: a < b),
            ("__le__", lambda a, b: a <= b),
            ("__gt__", lambda a, b: a > b),
            ("__ge__", lambda a, b: a >= b),
        ):
            if not _give(cls, name, _order_of(name, compare, compared)):
                raise TypeError(
                    f"Cannot overwrite attribute {name} in class {cls.__name__}. "
                    "Consider using functools.total_ordering"
                )
    if frozen:
        _freeze(cls, fields_)
    if match_args and _tidemark.own_attribute(cls, "__match_args__") is NotImplemented:
        taken = cls.__dataclass_fields__.values()
        cls.__match_args__ = tuple([f.name for f in taken if f.init and f.kw_only is False])
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
    match_args=True,
    kw_only=False,
    slots=False,
    weakref_slot=False,
):
    if weakref_slot and not slots:
        raise TypeError("weakref_slot is True but slots is False")

    def decorate(cls):
        cls = _decorate(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only)
        return _give_slots(cls, weakref_slot) if slots else cls

    return decorate if cls is None else decorate(cls)


def fields(class_or_instance):
    found = getattr(class_or_instance, "__dataclass_fields__", None)
    if found is None:
        raise TypeError("must be called with a dataclass type or instance")
    return tuple([f for f in found.values() if f._kind == "field"])


def is_dataclass(obj):
    return hasattr(obj if isinstance(obj, type) else type(obj), "__dataclass_fields__")


def _is_instance(obj):
    return hasattr(type(obj), "__dataclass_fields__")


def asdict(obj, *, dict_factory=dict):
    if not _is_instance(obj):
        raise TypeError("asdict() should be called on dataclass instances")
    return _plain(obj, lambda of: dict_factory(list(of.items())))


def astuple(obj, *, tuple_factory=tuple):
    if not _is_instance(obj):
        raise TypeError("astuple() should be called on dataclass instances")
    return _plain(obj, lambda of: tuple_factory(list(of.values())))


def _plain(value, made):
    """The value with each instance in it as what `made` makes of its fields."""
    if _is_instance(value):
        return made({f.name: _plain(getattr(value, f.name), made) for f in fields(value)})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_plain(v, made) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([_plain(v, made) for v in value])
    if isinstance(value, dict):
        return type(value)([(_plain(k, made), _plain(v, made)) for k, v in value.items()])
    return _tidemark.deepcopy(value)


class KW_ONLY:
    pass


class InitVar:
    def __init__(self, type):
        self.type = type

    def __class_getitem__(cls, type):
        return InitVar(type)

    def __repr__(self):
        return f"dataclasses.InitVar[{getattr(self.type, '__name__', self.type)}]"


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **options):
    names = dict(namespace or {})
    names["__annotations__"] = annotations = {}
    for each in fields:
        name, kind = (each, "typing.Any") if isinstance(each, str) else (each[0], each[1])
        if not isinstance(name, str) or not name.isidentifier():
            raise TypeError(f"Field names must be valid identifiers: {name!r}")
        if name in annotations:
            raise TypeError(f"Field name duplicated: {name!r}")
        annotations[name] = kind
        if not isinstance(each, str) and len(each) == 3:
            names[name] = each[2]
    return dataclass(new_class(cls_name, bases, {}, lambda own: own.update(names)), **options)


def replace(obj, /, **changes):
    if not _is_instance(obj):
        raise TypeError("replace() should be called on dataclass instances")
    parts, replaced = getattr(obj.__class__.__init__, "<replaced>", (None, None))
    made = replaced(obj, changes) if parts is obj.__dataclass_fields__ else None
    if made is not None:
        return made
    if _tidemark.fill_fields(obj, obj.__dataclass_fields__, changes):
        return obj.__class__(**changes)
    for f in obj.__dataclass_fields__.values():
        if f._kind == "ClassVar":
            continue
        if not f.init:
            if f.name in changes:
                raise ValueError(f"field {f.name} is declared with init=False, it cannot be specified with replace()")
        elif f.name not in changes:
            if f._kind == "InitVar" and f.default is MISSING:
                raise ValueError(f"InitVar {f.name!r} must be specified with replace()")
            changes[f.name] = getattr(obj, f.name)
    return obj.__class__(**changes)
