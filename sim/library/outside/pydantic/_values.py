"""A type, and what of a value fits it: the rules of pydantic's own table of conversions."""

import collections
import enum
import inspect
import math
import os
import pathlib
import re
from types import UnionType
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar, Union, get_args, get_origin

from pydantic._errors import Fault, Misfit, PydanticSchemaGenerationError, ValidationError, fail
from pydantic._types import (
    AfterValidator,
    BeforeValidator,
    IsInstance,
    Place,
    PlainValidator,
    SecretStr,
    Skip,
    WrapValidator,
)
from pydantic.fields import FieldInfo

_TRUE = ("1", "on", "t", "true", "y", "yes")
_FALSE = ("0", "off", "f", "false", "n", "no")


class ValidationInfo:
    """what a validator that takes it is told"""

    def __init__(self, data=None, field_name=None, context=None, config=None, mode="python"):
        self.data, self.field_name, self.context, self.config, self.mode = data, field_name, context, config, mode


class Ask:
    """how a value is to be read: as its type is, or as another that stands for it"""

    def __init__(self, strict=False, info=None):
        self.strict, self.info = strict, info if info is not None else ValidationInfo()

    def as_strict(self):
        return Ask(True, self.info)


def run_user(function, value, *more):
    """A user's function; what it raises is a fault of the value."""
    try:
        return function(value, *more)
    except ValidationError as error:
        raise Misfit(error._faults) from None
    except ValueError as error:
        fail("value_error", value, f"Value error, {error}", {"error": error})
    except AssertionError as error:
        fail("assertion_error", value, f"Assertion failed, {error}", {"error": error})


def takes_info(function, plain):
    """Whether a validator has a parameter for the info, beside so many of its own."""
    try:
        names = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    return len([p for p in names if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]) > plain


def _boolean(value, ask):
    if value is True or value is False:
        return value
    if ask.strict:
        fail("bool_type", value)
    if isinstance(value, (int, float)):
        if value in (0, 1):
            return value == 1
        fail("bool_parsing" if isinstance(value, int) else "bool_type", value)
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        if value.lower() in _TRUE:
            return True
        if value.lower() in _FALSE:
            return False
        fail("bool_parsing", value)
    fail("bool_type", value)


def _integer(value, ask):
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value) if isinstance(value, enum.Enum) else value
    if ask.strict:
        fail("int_type", value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            fail("finite_number", value)
        if value != int(value):
            fail("int_from_float", value)
        return int(value)
    if isinstance(value, str):
        text = value.strip()
        if re.fullmatch(r"[+-]?\d+(_\d+)*(\.0*)?", text):
            return int(text.split(".")[0])
        fail("int_parsing", value)
    fail("int_type", value)


def _number(value, ask):
    if isinstance(value, bool):
        if ask.strict:
            fail("float_type", value)
        return float(value)
    if isinstance(value, (int, float)):
        return float(value) if not isinstance(value, float) else value
    if isinstance(value, str) and not ask.strict:
        try:
            return float(value)
        except ValueError:
            fail("float_parsing", value)
    fail("float_type", value)


def _text(value, ask):
    if isinstance(value, str):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, (bytes, bytearray)) and not ask.strict:
        return value.decode()
    fail("string_type", value)


def _bytes(value, ask):
    if isinstance(value, bytes):
        return value
    if isinstance(value, str) and not ask.strict:
        return value.encode()
    fail("bytes_type", value)


def _nothing(value, ask):
    if value is not None:
        fail("none_required", value)


def _path(value, ask):
    if isinstance(value, pathlib.PurePath):
        return value
    if isinstance(value, (str, os.PathLike)) and not ask.strict:
        return pathlib.Path(value)
    fail("path_type", value)


def _secret(value, ask):
    return value if isinstance(value, SecretStr) else SecretStr(_text(value, ask))


def _callable(value, ask):
    if not callable(value):
        fail("callable_type", value)
    return value


def _anything(value, ask):
    return value


def gather(parts):
    """The results of (key, function) pairs; the faults of all of them at once."""
    out, faults = [], []
    for key, run in parts:
        try:
            out.append(run())
        except Misfit as misfit:
            faults += [fault.under(key) for fault in misfit.faults]
    if faults:
        raise Misfit(faults)
    return out


_FROM_MANY = (list, tuple, set, frozenset, collections.deque, type({}.keys()), type({}.values()), type(i for i in ()))
_MANY = {list: "list_type", set: "set_type", frozenset: "frozen_set_type", collections.deque: "list_type"}


def _many(kind, item):
    def check(value, ask):
        if not isinstance(value, kind) and (ask.strict or not isinstance(value, _FROM_MANY)):
            fail(_MANY[kind], value)
        found = gather([(i, lambda each=each: item(each, ask)) for i, each in enumerate(value)])
        return kind(found)

    return check


def _sequence(item):
    def check(value, ask):
        if not isinstance(value, (list, tuple, collections.deque)):
            fail("list_type", value, "Input should be a valid sequence")
        found = gather([(i, lambda each=each: item(each, ask)) for i, each in enumerate(value)])
        return type(value)(found)

    return check


def _tuple(items, rest):
    def check(value, ask):
        if not isinstance(value, tuple) and (ask.strict or not isinstance(value, _FROM_MANY)):
            fail("tuple_type", value)
        value = tuple(value)
        if rest is not None:
            return tuple(gather([(i, lambda each=each: rest(each, ask)) for i, each in enumerate(value)]))
        if len(value) > len(items):
            count = f"{len(items)} item{'' if len(items) == 1 else 's'}"
            what = f"Tuple should have at most {count} after validation, not {len(value)}"
            fail("too_long", value, what)
        faults = [Fault("missing", value, None, (i,)) for i in range(len(value), len(items))]
        if faults:
            raise Misfit(faults)
        return tuple(gather([(i, lambda i=i, each=each: items[i](each, ask)) for i, each in enumerate(value)]))

    return check


def _mapping(key_rule, value_rule, kind=dict):
    def check(value, ask):
        if not isinstance(value, collections.abc.Mapping):
            fail("dict_type", value)
        out, faults = kind() if kind is not collections.defaultdict else {}, []
        for key, item in value.items():
            made = []
            for rule, given, where in ((key_rule, key, (key, "[key]")), (value_rule, item, (key,))):
                try:
                    made.append(rule(given, ask))
                except Misfit as misfit:
                    for fault in misfit.faults:
                        for step in where[::-1]:
                            fault = fault.under(step)
                        faults.append(fault)
            if len(made) == 2:
                out[made[0]] = made[1]
        if faults:
            raise Misfit(faults)
        return out

    return check


def _literal(values):
    shown = [repr(each.value if isinstance(each, enum.Enum) else each) for each in values]
    expected = shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1]

    def check(value, ask):
        for each in values:
            if value == each and (type(value) is type(each) or not isinstance(value, (bool, int, float))):
                return each
        fail("literal_error", value, f"Input should be {expected}", {"expected": expected})

    return check


def _enumeration(kind, use_values):
    shown = [repr(each.value) for each in kind]
    expected = shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1]

    def check(value, ask):
        if not isinstance(value, kind):
            if ask.strict:
                fail(
                    "is_instance_of", value, f"Input should be an instance of {kind.__name__}", {"class": kind.__name__}
                )
            try:
                value = kind(value)
            except ValueError:
                fail("enum", value, f"Input should be {expected}", {"expected": expected})
        return value.value if use_values else value

    return check


def _instance(kind):
    def check(value, ask):
        if not isinstance(value, kind):
            fail(
                "is_instance_of",
                value,
                f"Input should be an instance of {kind.__qualname__}",
                {"class": kind.__qualname__},
            )
        return value

    return check


def _subclass(kind):
    def check(value, ask):
        if not isinstance(value, type):
            fail("is_type", value, "Input should be a type")
        if isinstance(kind, type) and not issubclass(value, kind):
            fail("is_subclass_of", value, f"Input should be a subclass of {kind.__name__}", {"class": kind.__name__})
        return value

    return check


def _shown(kind):
    return getattr(kind, "__name__", None) or repr(kind)


def _label(kind):
    """the name of a union's member in the place of a fault"""
    origin = get_origin(kind)
    if origin is None or origin is Annotated:
        return {type(None): "none"}.get(kind, _shown(kind if origin is None else get_args(kind)[0]))
    inner = ",".join([_label(each) if isinstance(each, type) or get_origin(each) else "..." for each in get_args(kind)])
    if origin is Literal:
        inner = ",".join([repr(each) for each in get_args(kind)])
    return f"{_shown(origin).lower()}[{inner}]"


def _union(kinds, rules):
    def check(value, ask):
        if value is None and type(None) in kinds:
            return None
        for rule in rules:  # what fits as it is comes first
            try:
                return rule(value, ask.as_strict())
            except Misfit:
                pass
        faults = []
        for kind, rule in zip(kinds, rules):
            if kind is type(None) and len(kinds) > 1:
                continue
            try:
                return rule(value, ask)
            except Misfit as misfit:
                faults += (
                    misfit.faults
                    if len(kinds) == 2 and type(None) in kinds
                    else [fault.under(_label(kind)) for fault in misfit.faults]
                )
        raise Misfit(faults)

    return check


_BOUNDS = {
    "gt": ("greater_than", "greater than", lambda a, b: a > b),
    "ge": ("greater_than_equal", "greater than or equal to", lambda a, b: a >= b),
    "lt": ("less_than", "less than", lambda a, b: a < b),
    "le": ("less_than_equal", "less than or equal to", lambda a, b: a <= b),
}


def _bounded(rule, rules):
    """A rule, and what Field(gt=0, max_length=3) asks beyond it."""

    def check(value, ask):
        made = rule(value, ask.as_strict() if rules.get("strict") else ask)
        if made is None:
            return made
        for name, (kind, words, holds) in _BOUNDS.items():
            if name in rules and not holds(made, rules[name]):
                fail(kind, value, f"Input should be {words} {rules[name]}", {name: rules[name]})
        if "multiple_of" in rules and made % rules["multiple_of"] != 0:
            fail("multiple_of", value, f"Input should be a multiple of {rules['multiple_of']}", dict(rules))
        if rules.get("allow_inf_nan") is False and not math.isfinite(made):
            fail("finite_number", value)
        text = isinstance(made, str)
        what = "String" if text else {list: "List", dict: "Dictionary", tuple: "Tuple"}.get(type(made), "Value")
        unit = "character" if text else "item"
        for name, kind, words, wrong in (
            ("min_length", "too_short", "at least", lambda n, limit: n < limit),
            ("max_length", "too_long", "at most", lambda n, limit: n > limit),
        ):
            if name in rules and wrong(len(made), rules[name]):
                count = f"{rules[name]} {unit}{'' if rules[name] == 1 else 's'}"
                tail = "" if text else f" after validation, not {len(made)}"
                fail(
                    "string_" + kind if text else kind,
                    value,
                    f"{what} should have {words} {count}{tail}",
                    {name: rules[name]},
                )
        if "pattern" in rules and not re.search(rules["pattern"], made):
            message = f"String should match pattern '{rules['pattern']}'"
            fail("string_pattern_mismatch", value, message, {"pattern": rules["pattern"]})
        return made

    return check


def _marked(rule, marker):
    """A rule, and one of the functions that stand beside a type in Annotated."""
    function = marker.func
    info = takes_info(function, 2 if marker.mode == "wrap" else 1)

    def call(value, ask, *more):
        return run_user(function, value, *more, *([ask.info] if info else []))

    if marker.mode == "before":
        return lambda value, ask: rule(call(value, ask), ask)
    if marker.mode == "after":
        return lambda value, ask: call(rule(value, ask), ask)
    if marker.mode == "plain":
        return call
    return lambda value, ask: call(value, ask, lambda given: rule(given, ask))


def _place(rule, what):
    def check(value, ask):
        path = rule(value, ask)
        if not (path.is_file() if what == "file" else path.is_dir()):
            fail("path_not_" + what, value)
        return path

    return check


_PLAIN = {
    bool: _boolean,
    int: _integer,
    float: _number,
    str: _text,
    bytes: _bytes,
    type(None): _nothing,
    None: _nothing,
    object: _anything,
    pathlib.Path: _path,
    pathlib.PurePath: _path,
    SecretStr: _secret,
}


def annotated_rule(rule, extras):
    """A rule with what Annotated says beside the type, in order."""
    for extra in extras:
        if isinstance(extra, FieldInfo):
            rule = (
                _bounded(annotated_rule(rule, extra.metadata), extra.rules) if extra.rules or extra.metadata else rule
            )
        elif isinstance(extra, (BeforeValidator, AfterValidator, PlainValidator, WrapValidator)):
            rule = _marked(rule, extra)
        elif isinstance(extra, Skip):
            rule = _anything
        elif isinstance(extra, IsInstance):
            rule = _instance(extra.kind)
        elif isinstance(extra, Place):
            rule = _place(rule, extra.what)
    return rule


def rule_of(kind, resolve, config):
    """The function (value, ask) -> value of a type; resolve() says what a text names.
    Errors: PydanticSchemaGenerationError for a class that is not a model, where the config does not allow any."""

    def of(each):
        return rule_of(each, resolve, config)

    while isinstance(kind, str) or hasattr(kind, "__forward_arg__"):
        kind = resolve(kind if isinstance(kind, str) else kind.__forward_arg__)
    if isinstance(kind, TypeVar):
        if kind.__bound__ is not None:
            return of(kind.__bound__)
        return of(Union[kind.__constraints__]) if kind.__constraints__ else _anything
    if kind is Any:
        return _anything
    origin, args = get_origin(kind), get_args(kind)
    if origin is None or not args:
        return _plain_rule(kind, config)
    if origin is Annotated:
        return annotated_rule(of(args[0]), args[1:])
    if origin is Literal:
        return _literal(args)
    if origin is Union or origin is UnionType:
        return _union(args, [of(each) for each in args])
    if origin is Final or origin is ClassVar:
        return of(args[0])
    if origin in _MANY:
        return _many(origin, of(args[0]))
    if origin is tuple:
        if len(args) == 2 and args[1] is ...:
            return _tuple(None, of(args[0]))
        return _tuple([of(each) for each in args], None)
    name = _shown(origin)
    if origin is type:
        return _subclass(args[0])
    if (
        isinstance(origin, type)
        and issubclass(origin, dict)
        or name in ("Mapping", "MutableMapping", "DefaultDict", "OrderedDict")
    ):
        made = origin if isinstance(origin, type) and issubclass(origin, dict) else dict
        return _mapping(of(args[0]), of(args[1]), made)
    if name in ("Callable",):
        return _callable
    if name in ("Sequence", "MutableSequence", "Iterable", "Collection"):
        return _sequence(of(args[0]))
    if name in ("AbstractSet", "MutableSet", "Set"):
        return _many(set, of(args[0]))
    return _plain_rule(origin, config)


def _plain_rule(kind, config):
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _MANY:
        return _many(kind, _anything)
    if kind is tuple:
        return _tuple(None, _anything)
    if isinstance(kind, type):
        if hasattr(kind, "__pydantic_rule__"):
            return kind.__pydantic_rule__()
        if issubclass(kind, enum.Enum):
            return _enumeration(kind, config.get("use_enum_values", False))
        if issubclass(kind, dict):
            return _mapping(_anything, _anything, kind)
        if kind is type:
            return _subclass(None)
        if not config.get("arbitrary_types_allowed", False):
            raise PydanticSchemaGenerationError(
                f"Unable to generate pydantic-core schema for {kind}. "
                "Set `arbitrary_types_allowed=True` in the model_config "
                "to ignore this error.",
                code="schema-for-unknown-type",
            )
        return _instance(kind)
    name = getattr(kind, "_name", None)
    if name == "Callable":
        return _callable
    if name in ("List", "Sequence", "Iterable", "Collection", "MutableSequence"):
        return _many(list, _anything)
    if name in ("Dict", "Mapping", "MutableMapping", "DefaultDict", "OrderedDict"):
        return _mapping(_anything, _anything)
    if name in ("Set", "AbstractSet", "MutableSet"):
        return _many(set, _anything)
    if name == "FrozenSet":
        return _many(frozenset, _anything)
    if name == "Tuple":
        return _tuple(None, _anything)
    if name == "Type":
        return _subclass(None)
    return _anything


class TypeAdapter:
    """any type, checked outside of a model"""

    def __init__(self, type, *, config=None):
        import _tidemark

        def resolve(text):
            _tidemark.refuse(f"TypeAdapter of a type that is named by a text: '{text}'")

        self._kind, self._rule = type, rule_of(type, resolve, config or {})

    def validate_python(self, object, /, *, strict=None, from_attributes=None, context=None):
        try:
            return self._rule(object, Ask(bool(strict), ValidationInfo(context=context)))
        except Misfit as misfit:
            raise ValidationError(_shown(self._kind), misfit.faults) from None

    def dump_python(self, instance, /, *, mode="python", **options):
        from pydantic._dumps import dumped

        return dumped(instance, mode, options)
