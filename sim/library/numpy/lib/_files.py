import _files
import _tidemark
import ast
import math
import os
import struct
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


_LETTERS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
    "uint64": "Q", "float16": "e", "float32": "f", "float64": "d",
}  # fmt: skip


def frombuffer(buffer, dtype=float, count=-1, offset=0, *, like=None):
    """numbers as bytes hold them: of few the values, of many the count. Their memory is the buffer's"""
    kind = dtype_of(dtype)
    if isinstance(buffer, ndarray):
        buffer = buffer.tobytes()
    size = len(buffer)
    if offset < 0 or offset > size:
        raise ValueError(f"offset must be non-negative and no greater than buffer length ({size})")
    if count < 0 and (size - offset) % kind.itemsize:
        raise ValueError("buffer size must be a multiple of element size")
    held = (size - offset) // kind.itemsize
    if count > held:
        raise ValueError("buffer is smaller than requested size")
    held = held if count < 0 else count
    letter = _LETTERS.get(kind.name)
    if held > _MOST_READ or letter is None or not isinstance(buffer, (bytes, bytearray)):
        return made(torch.empty(held, dtype=kind._torch()))
    numbers = struct.unpack(f"<{held}{letter}", bytes(buffer[offset:offset + held * kind.itemsize]))
    return made(torch.tensor(list(numbers), dtype=kind._torch()))


class memmap(ndarray):
    """an array of a file; pages of the file are not the program's memory"""

    def __new__(cls, filename, dtype="uint8", mode="r+", offset=0, shape=None, order="C"):
        if shape is not None:
            shape = [int(n) for n in shape] if isinstance(shape, (tuple, list)) else [int(shape)]
        out = ndarray.__new__(cls)
        if shape is None:
            if mode == "w+":
                raise ValueError("shape must be given if mode == 'w+'")
            if (os.path.getsize(filename) - offset) % dtype_of(dtype).itemsize:
                raise ValueError("Size of available data is not a multiple of the data-type size.")
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


_MOST_READ = 4096  # numbers of a text that are read; of more the count is known


def _rows_of(fname, comments, delimiter, skipped, most, filling):
    """the words of each line that has some"""
    if isinstance(fname, str) or hasattr(fname, "__fspath__"):
        with open(fname) as file:
            lines = file.read().split("\n")
    else:
        lines = list(fname)
    rows = []
    signs = (comments,) if isinstance(comments, str) else tuple(comments or ())
    for line in lines[skipped:]:
        line = line.decode() if isinstance(line, bytes) else line
        for sign in signs:
            line = line.partition(sign)[0]
        if not line.strip():
            continue
        words = line.split() if delimiter is None else [word.strip() for word in line.split(delimiter)]
        rows.append([filling if word == "" else word for word in words])
        if most is not None and len(rows) == most:
            break
    return rows


def _array_of(rows, dtype, usecols, unpack, ndmin):
    kind = dtype_of(dtype)
    if kind.kind not in "iufb":
        refuse("text files of anything but numbers")
    if usecols is not None:
        columns = [usecols] if isinstance(usecols, int) else list(usecols)
        rows = [[row[i] for i in columns] for row in rows]
    width = len(rows[0]) if rows else 0
    for i, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(
                f"the number of columns changed from {width} to {len(row)} at row {i + 1}; use `usecols` to select a "
                "subset and avoid this error"
            )
    shape = [len(rows), width]
    if len(rows) * width <= _MOST_READ:
        is_whole = kind.kind in "iu"
        numbers = [int(float(word)) if is_whole else float(word) for row in rows for word in row]
        out = torch.tensor(numbers, dtype=kind._torch()).reshape(shape)
    else:
        out = torch.empty(shape, dtype=kind._torch())
    if usecols is not None and isinstance(usecols, int):
        out = out.squeeze(1)
    elif ndmin < 2:
        out = out.squeeze(1) if width == 1 else out
        out = out.squeeze(0) if len(rows) == 1 and ndmin < 1 + (width == 1) else out
    return made(out.t() if unpack else out)


def loadtxt(
    fname, dtype=float, comments="#", delimiter=None, converters=None, skiprows=0, usecols=None, unpack=False, ndmin=0,
    encoding=None, max_rows=None, *, quotechar=None, like=None,
):
    """the numbers of a text; of a long one the type and shape"""
    if converters is not None:
        refuse("loadtxt with converters")
    return _array_of(_rows_of(fname, comments, delimiter, skiprows, max_rows, ""), dtype, usecols, unpack, ndmin)


def genfromtxt(
    fname, dtype=float, comments="#", delimiter=None, skip_header=0, skip_footer=0, usecols=None, unpack=None,
    max_rows=None, filling_values=None, ndmin=0, encoding=None, **options,
):
    if any(value is not None and value is not False for value in options.values()):
        refuse(f"genfromtxt with {next(iter(options))}")
    filling = str(filling_values) if filling_values is not None else "nan"
    rows = _rows_of(fname, comments, delimiter, skip_header, max_rows, filling)
    if skip_footer:
        rows = rows[:-skip_footer]
    return _array_of(rows, dtype, usecols, bool(unpack), ndmin)
