from typing import NamedTuple

import torch
import torch._C as _C


class GradientEdge(NamedTuple):
    """where a gradient goes: a node, and the number of the result that it made"""

    node: object
    output_nr: int


def get_gradient_edge(tensor):
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(*_C.gradient_edge(tensor))


class saved_tensors_hooks:
    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        _C.push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *error):
        _C.pop_saved_tensors_hooks()
        return False


class save_on_cpu(saved_tensors_hooks):
    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            if not pin_memory:
                return (tensor.device, tensor.cpu())
            packed = torch.empty(tensor.size(), dtype=tensor.dtype, pin_memory=True)
            packed.copy_(tensor)
            return (tensor.device, packed)

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


def _get_grad_fn_or_grad_acc(t):
    if t.requires_grad and t.grad_fn is None:
        with torch.enable_grad():
            return t.view_as(t).grad_fn.next_functions[0][0]
    return t.grad_fn


class _MultiHandle:
    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, type, value, tb):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """One call a backward pass: with all the gradients when the last of them is there, or with the first."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        done = set()

        def first(grad):
            number = _C._current_graph_task_id()
            if number not in done:
                done.add(number)
                fn(grad)

        return _MultiHandle([t.register_hook(first) for t in tensors if t.requires_grad])
    nodes = [_get_grad_fn_or_grad_acc(t) for t in tensors]
    passes = {}  # by the pass's number: the gradients, how many came, how many will

    def hook_of(index):
        def take(grad):
            number = _C._current_graph_task_id()
            if number not in passes:
                passes[number] = [[None] * len(nodes), 0, sum([_C._will_engine_execute_node(n) for n in nodes])]
            held = passes[number]
            held[0][index] = grad
            held[1] += 1
            if held[1] == held[2]:
                fn(held[0])
                del passes[number]

        return take

    return _MultiHandle([t.register_hook(hook_of(i)) for i, t in enumerate(tensors)])
