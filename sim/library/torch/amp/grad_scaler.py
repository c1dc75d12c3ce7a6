import _tidemark
import torch


class _Replicator:
    """copies of one tensor, one a device, made when asked for"""

    def __init__(self, master):
        self.master = master
        self.copies = {}

    def get(self, device):
        found = self.copies.get(device)
        if found is None:
            found = self.master.to(device=device, non_blocking=True, copy=True)
            self.copies[device] = found
        return found


def _tell_ranks(grad, found):
    """all ranks that have parts of a gradient hear of an infinity. Source: torch.distributed.tensor._dispatch"""
    from torch.distributed.tensor import DTensor, Partial

    placements = [p if p.is_replicate() else Partial("max") for p in grad.placements]
    total = DTensor.from_local(found, grad.device_mesh, placements).full_tensor()
    found.copy_(total)


class GradScaler:
    """gradients are taken not to overflow, unless the user says that a step's do: then it is left out"""

    _allows_fp16 = False

    def __init__(self, device="cuda", init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        self._device, self._enabled, self._init_scale = device, enabled, init_scale
        self._growth_factor, self._backoff_factor, self._growth_interval = (
            growth_factor,
            backoff_factor,
            growth_interval,
        )
        self._scale, self._growth_tracker = None, None
        self._states = []
        self._may_have_grown, self._left_out = False, False

    def _state_of(self, optimizer):
        for known, state in self._states:
            if known is optimizer:
                return state
        state = {"stage": "ready", "found_inf_per_device": {}}
        self._states.append((optimizer, state))
        return state

    def _make(self, device):
        self._scale = torch.full((), self._init_scale, dtype=torch.float32, device=device)
        self._growth_tracker = torch.full((), 0, dtype=torch.int32, device=device)

    def scale(self, outputs):
        if not self._enabled:
            return outputs
        if isinstance(outputs, torch.Tensor):
            if self._scale is None:
                self._make(outputs.device)
            return outputs * self._scale.to(device=outputs.device, non_blocking=True)
        return type(outputs)([self.scale(value) for value in outputs])

    def _unscale_grads_(self, optimizer, inv_scale, found_inf):
        per_device_inv_scale = _Replicator(inv_scale)
        per_device_found_inf = _Replicator(found_inf)
        grads = {}
        with torch.no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    if param.grad is None:
                        continue
                    if param.grad.dtype == torch.float16 and not self._allows_fp16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    grads.setdefault((param.grad.device, param.grad.dtype), []).append(param.grad)
            for (device, dtype), tensors in grads.items():
                found = per_device_found_inf.get(device)
                per_device_inv_scale.get(device)
                torch._amp_unscale_(tensors)
                if torch._C.spec_of(tensors[0]) is not None:
                    _tell_ranks(tensors[0], found)
        return per_device_found_inf.copies

    def _to_unscale(self, optimizer):
        """the optimizer's state. Errors: it is not its turn"""
        if self._scale is None:
            raise AssertionError(
                "Attempted unscale_ but _scale is None.  This may indicate your script did not "
                "use scaler.scale(loss or outputs) earlier in the iteration."
            )
        state = self._state_of(optimizer)
        if state["stage"] == "unscaled":
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] == "stepped":
            raise RuntimeError("unscale_() is being called after step().")
        return state

    def unscale_(self, optimizer):
        if not self._enabled:
            return
        state = self._to_unscale(optimizer)
        inv_scale = self._scale.double().reciprocal().float()
        found_inf = torch.full((), 0.0, dtype=torch.float32, device=self._scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inv_scale, found_inf)
        state["stage"] = "unscaled"

    def _check_inf_per_device(self, optimizer):
        inv_scale = torch.full((), 1.0, dtype=torch.float32, device=self._scale.device)
        found_inf = torch.full((), 0.0, dtype=torch.float32, device=self._scale.device)
        self._state_of(optimizer)["found_inf_per_device"] = self._unscale_grads_(optimizer, inv_scale, found_inf)

    def step(self, optimizer, *args, **kwargs):
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if self._scale is None:
            raise AssertionError(
                "Attempted step but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )
        state = self._state_of(optimizer)
        if state["stage"] == "stepped":
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            if state["stage"] == "ready":
                self._check_inf_per_device(optimizer)
            scaler = self._scale
            found_inf = sum([t.to(scaler.device, non_blocking=True) for t in state["found_inf_per_device"].values()])
            optimizer.grad_scale = None if state["stage"] == "unscaled" else scaler * 1
            optimizer.found_inf = found_inf
            result = optimizer.step(*args, **kwargs)
            state["stage"] = "stepped"
            del optimizer.grad_scale
            del optimizer.found_inf
            return result
        if state["stage"] == "ready":
            self.unscale_(optimizer)
        for found in state["found_inf_per_device"].values():
            torch._C.forget(found)
            torch._C.assume(found, 0.0)
        result = None
        if sum(found.item() for found in state["found_inf_per_device"].values()):
            self._left_out = True
        else:
            result = optimizer.step(*args, **kwargs)
        state["stage"] = "stepped"
        return result

    def update(self, new_scale=None):
        if not self._enabled:
            return
        if new_scale is None:
            found_infs = [found.to(device=self._scale.device, non_blocking=True) for optimizer, state in self._states
                          for found in state["found_inf_per_device"].values()]
            combined = found_infs[0]
            for i in range(1, len(found_infs)):
                combined += found_infs[i]
            self._follow()
        else:
            self._may_have_grown = False
            self._init_scale = new_scale if isinstance(new_scale, float) else new_scale.item()
        self._states = []

    def _follow(self):
        """the scale after a step; its growth is not counted, so that one step is like another"""
        if self._left_out:
            self._init_scale *= self._backoff_factor
        self._may_have_grown, self._left_out = True, False

    def get_scale(self):
        if not self._enabled:
            return 1.0
        if self._may_have_grown:
            _tidemark.note("the scale of GradScaler is read: it is taken not to have grown")
        return self._init_scale

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def _get_growth_tracker(self):
        return torch._C.unknown_number(True) if self._enabled and self._may_have_grown else 0

    def is_enabled(self):
        return self._enabled

    def state_dict(self):
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker()
        }

    def load_state_dict(self, state_dict):
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved "
                "from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._may_have_grown = True
