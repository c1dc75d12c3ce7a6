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


def erfcx(input):
    return torch.special_erfcx(input)


def ndtri(input):
    return torch.special_ndtri(input)


def log_ndtr(input):
    return torch.special_log_ndtr(input)


def xlog1py(input, other):
    return torch.special_xlog1py(input, other)
