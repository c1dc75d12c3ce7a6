import torch
from torch.optim._adaptive import _Adaptive, _checked


class Adamax(_Adaptive):
    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        super().__init__(params, _checked(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable,
        ))

    state_names = ["exp_avg", "exp_inf"]

    def _many(self, group, params, grads, exp_avgs, exp_infs):
        grads = self._decayed(group, params, grads)
        torch._foreach_lerp_(exp_avgs, grads, 1)
        torch._foreach_mul_(exp_infs, 1)
        if not group["maximize"] and group["weight_decay"] == 0:
            grads = torch._foreach_abs(grads)
        else:
            torch._foreach_abs_(grads)
        torch._foreach_add_(grads, group["eps"])
        torch._foreach_maximum_(exp_infs, grads)
        torch._foreach_addcdiv_(params, exp_avgs, exp_infs)

    def _one_by_one(self, group, params, grads, exp_avgs, exp_infs):
        for i, param in enumerate(params):
            exp_avg = exp_avgs[i]
            exp_inf = exp_infs[i]
            grad = grads[i] if not group["maximize"] else -grads[i]
            if group["weight_decay"] != 0 and not group.get("decoupled_weight_decay"):
                grad = grad.add(param, alpha=group["weight_decay"])
            exp_avg.lerp_(grad, 1)
            exp_inf.mul_(1)
            grad.abs().add_(group["eps"])
            param.addcdiv_(exp_avg, exp_inf, value=-1)
