"""Types with rules, and what stands in Annotated beside a type."""

import pathlib
from typing import Annotated, Any, List


class ConfigDict(dict):
    """the settings of a model"""


class _Marker:
    def __init__(self, func):
        self.func = func


class BeforeValidator(_Marker):
    mode = "before"


class AfterValidator(_Marker):
    mode = "after"


class PlainValidator(_Marker):
    mode = "plain"


class WrapValidator(_Marker):
    mode = "wrap"


class Skip:
    """any value goes"""


class IsInstance:
    """instances of this class and no conversion"""

    def __init__(self, kind):
        self.kind = kind


class Place:
    """a path to what is there"""

    def __init__(self, what):
        self.what = what


class _SkipValidation:
    def __getitem__(self, item):
        return Annotated[item, Skip()]


class _InstanceOf:
    def __getitem__(self, item):
        return Annotated[Any, IsInstance(item)]


SkipValidation, InstanceOf = _SkipValidation(), _InstanceOf()


def _ruled(kind, **rules):
    from pydantic.fields import FieldInfo

    return Annotated[kind, FieldInfo(**rules)]


def conint(*, strict=None, gt=None, ge=None, lt=None, le=None, multiple_of=None):
    return _ruled(int, strict=strict, gt=gt, ge=ge, lt=lt, le=le, multiple_of=multiple_of)


def confloat(*, strict=None, gt=None, ge=None, lt=None, le=None, multiple_of=None, allow_inf_nan=None):
    return _ruled(
        float, strict=strict, gt=gt, ge=ge, lt=lt, le=le, multiple_of=multiple_of, allow_inf_nan=allow_inf_nan
    )


def constr(*, strict=None, min_length=None, max_length=None, pattern=None):
    return _ruled(str, strict=strict, min_length=min_length, max_length=max_length, pattern=pattern)


def conlist(item_type, *, min_length=None, max_length=None):
    return _ruled(List[item_type], min_length=min_length, max_length=max_length)


PositiveInt, NegativeInt = _ruled(int, gt=0), _ruled(int, lt=0)
NonNegativeInt, NonPositiveInt = _ruled(int, ge=0), _ruled(int, le=0)
PositiveFloat, NegativeFloat = _ruled(float, gt=0), _ruled(float, lt=0)
NonNegativeFloat, NonPositiveFloat = _ruled(float, ge=0), _ruled(float, le=0)
FiniteFloat = _ruled(float, allow_inf_nan=False)
StrictBool, StrictInt = _ruled(bool, strict=True), _ruled(int, strict=True)
StrictFloat, StrictStr = _ruled(float, strict=True), _ruled(str, strict=True)
FilePath = Annotated[pathlib.Path, Place("file")]
DirectoryPath = Annotated[pathlib.Path, Place("directory")]


class SecretStr:
    def __init__(self, secret_value):
        self._secret_value = secret_value

    def get_secret_value(self):
        return self._secret_value

    def __eq__(self, other):
        return isinstance(other, SecretStr) and self._secret_value == other._secret_value

    def __hash__(self):
        return hash(self._secret_value)

    def __len__(self):
        return len(self._secret_value)

    def __str__(self):
        return "**********" if self._secret_value else ""

    def __repr__(self):
        return f"SecretStr({str(self)!r})"
