import collections

import _tidemark
import torch
from torch.autograd.graph import GradientEdge, _get_grad_fn_or_grad_acc

# A stage's backward pass, whole or in two halves: gradients of what came in first, those of parameters later. Source:
# torch.distributed.pipelining._backward. Of a group, parameters and nodes are sets in PyTorch, which are walked in the
# order of their addresses: chance. Here it is the order in which they were found, or, as its other end, the reverse.


def _tensors_and_gradients(output, grad, tensors, gradients):
    """what backward starts from, and with which gradients"""
    if isinstance(output, torch.Tensor):
        if output.requires_grad:
            tensors.append(output)
            gradients.append(grad)
    elif isinstance(output, (tuple, list)) and grad is not None:
        for each, its_grad in zip(output, grad):
            _tensors_and_gradients(each, its_grad, tensors, gradients)
    elif isinstance(output, dict) and grad is not None:
        for key in output:
            _tensors_and_gradients(output[key], grad[key], tensors, gradients)


def stage_backward(stage_output, output_grads, input_values):
    """gradients of a stage's parameters, which are added up, and of its inputs, which are handed on"""
    stage_output_tensors, output_grad_tensors = [], []
    _tensors_and_gradients(stage_output, output_grads, stage_output_tensors, output_grad_tensors)
    torch.autograd.backward(stage_output_tensors, grad_tensors=output_grad_tensors)
    grad_inputs = []
    for val in input_values:
        if isinstance(val, torch.Tensor):
            grad_inputs.append(val.grad)
            val.grad = None
        else:
            grad_inputs.append(None)
    return tuple(grad_inputs)


def _nodes_of(tensors):
    return [node for node in [_get_grad_fn_or_grad_acc(t) for t in tensors] if node is not None]


def construct_reverse_graph(roots):
    """by node: those that its gradients come from"""
    reverse_edges, queue = collections.defaultdict(list), collections.deque(dict.fromkeys(roots))
    while queue:
        node = queue.popleft()
        for fn, _ in node.next_functions:
            if fn is not None:
                if len(reverse_edges[fn]) == 0:
                    queue.append(fn)
                reverse_edges[fn].append(node)
    return reverse_edges


def reverse_closure(roots, target_nodes, reverse_edges):
    """what leads to `roots`, as far as `target_nodes`; those of them that were met"""
    closure, visited = dict.fromkeys(roots), {}
    queue = collections.deque(closure)
    while queue:
        for fn in reverse_edges[queue.popleft()]:
            if fn in closure:
                continue
            if fn in target_nodes:
                visited[fn] = None
                continue
            closure[fn] = None
            queue.append(fn)
    return closure, visited


def get_param_groups(inputs, params, reverse_edges):
    """parameters that are reached through the same nodes on the way to the inputs"""
    inputs_closure, _ = reverse_closure(inputs, {}, reverse_edges)
    param_groups = {}
    for param in params:
        _, intersected = reverse_closure([param], inputs_closure, reverse_edges)
        param_group = {"params": {param: None}, "intermediates": intersected}
        for input_node in intersected:
            existing = param_groups.get(input_node)
            if existing is None:
                param_groups[input_node] = param_group
                continue
            for kind in ("params", "intermediates"):
                existing[kind] = {**existing[kind], **param_group[kind]}
            param_group = existing
    seen, unique = set(), []
    for param_group in param_groups.values():
        if id(param_group) not in seen:
            seen.add(id(param_group))
            unique.append(param_group)
    if _tidemark.takes_late_ends():
        for param_group in unique:
            for kind in ("params", "intermediates"):
                param_group[kind] = dict(reversed(list(param_group[kind].items())))
    return unique


def _keeps_gradients(param_group, i):
    def hook(grad_inputs):
        if param_group.get("grads") is None:
            param_group["grads"] = [None] * len(param_group["intermediates"])
        param_group["grads"][i] = grad_inputs

    return hook


def stage_backward_input(stage_outputs_or_loss, output_grads, input_values, weights):
    """gradients of the inputs alone, and what those of parameters need: nodes, and what came in there"""
    output_nodes = _nodes_of(stage_outputs_or_loss)
    input_nodes = _nodes_of(input_values)
    weight_nodes = _nodes_of(weights)
    reverse_edges = construct_reverse_graph(output_nodes)
    param_groups = get_param_groups(input_nodes, weight_nodes, reverse_edges)
    handles = []
    for param_group in param_groups:
        for i, intermediate in enumerate(param_group["intermediates"]):
            handles.append(intermediate.register_prehook(_keeps_gradients(param_group, i)))
    if output_grads is None:
        output_grads = [torch.ones_like(stage_output) for stage_output in stage_outputs_or_loss]
    input_values = [inp for inp in input_values if inp.requires_grad]
    dinputs = torch.autograd.grad(
        stage_outputs_or_loss, inputs=input_values, grad_outputs=output_grads, retain_graph=True
    )
    for inp, dinput in zip(input_values, dinputs):
        if inp.grad is None:
            inp.grad = dinput
        else:
            inp.grad += dinput
    for t in stage_outputs_or_loss:
        t.detach_()
    for handle in handles:
        handle.remove()
    return dinputs, param_groups


def stage_backward_weight(weights, param_groups, retain_graph=False):
    """gradients of the parameters, group by group"""
    grad_acc_to_weight = {}
    weight_grads = []
    for weight in weights:
        grad_acc_to_weight[_get_grad_fn_or_grad_acc(weight)] = weight
        weight_grads.append(weight.grad)
    for param_group in param_groups:
        valid_edges, valid_grad_outputs = [], []
        for grads_tuple, intermediate in zip(param_group["grads"], param_group["intermediates"]):
            non_none_grads = [g for g in grads_tuple if g is not None]
            if non_none_grads:
                summed_grad = sum(non_none_grads)
                valid_edges.append(GradientEdge(intermediate, 0))
                valid_grad_outputs.append(summed_grad)
        del param_group["intermediates"]
        if valid_edges:
            weights_edges = tuple([GradientEdge(w, 0) for w in param_group["params"]])
            dweights = torch.autograd.grad(
                valid_edges, weights_edges, grad_outputs=valid_grad_outputs, retain_graph=retain_graph
            )
            del param_group["grads"]
            for grad_acc, dw in zip(param_group["params"], dweights):
                weight = grad_acc_to_weight[grad_acc]
                if weight.grad is None:
                    weight.grad = dw
                else:
                    weight.grad += dw
    return tuple(weight_grads)
