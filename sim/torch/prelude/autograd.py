# module: torch.autograd
# defines: Function backward grad graph set_grad_enabled no_grad enable_grad
import torch
import torch._C as _C
import torch.autograd.graph as graph
from torch import no_grad, enable_grad, set_grad_enabled


def _tensors(value):
    return [value] if isinstance(value, torch.Tensor) else list(value)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    if create_graph:
        _C.refuse("backward(create_graph=True) is not modelled", "gradients of gradients are outside the model")
    tensors = _tensors(tensors)
    grads = [None] * len(tensors) if grad_tensors is None else _tensors(grad_tensors)
    _C.backward(tensors, grads, bool(retain_graph))


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None):
    if create_graph:
        _C.refuse("grad(create_graph=True) is not modelled", "gradients of gradients are outside the model")
    outputs = _tensors(outputs)
    grads = [None] * len(outputs) if grad_outputs is None else _tensors(grad_outputs)
    return _C.gradients(outputs, grads, _tensors(inputs), bool(retain_graph))


class _Context:
    """what a Function's forward and backward share"""

    def __init__(self):
        self.needs_input_grad = ()
        self._to_save = ()

    def save_for_backward(self, *tensors):
        self._to_save = tensors

    @property
    def saved_tensors(self):
        return self._node.saved_tensors()

    def mark_dirty(self, *tensors):
        _C.refuse("ctx.mark_dirty is not modelled", "write out of place")

    def mark_non_differentiable(self, *tensors):
        self._non_differentiable = tensors

    def set_materialize_grads(self, value):
        self._materialize = value


class Function:
    @classmethod
    def apply(cls, *args):
        return _C.apply_function(cls, _Context(), args)
