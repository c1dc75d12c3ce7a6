import torch
from torch.optim.optimizer import Optimizer, _check_range, _grouped, _use_foreach


class Rprop(Optimizer):
    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        _check_range("learning rate", lr)
        if capturable:
            torch._C.refuse("capturable=True is modelled for Adam and AdamW only", "leave capturable out")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))

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
