import torch
import torch.nn.functional as F


def _is_number(value):
    return isinstance(value, (int, float))


def broadcast_all(*values):
    if not all(isinstance(v, (torch.Tensor, int, float)) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                         "__torch_function__.")
    options = dict(dtype=torch.get_default_dtype())
    for value in values:
        if isinstance(value, torch.Tensor):
            options = dict(dtype=value.dtype, device=value.device)
            break
    return torch.broadcast_tensors(*[v if isinstance(v, torch.Tensor) else torch.tensor(v, **options) for v in values])


def clamp_probs(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    ps_clamped = clamp_probs(probs)
    if is_binary:
        return torch.log(ps_clamped) - torch.log1p(-ps_clamped)
    return torch.log(ps_clamped)


def logits_to_probs(logits, is_binary=False):
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def _standard_normal(shape, dtype, device):
    return torch.empty(shape, dtype=dtype, device=device).normal_()


def _sum_rightmost(value, dim):
    if dim == 0:
        return value
    return value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


class lazy_property:
    """computed when it is first asked for, and kept in its place"""

    def __init__(self, wrapped):
        self.wrapped = wrapped

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _ProbsOrLogits:
    """Of a distribution of two outcomes: the parameter that was not given is made when it is first asked for."""

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        return self._param.size()
