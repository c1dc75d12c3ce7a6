import torch
import torch._C as _C
import torch.nn.functional as F

# Operators that torch.nn.functional calls by other names or with other arguments.

_reductions = ("none", "mean", "sum")  # left out: none, whatever the signature says (oracle)
_int = type(1)  # torch.int is a dtype


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return F.embedding(
        indices, weight, None if padding_idx < 0 else padding_idx, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse
    )


def _with_cudnn(enabled, function, *args):
    before = _C.backend("cudnn")
    _C.set_backend("cudnn", before and enabled)
    try:
        return function(*args)
    finally:
        _C.set_backend("cudnn", before)


def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled):
    return _with_cudnn(
        cudnn_enabled, F.batch_norm, input, running_mean, running_var, weight, bias, training, momentum, eps
    )


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    return _with_cudnn(
        cudnn_enabled, F.instance_norm, input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def bilinear(input1, input2, weight, bias=None):
    return F.bilinear(input1, input2, weight, bias)


def kl_div(input, target, reduction=0, *, log_target=False):
    return F.kl_div(input, target, reduction=_reductions[reduction], log_target=log_target)


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_reductions[reduction])


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, reduction=0):
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_reductions[reduction])


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_reductions[reduction])


def hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    return F.hinge_embedding_loss(input, target, margin, reduction=_reductions[reduction])


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reductions[reduction])


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False):
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reductions[reduction], zero_infinity)


def split_with_sizes(input, split_sizes, dim=0):
    return input.split(list(split_sizes), dim)


def unsafe_chunk(input, chunks, dim=0):
    return input.unsafe_chunk(chunks, dim)


def unsafe_split(input, split_size, dim=0):
    return input.unsafe_split(split_size, dim)


def is_nonzero(input):
    return input.is_nonzero()


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    if not isinstance(obj, torch.Tensor):
        return torch.tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    other = (dtype is not None and dtype != obj.dtype) or (
        device is not None and torch.device(device).type != obj.device.type
    )
    if copy is False and other:
        raise ValueError("can't alias tensor with another type or device")
    out = obj.to(device=device, dtype=dtype) if other else obj.clone() if copy else obj
    if torch._C.release_rule("asarray_keeps_history") and not requires_grad:
        return out
    if not out.is_leaf and not requires_grad:
        return out.detach()
    return out.requires_grad_(requires_grad)


def _kind(dtype):
    if dtype.is_complex:
        return 3
    if dtype.is_floating_point:
        return 2
    return 0 if dtype == torch.bool else 1


def can_cast(from_, to):
    return _kind(to) >= _kind(from_) and not (_kind(from_) == 1 and _kind(to) == 0)


def unravel_index(indices, shape):
    """Source: torch.functional.unravel_index"""
    shape = [shape] if isinstance(shape, _int) else list(shape)
    strides = [1]
    for size in shape[:0:-1]:
        strides.insert(0, strides[0] * size)
    device = indices.device
    return (torch.floor_divide(indices.unsqueeze(-1), torch.tensor(strides, dtype=torch.int64, device=device))
            % torch.tensor(shape, dtype=torch.int64, device=device)).unbind(-1)


def _chosen(count, times, with_replacement, device):
    """of the grid of all choices those that come in order"""
    places = torch.arange(count, device=device)
    grids = torch.meshgrid(*[places] * times, indexing="ij")
    mask = torch.full(grids[0].size(), True, dtype=torch.bool, device=device)
    for left, right in zip(grids, grids[1:]):
        mask *= left <= right if with_replacement else left < right
    return mask


def combinations(input, r=2, with_replacement=False):
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return torch.empty(0, dtype=input.dtype, device=input.device)
    mask = _chosen(input.numel(), r, with_replacement, input.device)
    chosen = [grid.masked_select(mask) for grid in torch.meshgrid(*[input] * r, indexing="ij")]
    out = torch.stack(chosen, 1)
    del mask
    while chosen:
        chosen.pop(0)
    return out


def spmm(input, mat2):
    return torch.mm(input, mat2)
