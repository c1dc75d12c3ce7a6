# module: torch.nn.init
# defines: kaiming_uniform_ kaiming_normal_ xavier_uniform_ xavier_normal_ uniform_ normal_ trunc_normal_ zeros_ ones_ constant_ orthogonal_ eye_ dirac_ sparse_ calculate_gain
import math


def _untouched(tensor, *args, **kwargs):
    """values are not modelled: initialisation writes in place and asks for nothing"""
    return tensor


kaiming_uniform_ = kaiming_normal_ = xavier_uniform_ = xavier_normal_ = _untouched
uniform_ = normal_ = trunc_normal_ = zeros_ = ones_ = constant_ = _untouched
orthogonal_ = eye_ = dirac_ = sparse_ = _untouched


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
