"""What kernels are written in. A kernel's body is never run here, so that its functions are names alone"""
from triton.language import core, extra, math
from triton.language.core import TRITON_MAX_TENSOR_NUMEL, bfloat16, block_type, const, constexpr, dtype
from triton.language.core import float8e4b8, float8e4b15, float8e4nv, float8e5, float8e5b16, float16, float32, float64
from triton.language.core import int1, int8, int16, int32, int64, pi32_t, pointer_type, range, static_range, tensor
from triton.language.core import tensor_descriptor, uint8, uint16, uint32, uint64, void
from triton.language.core import PropagateNan, abs, add, advance, arange, argmax, argmin, associative_scan
from triton.language.core import assume, atomic_add, atomic_and, atomic_cas, atomic_max, atomic_min, atomic_or
from triton.language.core import atomic_xchg, atomic_xor, bitonic_merge, broadcast, broadcast_to, cast, cat
from triton.language.core import cdiv, ceil, clamp, cos, cumprod, cumsum, debug_barrier, device_assert
from triton.language.core import device_print, div_rn, dot, dot_scaled, erf, exp, exp2, expand_dims, fdiv
from triton.language.core import flip, floor, fma, full, gather, histogram, inline_asm_elementwise, interleave
from triton.language.core import join, load, load_tensor_descriptor, log, log2, make_block_ptr
from triton.language.core import make_tensor_descriptor, map_elementwise, max, max_constancy, max_contiguous
from triton.language.core import maximum, min, minimum, mul, multiple_of, num_programs, pair_uniform_to_normal
from triton.language.core import permute, philox, philox_impl, program_id, rand, rand4x, randint, randint4x
from triton.language.core import randn, randn4x, ravel, reduce, reduce_or, reshape, rsqrt, sigmoid, sin
from triton.language.core import softmax, sort, split, sqrt, sqrt_rn, static_assert, static_print, store
from triton.language.core import store_tensor_descriptor, sub, sum, swizzle2d, topk, trans
from triton.language.core import uint_to_uniform_float, umulhi, view, where, xor_sum, zeros, zeros_like
