import torch
import torch._C as _C
from torch.optim.optimizer import Optimizer, _check_range, _grouped, _use_foreach

_STATE = ("exp_avg", "exp_avg_sq", "step")


class Adam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        _check_range("learning rate", lr)
        _check_range("epsilon value", eps)
        _check_range("beta parameter at index 0", betas[0], 0.0, 1.0)
        _check_range("beta parameter at index 1", betas[1], 0.0, 1.0)
        _check_range("weight_decay value", weight_decay)
        if not all([isinstance(beta, float) for beta in betas]) and not all(
            [isinstance(beta, torch.Tensor) for beta in betas]
        ):
            raise ValueError("betas must be either both floats or both Tensors")
        if fused and foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable, fused=fused,
                                      decoupled_weight_decay=decoupled_weight_decay))
        self._step_supports_amp_scaling = bool(fused)

    def _step(self):
        for group in self.param_groups:
            amsgrad = group["amsgrad"]
            for p in _C.without_state(group["params"], self.state):
                state = self.state[p]
                if group["capturable"] or group["fused"]:
                    state["step"] = self._keep(torch.zeros((), dtype=torch.float32, device=p.device))
                else:
                    state["step"] = torch.zeros((), dtype=torch.float32)
                state["exp_avg"] = self._keep(torch.zeros_like(p, memory_format=torch.preserve_format))
                state["exp_avg_sq"] = self._keep(torch.zeros_like(p, memory_format=torch.preserve_format))
                if amsgrad:
                    state["max_exp_avg_sq"] = self._keep(torch.zeros_like(p, memory_format=torch.preserve_format))
            params, grads, exp_avgs, exp_avg_sqs, steps, *largest = _C.gathered(
                group["params"], self.state, _STATE + ("max_exp_avg_sq",) if amsgrad else _STATE,
                "Adam does not support sparse gradients, please consider SparseAdam instead"
            )
            max_exp_avg_sqs = largest[0] if amsgrad else []
            if group["fused"]:
                if params:
                    torch._fused_adam_(params, grads)
            elif _use_foreach(params, group["foreach"], group["fused"]):
                self._many(group, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps)
            else:
                self._one_by_one(group, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps)

    def _many(self, group, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps):
        (beta1, beta2), decay = group["betas"], group["weight_decay"]
        lists = [params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps]
        for device_params, device_grads, device_avgs, device_sqs, device_max_sqs, device_steps, _ in _grouped(lists):
            if group["maximize"]:
                device_grads = torch._foreach_neg(device_grads)
            if group["capturable"]:
                torch._foreach_add_(device_steps, 1)
            if decay != 0:
                if group["decoupled_weight_decay"]:
                    torch._foreach_mul_(device_params, 1 - decay)
                elif group["maximize"]:
                    torch._foreach_add_(device_grads, device_params, alpha=decay)
                else:
                    device_grads = torch._foreach_add(device_grads, device_params, alpha=decay)
            torch._foreach_lerp_(device_avgs, device_grads, 1 - beta1)
            torch._foreach_mul_(device_sqs, beta2)
            torch._foreach_addcmul_(device_sqs, device_grads, device_grads, 1 - beta2)
            del device_grads
            if group["capturable"]:
                bias_correction1 = torch._foreach_pow(beta1, device_steps)
                bias_correction2 = torch._foreach_pow(beta2, device_steps)
                torch._foreach_sub_(bias_correction1, 1)
                torch._foreach_sub_(bias_correction2, 1)
            if group["amsgrad"]:
                torch._foreach_maximum_(device_max_sqs, device_sqs)
                exp_avg_sq_sqrt = torch._foreach_sqrt(device_max_sqs)
            else:
                exp_avg_sq_sqrt = torch._foreach_sqrt(device_sqs)
            torch._foreach_div_(exp_avg_sq_sqrt, 1)
            torch._foreach_add_(exp_avg_sq_sqrt, group["eps"])
            torch._foreach_addcdiv_(device_params, device_avgs, exp_avg_sq_sqrt)

    def _one_by_one(self, group, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps):
        (beta1, beta2), decay = group["betas"], group["weight_decay"]
        for i, param in enumerate(params):
            grad = -grads[i] if group["maximize"] else grads[i]
            exp_avg = exp_avgs[i]
            exp_avg_sq = exp_avg_sqs[i]
            if decay != 0:
                if group["decoupled_weight_decay"]:
                    param.mul_(1 - decay)
                else:
                    grad = grad.add(param, alpha=decay)
            exp_avg.lerp_(grad, 1 - beta1)
            exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            if group["capturable"]:
                step = steps[i]
                bias_correction1 = 1 - beta1 ** step
                bias_correction2 = 1 - beta2 ** step
                step_size = group["lr"] / bias_correction1
                step_size_neg = step_size.neg()
                bias_correction2_sqrt = bias_correction2.sqrt()
                if group["amsgrad"]:
                    max_exp_avg_sqs[i].copy_(torch.maximum(max_exp_avg_sqs[i], exp_avg_sq))
                    denom = (max_exp_avg_sqs[i].sqrt() / (bias_correction2_sqrt * step_size_neg)).add_(
                        group["eps"] / step_size_neg
                    )
                else:
                    denom = (exp_avg_sq.sqrt() / (bias_correction2_sqrt * step_size_neg)).add_(
                        group["eps"] / step_size_neg
                    )
                param.addcdiv_(exp_avg, denom)
            else:
                denom = ((max_exp_avg_sqs[i] if group["amsgrad"] else exp_avg_sq).sqrt() / 0.5).add_(group["eps"])
                param.addcdiv_(exp_avg, denom, value=-1)
