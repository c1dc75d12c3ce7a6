import torch
from torch.optim.optimizer import Optimizer, _check_range


class Adafactor(Optimizer):
    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        _check_range("learning rate", lr)
        super().__init__(
            params,
            dict(
                lr=lr,
                beta2_decay=beta2_decay,
                eps=eps,
                d=d,
                weight_decay=weight_decay,
                foreach=foreach,
                maximize=maximize,
            ),
        )

    def _step(self):
        for group in self.param_groups:
            params, grads, row_vars, col_vars, variances = [], [], [], [], []
            for p in group["params"]:
                if p.grad is None:
                    continue
                params.append(p)
                grads.append(p.grad)
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    if p.grad.dim() > 1:
                        row_shape = list(p.grad.shape)
                        row_shape[-1] = 1
                        state["row_var"] = self._keep(p.grad.new_zeros(row_shape))
                        col_shape = list(p.grad.shape)
                        col_shape[-2] = 1
                        state["col_var"] = self._keep(p.grad.new_zeros(col_shape))
                    else:
                        state["variance"] = self._keep(torch.zeros_like(p.grad, memory_format=torch.preserve_format))
                row_vars.append(state.get("row_var", None))
                col_vars.append(state.get("col_var", None))
                variances.append(state.get("variance", None))
            if group["foreach"]:
                if params:
                    self._many(group, params, grads, row_vars, col_vars, variances)
            else:
                self._one_by_one(group, params, grads, row_vars, col_vars, variances)

    def _one_by_one(self, group, params, grads, row_vars, col_vars, variances):
        for i, param in enumerate(params):
            grad = grads[i] if not group["maximize"] else -grads[i]
            row_var = row_vars[i]
            col_var = col_vars[i]
            variance = variances[i]
            alpha = max(group["eps"][1], param.norm(2).item() / param.numel() ** 0.5)
            if group["weight_decay"] != 0:
                param.mul_(1 - group["lr"] * group["weight_decay"])
            if grad.dim() > 1:
                row_mean = torch.norm(grad, dim=-1, keepdim=True).square_().div_(grad.size(-1))
                row_var.lerp_(row_mean, 1)
                col_mean = torch.norm(grad, dim=-2, keepdim=True).square_().div_(grad.size(-2))
                col_var.lerp_(col_mean, 1)
                var_estimate = row_var @ col_var
                var_estimate.div_(row_var.mean(dim=-2, keepdim=True).clamp_(min=0.0))
            else:
                grad_squared = grad * grad
                variance.lerp_(grad_squared, 1)
                var_estimate = variance.clone()
            update = var_estimate.clamp_(min=0.0).rsqrt_()
            update.mul_(grad)
            denom = max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group["d"]))
            param.add_(update, alpha=-alpha / denom)

    def _many(self, group, params, grads, row_vars, col_vars, variances):
        lists = {}
        for i, p in enumerate(params):
            kind = lists.setdefault((p.device, p.dtype, grads[i].dim() > 1), [[], [], [], [], []])
            for own, values in zip(kind, (params, grads, row_vars, col_vars, variances)):
                own.append(values[i])
        for (device, dtype, is_matrix), (own_params, own_grads, rows, cols, own_variances) in lists.items():
            if group["maximize"]:
                own_grads = torch._foreach_neg(own_grads)
            alphas = [max(group["eps"][1], p.norm(2).item() / p.numel() ** 0.5) for p in own_params]
            if is_matrix:
                row_means = [torch.norm(grad, dim=-1, keepdim=True) for grad in own_grads]
                torch._foreach_lerp_(rows, row_means, 1)
                del row_means
                col_means = [torch.norm(grad, dim=-2, keepdim=True) for grad in own_grads]
                torch._foreach_lerp_(cols, col_means, 1)
                del col_means
                var_estimates = [row_var @ col_var for row_var, col_var in zip(rows, cols)]
                row_var_means = [row_var.mean(dim=-2, keepdim=True) for row_var in rows]
                torch._foreach_div_(var_estimates, row_var_means)
                del row_var_means
            else:
                grads_squared = torch._foreach_mul(own_grads, own_grads)
                torch._foreach_lerp_(own_variances, grads_squared, 1)
                del grads_squared
                var_estimates = [v.clone() for v in own_variances]
            torch._foreach_mul_(var_estimates, own_grads)
            updates = var_estimates
            alphas = [
                -a / max(1.0, u.norm(2).item() / (u.numel() ** 0.5 * group["d"])) for a, u in zip(alphas, updates)
            ]
            torch._foreach_add_(own_params, updates)
