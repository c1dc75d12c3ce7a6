import torch
import torch._C as _C


class ImperativeEngine:
    def queue_callback(self, callback):
        _C.queue_callback(callback)

    def is_checkpoint_valid(self):
        return _C._is_checkpoint_valid()

    def run_backward(
        self, tensors, grad_tensors, keep_graph, create_graph, inputs=(), allow_unreachable=False, accumulate_grad=False
    ):
        """a backward pass as it is asked for, gradients of any shape. Source: torch::autograd::python_engine"""
        starts, inputs = tuple(grad_tensors), tuple(inputs)
        for i, (tensor, start) in enumerate(zip(tensors, starts)):
            if not tensor.requires_grad:
                raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
            if start is None:
                raise RuntimeError(
                    f"element {i} of gradients tuple is None, but the corresponding Tensor requires grad"
                )
        edges = [_C.gradient_edge(tensor) for tensor in tensors]
        if accumulate_grad or not inputs:
            _C.backward(edges, starts, bool(keep_graph), inputs, bool(create_graph))
            return () if not inputs else (None,) * len(inputs)
        found = _C.gradients(edges, starts, inputs, bool(keep_graph), bool(create_graph))
        if not allow_unreachable and any([each is None for each in found]):
            raise RuntimeError("One of the differentiated Tensors appears to not have been used in the graph.")
        return found


class VariableMeta(type):
    def __instancecheck__(cls, other):
        return isinstance(other, torch.Tensor)


class Variable(metaclass=VariableMeta):
    """the older name of a tensor with a history"""

    _execution_engine = ImperativeEngine()

    def __new__(cls, data, requires_grad=False, volatile=None):
        out = data.detach() if isinstance(data, torch.Tensor) else torch.tensor(data)
        return out.requires_grad_(True) if requires_grad else out
