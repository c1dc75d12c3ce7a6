import torch
import torch._C as _C
from numpy._core.multiarray import made, ndarray


# An array is a tensor on the host: its sizes and type are known, its numbers where they were given or computed from
# such.


def refuse(what):
    _C.refuse(f"numpy: {what} is not modelled", "compute it with torch, or from numbers that are known")


_unsigned = ("uint16", "uint32", "uint64")


_names = {str: "str", object: "object", int: "int64", float: "float64", bool: "bool"}


_LETTERS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "l",
    "uint64": "L", "float16": "e", "float32": "f", "float64": "d", "complex64": "F", "complex128": "D", "str": "U",
}


class dtype:
    def __init__(self, name):
        self.name = (_names[name] if name in _names else name._name) if isinstance(name, type) else str(name)
        if self.name in ("str", "object"):
            self.itemsize, self.kind = (0, "U") if self.name == "str" else (8, "O")
            return
        self.itemsize = self._torch().itemsize
        self.kind = (
            "b"
            if self.name == "bool"
            else "f"
            if "float" in self.name
            else "u"
            if self.name.startswith("uint")
            else "i"
        )

    @property
    def type(self):
        """the class of one number"""
        return globals().get("bool_" if self.name == "bool" else self.name)

    @property
    def char(self):
        return _LETTERS.get(self.name, "O")

    @property
    def str(self):
        return ("|" if self.itemsize < 2 else "<") + self.kind + f"{self.itemsize}"

    @property
    def base(self):
        return self

    names, fields, subdtype, hasobject, shape, ndim, isnative, byteorder = None, None, None, False, (), 0, True, "="

    def _torch(self):
        # Types without a sign that PyTorch hardly has are those with one: their bytes are as many.
        return getattr(torch, self.name if self.name not in _unsigned else self.name[1:])

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"dtype('{self.name}')"

    def __eq__(self, other):
        return self.name == dtype_of(other).name

    def __hash__(self):
        return hash(self.name)


class generic:
    """numpy's scalars: what they have beside Python's numbers"""

    shape, ndim, size = (), 0, 1

    def item(self):
        return self._plain(self)

    tolist = item

    @property
    def dtype(self):
        return dtype(type(self)._name)

    def astype(self, kind):
        return made(torch.tensor(self.item()), kind)._t.item()

    def copy(self):
        return self

    def mean(self):
        return self

    def round(self, decimals=0):
        return type(self)(made(torch.tensor(self.item(), dtype=self.dtype._torch())).round(decimals)._t.item())

    def __repr__(self):
        return f"np.{type(self)._name}({self.item()!r})"

    def __str__(self):
        return str(self.item())


class number(generic):
    pass


class integer(number):
    _plain = int


class signedinteger(integer):
    pass


class unsignedinteger(integer):
    pass


class inexact(number):
    pass


class floating(inexact):
    _plain = float


def _rounded(name, value):
    """a Python number as one of a type that holds less"""
    if isinstance(value, ndarray):
        value = value._t.item()
    return torch.tensor(float(value), dtype=getattr(torch, name)).item()


class float64(floating, float):
    _name = "float64"

    def __new__(cls, value=0.0):
        return float.__new__(cls, value.item() if isinstance(value, (ndarray, torch.Tensor)) else value)


def _shortest(value):
    """the shortest number that is this one of 32 bits"""
    for digits in range(6, 10):
        shorter = float(f"{value:.{digits}g}")
        if _rounded("float32", shorter) == value:
            return shorter
    return value


class float32(floating, float):
    _name = "float32"

    def __new__(cls, value=0.0):
        return float.__new__(cls, _rounded("float32", value))

    def __str__(self):
        return str(_shortest(self.item()))

    def __repr__(self):
        return f"np.float32({self})"


class float16(floating, float):
    _name = "float16"

    def __new__(cls, value=0.0):
        return float.__new__(cls, _rounded("float16", value))


class int64(signedinteger, int):
    _name = "int64"

    def __new__(cls, value=0):
        return int.__new__(cls, value.item() if isinstance(value, (ndarray, torch.Tensor)) else value)


class int32(signedinteger, int):
    _name = "int32"

    def __new__(cls, value=0):
        return int.__new__(cls, value)


class int16(signedinteger, int):
    _name = "int16"

    def __new__(cls, value=0):
        return int.__new__(cls, value)


class int8(signedinteger, int):
    _name = "int8"

    def __new__(cls, value=0):
        return int.__new__(cls, value)


class uint8(unsignedinteger, int):
    _name = "uint8"

    def __new__(cls, value=0):
        return int.__new__(cls, value)


class uint16(unsignedinteger, int):
    _name = "uint16"

    def __new__(cls, value=0):
        return int.__new__(cls, value)


class uint32(unsignedinteger, int):
    _name = "uint32"

    def __new__(cls, value=0):
        return int.__new__(cls, value)


class uint64(unsignedinteger, int):
    _name = "uint64"

    def __new__(cls, value=0):
        return int.__new__(cls, value)


class bool_(generic):
    _name = "bool"

    def __new__(cls, value=False):
        return bool(value)


_scalars = {
    "float64": float64,
    "float32": float32,
    "float16": float16,
    "int64": int64,
    "int32": int32,
    "int16": int16,
    "int8": int8,
    "uint8": uint8,
    "uint16": uint16,
    "uint32": uint32,
    "uint64": uint64,
    "bool": bool,
}
_order = [
    "bool",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float16",
    "float32",
    "float64",
]
_short = {
    "f4": "float32",
    "f8": "float64",
    "i4": "int32",
    "i8": "int64",
    "float": "float64",
    "int": "int64",
    "f": "float32",
    "d": "float64",
    "u1": "uint8",
    "u2": "uint16",
    "u4": "uint32",
    "u8": "uint64",
    "f2": "float16",
    "single": "float32",
    "double": "float64",
    "long": "int64",
}


def dtype_of(kind):
    if isinstance(kind, dtype):
        return kind
    if kind is float:
        return dtype("float64")
    if kind is int:
        return dtype("int64")
    if kind is bool:
        return dtype("bool")
    name = kind if isinstance(kind, str) else getattr(kind, "_name", "")
    name = _short.get(name.lstrip("<=|"), name)
    if name not in _scalars:
        refuse(f"the type {kind!r}")
    return dtype(name)


def issubdtype(arg1, arg2):
    """whether the first type is the second or one of its kind"""
    first = _scalars[dtype_of(arg1).name]
    kinds = {int: integer, float: floating}
    second = arg2 if isinstance(arg2, type) and issubclass(arg2, generic) else kinds.get(arg2)
    return issubclass(first, second or _scalars[dtype_of(arg2).name])


def _name_of(tensor):
    return str(tensor.dtype).replace("torch.", "")
