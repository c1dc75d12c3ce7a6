import torch
import torch._C as _C

# Sums of products over named dimensions, made of views, sums and bmm. Source: at::einsum, sumproduct_pair


def einsum(op, args, kwargs):
    equation, operands = args[0], list(args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    equation = equation.replace(" ", "")
    if "." in equation or len(operands) > 2:
        _C.refuse(
            "einsum() of DTensors with an ellipsis or more than two operands is not modelled", "name each dimension"
        )
    left, _, result = equation.partition("->")
    names = left.split(",")
    if "->" not in equation:
        result = "".join([n for n in sorted(set(left.replace(",", ""))) if left.count(n) == 1])
    if any([len(set(each)) != len(each) for each in names]):
        _C.refuse("einsum() of DTensors that takes a diagonal is not modelled", "take the diagonal first")
    order = result + "".join([n for n in sorted(set("".join(names))) if n not in result])
    laid = [_in_order(t, own, order) for t, own in zip(operands, names)]
    operands = None
    count, summed = len(result), list(range(len(result), len(order)))
    if len(laid) == 1:
        return laid[0].sum(summed) if summed else laid[0]
    a, b = laid
    laid = None
    both = [d for d in summed if a.shape[d] != 1 and b.shape[d] != 1]
    of_a = [d for d in summed if a.shape[d] != 1 and b.shape[d] == 1]
    of_b = [d for d in summed if a.shape[d] == 1 and b.shape[d] != 1]
    if of_a:
        a = a.sum(of_a, keepdim=True)
    if of_b:
        b = b.sum(of_b, keepdim=True)
    out = _product(a, b, both)
    del b
    del a
    return out.view(tuple(out.shape[:count])) if summed else out


def _in_order(tensor, own, order):
    """dimensions in the order of names, those that are missing of size 1"""
    at, more = [], len(own)
    for name in order:
        if name in own:
            at.append(own.index(name))
        else:
            tensor = tensor.unsqueeze(-1)
            at.append(more)
            more += 1
    return tensor.permute(at)


def _product(a, b, summed):
    if not summed:
        return a * b
    ndim, kinds = a.dim(), ([], [], [])
    size = 1
    for d in range(ndim):
        if d in summed:
            size *= a.shape[d]
        else:
            kinds[0 if a.shape[d] != 1 and b.shape[d] != 1 else 1 if a.shape[d] != 1 else 2].append(d)
    shared, left, right = kinds
    rows, columns = [_count(t.shape, dims) for t, dims in ((a, left), (b, right))]
    count = _count(a.shape, shared)
    shape = [a.shape[d] for d in shared + left] + [1] * len(summed) + [b.shape[d] for d in right]
    order = shared + left + summed + right
    a = a.permute(order).reshape((count, rows, size))
    b = b.permute(shared + summed + right + left).reshape((count, size, columns))
    out = torch.bmm(a, b)
    del b
    del a
    return out.view(tuple(shape)).permute([order.index(d) for d in range(ndim)])


def _count(shape, dims):
    count = 1
    for d in dims:
        count *= shape[d]
    return count
