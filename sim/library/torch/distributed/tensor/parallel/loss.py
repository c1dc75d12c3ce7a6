import torch
import torch._C as _C
from torch.autograd.function import Function
from torch.distributed import _functional_collectives as funcol
from torch.distributed.tensor._autocast import cast
from torch.distributed.tensor._leaf import kernel, spread
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard, _MaskPartial

# Source: torch.distributed.tensor.parallel.loss


class loss_parallel:
    """cross_entropy of logits that are sharded by class stays so"""

    _open = []

    def __enter__(self):
        self._open.append(True)

    def __exit__(self, *error):
        self._open.pop()
        return False

    def __call__(self, function):
        def wrapper(*args, **kwargs):
            with loss_parallel():
                return function(*args, **kwargs)

        return wrapper


_NAMES = ("input", "target", "weight", "size_average", "ignore_index", "reduce", "reduction", "label_smoothing")


def cross_entropy(op, args, kwargs):
    """of class indices: by parts of the classes, or, without loss_parallel, of whole logits"""
    given = {**dict(zip(_NAMES, args)), **kwargs}
    x, target = given["input"], given["target"]
    spec = _C.spec_of(x)
    if spec is None:
        _C.refuse("cross_entropy() of a tensor and a DTensor is not modelled", "make the logits a DTensor")
    channel = 1 if len(spec.shape) > 1 else 0
    if loss_parallel._open:
        return _of_parts(x, target, given, spec, channel)
    if given.get("label_smoothing", 0.0) != 0.0 or given.get("weight") is not None:
        _C.refuse("cross_entropy() of DTensors with weights or smoothing is not modelled", "take x.to_local()")
    reduction, ignored = given.get("reduction", "mean"), given.get("ignore_index", -100)
    return _nll_of_whole(x.log_softmax(channel), target, channel, reduction, ignored)


def nll_loss(op, args, kwargs):
    """of logarithms of probabilities that each rank has whole by class"""
    given = {**dict(zip(_NAMES[:-1], args)), **kwargs}
    x, target = given["input"], given["target"]
    if loss_parallel._open:
        _C.refuse("nll_loss() in loss_parallel is not modelled", "call cross_entropy()")
    if _C.spec_of(x) is None:
        _C.refuse("nll_loss() of a tensor and a DTensor is not modelled", "make both DTensors")
    if any([given.get(name) is not None for name in ("weight", "size_average", "reduce")]):
        _C.refuse("nll_loss() of DTensors with weights is not modelled", "take x.to_local()")
    channel = 1 if x.dim() > 1 else 0
    return _nll_of_whole(x, target, channel, given.get("reduction", "mean"), given.get("ignore_index", -100))


def _nll_of_whole(x, target, channel, reduction, ignored):
    """Source: torch.distributed.tensor._ops._math_ops, nll_loss_forward_strategy"""
    if _C.spec_of(target) is None:
        raise RuntimeError(
            "aten.nll_loss_forward.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to "
            "DTensor before calling distributed operators!"
        )

    def ways(placements):
        laid = [Replicate() if p.is_partial() or p.is_shard(channel) else p for p in placements]
        return laid, [Shard(p.dim - 1) if p.is_shard() and p.dim >= channel else p for p in laid]

    laid, of_target = ways(_C.spec_of(x).placements)
    kind = "avg" if reduction == "mean" else "sum"
    made = of_target if reduction == "none" else [Partial(kind) if p.is_shard() else p for p in of_target]
    shape = tuple(target.shape) if reduction == "none" else ()

    def back(grad, operands, result):
        laid, of_target = ways(operands[0].placements)
        whole = [Replicate()] * len(laid)
        return of_target if reduction == "none" else whole, [laid, of_target], whole, [laid, None]

    given = {"reduction": reduction, "ignore_index": ignored}
    op = torch.nn.functional.nll_loss
    # Of the weights that were summed up each rank has its own.
    own = None if reduction == "none" else [Partial() if p.is_shard() else p for p in of_target]
    return kernel("nll_loss", op, (x, target), given, [laid, of_target], made, back, shape, "NllLoss", own)


def _of_parts(x, target, given, spec, channel):
    if len(spec.placements) != 1:
        raise ValueError("Currently loss_parallel() only supports input on one-dimensional DeviceMesh.")
    if not spec.placements[0].is_shard(channel):
        raise ValueError(
            f"loss_parallel() should be enabled only when the input tensor is sharded on dimension {channel}."
        )
    if given.get("weight") is not None or given.get("label_smoothing", 0.0) != 0.0:
        _C.refuse("loss_parallel with weights or label smoothing is not modelled", "leave them out")
    if torch.is_autocast_enabled("cuda"):
        x = cast(x, torch.float32, torch.float32, False)
    x = _LogSoftmax.apply(x, channel)
    return _NllLoss.apply(x, target, given.get("ignore_index", -100), given.get("reduction", "mean"))


def _log_softmax(x, dim, group):
    dtype = x.dtype
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    x = x.to(dtype=wide, memory_format=torch.contiguous_format)
    if x.numel() == 0:
        shifted = x
    else:
        x_max = torch.amax(x, dim, keepdim=True)
        x_max = funcol.all_reduce(x_max, "max", group)
        shifted = x - x_max
    shifted_sumexp = torch.sum(torch.exp(shifted), dim, keepdim=True)
    shifted_sumexp = funcol.all_reduce(shifted_sumexp, "sum", group)
    shifted_logsumexp = torch.log(shifted_sumexp)
    result = shifted - shifted_logsumexp
    result = result.to(dtype)
    return result


class _LogSoftmax(Function):
    @staticmethod
    def forward(ctx, input, dim):
        spec = ctx.spec = _C.spec_of(input)
        out = spread(_log_softmax(_C.local_of(input), dim, (spec.mesh, 0)), spec.with_placements(spec.placements))
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        """nothing: the loss's own backward has done it"""
        return spread(_C.local_of(grad).to(ctx.spec.dtype), ctx.spec.with_placements(ctx.spec.placements)), None


class _NllLoss(Function):
    @staticmethod
    def forward(ctx, input, target, ignore_index, reduction):
        spec = _C.spec_of(input)
        part = _C.local_of(target)
        result, total_weight = _nll_loss(_C.local_of(input), part, ignore_index, reduction, spec)
        ctx.ignore_index, ctx.reduction, ctx.spec = ignore_index, reduction, spec
        ctx.save_for_backward(input, target, total_weight)
        return spread(result, spec.with_placements([Replicate()]).with_shape(tuple(result.shape)))

    @staticmethod
    def backward(ctx, grad):
        x, target, total_weight = ctx.saved_tensors
        local = _nll_loss_backward(
            _C.local_of(grad), _C.local_of(x), _C.local_of(target), ctx.ignore_index, ctx.reduction, total_weight,
            ctx.spec
        )
        return spread(local, ctx.spec.with_placements(ctx.spec.placements)), None, None, None


def _nll_loss(x, target, ignore_index, reduction, spec):
    channel = 1 if x.dim() >= 2 else 0
    safe_target = torch.where(target != ignore_index, target, 0)
    safe_target_ = safe_target.unsqueeze(channel)
    placement = _MaskPartial(offset_shape=spec.shape, offset_dim=channel)
    safe_target_partial_ = placement._partition_value(safe_target_, spec.mesh, 0)
    result_partial = torch.gather(x, channel, safe_target_partial_)
    placement.apply(result_partial)
    result_reduced = funcol.all_reduce(result_partial, "sum", (spec.mesh, 0))
    result = -result_reduced.squeeze(channel)
    result = torch.where(target != ignore_index, result, 0)
    if reduction == "none" and x.dim() > 1:
        total_weight = x.new_full((), 0.0)
        return result, total_weight
    total_weight = (target != ignore_index).sum().to(x)
    if reduction == "sum":
        result = result.sum()
    elif reduction == "mean":
        result = result.sum() / total_weight
    return result, total_weight


def _nll_loss_backward(grad_output, x, target, ignore_index, reduction, total_weight, spec):
    """of the loss and of log_softmax together, so that nothing is gathered"""
    channel = 0 if x.dim() < 2 else 1
    if reduction == "mean":
        grad_output = grad_output / total_weight
    target = target.unsqueeze(channel)
    safe_target = torch.where(target != ignore_index, target, 0)
    grad_input = torch.zeros_like(x)
    placement = _MaskPartial(offset_shape=spec.shape, offset_dim=channel)
    safe_target = safe_target.squeeze(channel).flatten()
    masked_safe_target = placement._partition_value(safe_target, spec.mesh, 0)
    grad_update = placement.mask.to(grad_input.dtype) - 1.0
    arange_1d = torch.arange(masked_safe_target.shape[0], device=masked_safe_target.device)
    if x.dim() == 1:
        grad_input[masked_safe_target] = grad_update
    elif x.dim() == 2:
        grad_input[arange_1d, masked_safe_target] = grad_update
    else:
        grad_input_t = grad_input.transpose(channel, -1)
        shape = grad_input_t.shape
        grad_input_2d = grad_input_t.reshape(-1, x.shape[channel])
        grad_input_2d[arange_1d, masked_safe_target] = grad_update
        grad_input = grad_input_2d.view(shape).transpose(channel, -1)
    if grad_input.dim() > grad_output.dim() > 0:
        grad_output = grad_output.unsqueeze(channel)
    grad_output = torch.where(target != ignore_index, grad_output, 0)
    return (grad_input + torch.exp(x)) * grad_output
