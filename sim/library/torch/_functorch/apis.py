"""torch.vmap of functions of single numbers, such as the masks of attention"""
import torch
import torch._C as _C


def _lane(numbers, level, levels):
    """one number for each place along a mapped dimension; the other dimensions stand for the other maps"""
    shape = [1] * level + [-1] + [1] * (levels - level - 1)
    lane = numbers.view(shape)
    shape, kind, place = lane.shape, lane.dtype, lane.device

    def maker(value):
        def make(size=(), *, dtype=kind, device=place, requires_grad=False):
            if len(size):
                _C.refuse("a new tensor made of a mapped number is modelled where it has no dimensions of its own")
            return torch.full(shape, value, dtype=dtype, device=device)

        return make

    lane.new_ones, lane.new_zeros = maker(1), maker(0)
    return lane


def _mapped(func, maps, args):
    """calls a function with maps around it, the outermost first"""
    sizes = [None] * len(maps)
    lanes = list(args)
    for level, in_dims in enumerate(maps):
        dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(
                f"vmap({getattr(func, '__name__', 'func')}, in_dims={in_dims}, ...)(<inputs>): in_dims is not "
                f"compatible with the structure of inputs."
            )
        for i, dim in enumerate(dims):
            if dim is None:
                continue
            if not isinstance(args[i], torch.Tensor) or args[i].dim() != 1 or lanes[i] is not args[i]:
                _C.refuse("torch.vmap is modelled of functions of single numbers",
                          "write the function for the whole tensor, or loop over its rows")
            sizes[level] = args[i].shape[0]
            lanes[i] = _lane(args[i], level, len(maps))
    if None in sizes:
        raise ValueError(f"vmap({getattr(func, '__name__', 'func')}, ...)(<inputs>): got no Tensors to vmap over.")
    out = func(*lanes)
    if not isinstance(out, torch.Tensor) or out.dim() not in (0, len(sizes)):
        _C.refuse("torch.vmap is modelled of functions whose result is a single number")
    return out.expand(sizes)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    if out_dims != 0 or chunk_size is not None:
        _C.refuse("torch.vmap with out_dims or chunk_size is not modelled", "leave them out")
    inner = getattr(func, "_maps", [])
    innermost = func._innermost if inner else func
    maps = [in_dims] + inner

    def wrapped(*args, **kwargs):
        if kwargs:
            _C.refuse("torch.vmap with keyword arguments is not modelled", "give them by position, or by a lambda")
        return _mapped(innermost, maps, args)

    wrapped._maps, wrapped._innermost = maps, innermost
    return wrapped
