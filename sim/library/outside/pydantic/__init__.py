"""pydantic 2: what classes of settings need. The real one checks values in compiled code (pydantic_core)."""

import _tidemark
from pydantic._errors import (
    PydanticSchemaGenerationError,
    PydanticUndefinedAnnotation,
    PydanticUserError,
    ValidationError,
)
from pydantic._models import BaseModel, RootModel, create_model
from pydantic._types import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    DirectoryPath,
    FilePath,
    FiniteFloat,
    InstanceOf,
    NegativeFloat,
    NegativeInt,
    NonNegativeFloat,
    NonNegativeInt,
    NonPositiveFloat,
    NonPositiveInt,
    PlainValidator,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    SkipValidation,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    WrapValidator,
    confloat,
    conint,
    conlist,
    constr,
)
from pydantic.fields import Field, PrivateAttr, computed_field
from pydantic.functional_serializers import field_serializer, model_serializer
from pydantic.functional_validators import field_validator, model_validator, root_validator, validator
from pydantic._values import TypeAdapter, ValidationInfo

VERSION = __version__ = "2.14.4"


def __getattr__(name):
    return _tidemark.later("pydantic." + name)
