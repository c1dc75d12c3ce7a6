import torch
import torch._C as _C
from torch.distributed.tensor._leaf import kernel, specs_of
from torch.distributed.tensor._ops._pointwise_ops import refuse_mixed
from torch.distributed.tensor._strategy import cheapest
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard

# Losses of two tensors, element by element: each rank has the loss of its part. What PyTorch has no rule for it takes
# apart into what has. Source: torch.distributed.tensor._decompositions; aten/src/ATen/native/Loss.cpp.

_NODES = {
    "mse_loss": "MseLoss", "smooth_l1_loss": "SmoothL1Loss", "huber_loss": "HuberLoss",
    "binary_cross_entropy": "BinaryCrossEntropy",
}
_PLACES = ("input", "target", "size_average", "reduce", "reduction")


def _given(op, args, kwargs):
    names = _PLACES
    if op.__name__ == "huber_loss":
        names = ("input", "target", "reduction", "delta", "weight")
    elif op.__name__ == "binary_cross_entropy":
        names = ("input", "target", "weight", "size_average", "reduce", "reduction")
    return {**dict(zip(names, args)), **kwargs}


def loss_of_parts(op, args, kwargs):
    """one kernel: terms of a sum, or of an average"""
    given = _given(op, args, kwargs)
    x, y, reduction = given["input"], given["target"], given.get("reduction", "mean")
    if given.get("weight") is not None or given.get("reduce") is not None or given.get("size_average") is not None:
        _C.refuse(f"{op.__name__}() of DTensors with weights is not modelled", "multiply the loss by them")
    refuse_mixed(op.__name__, [x, y])
    shape, kind = tuple(x.shape), {"mean": "avg", "sum": "sum"}.get(reduction)
    if tuple(y.shape) != shape:
        _C.refuse(f"{op.__name__}() of DTensors of two sizes is not modelled", "expand the smaller one")
    terms = lambda placement: placement if kind is None or not placement.is_shard() else Partial(kind)
    ways = [Replicate()] + [Shard(d) for d in range(len(shape))]
    made, laid = cheapest(specs_of([x, y]), [[terms(p), p, p] for p in ways])
    made = made[0]

    def back(grad, operands, result):
        rows = [[p, p if kind is None else Replicate(), p, p] for p in ways]
        out, (of_grad, *of_operands) = cheapest([grad, *operands], rows)
        return of_grad, of_operands, made, [out[0], out[0]]

    rest = {key: value for key, value in given.items() if key not in ("input", "target") and value is not None}
    named = {"input": x, "target": y, **rest}
    return kernel(op.__name__, op, (), named, laid, made, back, shape if kind is None else (), _NODES[op.__name__])


def _put_together(terms, reduction):
    return terms.mean() if reduction == "mean" else terms.sum() if reduction == "sum" else terms


def absolute(op, args, kwargs):
    """l1_loss, of other operators"""
    given = _given(op, args, kwargs)
    difference = given["input"] - given["target"]
    return _put_together(difference.abs(), given.get("reduction", "mean"))


def divergence(op, args, kwargs):
    """kl_div, of other operators"""
    given = _given(op, args, kwargs)
    x, y, reduction = given["input"], given["target"], given.get("reduction", "mean")
    if given.get("log_target", False):
        difference = y - x
        power = y.exp()
        terms = power * difference
        del power
        del difference
    else:
        product = y * x
        own = torch.xlogy(y, y)
        terms = own - product
        del own
        del product
    if reduction == "batchmean":
        total = _put_together(terms, "sum")
        del terms
        return total / x.shape[0]
    return _put_together(terms, reduction)


def softmin(op, args, kwargs):
    x, given = args[0], {**dict(zip(("dim", "_stacklevel", "dtype"), args[1:])), **kwargs}
    return torch.nn.functional.softmax(-x, given["dim"], dtype=given.get("dtype"))
