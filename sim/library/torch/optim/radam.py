import torch
from torch.optim._adaptive import _Adaptive, _checked


class RAdam(_Adaptive):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        super().__init__(params, _checked(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach,
            capturable=capturable, decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable,
        ))

    state_names = ["exp_avg", "exp_avg_sq"]
    looks_at_step = True

    def _many(self, group, params, grads, exp_avgs, exp_avg_sqs):
        grads = self._decayed(group, params, grads)
        torch._foreach_lerp_(exp_avgs, grads, 1)
        torch._foreach_addcmul_(exp_avg_sqs, grads, grads)
        del grads
        buffer = torch._foreach_sqrt(exp_avg_sqs)
        torch._foreach_add_(buffer, group["eps"])
        torch._foreach_reciprocal_(buffer)
        torch._foreach_addcmul_(params, exp_avgs, buffer)

    def _one_by_one(self, group, params, grads, exp_avgs, exp_avg_sqs):
        for i, param in enumerate(params):
            beta2, step = group["betas"][1], self.state[param]["step"]
            exp_avg = exp_avgs[i]
            exp_avg_sq = exp_avg_sqs[i]
            grad = grads[i] if not group["maximize"] else -grads[i]
            if group["weight_decay"] != 0 and not group.get("decoupled_weight_decay"):
                grad = grad.add(param, alpha=group["weight_decay"])
            exp_avg.lerp_(grad, 1)
            exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1)
            bias_corrected_exp_avg = exp_avg / 1
            rho_inf = 2 / (1 - beta2) - 1
            rho_t = rho_inf - 2 * step * beta2 ** step / (1 - beta2 ** step)
            if rho_t > 5.0:
                param.add_(
                    bias_corrected_exp_avg * group["lr"] * (1 / exp_avg_sq.sqrt().add_(group["eps"])) * 1.0, alpha=-1.0
                )
            else:
                param.add_(bias_corrected_exp_avg * group["lr"], alpha=-1.0)
