"""Python values as text of the model language."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import torch


class Unsupported(Exception):
    """A route cannot write this module; the text says what stands in its way."""


def dtype_text(dtype: torch.dtype) -> str:
    return str(dtype)  # "torch.float32"


def literal_text(value: Any) -> str:
    """A value as a literal. Raises Unsupported for what has none."""
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'float("{value!r}")'
    if isinstance(value, torch.dtype):
        return dtype_text(value)
    if isinstance(value, torch.memory_format):
        return str(value)
    if isinstance(value, torch.Size):
        return literal_text(tuple(value))
    if isinstance(value, tuple) and type(value) is tuple:
        inside = ", ".join(literal_text(each) for each in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if type(value) is list:
        return "[" + ", ".join(literal_text(each) for each in value) + "]"
    if type(value) is dict:
        return "{" + ", ".join(f"{literal_text(k)}: {literal_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (set, frozenset)) and value and all(isinstance(each, (int, str)) for each in value):
        return "{" + ", ".join(literal_text(each) for each in sorted(value, key=repr)) + "}"
    if isinstance(value, slice):
        return f"slice({literal_text(value.start)}, {literal_text(value.stop)}, {literal_text(value.step)})"
    raise Unsupported(f"a value of type {type(value).__name__}, which has no literal")


def tensor_text(tensor: torch.Tensor) -> str:
    """An expression for a tensor of the same shape and type on the host."""
    if not tensor.is_contiguous():
        raise Unsupported(f"a tensor of shape {list(tensor.shape)} whose memory is not contiguous")
    dtype = "" if tensor.dtype == torch.float32 else f", dtype={dtype_text(tensor.dtype)}"
    return f"torch.zeros({literal_text(list(tensor.shape))}{dtype})"


def is_plain_dataclass(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)
