import torch
import torch._C as _C
from torch.distributed.tensor._redistribute import redistribute_local_tensor
from torch.distributed.tensor.placement_types import Replicate

# An operator of PyTorch's own on DTensors: its operands are laid out as it wants them, it runs on this rank's parts,
# and what it gives lies as it says. Its gradients are operators on DTensors again: of a kernel, the same kernel's on
# other parts (`kernel`), else a formula (`formula`). What backward keeps are the operands as they came. Source:
# docs/rules/distributed.md#5; torch.distributed.tensor._dispatch; tools/autograd/derivatives.yaml.


def found(values):
    """the tensors among arguments, in order"""
    tensors = []
    for value in values:
        if isinstance(value, (list, tuple)):
            tensors.extend(found(value))
        elif isinstance(value, torch.Tensor):
            tensors.append(value)
    return tensors


def specs_of(values):
    return [s for s in [_C.spec_of(v) for v in found(values)] if s is not None]


def part(value, placements):
    """this rank's part of what is to lie so"""
    spec, local = _C.spec_of(value), _C.local_of(value)
    if spec is None or placements is None or spec.placements == tuple(placements):
        return local
    return redistribute_local_tensor(local, spec, placements)


def spread(out, spec, placements=None, shape=None, stride=None):
    """what an operator on parts gave, as a DTensor of the same mesh"""
    shape = spec.shape if shape is None else shape
    stride = _stride_of(out, shape) if stride is None else stride
    laid = spec.laid(spec.placements if placements is None else placements, shape, stride, out.dtype)
    return _C.spread_out(out, laid, laid.shape, laid.stride)


def _stride_of(part, shape):
    """of the whole, whose dimensions lie in the order of those of a part"""
    if part.is_contiguous() or part.dim() != len(shape):
        return None
    own, stride, step = part.stride(), [0] * len(shape), 1
    for i in sorted(range(len(shape)), key=lambda i: (own[i], -i)):
        if own[i] != 0:
            stride[i] = step
            step *= shape[i]
    return tuple(stride)


def _with(value, parts):
    """arguments with parts in place of tensors"""
    if isinstance(value, (list, tuple)):
        return type(value)([_with(each, parts) for each in value])
    if isinstance(value, dict):
        return {key: _with(each, parts) for key, each in value.items()}
    return parts.pop(0) if isinstance(value, torch.Tensor) else value


def on_parts(op, args, kwargs, parts):
    parts = list(parts)
    return op(*_with(tuple(args), parts), **_with(kwargs, parts))


def sum_to(grad, shape):
    """Source: at::sum_to"""
    spec = _C.spec_of(grad)
    size = spec.shape if spec is not None else tuple(grad.shape)
    if tuple(size) == tuple(shape):
        return grad
    more = len(size) - len(shape)
    dims = [i for i in range(len(size)) if i < more or shape[i - more] == 1 and size[i] != 1]
    if dims:
        grad = grad.sum(dims, keepdim=True)
    return grad.view(tuple(shape)) if more > 0 else grad


def _fit(tensors):
    shapes = [tuple(t.shape) for t in tensors]

    def fit(grads):
        grads, out = list(grads), []
        while grads:
            grad = grads.pop(0)
            out.append(grad if grad is None else sum_to(grad, shapes[len(out)]))
        return tuple(out)

    return fit


def wants(tensors):
    return torch.is_grad_enabled() and any([t.requires_grad for t in tensors])


def formula(name, tensors, forward, gradients, kept=(), is_kernel=False):
    """forward() -> (result, what is kept beside `kept`, name of the node); gradients(kept, needs, *incoming)"""
    if not wants(tensors):
        return forward()[0]
    laid = []

    def run():
        made = forward()
        laid.extend([_C.spec_of(t) for t in found([made[0]])])
        return made

    def back(kept, needs, *grads):
        grads = [_arrived(g, s) for g, s in zip(grads, laid)]
        return gradients(kept, needs, *grads)

    return _C.spread_op(name, tuple(tensors), kept, run, back, _fit(tensors), is_kernel)


def _arrived(grad, spec):
    """a gradient that does not say how it lies: that with which a backward pass begins"""
    if grad is None or _C.spec_of(grad) is not None:
        return grad
    return spread(grad, spec.of_gradient())


_C.set_plan_helpers(_arrived, sum_to)


def kernel(name, op, args, kwargs, laid, made, back, shape=None, expected="", own=None):
    """laid: by operand its placements; made: those of the result. back(grad, operands, result) -> (placements of the
    gradient, of the operands, of the result, of the gradients), of specs; None: backward does not read it. own: how
    numbers lie that the kernel keeps of its own; their terms are added up before backward reads them."""
    tensors = found([*args, *kwargs.values()])
    first = specs_of(tensors)[0]
    shape = first.shape if shape is None else shape
    if not wants(tensors):
        parts = [part(t, p) for t, p in zip(tensors, laid)]
        out = on_parts(op, args, kwargs, parts)
        return tensors[0] if name.endswith("_") else spread(out, first, made, shape)
    # Of the operands backward knows no more than this.
    taken, operands, sizes = [], [_C.spec_of(t) for t in tensors], [tuple(t.shape) for t in tensors]

    def forward():
        parts = _C.unseen(lambda: [part(t, p) for t, p in zip(tensors, laid)])
        parts = [_C.as_operand(p) if t.requires_grad else p for t, p in zip(tensors, parts)]
        with torch.enable_grad():
            out = on_parts(op, args, kwargs, parts)
        is_written = name.endswith("_")
        if not out.requires_grad:
            return tensors[0] if is_written else spread(out, first, made, shape), (), None
        run = _C.take_kernel(out, tuple(parts))
        while parts:
            parts.pop()
        out = tensors[0] if is_written else spread(out, first, made, shape)
        if run is None or not run[2].startswith(expected):
            _C.refuse(f"the gradient of {name}() of DTensors is not modelled", "take this rank's part: x.to_local()")
        # What the kernel alone keeps, the node keeps, and nothing else.
        taken.append((run[0], [slot if isinstance(slot, int) else None for slot in run[1]], run[3]))
        return out, tuple([_kept(slot, tensors, out) for slot in run[1]]), run[2]

    def gradients(kept, needs, grad):
        run, slots, wanted = taken[0]
        result = first.with_placements(made).with_shape(shape) if -1 in slots else None
        read = [own if i in slots else None for i, own in enumerate(operands)]
        of_grad, of_operands, of_result, of_gradients = back(_C.spec_of(grad), read, result)
        local = part(grad, of_grad)
        saved = [_saved(k, slot, of_operands, of_result) for k, slot in zip(kept, slots)]
        if own is not None and any([p.is_partial() for p in own]):
            laid_own = first.with_placements(own).with_shape(())
            saved = [_added_up(s, laid_own) if s is not None and slot is None else s for s, slot in zip(saved, slots)]
        del grad
        grads = list(_C.run_kernel(run, (local,), tuple(saved)))
        while saved:
            saved.pop()
        del local
        out = [None] * len(operands)
        for at in wanted:
            g = grads.pop(0)
            if g is not None and at >= 0 and needs[at]:
                p = of_gradients[at]
                out[at] = spread(g, first, p, _shape_of(g, operands[at], p, sizes[at], shape))
        return tuple(out)

    return formula(name, tensors, forward, gradients, is_kernel=True)


def _kept(slot, tensors, out):
    return slot if not isinstance(slot, int) else out if slot < 0 else tensors[slot]


def _saved(kept, slot, of_operands, of_result):
    if kept is None or slot is None:
        return kept
    return part(kept, of_result if slot < 0 else of_operands[slot])


def _added_up(number, spec):
    return redistribute_local_tensor(number, spec, [Replicate()] * len(spec.placements))


def _shape_of(grad, own, placements, size, shape):
    """of an operand that was repeated the gradient comes in the result's shape"""
    fits = tuple(grad.shape) == (size if own is None else tuple(own.with_placements(placements).local_shape()))
    return size if fits else tuple(shape)


_contexts = set()


def begin_context(device):
    """what PyTorch works shapes out with begins a context on a device when it is first named"""
    if device is not None and torch.device(device).type == "cuda" and not _C.is_traced():
        own = torch.cuda._number_of(device)
        for spelt in [own] if torch.device(device).index is not None else ["cuda", own]:
            if spelt not in _contexts:
                _contexts.add(spelt)
                torch.empty(1, dtype=torch.float32, device=device)
                if spelt == own:
                    _C.note_fake_tensors()


def sum_of_gradients(stored, incoming, in_place):
    """of two that meet, out of place; of one, a copy for a leaf. Source: torch's accumulate, clone_obey_contract"""
    if in_place:
        return stored.add_(incoming)
    if stored is not None:
        return stored + incoming
    spec, local = _C.spec_of(incoming), _C.local_of(incoming)
    begin_context(local.device)
    if not spec.is_even() or not any([p.is_shard() for p in spec.placements]):
        # What is like a tensor of no parts, or of uneven ones, lies whole on all ranks, and so does what is copied
        # there. Source: torch.distributed.tensor._ops._tensor_ops.new_factory_strategy.
        whole = [Replicate()] * len(spec.placements)
        made = torch.empty(spec.shape, dtype=local.dtype, device=local.device)
        made.copy_(local if list(spec.placements) == whole else redistribute_local_tensor(local, spec, whole))
        return spread(made, spec, whole)
    if any([p.is_partial() for p in spec.placements]):
        return spread(local.clone(), spec)
    # As the parameter lies, which is contiguous.
    return spread(torch.empty_like(local, memory_format=torch.contiguous_format), spec)
