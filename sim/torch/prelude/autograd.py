# module: torch.autograd
# defines: Function FunctionCtx InplaceFunction once_differentiable BackwardHookFunction Variable backward grad graph set_grad_enabled no_grad enable_grad inference_mode set_detect_anomaly detect_anomaly gradcheck gradgradcheck
import torch
import torch._C as _C
import torch.autograd.graph as graph
from torch import no_grad, enable_grad, set_grad_enabled, inference_mode


def _tensors(value):
    return [value] if isinstance(value, torch.Tensor) else list(value)


def _starts(outputs, given):
    """the gradients that backward starts from: ones of a scalar"""
    starts = []
    for output, start in zip(outputs, given):
        if start is None and output.requires_grad:
            if output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            start = torch.ones_like(output, memory_format=torch.preserve_format)
        starts.append(start)
    return starts


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    if create_graph:
        _C.refuse("backward(create_graph=True) is not modelled", "gradients of gradients are outside the model")
    tensors = _tensors(tensors)
    starts = _starts(tensors, [None] * len(tensors) if grad_tensors is None else _tensors(grad_tensors))
    _C.backward(tensors, starts, bool(retain_graph), () if inputs is None else _tensors(inputs))


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None):
    if create_graph:
        _C.refuse("grad(create_graph=True) is not modelled", "gradients of gradients are outside the model")
    t_outputs = _tensors(outputs)
    starts = _starts(t_outputs, [None] * len(t_outputs) if grad_outputs is None else _tensors(grad_outputs))
    return _C.gradients(t_outputs, starts, _tensors(inputs), bool(retain_graph))


class _Context:
    """what a Function's forward and backward share"""

    def __init__(self):
        self.needs_input_grad = ()
        self._to_save = self._dirty = self._non_differentiable = ()
        self._materialize = True

    def save_for_backward(self, *tensors):
        self._to_save = tensors

    @property
    def saved_tensors(self):
        return self._node.saved_tensors()

    def mark_dirty(self, *tensors):
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        self._non_differentiable = tensors

    def set_materialize_grads(self, value):
        self._materialize = value


class Function:
    @classmethod
    def apply(cls, *args):
        return _C.apply_function(cls, _Context(), args)


FunctionCtx = _Context


class InplaceFunction(Function):
    def __init__(self, inplace=False):
        self.inplace = inplace


def once_differentiable(fn):
    def wrapper(ctx, *args):
        with torch.no_grad():
            outputs = fn(ctx, *args)
        return outputs

    return wrapper


class BackwardHookFunction(Function):
    """hands its tensors on; `callback` sees their gradients, and what puts zeros in the place of those that nothing reached,
    and says what goes on. Source: torch.nn.modules._functions.BackwardHookFunction"""

    @staticmethod
    def forward(ctx, callback, *tensors):
        ctx.callback = callback
        ctx.like = [(t.shape, t.dtype, t.device) for t in tensors]
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        def zeros_for(grads):
            return tuple([torch.zeros(shape, dtype=dtype, device=device) if grad is None else grad
                          for grad, (shape, dtype, device) in zip(grads, ctx.like)])

        return (None,) + ctx.callback(grads, zeros_for)


def Variable(data, requires_grad=False, volatile=None):
    out = data.detach() if isinstance(data, torch.Tensor) else torch.tensor(data)
    return out.requires_grad_(True) if requires_grad else out


class set_detect_anomaly:
    def __init__(self, mode, check_nan=True):
        if mode:
            _C.refuse("anomaly detection is not modelled", "it looks for NaN in every gradient: leave it off")

    def __enter__(self):
        return None

    def __exit__(self, *args):
        return False


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)


def gradcheck(*args, **kwargs):
    _C.refuse("gradcheck is not modelled", "it compares values: run it with PyTorch")


def gradgradcheck(*args, **kwargs):
    _C.refuse("gradgradcheck is not modelled", "it compares values: run it with PyTorch")
