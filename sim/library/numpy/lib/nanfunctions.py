import numpy._core.multiarray as _a
import torch
from numpy._core.fromnumeric import argmax, argmin, max, mean, min, prod, std, sum, var
from numpy._core.numeric import _t, inf
from numpy.lib.function_base import median, quantile

# What is not a number is not known to be there: sizes are those of whole arrays.


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    t = _t(x)
    found, values = torch.nan_to_num(t, nan, posinf, neginf), _a.known_of(t)
    if values is not None and t.is_floating_point():
        ends = torch.finfo(t.dtype)
        high, low = ends.max if posinf is None else posinf, ends.min if neginf is None else neginf
        finite = [nan if v != v else high if v == inf else low if v == -inf else v for v in values]
        torch._C.note_values(found, finite)
    if copy:
        return _a._given(found)
    x._t.copy_(found)
    return x


def _without(of_all):
    def of_numbers(x, axis=None, **options):
        values = _a.known_of(_t(x)) if axis is None else None
        if values is not None and _t(x).is_floating_point():
            kept = [value for value in values if value == value]
            if len(kept) < len(values):
                return of_all(_a.array_of(kept, _a.array_of(x, copies=False).dtype), **options)
        return of_all(x, axis, **options)

    return of_numbers


nanmean, nansum, nanstd, nanvar, nanprod = _without(mean), _without(sum), _without(std), _without(var), _without(prod)
nanmax, nanmin, nanmedian = _without(max), _without(min), _without(median)


def nanargmax(x, axis=None):
    return argmax(x, axis)


def nanargmin(x, axis=None):
    return argmin(x, axis)


def nanquantile(x, q, axis=None):
    return quantile(x, q, axis)


def nanpercentile(x, q, axis=None):
    return quantile(x, q / 100, axis)
