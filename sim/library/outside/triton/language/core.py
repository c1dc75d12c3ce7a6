TRITON_MAX_TENSOR_NUMEL = 1048576


class dtype:
    """a type of elements, by Triton's name of it"""

    def __init__(self, name):
        self.name = name
        self.primitive_bitwidth = _BITS[name]
        self.itemsize = self.primitive_bitwidth // 8

    def is_floating(self):
        return "fp" in self.name or self.name == "bf16"

    def is_fp8(self):
        return self.name.startswith("fp8")

    def is_int(self):
        return "int" in self.name

    def is_void(self):
        return self.name == "void"

    def __eq__(self, other):
        return isinstance(other, dtype) and self.name == other.name

    def __hash__(self):
        return hash((self.name,))

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"triton.language.{_SPELLED.get(self.name, self.name)}"


_BITS = {
    "void": 0, "int1": 1, "int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64,
    "uint64": 64, "fp8e4b15": 8, "fp8e4nv": 8, "fp8e4b8": 8, "fp8e5": 8, "fp8e5b16": 8, "fp16": 16, "bf16": 16,
    "fp32": 32, "fp64": 64,
}  # fmt: skip
_SPELLED = {
    "fp8e4b15": "float8e4b15", "fp8e4nv": "float8e4nv", "fp8e4b8": "float8e4b8", "fp8e5": "float8e5",
    "fp8e5b16": "float8e5b16", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
}  # fmt: skip


class pointer_type(dtype):
    def __init__(self, element_ty, address_space=1, const=False):
        self.element_ty, self.address_space, self.const = element_ty, address_space, const
        self.name = f"pointer<{element_ty}>"


class block_type(dtype):
    def __init__(self, element_ty, shape):
        self.element_ty, self.shape, self.name = element_ty, shape, f"<{shape}, {element_ty}>"


class const:
    """an annotation: what a pointer points to is only read"""


class constexpr:
    """a value that is known when a kernel is compiled; the annotation of such parameters"""

    def __init__(self, value):
        self.value = value.value if isinstance(value, constexpr) else value

    def __repr__(self):
        return f"constexpr[{self.value}]"

    def __hash__(self):
        return hash((self.value,))

    def __index__(self):
        return self.value

    def __bool__(self):
        return bool(self.value)

    def __eq__(self, other):
        return constexpr(self.value == _of(other))

    def __ne__(self, other):
        return constexpr(self.value != _of(other))

    def __lt__(self, other):
        return constexpr(self.value < _of(other))

    def __le__(self, other):
        return constexpr(self.value <= _of(other))

    def __gt__(self, other):
        return constexpr(self.value > _of(other))

    def __ge__(self, other):
        return constexpr(self.value >= _of(other))

    def __add__(self, other):
        return constexpr(self.value + _of(other))

    def __radd__(self, other):
        return constexpr(_of(other) + self.value)

    def __sub__(self, other):
        return constexpr(self.value - _of(other))

    def __rsub__(self, other):
        return constexpr(_of(other) - self.value)

    def __mul__(self, other):
        return constexpr(self.value * _of(other))

    def __rmul__(self, other):
        return constexpr(_of(other) * self.value)

    def __truediv__(self, other):
        return constexpr(self.value / _of(other))

    def __rtruediv__(self, other):
        return constexpr(_of(other) / self.value)

    def __floordiv__(self, other):
        return constexpr(self.value // _of(other))

    def __mod__(self, other):
        return constexpr(self.value % _of(other))

    def __pow__(self, other):
        return constexpr(self.value ** _of(other))

    def __neg__(self):
        return constexpr(-self.value)


def _of(value):
    return value.value if isinstance(value, constexpr) else value


class tensor:
    """what a kernel computes with"""


class tensor_descriptor:
    pass


class static_range:
    def __init__(self, arg1, arg2=None, step=None):
        raise RuntimeError("static_range can only be used in @triton.jit'd functions")


class range:
    def __init__(self, arg1, arg2=None, step=None, **options):
        raise RuntimeError("tl.range can only be used in @triton.jit'd functions")


def _only_in_kernels(*args, **kwargs):
    raise ValueError(
        "Did you forget to add @triton.jit ? (`_semantic` argument must be provided outside of JIT functions.)"
    )


void, int1, int8, int16, int32, int64 = [dtype(name) for name in ("void", "int1", "int8", "int16", "int32", "int64")]
uint8, uint16, uint32, uint64 = [dtype(name) for name in ("uint8", "uint16", "uint32", "uint64")]
float8e5, float8e5b16, float8e4nv = dtype("fp8e5"), dtype("fp8e5b16"), dtype("fp8e4nv")
float8e4b8, float8e4b15 = dtype("fp8e4b8"), dtype("fp8e4b15")
float16, bfloat16, float32, float64 = dtype("fp16"), dtype("bf16"), dtype("fp32"), dtype("fp64")
pi32_t = pointer_type(int32)
PropagateNan = abs = add = advance = arange = argmax = argmin = associative_scan = assume = atomic_add = \
    atomic_and = atomic_cas = atomic_max = atomic_min = atomic_or = atomic_xchg = atomic_xor = bitonic_merge = \
    broadcast = broadcast_to = cast = cat = cdiv = ceil = clamp = cos = cumprod = cumsum = debug_barrier = \
    device_assert = device_print = div_rn = dot = dot_scaled = erf = exp = exp2 = expand_dims = fdiv = flip = \
    floor = fma = full = gather = histogram = inline_asm_elementwise = interleave = join = load = \
    load_tensor_descriptor = log = log2 = make_block_ptr = make_tensor_descriptor = map_elementwise = max = \
    max_constancy = max_contiguous = maximum = min = minimum = mul = multiple_of = num_programs = \
    pair_uniform_to_normal = permute = philox = philox_impl = program_id = rand = rand4x = randint = randint4x = \
    randn = randn4x = ravel = reduce = reduce_or = reshape = rsqrt = sigmoid = sin = softmax = sort = split = \
    sqrt = sqrt_rn = static_assert = static_print = store = store_tensor_descriptor = sub = sum = swizzle2d = \
    topk = trans = uint_to_uniform_float = umulhi = view = where = xor_sum = zeros = zeros_like = _only_in_kernels
