# module: torch.optim.swa_utils
# defines: AveragedModel get_ema_multi_avg_fn get_swa_multi_avg_fn get_ema_avg_fn get_swa_avg_fn
import copy
import torch
from torch.nn import Module


def get_ema_multi_avg_fn(decay=0.999):
    @torch.no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        torch._foreach_lerp_(ema_param_list, current_param_list, 1 - decay)

    return ema_update


def get_swa_multi_avg_fn():
    @torch.no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        torch._foreach_lerp_(averaged_param_list, current_param_list, 1)

    return swa_update


def get_ema_avg_fn(decay=0.999):
    @torch.no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    @torch.no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers
        self.updates = 0

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        own = list(self.module.parameters())
        new = list(model.parameters())
        if self.use_buffers:
            own += list(self.module.buffers())
            new += list(model.buffers())
        own_detached = [p.detach() for p in own]
        new_detached = [p.detach() for p in new]
        if self.updates == 0:
            for mine, theirs in zip(own_detached, new_detached):
                mine.copy_(theirs)
        elif self.multi_avg_fn is not None or self.avg_fn is None:
            with torch.no_grad():
                torch._foreach_lerp_(own_detached, new_detached, 1)
        else:
            n_averaged = self.n_averaged.to(own_detached[0].device)
            for mine, theirs in zip(own_detached, new_detached):
                mine.copy_(self.avg_fn(mine, theirs, n_averaged))
        self.n_averaged.add_(1)
        self.updates += 1
