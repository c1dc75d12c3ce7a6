"""A model as plain values."""

import enum

from pydantic._types import SecretStr


def fields_of(model):
    """A model's fields; its state beside them lies in the same table here."""
    return {name: value for name, value in model.__dict__.items() if not name.startswith("__pydantic")}


def _chosen(names, name):
    """What include= or exclude= says of a name: nothing (None), all of it (True), or parts of it."""
    if names is None or name not in names:
        return None
    held = names[name] if hasattr(names, "keys") else True
    return True if held is ... else held


def dumped(value, mode, options):
    """A model as plain values; other values as they are (mode="json": as JSON has them)."""
    if hasattr(type(value), "__pydantic_fields__"):
        return _dump_model(value, mode, options)
    deeper = {key: held for key, held in options.items() if key not in ("include", "exclude")}
    if isinstance(value, dict):
        return {dumped(k, mode, deeper): dumped(v, mode, deeper) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = [dumped(each, mode, deeper) for each in value]
        return parts if mode == "json" or isinstance(value, list) else type(value)(parts)
    if mode == "json":
        if isinstance(value, enum.Enum):
            return value.value
        if isinstance(value, SecretStr) or hasattr(value, "__fspath__"):
            return str(value)
        if value is not None and not isinstance(value, (bool, int, float, str)):
            raise TypeError(f"Unable to serialize unknown type: {type(value)}")
    return value


def _dump_model(model, mode, options):
    cls = type(model)
    include, exclude = options.get("include"), options.get("exclude")
    deeper = {key: held for key, held in options.items() if key not in ("include", "exclude")}
    for key, serializer in cls.__pydantic_serializers__.items():
        if serializer.fields is None and serializer.mode == "plain":
            return dumped(serializer.function(model), mode, deeper)
    out = {}
    rows = list(fields_of(model).items()) + list((model.__pydantic_extra__ or {}).items())
    rows += [(name, getattr(model, name)) for name in cls.__pydantic_computed__]
    for name, value in rows:
        field = cls.__pydantic_fields__.get(name)
        kept, dropped = _chosen(include, name), _chosen(exclude, name)
        if include is not None and kept is None or dropped is True or field is not None and field.exclude:
            continue
        if options.get("exclude_unset") and field is not None and name not in model.__pydantic_fields_set__:
            continue
        if options.get("exclude_none") and value is None:
            continue
        if options.get("exclude_defaults") and field is not None and not field.is_required():
            if value == field.get_default(call_default_factory=True):
                continue
        shown = name
        if field is not None and options.get("by_alias", cls.model_config.get("serialize_by_alias")):
            generated = cls.model_config.get("alias_generator")
            shown = field.serialization_alias or field.alias or (generated(name) if generated else name)
        below = dict(deeper)
        if isinstance(kept, (dict, set)):
            below["include"] = kept
        if isinstance(dropped, (dict, set)):
            below["exclude"] = dropped
        out[shown] = _dump_field(cls, model, name, value, mode, below)
    return out


def _dump_field(cls, model, name, value, mode, options):
    for key, serializer in cls.__pydantic_serializers__.items():
        if serializer.fields is not None and (name in serializer.fields or "*" in serializer.fields):
            function = serializer.__get__(model, cls)
            if serializer.mode == "wrap":
                return function(value, lambda given: dumped(given, mode, options))
            return function(value)
    return dumped(value, mode, options)
