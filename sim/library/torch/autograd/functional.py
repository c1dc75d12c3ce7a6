import torch
import torch._C as _C


def _tensors(given, what):
    """Whether a tuple was given, and the tuple."""
    was_tuple = isinstance(given, tuple)
    tensors = given if was_tuple else (given,)
    for each in tensors:
        if not isinstance(each, torch.Tensor):
            raise TypeError(f"{what} must be a Tensor or a tuple of Tensors, not {type(each).__name__}")
    return was_tuple, tensors


def _like(was_tuple, tensors):
    return tensors if was_tuple else tensors[0]


def _entered(tensors, create_graph, wanted):
    """New tensors of the same memory, so that what a function closes over is not taken for its inputs."""
    return tuple([
        each.view_as(each) if create_graph and each.requires_grad else each.detach().requires_grad_(wanted)
        for each in tensors
    ])


def _left(tensors, create_graph):
    if create_graph:
        return tensors
    return tuple([each.detach() if isinstance(each, torch.Tensor) else _left(each, False) for each in tensors])


def _called(func, inputs, strict, name):
    outputs = func(*inputs)
    was_tuple, outputs = _tensors(outputs, f"the result of the function given to {name}")
    _depends(outputs, strict)
    return was_tuple, outputs


def _called_for_one(func, inputs, strict, name):
    was_tuple, outputs = _called(func, inputs, strict, name)
    if was_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].nelement() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return outputs


def _depends(tensors, strict):
    if strict and not all([each is not None and each.requires_grad for each in tensors]):
        raise RuntimeError("strict mode: a result does not depend on the inputs")


def _vector(v, of, create_graph, name):
    """v as a tuple like `of`; None where `of` is one number."""
    if v is None:
        if len(of) != 1 or of[0].nelement() != 1:
            raise RuntimeError(f"{name} without v needs a single Tensor with a single element")
        return None
    v = _entered(_tensors(v, "v")[1], create_graph, False)
    if [each.size() for each in v] != [each.size() for each in of]:
        raise RuntimeError("v has not the sizes of what it is multiplied with")
    return v


def _grad(outputs, inputs, seeds=None, create_graph=False, retain_graph=None):
    """autograd.grad of those outputs that require it; None for inputs that none of them depends on."""
    picked = [i for i in range(len(outputs)) if outputs[i] is not None and outputs[i].requires_grad]
    if not picked:
        return (None,) * len(inputs)
    return torch.autograd.grad(
        tuple([outputs[i] for i in picked]),
        inputs,
        tuple([None if seeds is None else seeds[i] for i in picked]),
        allow_unused=True,
        create_graph=create_graph,
        retain_graph=retain_graph,
    )


def _filled(grads, like, strict, create_graph):
    """Zeros where there is no gradient."""
    out = ()
    for i, grad in enumerate(grads):
        if grad is None:
            if strict:
                raise RuntimeError("strict mode: an output is independent of an input")
            grad = torch.zeros_like(like[i])
        elif create_graph:
            _depends((grad,), strict)
        out += (grad,)
    return out


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    with torch.enable_grad():
        of_inputs, inputs = _tensors(inputs, "inputs")
        inputs = _entered(inputs, create_graph, True)
        of_outputs, outputs = _called(func, inputs, strict, "vjp")
        v = _vector(v, outputs, create_graph, "vjp")
    with torch.set_grad_enabled(create_graph or torch.is_grad_enabled()):
        grads = _grad(outputs, inputs, v, create_graph)
        product = _filled(grads, inputs, strict, create_graph)
    outputs = _left(outputs, create_graph)
    product = _left(product, create_graph)
    return _like(of_outputs, outputs), _like(of_inputs, product)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    # The gradient of a gradient: it is linear in what it starts from, so that may be zero.
    with torch.enable_grad():
        of_inputs, inputs = _tensors(inputs, "inputs")
        inputs = _entered(inputs, create_graph, True)
        v = _vector(v, inputs, create_graph, "jvp")
        of_outputs, outputs = _called(func, inputs, strict, "jvp")
        seeds = tuple([torch.zeros_like(each, requires_grad=True) for each in outputs])
        first = _grad(outputs, inputs, seeds, True)
        _depends(first, strict)
    with torch.set_grad_enabled(create_graph or torch.is_grad_enabled()):
        grads = _grad(first, seeds, v, create_graph)
        product = _filled(grads, outputs, strict, create_graph)
    outputs = _left(outputs, create_graph)
    product = _left(product, create_graph)
    return _like(of_outputs, outputs), _like(of_outputs, product)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    with torch.enable_grad():
        of_inputs, inputs = _tensors(inputs, "inputs")
        inputs = _entered(inputs, create_graph, True)
        v = _vector(v, inputs, create_graph, "vhp")
        outputs = _called_for_one(func, inputs, strict, "vhp")
        first = _grad(outputs, inputs, None, True)
        _depends(first, strict)
    with torch.set_grad_enabled(create_graph or torch.is_grad_enabled()):
        grads = _grad(first, inputs, v, create_graph)
        product = _filled(grads, inputs, strict, create_graph)
    outputs = _left(outputs, create_graph)
    product = _left(product, create_graph)
    return outputs[0], _like(of_inputs, product)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    with torch.enable_grad():
        of_inputs, inputs = _tensors(inputs, "inputs")
        inputs = _entered(inputs, create_graph, True)
        v = _vector(v, inputs, create_graph, "hvp")
        outputs = _called_for_one(func, inputs, strict, "hvp")
        first = _grad(outputs, inputs, None, True)
        _depends(first, strict)
        seeds = tuple([torch.zeros_like(each, requires_grad=True) for each in inputs])
        second = _grad(first, inputs, seeds, True)
    with torch.set_grad_enabled(create_graph or torch.is_grad_enabled()):
        grads = _grad(second, seeds, v, create_graph)
        product = _filled(grads, inputs, strict, create_graph)
    outputs = _left(outputs, create_graph)
    product = _left(product, create_graph)
    return outputs[0], _like(of_inputs, product)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    if strategy == "forward-mode":
        _C.refuse("jacobian(strategy='forward-mode') is not modelled", "take reverse-mode")
    if vectorize:
        _C.refuse("jacobian(vectorize=True) is not modelled", "leave vectorize out")
    with torch.enable_grad():
        of_inputs, inputs = _tensors(inputs, "inputs")
        inputs = _entered(inputs, create_graph, True)
        of_outputs, outputs = _called(func, inputs, strict, "jacobian")
        result = ()
        # The last gradient lives until the end, as do the rows of the last output.
        for out in outputs:
            rows = tuple([[] for _ in range(len(inputs))])
            for j in range(out.nelement()):
                grads = _grad((out.reshape(-1)[j],), inputs, None, create_graph, True)
                for row, grad, like in zip(rows, grads, inputs):
                    if grad is not None:
                        _depends((grad,), strict and create_graph)
                        row.append(grad)
                    elif strict:
                        raise RuntimeError("strict mode: an output is independent of an input")
                    else:
                        row.append(torch.zeros_like(like))
            result += (
                tuple(torch.stack(each, dim=0).view(out.size() + inputs[i].size()) for i, each in enumerate(rows)),
            )
        result = _left(result, create_graph)
        if not of_inputs:
            return _like(of_outputs, tuple([each[0] for each in result]))
        return _like(of_outputs, result)


def hessian(
    func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"
):
    of_inputs, inputs = _tensors(inputs, "inputs")

    def one_number(*given):
        return _called_for_one(func, given, strict, "hessian")[0].squeeze()

    def first(*given):
        result = jacobian(one_number, given, create_graph=True)
        _depends(result, strict)
        return result

    result = jacobian(
        first, inputs, create_graph=create_graph, strict=strict, vectorize=vectorize, strategy=outer_jacobian_strategy
    )
    if not of_inputs:
        return result[0][0]
    return result
