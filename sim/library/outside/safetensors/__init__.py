"""Files of tensors: what they hold are names, types and shapes; numbers are not read."""
import _files
import _tidemark
import json
import math
import torch as _torch

__version__ = "0.8.0"

_LONGEST_HEADER = 100_000_000
_TYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2", "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8",
    "U16": "uint16", "U32": "uint32", "U64": "uint64", "BOOL": "bool", "C64": "complex64",
}  # fmt: skip


class SafetensorError(Exception):
    pass


class _Held:
    """a tensor of a file: its place, type and shape"""

    def __init__(self, dtype, shape, begin, end):
        self.dtype, self.shape, self.begin, self.end = dtype, list(shape), begin, end

    def tensor(self):
        return _torch.empty(self.shape, dtype=getattr(_torch, _TYPES[self.dtype]))


class _Content:
    """what save_file() put into a file of the run"""

    def __init__(self, tensors, metadata):
        self.tensors, self.metadata = tensors, metadata

    def __len__(self):
        return sum([each.end - each.begin for each in self.tensors.values()])


def _header(filename):
    """the tensors by name and the metadata that a file on the host begins with"""
    begin = _tidemark.read_begin(filename, 8)
    if begin is None:
        raise FileNotFoundError(f"No such file or directory: {filename}")
    size = _files.size_of(filename)
    if len(begin) < 8:
        raise SafetensorError("Error while deserializing header: header too small")
    length = sum([ord(byte) << 8 * i for i, byte in enumerate(begin[:4])])
    if length > _LONGEST_HEADER or begin[4:] != "\0\0\0\0":
        raise SafetensorError("Error while deserializing header: header too large")
    if 8 + length > size:
        raise SafetensorError("Error while deserializing header: invalid header length")
    try:
        found = json.loads(_tidemark.read_begin(filename, 8 + length)[8:])
        metadata = found.pop("__metadata__", None)
        held = {name: _Held(each["dtype"], each["shape"], *each["data_offsets"]) for name, each in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SafetensorError("Error while deserializing header: invalid JSON in header") from error
    for name, each in held.items():
        if each.dtype not in _TYPES:
            _tidemark.refuse(f"safetensors: '{name}' has the type {each.dtype}, which is not modelled", "leave it out")
        bytes_of_one = getattr(_torch, _TYPES[each.dtype]).itemsize
        is_whole = 0 <= each.begin <= each.end == each.begin + math.prod(each.shape) * bytes_of_one <= size - 8 - length
        if not is_whole or not all([n >= 0 for n in each.shape]):
            raise SafetensorError(f"Error while deserializing header: invalid offset for tensor `{name}`")
    return held, metadata


class _Slice:
    """a tensor of an open file, read when it is indexed"""

    def __init__(self, held, device):
        self._held, self._device = held, device

    def get_shape(self):
        return list(self._held.shape)

    def get_dtype(self):
        return self._held.dtype

    def __getitem__(self, index):
        return self._held.tensor()[index].to(self._device)


class safe_open:
    def __init__(self, filename, framework, device="cpu", *, backend="mmap"):
        if framework not in ("pt", "torch", "pytorch"):
            _tidemark.refuse(f"safe_open(framework={framework!r}) is not modelled", "take framework='pt'")
        name = _files.clean(filename)
        if name in _files.files:
            content = _files.files[name][0]
            self._tensors, self._metadata = content.tensors, content.metadata
        else:
            self._tensors, self._metadata = _header(name)
        self._device = _torch.device("cuda", device) if isinstance(device, int) else _torch.device(device)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def keys(self):
        return sorted(self._tensors)

    def offset_keys(self):
        return sorted(self._tensors, key=lambda name: self._tensors[name].begin)

    def metadata(self):
        return self._metadata

    def _held(self, name):
        if name not in self._tensors:
            raise SafetensorError(f"File does not contain tensor {name}")
        return self._tensors[name]

    def get_tensor(self, name):
        return self._held(name).tensor().to(self._device)

    def get_slice(self, name):
        return _Slice(self._held(name), self._device)


def __getattr__(name):
    return _tidemark.later("safetensors." + name)
