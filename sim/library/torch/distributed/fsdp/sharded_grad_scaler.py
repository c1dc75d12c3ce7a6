import torch
import torch.distributed as dist
from torch.amp.grad_scaler import GradScaler


class ShardedGradScaler(GradScaler):
    """all ranks hear of an infinity that one of them finds"""

    _allows_fp16 = True

    def __init__(
        self, device="cuda", init_scale=2.0 ** 16, backoff_factor=0.5, growth_factor=2.0, growth_interval=2000,
        enabled=True, process_group=None
    ):
        super().__init__(
            device, init_scale=init_scale, backoff_factor=backoff_factor, growth_factor=growth_factor,
            growth_interval=growth_interval, enabled=enabled
        )
        self.process_group = process_group

    def scale(self, outputs):
        """losses in the type that they came in: low precision stays low"""
        scaled = super().scale(outputs)
        return scaled.type(outputs.dtype) if self._enabled and isinstance(outputs, torch.Tensor) else scaled

    def _unscale_grads_(self, optimizer, inv_scale, found_inf):
        found = super()._unscale_grads_(optimizer, inv_scale, found_inf)
        if not found:  # a rank without any part of a parameter
            found[self._scale.device] = found_inf.to(device=self._scale.device, non_blocking=True, copy=True)
        return found

    def unscale_(self, optimizer):
        if not self._enabled:
            return
        state = self._to_unscale(optimizer)
        inv_scale = self._scale.double().reciprocal().float()
        found_inf = torch.full((1,), 0.0, dtype=torch.float32, device=self._scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inv_scale, found_inf)
        state["stage"] = "unscaled"
        works = []
        for found_inf in state["found_inf_per_device"].values():
            works.append(dist.all_reduce(found_inf, async_op=True, group=self.process_group))
        for work in works:
            work.wait()
