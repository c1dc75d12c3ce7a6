from torch._functorch.apis import vmap


def _tied(module, given):
    """the given tensors for every name under which a module holds what they replace"""
    held, out = {}, {}
    for name, child in module.named_modules():
        for own, tensor in child._parameter_items() + child._buffer_items():
            if tensor is not None:
                held[f"{name}.{own}" if name else own] = tensor
    for name, tensor in given.items():
        if name not in held:
            raise RuntimeError(f"Unexpected key(s): {name}.")
        for other, before in held.items():
            if before is held[name] and (other == name or other not in given):
                out[other] = tensor
    return out


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    given = parameter_and_buffer_dicts
    if isinstance(given, (tuple, list)):
        given = {name: tensor for part in given for name, tensor in part.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    before = []
    for name, tensor in (_tied(module, given) if tie_weights else given).items():
        path, _, own = name.rpartition(".")
        child = module.get_submodule(path)
        parameters = dict(child._parameter_items())
        is_parameter = own in parameters
        before.append((child, own, is_parameter, parameters[own] if is_parameter else getattr(child, own)))
        child._set_parameter(own, tensor) if is_parameter else child._set_buffer(own, tensor, True)
    parameters = tensor = given = None
    try:
        return module(*args, **({} if kwargs is None else kwargs))
    finally:
        for child, own, is_parameter, held in before:
            child._set_parameter(own, held) if is_parameter else child._set_buffer(own, held, True)
