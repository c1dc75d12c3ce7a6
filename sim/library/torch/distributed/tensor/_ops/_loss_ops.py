import torch
import torch._C as _C
from torch.distributed.tensor._leaf import kernel, part, specs_of, spread
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
    # Terms of a sum are not offered, parts only where some operand is in parts. Source: DecompShardingStrategy
    ways = lambda specs: [Replicate()] + [
        Shard(d) for d in range(len(shape)) if any([p.is_shard() for s in specs for p in s.placements])
    ]
    made, laid = cheapest(specs_of([x, y]), [[terms(p), p, p] for p in ways(specs_of([x, y]))])
    made = made[0]

    def back(grad, operands, result):
        rows = [[p, p if kind is None else Replicate(), p, p] for p in ways([grad, *operands])]
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


def cosine_similarity(op, args, kwargs):
    """of quotients by norms, which are kept from zero by a tensor of epsilon. Source: at::cosine_similarity"""
    given = {**dict(zip(("x1", "x2", "dim", "eps"), args)), **kwargs}
    x, y, dim = given["x1"], given["x2"], given.get("dim", 1)
    refuse_mixed("div.Tensor", [x, y])
    if x.dtype != y.dtype or tuple(x.shape) != tuple(y.shape):
        _C.refuse("cosine_similarity() of DTensors that differ in type or shape is not modelled", "make them alike")
    of_x = torch.linalg.vector_norm(x, 2, dim, True).clone()
    of_y = torch.linalg.vector_norm(y, 2, dim, True).clone()
    epsilon = torch.empty((), dtype=torch.float64 if x.dtype == torch.float64 else torch.float32, device=x.device)
    with torch.no_grad():
        of_x.clamp_min_(epsilon)
        of_y.clamp_min_(epsilon)
    right = y / of_y
    left = x / of_x
    product = left * right
    del left
    del right
    out = product.sum(dim)
    del product
    del epsilon
    return out


def one_hot(op, args, kwargs):
    """each rank compares its part with all classes. Source: at::one_hot"""
    given = {**dict(zip(("tensor", "num_classes"), args)), **kwargs}
    x, count = given["tensor"], given.get("num_classes", -1)
    if count < 0:
        _C.refuse("one_hot() of a DTensor without a number of classes is not modelled", "give num_classes")
    spec = _C.spec_of(x)
    laid = [Replicate() if p.is_partial() else p for p in spec.placements]
    own = part(x, laid)
    classes = torch.arange(count, device=own.device)
    same = own.unsqueeze(-1) == classes
    out = same.to(torch.int64)
    del same
    del classes
    return spread(out, spec, laid, (*spec.shape, count))
