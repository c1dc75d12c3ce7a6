import torch
import torch._C as _C
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

# A module that is its own DistributedDataParallel: made over its parameters, without its buffers, when it first runs.
# Source: torch.distributed._composable.replicate

_classes = {}


class _State:
    def __init__(self, module, ignored, kwargs):
        self.module, self.ignored, self.kwargs = module, ignored, kwargs
        self.ddp, self.no_sync, self.hooks = None, False, []

    def _collect(self, module, into):
        if module in self.ignored or type(module).__name__.startswith("FSDP"):
            return
        for p in module._parameters.values():
            if p is not None:
                into.append(p)
        for child in module.children():
            self._collect(child, into)

    def _init(self):
        params = nn.ParameterList()
        self._collect(self.module, params)
        if any([_C.spec_of(p) is not None for p in params]):
            _C.refuse("replicate() of DTensors is not modelled", "shard them: fully_shard(module, mesh=mesh)")
        kwargs = dict(self.kwargs)
        if "device_id" in kwargs:
            device = kwargs.pop("device_id")
            kwargs["device_ids"] = None if device is None else [device]
        self.ddp = DistributedDataParallel(params, **kwargs)
        for args, named in self.hooks:
            self.ddp.register_comm_hook(*args, **named)

    def before(self, module, args, kwargs):
        if self.ddp is None:
            self._init()
        self.ddp.require_backward_grad_sync = not self.no_sync
        return self.ddp._pre_forward(*args, **kwargs)

    def after(self, module, args, output):
        return self.ddp._post_forward(output)


class DDP:
    def set_requires_gradient_sync(self, requires_gradient_sync):
        self._replicate_state.no_sync = not requires_gradient_sync

    def register_comm_hook(self, *args, **kwargs):
        self._replicate_state.hooks.append((args, kwargs))


def replicate(module, ignored_modules=None, **kwargs):
    state = _State(module, set() if ignored_modules is None else set(ignored_modules), kwargs)
    module.register_forward_pre_hook(state.before, with_kwargs=True)
    module.register_forward_hook(state.after)
    module.__dict__["_replicate_state"] = state
    cls = type(module)
    if cls not in _classes:
        _classes[cls] = type("DDP" + cls.__name__, (DDP, cls), {})
    module.__class__ = _classes[cls]
    return module
