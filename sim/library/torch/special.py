import torch


def expit(input):
    return torch.sigmoid(input)


def gammaln(input):
    return torch.lgamma(input)


def psi(input):
    return torch.digamma(input)


def digamma(input):
    return torch.digamma(input)


def logit(input, eps=None):
    return torch.logit(input, eps)


def softmax(input, dim, *, dtype=None):
    return torch.softmax(input, dim, dtype=dtype)


def log_softmax(input, dim, *, dtype=None):
    return torch.log_softmax(input, dim, dtype=dtype)


def logsumexp(input, dim, keepdim=False):
    return torch.logsumexp(input, dim, keepdim)


def exp2(input):
    return torch.exp2(input)


def erf(input):
    return torch.erf(input)


def erfc(input):
    return torch.erfc(input)


def erfinv(input):
    return torch.erfinv(input)


def expm1(input):
    return torch.expm1(input)


def log1p(input):
    return torch.log1p(input)


def xlogy(input, other):
    return torch.xlogy(input, other)


def round(input, *, decimals=0):
    return torch.round(input, decimals=decimals)


def i0(input):
    return torch.i0(input)


def ndtr(input):
    scaled = input / 1.4142135623730951
    error = torch.erf(scaled)
    above = 1 + error
    out = above * 0.5
    del above, error
    return out


def sinc(input):
    return torch.sinc(input)


def polygamma(n, input):
    return torch.polygamma(n, input)


def entr(input):
    return torch.special_entr(input)


def i0e(input):
    return torch.special_i0e(input)


def i1(input):
    return torch.special_i1(input)


def i1e(input):
    return torch.special_i1e(input)


def gammainc(input, other):
    return torch.igamma(input, other)


def gammaincc(input, other):
    return torch.igammac(input, other)


def airy_ai(input):
    return torch.special_airy_ai(input)


def bessel_j0(input):
    return torch.special_bessel_j0(input)


def bessel_j1(input):
    return torch.special_bessel_j1(input)


def bessel_y0(input):
    return torch.special_bessel_y0(input)


def bessel_y1(input):
    return torch.special_bessel_y1(input)


def modified_bessel_i0(input):
    return torch.special_modified_bessel_i0(input)


def modified_bessel_i1(input):
    return torch.special_modified_bessel_i1(input)


def modified_bessel_k0(input):
    return torch.special_modified_bessel_k0(input)


def modified_bessel_k1(input):
    return torch.special_modified_bessel_k1(input)


def scaled_modified_bessel_k0(input):
    return torch.special_scaled_modified_bessel_k0(input)


def scaled_modified_bessel_k1(input):
    return torch.special_scaled_modified_bessel_k1(input)


def spherical_bessel_j0(input):
    return torch.special_spherical_bessel_j0(input)


def erfcx(input):
    return torch.special_erfcx(input)


def ndtri(input):
    return torch.special_ndtri(input)


def log_ndtr(input):
    return torch.special_log_ndtr(input)


def xlog1py(input, other):
    return torch.special_xlog1py(input, other)


def zeta(input, other):
    return torch.special_zeta(input, other)


def multigammaln(input, p):
    return torch.mvlgamma(input, p)


def chebyshev_polynomial_t(input, n):
    return torch.special_chebyshev_polynomial_t(input, n)


def chebyshev_polynomial_u(input, n):
    return torch.special_chebyshev_polynomial_u(input, n)


def chebyshev_polynomial_v(input, n):
    return torch.special_chebyshev_polynomial_v(input, n)


def chebyshev_polynomial_w(input, n):
    return torch.special_chebyshev_polynomial_w(input, n)


def hermite_polynomial_h(input, n):
    return torch.special_hermite_polynomial_h(input, n)


def hermite_polynomial_he(input, n):
    return torch.special_hermite_polynomial_he(input, n)


def laguerre_polynomial_l(input, n):
    return torch.special_laguerre_polynomial_l(input, n)


def legendre_polynomial_p(input, n):
    return torch.special_legendre_polynomial_p(input, n)


def shifted_chebyshev_polynomial_t(input, n):
    return torch.special_shifted_chebyshev_polynomial_t(input, n)


def shifted_chebyshev_polynomial_u(input, n):
    return torch.special_shifted_chebyshev_polynomial_u(input, n)


def shifted_chebyshev_polynomial_v(input, n):
    return torch.special_shifted_chebyshev_polynomial_v(input, n)


def shifted_chebyshev_polynomial_w(input, n):
    return torch.special_shifted_chebyshev_polynomial_w(input, n)
