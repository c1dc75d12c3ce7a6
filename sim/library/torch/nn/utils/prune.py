import torch
import torch._C as _C


def _count(amount, size):
    """how many of `size` go: a number of them, or a part of all"""
    if isinstance(amount, int):
        return amount
    return round(amount * size)


class BasePruningMethod:
    """a hook that makes the pruned tensor of the original and its mask before each forward"""

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t, default_mask):
        raise NotImplementedError

    def apply_mask(self, module):
        mask = getattr(module, self._tensor_name + "_mask")
        orig = getattr(module, self._tensor_name + "_orig")
        pruned_tensor = mask.to(dtype=orig.dtype) * orig
        return pruned_tensor

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        if name + "_orig" in dict(module.named_parameters(recurse=False)):
            _C.refuse("pruning a tensor that is pruned already is not modelled: what is pruned next depends on values",
                      "call prune.remove() first")
        method = cls(*args, **kwargs)
        method._tensor_name = name
        orig = getattr(module, name)
        if importance_scores is None:
            importance_scores = orig
        module.register_parameter(name + "_orig", orig)
        delattr(module, name)
        default_mask = torch.ones_like(orig)
        mask = method.compute_mask(importance_scores, default_mask=default_mask)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        method._handle = module.register_forward_pre_hook(method)
        pruned = getattr(module, "_pruned_by", {})
        pruned[name] = method
        module._pruned_by = pruned
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        if default_mask is None:
            default_mask = torch.ones_like(t)
        return t * self.compute_mask(t if importance_scores is None else importance_scores, default_mask=default_mask)

    def remove(self, module):
        weight = self.apply_mask(module)
        delattr(module, self._tensor_name)
        orig = dict(module.named_parameters(recurse=False))[self._tensor_name + "_orig"]
        orig.data = weight.data
        delattr(module, self._tensor_name + "_orig")
        delattr(module, self._tensor_name + "_mask")
        setattr(module, self._tensor_name, orig)


class Identity(BasePruningMethod):
    def compute_mask(self, t, default_mask):
        return default_mask


class RandomUnstructured(BasePruningMethod):
    def __init__(self, amount):
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count != 0:
            prob = torch.rand_like(t)
            topk = torch.topk(prob.view(-1), k=count)
            mask.view(-1)[topk.indices] = 0
        return mask


class L1Unstructured(BasePruningMethod):
    def __init__(self, amount):
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count != 0:
            topk = torch.topk(torch.abs(t).view(-1), k=count, largest=False)
            mask.view(-1)[topk.indices] = 0
        return mask


def _channel_mask(t, dim, indices):
    mask = torch.zeros_like(t)
    slc = [slice(None)] * len(t.shape)
    slc[dim] = indices
    mask[tuple(slc)] = 1
    return mask


class LnStructured(BasePruningMethod):
    def __init__(self, amount, n, dim=-1):
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t, default_mask):
        channels = t.shape[self.dim]
        count = _count(self.amount, channels)
        kept = channels - count
        dims = list(range(t.dim()))
        dims.pop(self.dim)
        norm = torch.norm(t, p=self.n, dim=dims)
        topk = torch.topk(norm, k=kept, largest=True)
        if count == 0:
            return default_mask
        mask = _channel_mask(t, self.dim, topk.indices)
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(BasePruningMethod):
    def __init__(self, amount, dim=-1):
        self.amount, self.dim = amount, dim

    def compute_mask(self, t, default_mask):
        _C.refuse("prune.random_structured is not modelled: what it selects depends on values", "use ln_structured")


class CustomFromMask(BasePruningMethod):
    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module, name):
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    _C.refuse(
        "prune.global_unstructured is not modelled: what it selects depends on values", "prune each tensor by itself"
    )


def remove(module, name):
    pruned = getattr(module, "_pruned_by", {})
    if name not in pruned:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    method = pruned.pop(name)
    method.remove(module)
    method._handle.remove()
    return module


def is_pruned(module):
    return any(len(getattr(part, "_pruned_by", {})) > 0 for part in module.modules())
