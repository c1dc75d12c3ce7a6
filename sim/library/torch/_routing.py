import torch
import torch._C as _C

# Routers of experts under a stated distribution (--routing): started where one is stated. What topk, argmax and max
# choose along the last dimension of numbers that nobody knows is then known, for up to _MOST experts: from there on
# counts, splits and sizes are worked out as of any other numbers.
_MOST = 1024


def _is_last(dim, tensor):
    return isinstance(dim, int) and dim in (-1, tensor.dim() - 1)


def _given(args, kwargs, place, name, default):
    return args[place] if len(args) > place else kwargs.get(name, default)


def _chooses(tensor, places, chosen):
    if tensor.is_floating_point() and tensor.size(-1) <= _MOST:
        _C.choose_experts(places, chosen, tensor.size(-1))


def _topk_of(topk):
    def call(input, *args, **kwargs):
        found = topk(input, *args, **kwargs)
        if _is_last(_given(args, kwargs, 1, "dim", -1), input):
            _chooses(input, found[1], found[1].size(-1))
        return found

    return call


def _argmax_of(argmax):
    def call(input, *args, **kwargs):
        found = argmax(input, *args, **kwargs)
        if _is_last(_given(args, kwargs, 0, "dim", None), input):
            _chooses(input, found, 1)
        return found

    return call


def _max_of(largest):
    def call(input, *args, **kwargs):
        found = largest(input, *args, **kwargs)
        dim = _given(args, kwargs, 0, "dim", None)
        if isinstance(dim, int) and _is_last(dim, input):
            _chooses(input, found[1], 1)
        return found

    return call


def start():
    """from here on routers choose so"""
    for name, of in (("topk", _topk_of), ("argmax", _argmax_of), ("max", _max_of)):
        setattr(torch, name, of(getattr(torch, name)))
        setattr(torch.Tensor, name, of(getattr(torch.Tensor, name)))
