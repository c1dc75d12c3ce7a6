import torch
import torch._C as _C


class ImperativeEngine:
    def queue_callback(self, callback):
        _C.queue_callback(callback)

    def is_checkpoint_valid(self):
        return _C._is_checkpoint_valid()


class VariableMeta(type):
    def __instancecheck__(cls, other):
        return isinstance(other, torch.Tensor)


class Variable(metaclass=VariableMeta):
    """the older name of a tensor with a history"""

    _execution_engine = ImperativeEngine()

    def __new__(cls, data, requires_grad=False, volatile=None):
        out = data.detach() if isinstance(data, torch.Tensor) else torch.tensor(data)
        return out.requires_grad_(True) if requires_grad else out
