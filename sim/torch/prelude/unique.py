# module: torch torch.Tensor
# defines: unique unique_consecutive
import torch
import torch._C as _C

_in_order = sorted


def _made_of(input, name, groups, return_inverse, return_counts, dim):
    """groups: each number that is kept, with the places of the input that it stands for; None where numbers are not known"""
    if groups is None:
        if return_inverse or return_counts or dim is not None:
            _C.refuse(f"{name} with return_inverse, return_counts or dim is not modelled", "leave them out")
        return None
    out = torch.tensor([value for value, _ in groups], dtype=input.dtype)
    if not (return_inverse or return_counts):
        return out
    made = [out]
    if return_inverse:
        inverse = [0] * input.numel()
        for i, (_, places) in enumerate(groups):
            for place in places:
                inverse[place] = i
        made.append(torch.tensor(inverse).view(input.shape))
    if return_counts:
        made.append(torch.tensor([len(places) for _, places in groups]))
    return tuple(made)


def _numbers(input, dim):
    """of a tensor on the host whose numbers are known; a row may be taken along its only dimension"""
    if input.is_cuda or input.numel() == 0 or (dim is not None and input.dim() != 1) or _C.known_integers(input) is None:
        return None
    return input.flatten().tolist()


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    numbers, groups = _numbers(input, dim), None
    if numbers is not None:
        places = {}
        for i, value in enumerate(numbers):
            places.setdefault(value, []).append(i)
        groups = [(value, places[value]) for value in _in_order(places)]
    out = _made_of(input, "unique", groups, return_inverse, return_counts, dim)
    return torch._unique(input) if out is None else out


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    numbers, groups = _numbers(input, dim), None
    if numbers is not None:
        groups = []
        for i, value in enumerate(numbers):
            if not groups or groups[-1][0] != value:
                groups.append((value, []))
            groups[-1][1].append(i)
    out = _made_of(input, "unique_consecutive", groups, return_inverse, return_counts, dim)
    return torch._unique_consecutive(input) if out is None else out
