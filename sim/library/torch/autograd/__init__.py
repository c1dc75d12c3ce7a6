import torch
import torch._C as _C
import torch.autograd.graph as graph
from torch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from torch.autograd.function import (
    BackwardHookFunction, Function, FunctionCtx, InplaceFunction, once_differentiable,
)
from torch.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from torch.autograd.gradcheck import gradcheck, gradgradcheck
from torch.autograd.variable import Variable


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


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None
):
    if create_graph:
        _C.refuse("grad(create_graph=True) is not modelled", "gradients of gradients are outside the model")
    t_outputs = _tensors(outputs)
    starts = _starts(t_outputs, [None] * len(t_outputs) if grad_outputs is None else _tensors(grad_outputs))
    return _C.gradients(t_outputs, starts, _tensors(inputs), bool(retain_graph))


def _profiler_enabled():
    return False


def _disable_profiler():
    pass
