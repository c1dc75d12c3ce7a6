import os
import torch
from numpy._core.multiarray import made, ndarray
from numpy._core.numerictypes import dtype_of

# Arrays that files hold have their length and type; their numbers are not read, so they are not known.


def _length(file, dtype, offset):
    return (os.path.getsize(file) - offset) // dtype_of(dtype).itemsize


def fromfile(file, dtype=float, count=-1, sep="", offset=0, *, like=None):
    held = _length(file, dtype, offset)
    return made(torch.empty(held if count == -1 else min(count, held), dtype=dtype_of(dtype)._torch()))


class memmap(ndarray):
    """an array of a file; pages of the file are not the program's memory"""

    def __new__(cls, filename, dtype="uint8", mode="r+", offset=0, shape=None, order="C"):
        if shape is not None:
            shape = [int(n) for n in shape] if isinstance(shape, (tuple, list)) else [int(shape)]
        out = ndarray.__new__(cls)
        if shape is None:
            if mode == "w+":
                raise ValueError("shape must be given if mode == 'w+'")
            shape = [_length(filename, dtype, offset)]
        out._t = torch.empty(1, dtype=dtype_of(dtype)._torch()).expand(shape)
        out.filename, out.mode, out.offset = filename, mode, offset
        return out

    def __init__(self, *args, **kwargs):
        pass

    def flush(self):
        pass
