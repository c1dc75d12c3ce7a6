from triton.language.core import abs, ceil, cos, div_rn, erf, exp, exp2, fdiv, floor, fma, log, log2, rsqrt
from triton.language.core import sin, sqrt, sqrt_rn, umulhi
