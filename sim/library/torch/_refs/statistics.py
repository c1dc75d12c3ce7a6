import torch


# Source: ATen's Correlation.cpp, Integration.cpp, ReduceOps.cpp, TensorFactories.cpp. What C++ holds until a statement
# or the function ends is held as long here.


def cov(input, *, correction=1, fweights=None, aweights=None):
    if input.dim() > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions"
        )
    if fweights is not None or aweights is not None:
        torch._C.refuse(
            "cov with weights is not modelled: PyTorch looks at their values", "weigh the observations yourself"
        )
    rows = input.view(1, -1) if input.dim() < 2 else input
    total = torch.full((), rows.size(1), dtype=torch.int64, device=rows.device)
    summed = rows.sum(1)
    average = summed / total
    del summed
    factor = total - correction
    verdict = factor.le(0)
    one = verdict.new_ones(())
    torch.equal(verdict, one)
    del one, verdict
    column = average.unsqueeze(1)
    rows = rows - column
    del column
    products = torch.mm(rows, rows.t())
    ratio = torch.true_divide(products, factor)
    out = ratio.squeeze()
    del ratio, products, factor, average, total, rows
    return out


def corrcoef(input):
    if input.dim() > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions"
        )
    covariance = cov(input)
    if covariance.dim() == 0:
        return covariance / covariance
    variances = covariance.diagonal()
    deviations = torch.sqrt(variances)
    column = deviations.view(-1, 1)
    covariance = covariance / column
    row = deviations.view(1, -1)
    covariance = covariance / row
    out = covariance.clip(-1, 1)
    del row, column, deviations, variances, covariance
    return out


def _points(x, y, dim):
    """the distances of the points over which y is given, for its dimension dim"""
    if x.dim() == 1:
        if x.size(0) != y.size(dim):
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        sizes = [1] * y.dim()
        sizes[dim] = x.size(0)
        x = x.view(sizes)
    elif x.dim() < y.dim():
        x = x.view([1] * (y.dim() - x.dim()) + list(x.shape))
    lower = x.narrow(dim, 0, x.size(dim) - 1)
    upper = x.narrow(dim, 1, x.size(dim) - 1)
    return upper - lower


def trapezoid(y, x=None, *, dx=1, dim=-1):
    if x is not None:
        widths = _points(x, y, dim)
        lower = y.narrow(dim, 0, y.size(dim) - 1)
        upper = y.narrow(dim, 1, y.size(dim) - 1)
        both = lower + upper
        areas = both * widths
        total = areas.sum(dim)
        out = total / 2.0
        del total, areas, both, upper, lower, widths
        return out
    last = y.select(dim, -1)
    ends = y.select(dim, 0) + last
    half = ends * 0.5
    total = y.sum(dim)
    rest = total - half
    out = rest * dx
    del rest, total, half, ends, last
    return out


trapz = trapezoid


def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    widths = None if x is None else _points(x, y, dim)
    lower = y.narrow(dim, 0, y.size(dim) - 1)
    upper = y.narrow(dim, 1, y.size(dim) - 1)
    both = lower + upper
    if widths is None:
        areas = both * (dx / 2.0)
        out = areas.cumsum(dim)
    else:
        areas = both * widths
        total = areas.cumsum(dim)
        out = total / 2.0
        del total
    del areas, both, upper, lower, widths
    return out


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if edge_order == 2 or isinstance(spacing, (torch.Tensor, tuple, list)):
        torch._C.refuse(
            "gradient with edge_order=2, or with spacing as a list or tensor, is not modelled",
            "give one number as spacing",
        )
    dims = list(range(input.dim())) if dim is None else [dim] if not isinstance(dim, (tuple, list)) else list(dim)
    out = []
    for d in dims:
        length = input.size(d)
        if length < 2:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
        lower = input.narrow(d, 0, length - 2)
        rise = input.narrow(d, 2, length - 2) - lower
        centre = rise / spacing
        del rise
        lower = input.narrow(d, 0, 1)
        rise = input.narrow(d, 1, 1) - lower
        first = rise / spacing
        del rise
        lower = input.narrow(d, length - 2, 1)
        rise = input.narrow(d, length - 1, 1) - lower
        last = rise / spacing
        del rise
        half = centre / 2
        out.append(torch.cat([first, half, last], d))
        del lower, half, centre, last, first
    return tuple(out)


def vander(x, N=None, increasing=False):
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.size(0) if N is None else N
    out = torch.empty(
        (x.size(0), n), dtype=x.dtype if x.is_floating_point() or x.is_complex() else torch.int64, device=x.device
    )
    if n > 0:
        out.select(1, 0).fill_(1)
    if n > 1:
        out.narrow(1, 1, n - 1).copy_(x.unsqueeze(1))
        powers = torch.cumprod(out.narrow(1, 1, n - 1), 1)
        out.narrow(1, 1, n - 1).copy_(powers)
        del powers
    return out if increasing else torch.flip(out, [1])
