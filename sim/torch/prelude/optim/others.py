# module: torch.optim
# defines: ASGD Rprop Adafactor Muon SparseAdam
import torch
from torch.optim import Optimizer, _grouped, _use_foreach, _check_range


class ASGD(Optimizer):
    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        _check_range("learning rate", lr)
        if capturable:
            torch._C.refuse("capturable=True is modelled for Adam and AdamW only", "leave capturable out")
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize))
        self._mu_known = set()

    def _step(self):
        for group in self.param_groups:
            params, grads, axs, mus, etas, steps = [], [], [], [], [], []
            for p in group["params"]:
                if p.grad is None:
                    continue
                params.append(p)
                grads.append(p.grad)
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = self._keep(torch.zeros((), device=p.device, dtype=torch.float32))
                    state["eta"] = self._keep(torch.full((), group["lr"], device=p.device, dtype=torch.float32).clone().detach())
                    state["mu"] = self._keep(torch.ones((), device=p.device, dtype=torch.float32))
                    state["ax"] = self._keep(torch.zeros_like(p, memory_format=torch.preserve_format))
                mus.append(state["mu"])
                axs.append(state["ax"])
                etas.append(state["eta"])
                steps.append(state["step"])
            if not params:
                continue
            if _use_foreach(params, group["foreach"], None):
                for lists in _grouped([params, grads, axs, mus, etas, steps]):
                    self._many(group, *lists[:-1])
            else:
                for i, param in enumerate(params):
                    # What ones() wrote counts as zero; from the second step on mu comes from the host, and is 1.
                    self._one(group, param, grads[i], axs[i], mus[i], param in self._mu_known)
                    self._mu_known.add(param)

    def _many(self, group, params, grads, axs, mus, etas, steps):
        lambd, decay = group["lambd"], group["weight_decay"]
        if group["maximize"]:
            grads = torch._foreach_neg(grads)
        if decay != 0:
            if group["maximize"]:
                intermediate = grads
            else:
                intermediate = torch._foreach_add(grads, params, alpha=decay)
        else:
            intermediate = torch._foreach_add(grads, params, alpha=lambd)
        torch._foreach_addcmul_(params, intermediate, etas, value=-1)
        del intermediate
        intermediate = torch._foreach_sub(params, axs)
        torch._foreach_addcmul_(axs, intermediate, mus)
        del intermediate
        new_mus = new_etas = None
        new_etas = [self._new_eta(group, step) for step in steps]
        new_mus = [torch.full((), 1.0, device=step.device) for step in steps]
        torch._foreach_copy_(etas, new_etas)
        torch._foreach_copy_(mus, new_mus)

    def _new_eta(self, group, step):
        return torch.as_tensor(group["lr"] / (1 + group["lambd"] * group["lr"] * step) ** group["alpha"], device=step.device)

    def _one(self, group, param, grad, ax, mu, is_one):
        grad = -grad if group["maximize"] else grad
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        param.mul_(1)
        param.add_(grad, alpha=-1)
        if not is_one:
            ax.add_(param.sub(ax).mul_(mu))
        else:
            ax.copy_(param)


class Rprop(Optimizer):
    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        _check_range("learning rate", lr)
        if capturable:
            torch._C.refuse("capturable=True is modelled for Adam and AdamW only", "leave capturable out")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize))

    def _step(self):
        for group in self.param_groups:
            params, grads, prevs, sizes = [], [], [], []
            for p in group["params"]:
                if p.grad is None:
                    continue
                params.append(p)
                grad = p.grad
                grads.append(grad)
                state = self.state[p]
                if len(state) == 0:
                    state["prev"] = self._keep(torch.zeros_like(p, memory_format=torch.preserve_format))
                    state["step_size"] = self._keep(torch.full_like(grad, group["lr"]))
                prevs.append(state["prev"])
                sizes.append(state["step_size"])
            if not params:
                continue
            if _use_foreach(params, group["foreach"], None):
                for lists in _grouped([params, grads, prevs, sizes]):
                    self._many(group, *lists[:-1])
            else:
                self._one_by_one(group, params, grads, prevs, sizes)

    def _many(self, group, params, grads, prevs, sizes):
        etaminus, etaplus = group["etas"]
        least, most = group["step_sizes"]
        signs = torch._foreach_mul(grads, prevs)
        torch._foreach_copy_(prevs, grads)
        grads = prevs
        torch._foreach_sign_(signs)
        for sign in signs:
            sign[sign.gt(0)] = etaplus
            sign[sign.lt(0)] = etaminus
            sign[sign.eq(0)] = 1
        torch._foreach_mul_(sizes, signs)
        for step_size in sizes:
            step_size.clamp_(least, most)
        grads = list(grads)
        for i in range(len(grads)):
            grads[i].copy_(torch.where(signs[i].eq(etaminus), 0, grads[i]))
        del signs
        grad_signs = [grad.sign() for grad in grads]
        torch._foreach_addcmul_(params, grad_signs, sizes, value=-1)

    def _one_by_one(self, group, params, grads, prevs, sizes):
        etaminus, etaplus = group["etas"]
        for i, param in enumerate(params):
            grad = grads[i]
            grad = grad if not group["maximize"] else -grad
            prev = prevs[i]
            step_size = sizes[i]
            sign = grad.mul(prev).sign()
            sign[sign.gt(0)] = etaplus
            sign[sign.lt(0)] = etaminus
            sign[sign.eq(0)] = 1
            step_size.mul_(sign).clamp_(*group["step_sizes"])
            grad = grad.clone(memory_format=torch.preserve_format)
            grad[sign.eq(etaminus)] = 0
            param.addcmul_(grad.sign(), step_size, value=-1)
            prev.copy_(grad)


class Adafactor(Optimizer):
    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        _check_range("learning rate", lr)
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize))

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
            alphas = [-a / max(1.0, u.norm(2).item() / (u.numel() ** 0.5 * group["d"])) for a, u in zip(alphas, updates)]
            torch._foreach_add_(own_params, updates)


class Muon(Optimizer):
    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315),
                 eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps))
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def _step(self):
        for group in self.param_groups:
            params, grads, buffers = [], [], []
            for p in group["params"]:
                if p.grad is None:
                    continue
                params.append(p)
                grads.append(p.grad)
                state = self.state[p]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = self._keep(torch.zeros_like(p.grad, memory_format=torch.preserve_format))
                buffers.append(state["momentum_buffer"])
            for i, param in enumerate(params):
                grad = grads[i]
                buf = buffers[i]
                buf.lerp_(grad, 1 - group["momentum"])
                update = grad.lerp(buf, group["momentum"]) if group["nesterov"] else buf
                update = _orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
                param.mul_(1 - group["lr"] * group["weight_decay"])
                param.add_(update, alpha=-group["lr"])


def _orthogonalized(grad, coefficients, steps, eps):
    """Newton-Schulz iteration in bfloat16"""
    a, b, c = coefficients
    ortho_grad = grad.bfloat16()
    if grad.size(0) > grad.size(1):
        ortho_grad = ortho_grad.T
    ortho_grad.div_(ortho_grad.norm().clamp(min=eps))
    for _ in range(steps):
        gram_matrix = ortho_grad @ ortho_grad.T
        gram_update = torch.addmm(gram_matrix, gram_matrix, gram_matrix, beta=b, alpha=c)
        ortho_grad = torch.addmm(ortho_grad, gram_update, ortho_grad, beta=a)
    if grad.size(0) > grad.size(1):
        ortho_grad = ortho_grad.T
    return ortho_grad


class SparseAdam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        torch._C.refuse("SparseAdam is not modelled", "use SGD for tables with sparse gradients")
