import torch
import torch._C as _C


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
    """hands its tensors on; `callback` sees their gradients, and what puts zeros in the place of those that
    nothing reached, and says what goes on. Source: torch.nn.modules._functions.BackwardHookFunction"""

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
