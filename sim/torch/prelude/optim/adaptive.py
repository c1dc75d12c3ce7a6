# module: torch.optim
# defines: RMSprop Adagrad Adadelta Adamax NAdam RAdam
import torch
from torch.optim import Optimizer, _grouped, _use_foreach, _check_range


class _Adaptive(Optimizer):
    """state of one tensor a name, made at the first step; _many works on lists, _one_by_one
    in a loop whose names live until they are bound anew"""

    def _names(self, group):
        return self.state_names

    def _step(self):
        for group in self.param_groups:
            names = self._names(group)
            params, grads = [], []
            states = [[] for name in names]
            for p in group["params"]:
                if p.grad is None:
                    continue
                params.append(p)
                if p.grad.is_sparse and not self.takes_sparse:
                    raise RuntimeError(type(self).__name__ + " does not support sparse gradients")
                grads.append(p.grad)
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0 if self.looks_at_step else torch.zeros((), dtype=torch.float32)
                    for name in self.numbers:
                        state[name] = torch.ones((), dtype=torch.float32)
                    for name in names:
                        state[name] = self._keep(torch.zeros_like(p, memory_format=torch.preserve_format))
                if self.looks_at_step:
                    state["step"] += 1
                for own, name in zip(states, names):
                    own.append(state[name])
            if not params:
                continue
            if _use_foreach(params, group["foreach"], None):
                for lists in _grouped([params, grads, *states]):
                    self._many(group, *lists[:-1])
            else:
                self._one_by_one(group, params, grads, *states)

    numbers = ()  # beside the step: on the host, and on the device once a state is loaded
    takes_sparse = False
    looks_at_step = False

    def _decayed(self, group, params, grads):
        if group["maximize"]:
            grads = torch._foreach_neg(grads)
        if group["weight_decay"] != 0 and not group.get("decoupled_weight_decay"):
            if group["maximize"]:
                torch._foreach_add_(grads, params, alpha=group["weight_decay"])
            else:
                grads = torch._foreach_add(grads, params, alpha=group["weight_decay"])
        return grads


def _common(lr, weight_decay, foreach, maximize, capturable, **more):
    _check_range("learning rate", lr)
    _check_range("weight_decay value", weight_decay)
    if capturable:
        torch._C.refuse("capturable=True is modelled for Adam and AdamW only", "leave capturable out")
    return dict(lr=lr, weight_decay=weight_decay, foreach=foreach, maximize=maximize, **more)


class RMSprop(_Adaptive):
    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
                 foreach=None, maximize=False, differentiable=False):
        super().__init__(params, _common(lr, weight_decay, foreach, maximize, capturable, alpha=alpha, eps=eps,
                                         momentum=momentum, centered=centered))

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


class Adagrad(_Adaptive):
    """its state is made at once, by the constructor"""

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
                 maximize=False, differentiable=False, fused=None):
        super().__init__(params, _common(lr, weight_decay, foreach, maximize, False, lr_decay=lr_decay, eps=eps))
        if fused:
            torch._C.refuse("Adagrad(fused=True) has no CUDA implementation", "leave fused out")
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = {"step": torch.zeros((), dtype=torch.float32), "sum": self._keep(torch.zeros_like(p, memory_format=torch.preserve_format))}

    state_names = ["sum"]

    def _many(self, group, params, grads, sums):
        grads = self._decayed(group, params, grads)
        torch._foreach_addcmul_(sums, grads, grads, value=1)
        std = torch._foreach_sqrt(sums)
        torch._foreach_add_(std, group["eps"])
        if group["weight_decay"] != 0 or group["maximize"]:
            numerator = grads
        else:
            numerator = torch._foreach_mul(grads, 1)
        torch._foreach_addcdiv_(params, numerator, std)

    def _one_by_one(self, group, params, grads, state_sums):
        for i, param in enumerate(params):
            state_sum = state_sums[i]
            grad = grads[i] if not group["maximize"] else -grads[i]
            if group["weight_decay"] != 0 and not group.get("decoupled_weight_decay"):
                grad = grad.add(param, alpha=group["weight_decay"])
            state_sum.addcmul_(grad, grad, value=1)
            std = state_sum.sqrt().add_(group["eps"])
            param.addcdiv_(grad, std, value=-1)


class Adadelta(_Adaptive):
    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
                 differentiable=False):
        super().__init__(params, _common(lr, weight_decay, foreach, maximize, capturable, rho=rho, eps=eps))

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


class Adamax(_Adaptive):
    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        super().__init__(params, _common(lr, weight_decay, foreach, maximize, capturable, betas=betas, eps=eps))

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


class NAdam(_Adaptive):
    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False):
        super().__init__(params, _common(lr, weight_decay, foreach, maximize, capturable, betas=betas, eps=eps,
                                         decoupled_weight_decay=decoupled_weight_decay))

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


class RAdam(_Adaptive):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        super().__init__(params, _common(lr, weight_decay, foreach, maximize, capturable, betas=betas, eps=eps,
                                         decoupled_weight_decay=decoupled_weight_decay))

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
                param.add_(bias_corrected_exp_avg * group["lr"] * (1 / exp_avg_sq.sqrt().add_(group["eps"])) * 1.0, alpha=-1.0)
            else:
                param.add_(bias_corrected_exp_avg * group["lr"], alpha=-1.0)
