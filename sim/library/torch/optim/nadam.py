import torch
from torch.optim._adaptive import _Adaptive, _checked


class NAdam(_Adaptive):
    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False):
        super().__init__(params, _checked(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach, capturable=capturable,
            differentiable=differentiable,
        ))

    state_names = ["exp_avg", "exp_avg_sq"]
    numbers = ("mu_product",)

    def _many(self, group, params, grads, exp_avgs, exp_avg_sqs):
        grads = self._decayed(group, params, grads)
        torch._foreach_lerp_(exp_avgs, grads, 1)
        torch._foreach_addcmul_(exp_avg_sqs, grads, grads)
        exp_avg_sq_sqrt = torch._foreach_sqrt(exp_avg_sqs)
        torch._foreach_add_(exp_avg_sq_sqrt, group["eps"])
        torch._foreach_addcdiv_(params, grads, exp_avg_sq_sqrt)
        torch._foreach_addcdiv_(params, exp_avgs, exp_avg_sq_sqrt)

    def _one_by_one(self, group, params, grads, exp_avgs, exp_avg_sqs):
        for i, param in enumerate(params):
            exp_avg = exp_avgs[i]
            exp_avg_sq = exp_avg_sqs[i]
            grad = grads[i] if not group["maximize"] else -grads[i]
            if group["weight_decay"] != 0 and not group.get("decoupled_weight_decay"):
                grad = grad.add(param, alpha=group["weight_decay"])
            exp_avg.lerp_(grad, 1)
            exp_avg_sq.mul_(1).addcmul_(grad, grad, value=1)
            denom = exp_avg_sq.div(1).sqrt()
            denom.add_(group["eps"])
            param.addcdiv_(grad, denom, value=-1)
            param.addcdiv_(exp_avg, denom, value=-1)
