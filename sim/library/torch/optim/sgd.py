import torch
import torch._C as _C
from torch.optim.optimizer import Optimizer, _check_range, _grouped, _use_foreach


class SGD(Optimizer):
    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        _check_range("learning rate", lr)
        _check_range("momentum value", momentum)
        _check_range("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        if fused and foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize, foreach=foreach,
                                      differentiable=differentiable, fused=fused))
        self._step_supports_amp_scaling = bool(fused)

    def _step(self):
        for group in self.param_groups:
            params, grads = _C.gathered(group["params"], self.state, ())
            buffers = []
            if group["momentum"] != 0:
                buffers = [self.state[p].get("momentum_buffer") for p in params]
            if _use_foreach(params, group["foreach"], group["fused"]):
                self._many(group, params, grads, buffers)
            elif group["fused"]:
                self._fused(group, params, grads, buffers)
            else:
                self._one_by_one(group, params, grads, buffers)
            if group["momentum"] != 0:
                for p, buffer in zip(params, buffers):
                    self.state[p]["momentum_buffer"] = buffer

    def _many(self, group, params, grads, buffers):
        decay, momentum = group["weight_decay"], group["momentum"]
        for device_params, device_grads, device_buffers, indices in _grouped([params, grads, buffers]):
            sparse = any(g.is_sparse for g in device_grads)
            if group["maximize"]:
                device_grads = torch._foreach_neg(device_grads)
            if decay != 0:
                if group["maximize"]:
                    torch._foreach_add_(device_grads, device_params, alpha=decay)
                else:
                    device_grads = torch._foreach_add(device_grads, device_params, alpha=decay)
            if momentum != 0:
                if all(b is not None for b in device_buffers):
                    bufs = list(device_buffers)
                    torch._foreach_mul_(bufs, momentum)
                    torch._foreach_add_(bufs, device_grads, alpha=1 - group["dampening"])
                else:
                    bufs = []
                    for i in range(len(device_buffers)):
                        if device_buffers[i] is None:
                            buf = self._keep_buffer(device_grads[i].detach().clone())
                            device_buffers[i] = buffers[indices[i]] = buf
                        else:
                            buf = device_buffers[i]
                            buf.mul_(momentum).add_(device_grads[i], alpha=1 - group["dampening"])
                        bufs.append(buf)
                if group["nesterov"]:
                    torch._foreach_add_(device_grads, bufs, alpha=momentum)
                else:
                    device_grads = bufs
            if not sparse:
                torch._foreach_add_(device_params, device_grads, alpha=-1)
            else:
                for i in range(len(device_params)):
                    device_params[i].add_(device_grads[i], alpha=-group["lr"])

    def _keep_buffer(self, buffer):
        return buffer if buffer.is_sparse else self._keep(buffer)

    def _fused(self, group, params, grads, buffers):
        if group["momentum"] != 0:
            for i, buffer in enumerate(buffers):
                if buffer is None:
                    buffers[i] = self._keep(torch.empty_like(grads[i]))
        if params:
            torch._fused_sgd_(params, grads)

    def _one_by_one(self, group, params, grads, buffers):
        for i, param in enumerate(params):
            grad = -grads[i] if group["maximize"] else grads[i]
            if group["weight_decay"] != 0:
                grad = grad.add(param, alpha=group["weight_decay"])
            if group["momentum"] != 0:
                buf = buffers[i]
                if buf is None:
                    buf = self._keep_buffer(grad.detach().clone())
                    buffers[i] = buf
                else:
                    buf.mul_(group["momentum"]).add_(grad, alpha=1 - group["dampening"])
                if group["nesterov"]:
                    grad = grad.add(buf, alpha=group["momentum"])
                else:
                    grad = buf
            param.add_(grad, alpha=-group["lr"])
