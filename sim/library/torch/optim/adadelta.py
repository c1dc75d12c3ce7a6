import torch
from torch.optim._adaptive import _Adaptive, _checked


class Adadelta(_Adaptive):

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        super().__init__(params, _checked(
            lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable,
            foreach=foreach, differentiable=differentiable,
        ))

    state_names = ["square_avg", "acc_delta"]

    def _many(self, group, params, grads, square_avgs, acc_deltas):
        grads = self._decayed(group, params, grads)
        torch._foreach_addcmul_(square_avgs, grads, grads)
        std = torch._foreach_add(square_avgs, group["eps"])
        torch._foreach_sqrt_(std)
        deltas = torch._foreach_add(acc_deltas, group["eps"])
        torch._foreach_sqrt_(deltas)
        torch._foreach_div_(deltas, std)
        torch._foreach_mul_(deltas, grads)
        torch._foreach_add_(params, deltas)

    def _one_by_one(self, group, params, grads, square_avgs, acc_deltas):
        for i, param in enumerate(params):
            square_avg = square_avgs[i]
            acc_delta = acc_deltas[i]
            grad = grads[i] if not group["maximize"] else -grads[i]
            if group["weight_decay"] != 0 and not group.get("decoupled_weight_decay"):
                grad = grad.add(param, alpha=group["weight_decay"])
            square_avg.mul_(group["rho"]).addcmul_(grad, grad, value=1)
            std = square_avg.add(group["eps"]).sqrt_()
            delta = acc_delta.add(group["eps"]).sqrt_()
            delta.div_(std).mul_(grad)
            acc_delta.mul_(group["rho"]).addcmul_(delta, delta, value=1)
            param.add_(delta, alpha=-1)
