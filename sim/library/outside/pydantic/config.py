from pydantic._types import ConfigDict
