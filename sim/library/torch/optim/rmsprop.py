import torch
from torch.optim._adaptive import _Adaptive, _checked


class RMSprop(_Adaptive):

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        super().__init__(params, _checked(
            lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay,
            capturable=capturable, foreach=foreach, maximize=maximize, differentiable=differentiable,
        ))

    def _names(self, group):
        return (["square_avg"] + (["momentum_buffer"] if group["momentum"] > 0 else [])
                + (["grad_avg"] if group["centered"] else []))

    def _many(self, group, params, grads, square_avgs, *more):
        grads = self._decayed(group, params, grads)
        torch._foreach_addcmul_(square_avgs, grads, grads)
        if group["centered"]:
            avg = torch._foreach_addcmul(square_avgs, more[-1], more[-1], value=-1)
            torch._foreach_sqrt_(avg)
        else:
            avg = torch._foreach_sqrt(square_avgs)
        torch._foreach_add_(avg, group["eps"])
        torch._foreach_addcdiv_(params, grads, avg)

    def _one_by_one(self, group, params, grads, square_avgs, *more):
        for i, param in enumerate(params):
            square_avg = square_avgs[i]
            grad = grads[i] if not group["maximize"] else -grads[i]
            if group["weight_decay"] != 0 and not group.get("decoupled_weight_decay"):
                grad = grad.add(param, alpha=group["weight_decay"])
            square_avg.mul_(group["alpha"]).addcmul_(grad, grad, value=1)
            if group["centered"]:
                avg = square_avg.addcmul(more[-1][i], more[-1][i], value=-1).sqrt_()
            else:
                avg = square_avg.sqrt()
            avg = avg.add_(group["eps"])
            param.addcdiv_(grad, avg, value=-1)
