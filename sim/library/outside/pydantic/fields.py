import copy


class _Undefined:
    def __repr__(self):
        return "PydanticUndefined"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


PydanticUndefined = _Undefined()
_RULES = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern", "strict", "allow_inf_nan")


class FieldInfo:
    """what a class says of one of its fields"""

    def __init__(self, default=PydanticUndefined, **options):
        self.default = PydanticUndefined if default is ... else default
        self.default_factory = options.pop("default_factory", None)
        self.annotation = options.pop("annotation", None)
        self.alias = options.pop("alias", None)
        self.validation_alias = options.pop("validation_alias", None)
        self.serialization_alias = options.pop("serialization_alias", None)
        self.title = options.pop("title", None)
        self.description = options.pop("description", None)
        self.examples = options.pop("examples", None)
        self.exclude = options.pop("exclude", None)
        self.discriminator = options.pop("discriminator", None)
        self.deprecated = options.pop("deprecated", None)
        self.frozen = options.pop("frozen", None)
        self.validate_default = options.pop("validate_default", None)
        self.repr = options.pop("repr", True)
        self.init = options.pop("init", None)
        self.kw_only = options.pop("kw_only", None)
        self.json_schema_extra = options.pop("json_schema_extra", None)
        self.rules = {name: options.pop(name) for name in _RULES if options.get(name) is not None}
        self.metadata = []
        for name in (
            "alias_priority",
            "union_mode",
            "coerce_numbers_to_str",
            "init_var",
            "field_title_generator",
            *_RULES,
        ):
            options.pop(name, None)
        if options:  # names that Field does not know go to the schema
            self.json_schema_extra = dict(self.json_schema_extra or {}, **options)

    def is_required(self):
        return self.default is PydanticUndefined and self.default_factory is None

    def get_default(self, *, call_default_factory=False, validated_data=None):
        if self.default_factory is not None:
            return self.default_factory() if call_default_factory else None
        value = self.default
        if isinstance(value, (int, float, str, bytes, tuple, type(None))) or callable(value):
            return value
        return copy.deepcopy(value)

    def joined(self, other):
        """what Annotated[..., Field()] says, under what the assignment says"""
        made = copy.copy(self)
        for name, value in vars(other).items():
            if name == "rules":
                made.rules = dict(self.rules, **value)
            elif name == "metadata":
                made.metadata = self.metadata + value
            elif value is not None and value is not PydanticUndefined and not (name == "repr" and value):
                setattr(made, name, value)
        return made

    def __repr__(self):
        parts = [
            f"annotation={getattr(self.annotation, '__name__', self.annotation)}",
            f"required={self.is_required()}",
        ]
        if self.default is not PydanticUndefined:
            parts.append(f"default={self.default!r}")
        return f"FieldInfo({', '.join(parts)})"


class ModelPrivateAttr:
    def __init__(self, default=PydanticUndefined, default_factory=None):
        self.default, self.default_factory = default, default_factory

    def get_default(self):
        return self.default_factory() if self.default_factory is not None else copy.deepcopy(self.default)


class ComputedField:
    """a property that is dumped with the fields"""

    def __init__(self, function):
        self.function = function.fget if isinstance(function, property) else function

    def __get__(self, instance, owner=None):
        return self if instance is None else self.function(instance)


def Field(default=PydanticUndefined, **options):
    return FieldInfo(default, **options)


def PrivateAttr(default=PydanticUndefined, *, default_factory=None, init=False):
    return ModelPrivateAttr(default, default_factory)


def computed_field(function=None, /, **options):
    if function is None:
        return ComputedField
    return ComputedField(function)
