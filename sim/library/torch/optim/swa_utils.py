import copy
import math
import torch
import torch._C as _C
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.module import Module
from torch.optim.lr_scheduler import LRScheduler, _per_group


def get_ema_multi_avg_fn(decay=0.999):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    @torch.no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        # Only floating-point numbers can be interpolated.
        if torch.is_floating_point(ema_param_list[0]) or torch.is_complex(ema_param_list[0]):
            torch._foreach_lerp_(ema_param_list, current_param_list, 1 - decay)
        else:
            for p_ema, p_model in zip(ema_param_list, current_param_list):
                p_ema.copy_(p_ema * decay + p_model * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn():
    @torch.no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        if torch.is_floating_point(averaged_param_list[0]) or torch.is_complex(averaged_param_list[0]):
            weight = 1 / (num_averaged + 1)
            torch._foreach_lerp_(averaged_param_list, current_param_list, 1)
            del weight
        else:
            diffs = torch._foreach_sub(current_param_list, averaged_param_list)
            torch._foreach_addcdiv_(averaged_param_list, diffs, [num_averaged + 1] * len(averaged_param_list))

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
        if self.use_buffers:
            own = list(self.module.parameters()) + list(self.module.buffers())
            new = list(model.parameters()) + list(model.buffers())
        else:
            own, new = self.parameters(), model.parameters()
        own_detached, new_detached = [], []
        # The counter's value is known here; where it lives on the GPU, reading it takes memory.
        self.n_averaged == 0
        for mine, theirs in zip(own, new):
            theirs_ = theirs.detach().to(mine.device)
            own_detached.append(mine.detach())
            new_detached.append(theirs_)
            if self.updates == 0:
                mine.detach().copy_(theirs_)
        self.n_averaged > 0
        if self.updates > 0:
            if self.multi_avg_fn is not None or self.avg_fn is None:
                average = self.multi_avg_fn if self.multi_avg_fn is not None else get_swa_multi_avg_fn()
                for mine, theirs, _ in _C.group_tensors([own_detached, new_detached]).values():
                    average(mine, theirs, self.n_averaged.to(mine[0].device))
            else:
                for mine, theirs in zip(own_detached, new_detached):
                    n_averaged = self.n_averaged.to(mine.device)
                    mine.detach().copy_(self.avg_fn(mine.detach(), theirs, n_averaged))
        if not self.use_buffers:
            for mine, theirs in zip(self.module.buffers(), model.buffers()):
                mine.detach().copy_(theirs.detach().to(mine.device))
        self.n_averaged += 1
        self.updates += 1


class SWALR(LRScheduler):
    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for lr, group in zip(_per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self):
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        groups, before, now = self.optimizer.param_groups, self._share(step - 1), self._share(step)
        begun = [g["swa_lr"] if before == 1 else (g["lr"] - before * g["swa_lr"]) / (1 - before) for g in groups]
        return [group["swa_lr"] * now + lr * (1 - now) for group, lr in zip(groups, begun, strict=True)]


@torch.no_grad()
def update_bn(loader, model, device=None):
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for input in loader:
        if isinstance(input, (list, tuple)):
            input = input[0]
        if device is not None:
            input = input.to(device)
        model(input)
    for module in momenta:
        module.momentum = momenta[module]
    model.train(was_training)
