import math
import torch._C as _C


def _untouched(tensor, *args, **kwargs):
    """values are not modelled: initialisation writes in place and asks for nothing"""
    return tensor


def _drawn(tensor, *args, **kwargs):
    """random numbers: of a tensor that is spread over ranks the generator's state takes some memory"""
    return tensor if _C.spec_of(tensor) is None else tensor.normal_()


kaiming_uniform_ = kaiming_normal_ = xavier_uniform_ = xavier_normal_ = _drawn
uniform_ = normal_ = trunc_normal_ = _drawn
zeros_ = ones_ = constant_ = _untouched
eye_ = dirac_ = sparse_ = _untouched
kaiming_uniform = kaiming_normal = xavier_uniform = xavier_normal = uniform = normal = constant = eye = dirac = (
    sparse
) = _untouched


def orthogonal_(tensor, gain=1, generator=None):
    if tensor.is_cuda and tensor.numel() > 0:
        _C.refuse("orthogonal_ of a tensor on the GPU is not modelled: what its QR decomposition asks for is not known",
                  "initialise on the host, then move the model")
    return tensor


orthogonal = orthogonal_


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = 1
    for size in tensor.shape[2:]:
        field *= size
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope ** 2))
    if nonlinearity == "selu":
        return 3.0 / 4
    return 1.0
