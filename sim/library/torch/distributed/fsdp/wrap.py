from torch import nn


class _Wrapping:
    """what wrap() does where it is called: the class and its arguments, None outside enable_wrap()"""

    now = None


class enable_wrap:
    def __init__(self, *, wrapper_cls, **wrapper_kwargs):
        self._own, self._outer = (wrapper_cls, wrapper_kwargs), None

    def __enter__(self):
        self._outer, _Wrapping.now = _Wrapping.now, self._own

    def __exit__(self, *error):
        _Wrapping.now = self._outer
        return False


def wrap(module, **wrap_overrides):
    """the module wrapped as enable_wrap() says; as it is outside"""
    if _Wrapping.now is None:
        return module
    wrapper_cls, wrapper_kwargs = _Wrapping.now
    return wrapper_cls(module, **{**wrapper_kwargs, **wrap_overrides})


def _or_policy(module, recurse, nonwrapped_numel, policies):
    return any([policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel) for policy in policies])


def always_wrap_policy(*args, **kwargs):
    return True


def lambda_auto_wrap_policy(module, recurse, nonwrapped_numel, lambda_fn):
    return True if recurse else lambda_fn(module)


def transformer_auto_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls):
    return True if recurse else isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(
    module, recurse, nonwrapped_numel, min_num_params=int(1e8), force_leaf_modules=None, exclude_wrap_modules=None
):
    is_large = nonwrapped_numel >= min_num_params
    if recurse:
        leaves = (nn.MultiheadAttention,) if force_leaf_modules is None else tuple(force_leaf_modules)
        return is_large and not isinstance(module, leaves)
    never = (nn.ModuleList, nn.ModuleDict) if exclude_wrap_modules is None else tuple(exclude_wrap_modules)
    return is_large and not isinstance(module, never)


class ModuleWrapPolicy:
    def __init__(self, module_classes):
        self._module_classes = tuple(module_classes)

    def __call__(self, module, recurse, nonwrapped_numel=-1, **kwargs):
        return True if recurse else isinstance(module, self._module_classes)


class CustomPolicy:
    def __init__(self, lambda_fn):
        self._lambda_fn = lambda_fn

    def __call__(self, module, recurse, nonwrapped_numel=-1, **kwargs):
        """False, True, or options of that unit, as a dict"""
        return True if recurse else self._lambda_fn(module)


def recursive_wrap(module, policy, wrap, is_root=True, ignored=((), ())):
    """wraps what the policy names, the innermost first: (the module or what wraps it, how much of it is wrapped).
    `ignored`: modules and ids of parameters that are left alone"""
    numel = sum([p.numel() for p in module.parameters() if id(p) not in ignored[1]])
    if not policy(module=module, recurse=True, nonwrapped_numel=numel):
        return module, 0
    wrapped = 0
    for name, child in list(module.named_children()):
        if any([child is each for each in ignored[0]]):
            continue
        new, count = recursive_wrap(child, policy, wrap, False, ignored)
        if new is not child:
            setattr(module, name, new)
        wrapped += count
    chosen = not is_root and policy(module=module, recurse=False, nonwrapped_numel=numel - wrapped)
    if chosen:
        return wrap(module, **chosen) if isinstance(chosen, dict) else wrap(module), numel
    return module, wrapped
