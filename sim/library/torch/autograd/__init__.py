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
    return [value] if isinstance(value, (torch.Tensor, graph.GradientEdge)) else list(value)


def _starts(outputs, given):
    """the gradients that backward starts from: ones of a scalar"""
    starts = []
    for output, start in zip(outputs, given):
        if start is None and isinstance(output, graph.GradientEdge):
            raise RuntimeError("gradients of GradientEdges have to be given")
        if start is None and output.requires_grad:
            if output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            start = torch.ones_like(output, memory_format=torch.preserve_format)
        starts.append(start)
    return starts


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    if retain_graph is None:
        retain_graph = create_graph
    left = _C.leave_graph("a backward pass")
    tensors = _tensors(tensors)
    starts = _starts(tensors, [None] * len(tensors) if grad_tensors is None else _tensors(grad_tensors))
    _C.backward(tensors, starts, bool(retain_graph), () if inputs is None else _tensors(inputs), bool(create_graph))
    if left:
        _C.enter_graph()


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
    is_grads_batched=False, materialize_grads=False
):
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if is_grads_batched:
        _C.refuse("grad(is_grads_batched=True) is not modelled", "ask for one gradient at a time")
    if retain_graph is None:
        retain_graph = create_graph
    t_outputs = _tensors(outputs)
    starts = _starts(t_outputs, [None] * len(t_outputs) if grad_outputs is None else _tensors(grad_outputs))
    t_inputs = _tensors(inputs)
    if not t_inputs:
        raise ValueError("grad requires non-empty inputs.")
    if len(starts) != len(t_outputs):
        raise RuntimeError(f"got {len(t_outputs)} tensors and {len(starts)} gradients")
    gradients = _C.gradients(t_outputs, starts, t_inputs, bool(retain_graph), bool(create_graph))
    if materialize_grads:
        return tuple(
            [torch.zeros_like(x, requires_grad=False) if each is None else each for each, x in zip(gradients, t_inputs)]
        )
    if not allow_unused and any([each is None for each in gradients]):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. "
            "Set allow_unused=True if this is the desired behavior."
        )
    return gradients


def _is_checkpoint_valid():
    return _C._is_checkpoint_valid()


def _profiler_enabled():
    return False


def _disable_profiler():
    pass
