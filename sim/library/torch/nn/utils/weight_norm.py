import torch
from torch.nn import Parameter


class WeightNorm:
    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        g = getattr(module, self.name + "_g")
        v = getattr(module, self.name + "_v")
        return torch._weight_norm(v, g, self.dim)

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    fn = WeightNorm(name, dim)
    weight = getattr(module, name)
    delattr(module, name)
    module.register_parameter(name + "_g", Parameter(torch.norm_except_dim(weight, 2, fn.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, fn.compute_weight(module))
    _reparametrizations(module)[name] = (fn, module.register_forward_pre_hook(fn))
    return module


def _reparametrizations(module):
    """what computes weights before each forward, by the name of the weight"""
    if not hasattr(module, "_computed_weights"):
        module._computed_weights = {}
    return module._computed_weights


def remove_weight_norm(module, name="weight"):
    fn, handle = _removed(module, name, WeightNorm, "weight_norm")
    weight = fn.compute_weight(module)
    delattr(module, name)
    delattr(module, name + "_g")
    delattr(module, name + "_v")
    setattr(module, name, Parameter(weight.data))
    return module


def _removed(module, name, kind, what):
    found = _reparametrizations(module).get(name)
    if found is None or not isinstance(found[0], kind):
        raise ValueError(f"{what} of '{name}' not found in {module}")
    found[1].remove()
    del module._computed_weights[name]
    return found
