import math
import torch
import torch._C as _C
from numpy._core._interface import Bytes, interface_of
from numpy._core.arrayprint import _nested, _texts
from numpy._core.numerictypes import (
    _name_of, _order, _scalars, _shortest, bool_, dtype, dtype_of, float16, float32, generic,
    float64, int16, int32, int64, int8, refuse, uint8,
)


def is_array(x):
    return isinstance(x, ndarray)


def made(tensor, kind=None):
    """the array of a tensor on the host"""
    if kind is not None:
        tensor = tensor.to(dtype_of(kind)._torch())
    out = ndarray.__new__(ndarray)
    out._t = tensor
    return out


def scalar_of(tensor):
    """numpy's number of a tensor with one element"""
    return _scalars[_name_of(tensor)](tensor.item())


def _shape_and_kind(data):
    if isinstance(data, (ndarray, torch.Tensor)):
        return list(data.shape), _name_of(tensor_of(data))
    if isinstance(data, (list, tuple, range)):
        if len(data) == 0:
            return [0], "float64"
        parts = [_shape_and_kind(item) for item in data]
        if any([shape != parts[0][0] for shape, kind in parts]):
            raise ValueError(
                "setting an array element with a sequence. The requested array has an "
                "inhomogeneous shape after 1 dimensions."
            )
        return [len(data)] + parts[0][0], _common([kind for shape, kind in parts])
    if isinstance(data, generic):
        return [], type(data)._name
    if isinstance(data, bool):
        return [], "bool"
    if isinstance(data, int):
        return [], "int64"
    if isinstance(data, float):
        return [], "float64"
    refuse(f"an array of {type(data).__name__}")


def _common(kinds):
    """the type that numbers of all these types have together"""
    out = "bool"
    for kind in kinds:
        a, b = sorted([out, kind], key=_order.index)
        if "float" in b and not "float" in a and a != "bool":
            least = {"uint8": "float16", "int8": "float16", "int16": "float32"}.get(a, "float64")
            b = sorted([b, least], key=_order.index)[1]
        elif a == "uint8" and b == "int8":
            b = "int16"
        out = b
    return out


def _flat(data):
    if isinstance(data, (list, tuple, range)):
        out = []
        for item in data:
            out.extend(_flat(item))
        return out
    if isinstance(data, (ndarray, torch.Tensor)):
        values = known_of(tensor_of(data))
        return [] if values is None else values
    return [data]


def array_of(data, kind=None, copies=True):
    if isinstance(data, ndarray):
        same = kind is None or dtype_of(kind) == data.dtype
        return data if same and not copies else made(data._t.clone() if same else data._t, kind)
    if isinstance(data, torch.Tensor):
        return made(on_host(data), kind)
    if hasattr(type(data), "__array__"):
        return made(data.__array__()._t, kind)
    shape, own = _shape_and_kind(data)
    wanted = own if kind is None else dtype_of(kind).name
    out = torch.empty(shape, dtype=getattr(torch, wanted))
    if out.numel() <= 1024:
        values = _flat(data)
        if len(values) == out.numel():
            _C.note_values(out, [int(v) if "int" in wanted else float(v) for v in values])
    return made(out)


def on_host(tensor):
    if tensor.is_cuda:
        raise TypeError(f"can't convert {tensor.device} device type tensor to numpy. "
                        "Use Tensor.cpu() to copy the tensor to host memory first.")
    if tensor.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if tensor.dtype == torch.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    return tensor


def tensor_of(x):
    if isinstance(x, ndarray):
        return x._t
    return x if isinstance(x, torch.Tensor) else array_of(x)._t


def _weak(x):
    """a plain number: it takes the type of the array beside it"""
    return isinstance(x, (bool, int, float)) and not isinstance(x, generic)


def _pair(a, b):
    """two operands as tensors of the type that they have together"""
    if _weak(a) and not _weak(b):
        y, x = _pair(b, a)
        return x, y
    a = tensor_of(a)
    kind = _name_of(a)
    if _weak(b):
        if isinstance(b, float) and not "float" in kind:
            kind = "float64"
        elif kind == "bool" and not isinstance(b, bool):
            kind = "int64"
        return a.to(getattr(torch, kind)), b
    b = tensor_of(b)
    kind = getattr(torch, _common([kind, _name_of(b)]))
    return a.to(kind), b.to(kind)


def _plain(*operands):
    return not any([isinstance(x, (ndarray, list, tuple, torch.Tensor)) for x in operands])


def _given(result, *operands):
    """an array, or the number where only numbers went in"""
    return scalar_of(result) if result.dim() == 0 else made(result)


def _as_tensor(x, other):
    return x if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=other.dtype)


_of_one = {
    "ceil": lambda x: float(math.ceil(x)), "floor": lambda x: float(math.floor(x)), "round": lambda x: float(round(x)),
    "trunc": lambda x: float(math.trunc(x)), "abs": abs, "square": lambda x: x * x, "neg": lambda x: -x,
    "sign": lambda x: (x > 0) - (x < 0),
    "isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite, "logical_not": lambda x: not x,
}
_of_two = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "true_divide": lambda x, y: x / y, "pow": lambda x, y: x**y, "remainder": lambda x, y: x % y,
    "floor_divide": lambda x, y: x // y, "maximum": max, "minimum": min,
    "gcd": math.gcd, "lcm": math.lcm, "atan2": math.atan2, "hypot": math.hypot,
    "fmod": math.fmod, "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    "logical_and": lambda x, y: bool(x and y), "logical_or": lambda x, y: bool(x or y),
    "logical_xor": lambda x, y: bool(x) != bool(y), "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y, "bitwise_xor": lambda x, y: x ^ y,
}


def _number(value, *operands):
    """numpy's number of a Python one, which came of these"""
    if isinstance(value, bool):
        return value
    kinds = [each._name for each in operands if isinstance(each, generic)]
    kind = _common(kinds) if kinds else ""
    if isinstance(value, int):
        return _scalars[kind](value) if "int" in kind else int64(value)
    return _scalars[kind](value) if "float" in kind else float64(value)


def apply2(name, a, b):
    """two numbers, or a number and an array, or two arrays"""
    if _plain(a, b):
        return _number(_of_two[name](a, b), a, b)
    a, b = _pair(a, b)
    a, b = (_as_tensor(a, b), b) if isinstance(b, torch.Tensor) else (a, _as_tensor(b, a))
    if name == "true_divide" and not a.is_floating_point():
        a, b = a.double(), b.double()
    return _given(getattr(torch, name)(a, b))


def apply1(name, x, floating=True):
    if _plain(x):
        return _number(_of_one[name](x) if name in _of_one else getattr(math, name)(float(x)), x)
    t = tensor_of(x)
    if floating and not t.is_floating_point():
        t = t.double()
    return _given(getattr(torch, name)(t))


def known_of(tensor):
    """its numbers in their order; None: they are not known"""
    tensor = tensor.reshape(-1)
    return None if _C.known_integers(tensor) is None else tensor.tolist()


def _middle(values):
    values, half = sorted(values), len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def _spread(values, ddof):
    middle = sum(values) / len(values)
    return sum([(x - middle) * (x - middle) for x in values]) / (len(values) - ddof)


_of_many = {
    "sum": sum,
    "mean": lambda v: sum(v) / len(v),
    "prod": math.prod,
    "max": max,
    "min": min,
    "argmax": lambda v: v.index(max(v)),
    "argmin": lambda v: v.index(min(v)),
    "median": _middle,
    "all": all,
    "any": any,
}


def _of_all(name, tensor, ddof):
    """a statistic of all of a tensor's numbers; None: they are not known"""
    values = known_of(tensor)
    if not values:
        return None
    if tensor.dtype in (torch.float32, torch.float16) and name in (
        "sum",
        "mean",
        "prod",
        "std",
        "var",
        "median",
        "max",
        "min",
    ):
        return _scalars[_name_of(tensor)](_of_all(name, tensor.double(), ddof))
    if name in ("std", "var"):
        spread = _spread(values, ddof)
        return float64(math.sqrt(spread) if name == "std" else spread)
    out = _of_many[name](values)
    return bool(out) if name in ("all", "any") else float64(out) if name in ("mean", "median") else _number(out)


def reduced(name, x, axis=None, keepdims=False, kind=None, **options):
    t = tensor_of(x)
    if kind is not None:
        t = t.to(dtype_of(kind)._torch())
    known = _of_all(name, t, options.get("ddof", 0)) if axis is None and not keepdims and kind is None else None
    if known is not None:
        return known
    if name in ("mean", "std", "var", "median") and not t.is_floating_point():
        t = t.double()
    if name in ("sum", "prod") and kind is None and not t.is_floating_point():
        t = t.to(torch.int64)
    if name == "std" or name == "var":
        options = {"correction": options.get("ddof", 0)}
    op = {"max": "amax", "min": "amin"}.get(name, name)
    if name in ("argmax", "argmin"):
        out = getattr(torch, name)(t) if axis is None else getattr(torch, name)(t, axis, keepdim=keepdims)
    elif axis is None and not keepdims:
        out = getattr(torch, op)(t.flatten(), 0, **options) if name in ("std", "var") else getattr(torch, name)(t)
    else:
        dims = tuple(range(t.dim())) if axis is None else axis
        if name in ("prod", "all", "any", "median") and isinstance(dims, (tuple, list)):
            t = t.flatten() if len(dims) == t.dim() else refuse(f"{name} over several axes")
            dims = 0
        out = getattr(torch, op)(t, dims, keepdim=keepdims, **options)
        out = out[0] if name == "median" else out
    return _given(out)


def _chosen(mask):
    """the positions at which a mask holds"""
    values = known_of(mask._t)
    if values is None:
        refuse("a choice by a mask whose numbers are not known")
    return [i for i, value in enumerate(values) if value]


def _index_of(index):
    if isinstance(index, tuple):
        return tuple([_index_of(each) for each in index])
    if isinstance(index, ndarray):
        return index._t
    return list(index) if isinstance(index, range) else index


def _backwards(index):
    """a slice with a negative step: the dimension turned, and the slice of it"""
    return isinstance(index, slice) and index.step is not None and index.step < 0


class ndarray:
    _is_numpy_array = True

    def __new__(cls, shape=None, dtype=float):
        out = object.__new__(cls)
        if shape is not None:
            out._t = torch.empty(shape, dtype=dtype_of(dtype)._torch())
        return out

    @property
    def shape(self):
        return tuple(self._t.shape)

    @property
    def dtype(self):
        return dtype(_name_of(self._t))

    @property
    def ndim(self):
        return self._t.dim()

    @property
    def size(self):
        return self._t.numel()

    @property
    def itemsize(self):
        return self._t.element_size()

    @property
    def nbytes(self):
        return self.size * self.itemsize

    @property
    def __array_interface__(self):
        return interface_of(self)

    def tobytes(self, order="C"):
        return Bytes(self.nbytes)

    @property
    def T(self):
        return made(self._t.permute(*range(self.ndim - 1, -1, -1)))

    @property
    def flat(self):
        return iter(self.ravel())

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        return self._t.shape[0]

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]

    def _found(self, index):
        t = self._t
        if isinstance(index, ndarray) and index.dtype.kind == "b":
            index = (
                made(torch.tensor(_chosen(index)))
                if index.ndim == 1
                else refuse("a choice by a mask of several dimensions")
            )
        parts = index if isinstance(index, tuple) else (index,)
        if any([isinstance(part, ndarray) and part.dtype.kind == "b" for part in parts]) and len(parts) > 1:
            refuse("a mask beside other indices")
        if _backwards(index) and self.ndim == 1 and known_of(t) is not None:
            return array_of(t.tolist()[index], self.dtype)._t
        if any([_backwards(part) for part in parts]):
            new = []
            for dim, part in enumerate(parts):
                if _backwards(part):
                    n = t.shape[dim]
                    kept = list(range(n))[part]
                    t = t.flip(dim)
                    part = slice(n - 1 - kept[0], n - kept[-1], -part.step) if kept else slice(0, 0)
                new.append(part)
            index = tuple(new)
        found = t[_index_of(index)]
        values = known_of(t) if self.ndim == 1 and found.dim() == 1 else None
        if values is not None and isinstance(index, ndarray):
            _C.note_values(found, [values[i] for i in index.tolist()])
        elif values is not None and isinstance(index, (list, range)):
            _C.note_values(found, [values[i] for i in index])
        return found

    def __getitem__(self, index):
        found = self._found(index)
        numbers = [isinstance(part, int) for part in (index if isinstance(index, tuple) else (index,))]
        return scalar_of(found) if found.dim() == 0 and all(numbers) else made(found)

    def __setitem__(self, index, value):
        known = known_of(self._t) if self.ndim == 1 and self.size and _weak(value) else None
        if isinstance(index, ndarray) and index.dtype.kind == "b" and known_of(index._t) is None and not _weak(value):
            refuse("writing at a mask whose numbers are not known")
        self._t[_index_of(index)] = value if _weak(value) else tensor_of(value).to(self._t.dtype)
        if known is not None and isinstance(index, (int, slice)):
            for i in list(range(len(known)))[
                index if isinstance(index, slice) else slice(index % len(known), index % len(known) + 1)
            ]:
                known[i] = value
            _C.note_values(self._t, known)

    def __bool__(self):
        if self.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self._t.item())

    def __float__(self):
        return float(self._t.item())

    def __int__(self):
        return int(self._t.item())

    def __index__(self):
        return int(self._t.item())

    def __repr__(self):
        return "array(" + self._text(", ") + ")"

    def __str__(self):
        return self._text(" ")

    def __format__(self, spec):
        return format(self._t.item(), spec) if spec else str(self)

    def _text(self, comma):
        if self.size > 1000 or known_of(self._t) is None:
            return f"<{self.dtype} numbers of shape {self.shape}>"
        values = self._t.flatten().tolist()
        texts = _texts(
            [_shortest(value) for value in values] if self.dtype.name == "float32" else values, self.dtype.kind
        )
        return _nested(texts, list(self.shape), comma, 1) if self.ndim else texts[0].lstrip()

    def __deepcopy__(self, memo):
        return self.copy()

    def item(self, *index):
        return self._t[index].item() if index else self._t.item()

    def tolist(self):
        return self._t.tolist()

    def copy(self, order="C"):
        return made(self._t.clone())

    def astype(self, kind, copy=True):
        same = dtype_of(kind) == self.dtype
        return made(self._t.clone() if copy else self._t) if same else made(self._t, kind)

    def reshape(self, *shape, order="C"):
        return made(self._t.reshape(*shape))

    def transpose(self, *axes):
        axes = axes[0] if axes and isinstance(axes[0], (tuple, list)) else axes
        return made(self._t.permute(*axes)) if axes else self.T

    def swapaxes(self, a, b):
        return made(self._t.transpose(a, b))

    def ravel(self, order="C"):
        return made(self._t.reshape(-1))

    def flatten(self, order="C"):
        return made(self._t.reshape(-1).clone())

    def squeeze(self, axis=None):
        return made(self._t.squeeze() if axis is None else self._t.squeeze(axis))

    def repeat(self, repeats, axis=None):
        return made(self._t.repeat_interleave(repeats) if axis is None else self._t.repeat_interleave(repeats, axis))

    def fill(self, value):
        self._t.fill_(value)

    def dot(self, other):
        return self @ other

    def clip(self, min=None, max=None):
        return made(self._t.clamp(min, max))

    def round(self, decimals=0):
        return made(self._t.round(decimals=decimals))

    def argsort(self, axis=-1):
        return made(self._t.argsort(axis))

    def sort(self, axis=-1):
        self._t.copy_(self._t.sort(axis)[0])

    def cumsum(self, axis=None):
        return made(self._t.flatten().cumsum(0) if axis is None else self._t.cumsum(axis))

    def nonzero(self):
        return tuple([made(index) for index in torch.nonzero(self._t, as_tuple=True)])

    def sum(self, axis=None, dtype=None, keepdims=False):
        return reduced("sum", self, axis, keepdims, dtype)

    def mean(self, axis=None, dtype=None, keepdims=False):
        return reduced("mean", self, axis, keepdims, dtype)

    def prod(self, axis=None, dtype=None, keepdims=False):
        return reduced("prod", self, axis, keepdims, dtype)

    def std(self, axis=None, ddof=0, keepdims=False):
        return reduced("std", self, axis, keepdims, ddof=ddof)

    def var(self, axis=None, ddof=0, keepdims=False):
        return reduced("var", self, axis, keepdims, ddof=ddof)

    def max(self, axis=None, keepdims=False):
        return reduced("max", self, axis, keepdims)

    def min(self, axis=None, keepdims=False):
        return reduced("min", self, axis, keepdims)

    def argmax(self, axis=None, keepdims=False):
        return reduced("argmax", self, axis, keepdims)

    def argmin(self, axis=None, keepdims=False):
        return reduced("argmin", self, axis, keepdims)

    def all(self, axis=None, keepdims=False):
        return reduced("all", self, axis, keepdims)

    def any(self, axis=None, keepdims=False):
        return reduced("any", self, axis, keepdims)

    def __neg__(self):
        return made(-self._t)

    __pos__ = lambda self: self
    __abs__ = lambda self: made(self._t.abs())
    __invert__ = lambda self: made(~self._t)

    def __matmul__(self, other):
        a, b = _pair(self, other)
        return _given(torch.matmul(a, b))

    def __rmatmul__(self, other):
        a, b = _pair(other, self)
        return _given(torch.matmul(a, b))


def _operator(name, reverse):
    if reverse:
        return lambda self, other: apply2(name, other, self)
    return lambda self, other: apply2(name, self, other)


def _in_place(name):
    def operate(self, other):
        result = apply2(name, self, other)
        self._t.copy_(result._t if isinstance(result, ndarray) else torch.tensor(result))
        return self

    return operate


for _sign, _torch_name in (
    ("add", "add"),
    ("sub", "sub"),
    ("mul", "mul"),
    ("truediv", "true_divide"),
    ("floordiv", "floor_divide"),
    ("mod", "remainder"),
    ("pow", "pow"),
    ("and", "bitwise_and"),
    ("or", "bitwise_or"),
    ("xor", "bitwise_xor"),
):
    setattr(ndarray, f"__{_sign}__", _operator(_torch_name, False))
    setattr(ndarray, f"__r{_sign}__", _operator(_torch_name, True))
    setattr(ndarray, f"__i{_sign}__", _in_place(_torch_name))
for _sign in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(ndarray, f"__{_sign}__", _operator(_sign, False))


def _reconstruct(subtype, shape, dtype):
    refuse("an array of a pickle")


scalar = _reconstruct
