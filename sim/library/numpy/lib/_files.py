import _files
import _tidemark
import ast
import math
import os
import torch
from numpy._core.multiarray import made, ndarray
from numpy._core.numeric import asarray
from numpy._core.numerictypes import dtype_of, refuse

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


def _header(file):
    """type, shape and first byte of the array that a .npy file holds"""
    name = _files.clean(file)
    begin = _tidemark.read_begin(name, 12)
    if begin is None:
        raise FileNotFoundError(2, "No such file or directory", _files.text_of(file))
    if begin[:6] != "\x93NUMPY" or len(begin) < 12:
        refuse("load of anything but one array (.npy)")
    is_short = begin[6] == "\1"
    first = 10 if is_short else 12
    length = sum([ord(byte) << 8 * i for i, byte in enumerate(begin[8:first])])
    size = _files.size_of(file)
    if first + length > size or length > 1 << 20:
        raise ValueError("EOF: reading array header")
    found = ast.literal_eval(_tidemark.read_begin(name, first + length)[first:].strip())
    kind, shape = dtype_of(found["descr"]), list(found["shape"])
    if first + length + math.prod(shape) * kind.itemsize > size:
        raise ValueError("cannot reshape array: the file ends before its last number")
    return kind, shape, first + length


def load(file, mmap_mode=None, allow_pickle=False):
    """the array of a .npy file, in its type and shape"""
    kept = _files.files.get(_files.clean(file))
    if kept is not None:
        return kept[0].copy() if isinstance(kept[0], ndarray) else refuse("load of what numpy.save() did not write")
    kind, shape, begin = _header(file)
    if mmap_mode is None:
        return made(torch.empty(shape, dtype=kind._torch()))
    return memmap(file, kind, mmap_mode, begin, shape)


def save(file, arr, allow_pickle=True):
    name = _files.text_of(file)
    _files.keep(name if name.endswith(".npy") else name + ".npy", [asarray(arr).copy()])


def _writes_nothing(file, *arrays, **named):
    """what a run writes stays within it; nothing reads this again"""


savez = savez_compressed = savetxt = _writes_nothing


def loadtxt(fname, **options):
    refuse("loadtxt, since how many numbers a text has is not counted,")


genfromtxt = loadtxt
