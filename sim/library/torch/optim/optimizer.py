import copy
import functools
import torch
import torch._C as _C
from torch.utils._foreach_utils import (
    _get_foreach_kernels_supported_devices, _group_tensors_by_device_and_dtype,
)
from collections import defaultdict


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()


class _Handle:
    """what register_step_*_hook gives: remove() takes the hook away"""

    def __init__(self, hooks, key):
        self.hooks, self.key = hooks, key

    def remove(self):
        self.hooks.pop(self.key, None)


_stepping = []  # optimizers of the user's own whose step() is under way, the outermost first


class Optimizer:
    def __init__(self, params, defaults):
        _C.set_trains()
        self.defaults = defaults
        own = self.__class__.step
        if own is not Optimizer.step and not getattr(own, "hooked", False):
            self.__class__.step = self.profile_hook_step(own)
            self.__class__.step.hooked = True
        self.state = defaultdict(dict)
        self.param_groups = []
        param_groups = list(params)
        if len(param_groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(param_groups[0], dict):
            param_groups = [{"params": param_groups}]
        for group in param_groups:
            self.add_param_group(dict(group))

    def add_param_group(self, group):
        params = group["params"]
        group["params"] = [params] if isinstance(params, torch.Tensor) else list(params)
        if group["params"] and isinstance(group["params"][0], tuple):
            group["params"] = [p for name, p in group["params"]]
        for p in group["params"]:
            if not isinstance(p, torch.Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + type(p).__name__)
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, default)
        self.param_groups.append(group)

    _keep = staticmethod(_C.as_optimizer_state)

    @staticmethod
    def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
        return _group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def zero_grad(self, set_to_none=True):
        left = _C.leave_graph("zero_grad")
        _C.begin("zero_grad")
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    p.grad.requires_grad_(False)
                    p.grad.zero_()
        if left:
            _C.enter_graph()

    def state_dict(self):
        """parameters by number; the tensors of the state are the optimizer's own"""
        number = {}
        groups = []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            for p in group["params"]:
                if p not in number:
                    number[p] = len(number)
            packed["params"] = [number[p] for p in group["params"]]
            groups.append(packed)
        return {
            "state": {number[p] if p in number else p: value for p, value in self.state.items()},
            "param_groups": groups,
        }

    def load_state_dict(self, state_dict):
        """the given state, not a copy of it where type and place are the parameter's"""
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        param_of = {}
        for group, given in zip(self.param_groups, saved):
            if len(group["params"]) != len(given["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                )
            for p, number in zip(group["params"], given["params"]):
                param_of[number] = p
        moved = {p: group.get("fused") or group.get("capturable") for group in saved for p in group["params"]}
        state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            if number in param_of:
                state[param_of[number]] = self._placed(param_of[number], moved[number], values, None)
            else:
                state[number] = values
        for group, given in zip(self.param_groups, saved):
            given["params"] = group["params"]
        self.state, self.param_groups = state, saved

    def _placed(self, p, moved, value, key):
        if isinstance(value, torch.Tensor):
            if key == "step":
                return value.to(dtype=torch.float32, device=p.device) if moved else value
            return value.to(dtype=p.dtype, device=p.device) if p.is_floating_point() else value.to(device=p.device)
        if isinstance(value, dict):
            return {k: self._placed(p, moved, v, k) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._placed(p, moved, v, key) for v in value]
        return value

    def register_step_post_hook(self, hook):
        return self._add_hook("_post_hooks", hook)

    def register_step_pre_hook(self, hook):
        return self._add_hook("_pre_hooks", hook)

    def _add_hook(self, kind, hook):
        if not hasattr(self, kind):
            setattr(self, kind, {})
        hooks = getattr(self, kind)
        key = max(hooks, default=-1) + 1
        hooks[key] = hook
        return _Handle(hooks, key)

    def _run_hooks(self, kind, closure):
        for hook in list(getattr(self, kind, {}).values()):
            args = (self,) if closure is None else (self, closure)
            if hook(self, args, {}) is not None:
                _C.refuse("an optimizer's hook that replaces arguments is not modelled", "return None from it")

    @staticmethod
    def profile_hook_step(func):
        """a step() that another class wrote, with what belongs round every step. Source: torch.optim.Optimizer"""

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            self, *_ = args
            _C.begin("optimizer")
            for hook in list(getattr(self, "_pre_hooks", {}).values()):
                result = hook(self, args, kwargs)
                if result is not None:
                    if not isinstance(result, tuple) or len(result) != 2:
                        raise RuntimeError(
                            f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                        )
                    args, kwargs = result
            _stepping.append(self)
            try:
                out = func(*args, **kwargs)
            finally:
                _stepping.pop()
            for hook in list(getattr(self, "_post_hooks", {}).values()):
                hook(self, args, kwargs)
            if isinstance(self.state, dict):
                _C.keep_optimizer_state(self.state)
            if not _stepping:
                _C.end_step()
            return out

        return wrapper

    def step(self, closure=None):
        loss = None
        own_hooks = self not in _stepping
        left = _C.leave_graph("a step of an optimizer")
        was_fused = self._begin_compiled() if left else None
        _C.begin("optimizer")
        if own_hooks:
            self._run_hooks("_pre_hooks", closure)
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        before = _C.grad_enabled()
        _C.set_grad_enabled(False)
        try:
            self._step()
        finally:
            _C.set_grad_enabled(before)
        if own_hooks:
            self._run_hooks("_post_hooks", closure)
        if not _stepping:
            _C.end_step()
        if left:
            for group, fused in zip(self.param_groups, was_fused):
                group["fused"] = fused
            _C.enter_graph()
        return loss

    def _begin_compiled(self):
        """compiled, a step counts on the device, and needs no memory: lists of loops that write in place"""
        if any("fused" not in group for group in self.param_groups):
            _C.refuse(
                f"{type(self).__name__}.step() in compiled code is not modelled",
                "'--compile eager' runs compiled code as eager, and says how far that errs: docs/compile.md",
            )
        was = [group["fused"] for group in self.param_groups]
        for group in self.param_groups:
            group["fused"] = True
            if "capturable" in group:
                group["capturable"] = True
        return was

    def __repr__(self):
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            for key in sorted(group):
                if key != "params":
                    lines.append(f"    {key}: {group[key]}")
        return "\n".join(lines) + "\n)"


def _grouped(lists):
    """lists of tensors, parallel, split by device and dtype of the first; in the order of PyTorch's table"""
    return _C.group_tensors(lists).values()


def _use_foreach(params, foreach, fused):
    """the default: lists of tensors where all are on the GPU"""
    if foreach is None and fused is None:
        return _C.all_on_cuda(params)
    return bool(foreach)


def _check_range(name, value, low=0.0, high=None):
    if isinstance(value, torch.Tensor):
        return
    if value < low or (high is not None and value >= high):
        raise ValueError(f"Invalid {name}: {value}")


ParamsT = object  # what annotations say of parameters


def _get_capturable_supported_devices(supports_xla=True):
    return ["cuda", "xpu", "hpu"] + (["xla"] if supports_xla else [])


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    if differentiable:
        return False, False
    foreach = all(
        p is None
        or type(p) in (torch.Tensor, torch.nn.Parameter)
        and p.device.type in _get_foreach_kernels_supported_devices()
        for p in params
    )
    fused = use_fused and all(p is None or p.is_cuda and p.is_floating_point() for p in params)
    return fused, not fused and foreach


def _use_grad_for_differentiable(func):
    """runs an optimizer's step() with gradients off, or on where the optimizer is differentiable"""

    @functools.wraps(func)
    def _use_grad(*args, **kwargs):
        with torch.set_grad_enabled(args[0].defaults.get("differentiable", False)):
            return func(*args, **kwargs)

    return _use_grad
