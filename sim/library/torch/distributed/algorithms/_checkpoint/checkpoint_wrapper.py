import torch
from enum import Enum, auto
from torch import nn
from torch.utils.checkpoint import checkpoint

_INSIDE = "_checkpoint_wrapped_module."


class CheckpointImpl(Enum):
    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(nn.Module):
    """a module around another, of which names and states tell nothing"""

    def __init__(self, mod):
        super().__init__()
        self._checkpoint_wrapped_module = mod

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_checkpoint_wrapped_module"), name)

    def __getitem__(self, key):
        return self._checkpoint_wrapped_module[key]

    def state_dict(self, destination=None, prefix="", keep_vars=False):
        return self._checkpoint_wrapped_module.state_dict(destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict, prefix, *args):
        for key in list(state_dict):
            if key.startswith(prefix):
                state_dict[prefix + _INSIDE + key[len(prefix):]] = state_dict.pop(key)

    def named_parameters(self, *args, **kwargs):
        for name, param in super().named_parameters(*args, **kwargs):
            yield name.replace(_INSIDE, ""), param


class OffloadWrapper(ActivationWrapper):
    """what is saved for backward lies on the host until then"""

    def forward(self, *args, **kwargs):
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """a module that is recomputed in backward"""

    def __init__(self, mod, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **checkpoint_fn_kwargs):
        super().__init__(mod)
        self._checkpoint_fn, self._options = checkpoint_fn, checkpoint_fn_kwargs
        self._use_reentrant = checkpoint_impl == CheckpointImpl.REENTRANT

    def forward(self, *args, **kwargs):
        if self._checkpoint_fn is not None:
            return self._checkpoint_fn(self._checkpoint_wrapped_module, *args, **self._options, **kwargs)
        return checkpoint(
            self._checkpoint_wrapped_module, *args, use_reentrant=self._use_reentrant, **self._options, **kwargs
        )


def offload_wrapper(module):
    return OffloadWrapper(module)


def checkpoint_wrapper(module, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **checkpoint_fn_kwargs):
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model, checkpoint_wrapper_fn=checkpoint_wrapper, check_fn=lambda _: True, auto_wrap_policy=None
):
    from torch.distributed.fsdp.wrap import CustomPolicy, recursive_wrap

    policy = CustomPolicy(check_fn) if auto_wrap_policy is None else auto_wrap_policy
    recursive_wrap(model, policy, checkpoint_wrapper_fn)
