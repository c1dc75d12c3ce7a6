import torch


# Operators that ATen makes of others, in the order in which it calls them; what C++ holds until a statement or a
# function ends is held as long here.


# Python's own max and min are torch's operators here.
def _max(numbers, default=0):
    return sorted(numbers)[-1] if numbers else default


def inner(input, other):
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    return torch._tensordot(input, other, [-1], [-1])


def kron(input, other):
    rank = _max([input.dim(), other.dim()])
    left = [1] * (rank - input.dim()) + list(input.shape)
    right = [1] * (rank - other.dim()) + list(other.shape)
    wide = [n for size in left for n in (size, 1)]
    narrow = [n for size in right for n in (1, size)]
    product = input.reshape(wide) * other.reshape(narrow)
    return product.view([m * n for m, n in zip(left, right)])


def diff(input, n=1, dim=-1, prepend=None, append=None):
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [part for part in (prepend, input, append) if part is not None]
    result = torch.cat(parts, dim) if len(parts) > 1 else input
    if n == 0:
        return result.clone()
    for i in range(n if n < result.size(dim) else result.size(dim)):
        length = result.size(dim) - 1
        if result.dtype == torch.bool:
            lower = result.narrow(dim, 0, length)
            result = torch.logical_xor(result.narrow(dim, 1, length), lower)
        else:
            lower = result.narrow(dim, 0, length)
            result = result.narrow(dim, 1, length) - lower
        del lower
    return result


def msort(input):
    return torch.sort(input, dim=0)[0]


def equal(input, other):
    if input.shape != other.shape:
        return False
    if torch._C.is_same_view(input, other):
        return True
    same = torch.eq(input, other)
    verdict = same.all()
    out = verdict.item()
    del verdict, same
    return out


def arctan2(input, other):
    return torch.atan2(input, other)


def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    missing = torch.isnan(input)
    missing.logical_not_()
    factor = missing.sum() if dim is None else missing.sum(dim, keepdim)
    del missing
    total = torch.nansum(input) if dim is None else torch.nansum(input, dim, keepdim)
    mean = total / factor
    del total
    return mean


def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    return _quantile(input, q, dim, keepdim, interpolation, False)


def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    return _quantile(input, q, dim, keepdim, interpolation, True)


def _quantile(input, q, dim, keepdim, interpolation, ignore_nan):
    if input.dtype not in (torch.float32, torch.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if not isinstance(q, torch.Tensor):
        q = torch.full((), q, dtype=input.dtype, device=input.device)
    rank_of_input = input.dim()
    if rank_of_input > 0 and dim is not None:
        dim = dim % rank_of_input
    reduced = [1] * rank_of_input if dim is None else list(input.shape)
    if dim is not None and reduced:
        reduced[dim] = 1
    if not keepdim:
        reduced = [] if dim is None else reduced[:dim] + reduced[dim + 1:]
    if q.dim() > 0:
        reduced = [q.numel()] + reduced
    if dim is None:
        rows = input.flatten()
    elif dim == rank_of_input - 1:
        rows = input
    else:
        rows = input.unsqueeze(-1).transpose(dim, -1)
    ranks_first = torch._C.release_rule("quantile_ranks_first")
    ordered = rows if ranks_first else rows.sort()[0]
    kind = torch.float64 if ranks_first else q.dtype
    last = ordered.size(-1) - 1
    if ignore_nan:
        missing = ordered.isnan()
        missing.logical_not_()
        count = missing.sum(-1, keepdim=True)
        less = count - 1
        wanted = q.to(kind)
        ranks = wanted * less
        del wanted, less, count, missing
        ranks.masked_fill_(ranks < 0, 0)
    else:
        exact = q.to(kind)
        wanted = exact * last
        missing = ordered.isnan()
        has_missing = missing.any(-1, keepdim=True)
        del missing, exact
        wide, wide_missing = torch.broadcast_tensors(wanted, has_missing)
        ranks = wide.masked_fill(wide_missing, last)
        del wide, wide_missing, wanted, has_missing
    if interpolation == "lower":
        ranks.floor_()
    elif interpolation == "higher":
        ranks.ceil_()
    elif interpolation == "nearest":
        ranks.round_()
    below = ranks.to(torch.int64)
    interpolates = interpolation in ("linear", "midpoint")
    if ranks_first and interpolates:
        weights, above = _weights(ranks, below, input.dtype, interpolation)
    if ranks_first:
        ordered = rows.sort()[0]
    values = ordered.gather(-1, below)
    if interpolates:
        if not ranks_first:
            weights, above = _weights(ranks, below, input.dtype, interpolation)
        values_above = ordered.gather(-1, above)
        values.lerp_(values_above, weights)
        del values_above, above, weights
    result = values.view(reduced) if q.dim() == 0 else values.reshape(reduced)
    del below, ranks, ordered
    return result


def _weights(ranks, below, dtype, interpolation):
    """what the values above each rank weigh, and their places"""
    distances = torch.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below
    weights = distances.to(dtype)
    del distances
    return weights, ranks.ceil_().to(torch.int64)


def sum_to_size(input, *size):
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    leading = input.dim() - len(size)
    dims = list(range(leading)) + [
        d for d in range(leading, input.dim()) if size[d - leading] == 1 and input.size(d) != 1
    ]
    total = input.sum(dims, keepdim=True) if dims else input
    return total.view(size) if leading > 0 else total


def result_type(tensor1, tensor2):
    return (torch.empty(0, dtype=_dtype_of(tensor1)) + torch.empty(0, dtype=_dtype_of(tensor2))).dtype


def _dtype_of(value):
    if isinstance(value, torch.Tensor):
        return value.dtype
    return torch.tensor(value).dtype


def promote_types(type1, type2):
    return (torch.empty(0, dtype=type1) + torch.empty(0, dtype=type2)).dtype


def bincount(input, weights=None, minlength=0):
    both_first = torch._C.release_rule("bincount_extremes_first")
    least = input.min()
    if not both_first:
        least = None
    most = input.max()
    if not both_first:
        most = None
    bins = torch._C.count_of_bins(input, minlength)
    if weights is None:
        counts = torch.empty(bins, dtype=torch.int64, device=input.device)
        known = torch._C.known_integers(input)
        if known is not None:
            found = [0] * bins
            for each in known:
                found[each] += 1
            torch._C.note_values(counts, found)
        return counts
    dtype = torch.float32 if weights.dtype == torch.float32 else torch.float64
    weights = weights.to(dtype)
    return torch.empty(bins, dtype=dtype, device=input.device)


def fill_diagonal_(input, fill_value, wrap=False):
    if input.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    height, width = input.size(0), input.size(1)
    if input.dim() > 2 and len(set(input.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    size = height if height < width else width
    step = 0
    for stride in input.stride():
        step += stride
    input.as_strided([size], [step], input.storage_offset()).fill_(fill_value)
    if wrap and input.dim() == 2 and height > width + 1:
        rest = (input.numel() + width) // (width + 1) - size
        input.as_strided([rest], [step], input.storage_offset() + input.stride(0) * (width + 1)).fill_(fill_value)
    return input


def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False):
    return torch.full((), s, dtype=dtype or torch.get_default_dtype(), device=device, requires_grad=requires_grad)


def norm_except_dim(v, pow=2, dim=0):
    if dim == -1:
        return v.norm(pow)
    if dim == 0:
        sizes = [v.size(0)] + [1] * (v.dim() - 1)
        return v.contiguous().view(v.size(0), -1).norm(pow, 1).view(sizes)
    if dim == v.dim() - 1:
        sizes = [1] * (v.dim() - 1) + [v.size(-1)]
        return v.contiguous().view(-1, v.size(-1)).norm(pow, 0).view(sizes)
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


def _weight_norm(v, g, dim=0):
    if v.is_cuda and dim in (0, v.dim() - 1):
        return torch._weight_norm_interface(v, g, dim)
    norm = norm_except_dim(v, 2, dim)
    ratio = g / norm
    out = v * ratio
    del ratio, norm
    return out
