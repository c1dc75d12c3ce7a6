import torch
from torch.optim.optimizer import Optimizer, _check_range, _grouped, _use_foreach


class ASGD(Optimizer):
    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        _check_range("learning rate", lr)
        if capturable:
            torch._C.refuse("capturable=True is modelled for Adam and AdamW only", "leave capturable out")
        super().__init__(
            params,
            dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
                 differentiable=differentiable, capturable=capturable),
        )
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
                    state["eta"] = self._keep(
                        torch.full((), group["lr"], device=p.device, dtype=torch.float32).clone().detach()
                    )
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
        return torch.as_tensor(
            group["lr"] / (1 + group["lambd"] * group["lr"] * step) ** group["alpha"], device=step.device
        )

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
