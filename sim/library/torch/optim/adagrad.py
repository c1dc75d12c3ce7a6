import torch
from torch.optim._adaptive import _Adaptive, _checked


class Adagrad(_Adaptive):
    """its state is made at once, by the constructor"""

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(params, _checked(
            lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value, foreach=foreach, maximize=maximize,
            differentiable=differentiable, fused=fused,
        ))
        if fused:
            if differentiable:
                raise RuntimeError("`fused` does not support `differentiable`")
            if foreach:
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
            if not torch._C.release_rule("has_fused_adagrad"):
                torch._C.refuse(
                    "Adagrad(fused=True) has no CUDA implementation before PyTorch 2.12", "leave fused out"
                )
            self._step_supports_amp_scaling = True
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = {
                    "step": self._keep(torch.zeros((), dtype=torch.float32, device=p.device if fused else None)),
                    "sum": self._keep(torch.zeros_like(p, memory_format=torch.preserve_format)),
                }

    state_names = ["sum"]

    def _fused(self, params, grads):
        if any([g.is_sparse for g in grads]):
            raise RuntimeError("`fused` does not support sparse grad or complex param")
        torch._fused_adagrad_(params, grads)

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
