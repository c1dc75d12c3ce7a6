# module: numpy
# defines: pi e inf nan newaxis log log2 log10 exp sqrt sin cos tan tanh arctan floor ceil abs power prod sum mean max min maximum minimum clip float16 float32 float64 int8 int16 int32 int64 uint8 bool_ float_ random array zeros ones arange linspace asarray ndarray concatenate stack
import math
import torch._C as _C

# Numbers, and lists of numbers: what scripts compute before they make tensors. Arrays hold values that are not known here.

pi, e, inf, nan, newaxis = math.pi, math.e, math.inf, math.nan, None
float16, float32, float64, float_ = "float16", "float32", "float64", "float64"
int8, int16, int32, int64, uint8, bool_ = "int8", "int16", "int32", "int64", "uint8", "bool"
_abs, _sum, _max, _min = abs, sum, max, min


def log(x):
    return math.log(x)


def log2(x):
    return math.log2(x)


def log10(x):
    return math.log10(x)


def exp(x):
    return math.exp(x)


def sqrt(x):
    return math.sqrt(x)


def sin(x):
    return math.sin(x)


def cos(x):
    return math.cos(x)


def tan(x):
    return math.tan(x)


def tanh(x):
    return math.tanh(x)


def arctan(x):
    return math.atan(x)


def floor(x):
    return float(math.floor(x))


def ceil(x):
    return float(math.ceil(x))


def abs(x):
    return _abs(x)


def power(x, y):
    return x ** y


def _listed(x):
    return list(x) if isinstance(x, (list, tuple, range)) else [x]


def prod(x):
    out = 1
    for item in _listed(x):
        out = out * item
    return out


def sum(x):
    return _sum(_listed(x))


def mean(x):
    items = _listed(x)
    return _sum(items) / len(items)


def max(x):
    return _max(_listed(x))


def min(x):
    return _min(_listed(x))


def maximum(x, y):
    return x if x >= y else y


def minimum(x, y):
    return x if x <= y else y


def clip(x, low, high):
    return minimum(maximum(x, low), high)


class random:
    @staticmethod
    def seed(seed=None):
        return None


def _array(name):
    _C.refuse(f"numpy.{name} is not modelled: arrays hold values", "make the tensor with torch, of the same shape")


def array(*args, **kwargs):
    _array("array")


def zeros(*args, **kwargs):
    _array("zeros")


def ones(*args, **kwargs):
    _array("ones")


def arange(*args, **kwargs):
    _array("arange")


def linspace(*args, **kwargs):
    _array("linspace")


def asarray(*args, **kwargs):
    _array("asarray")


def concatenate(*args, **kwargs):
    _array("concatenate")


def stack(*args, **kwargs):
    _array("stack")


class ndarray:
    pass
