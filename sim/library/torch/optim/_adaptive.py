import torch
from torch.optim.optimizer import Optimizer, _check_range, _grouped, _use_foreach


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
            if group.get("fused"):
                self._fused(params, grads)
            elif _use_foreach(params, group["foreach"], group.get("fused")):
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


def _checked(**defaults):
    """a group's settings, in the order in which PyTorch has them: what states weigh when they are sent hangs on them"""
    _check_range("learning rate", defaults["lr"])
    if "weight_decay" in defaults:
        _check_range("weight_decay value", defaults["weight_decay"])
    if defaults.get("capturable"):
        torch._C.refuse("capturable=True is modelled for Adam and AdamW only", "leave capturable out")
    return defaults
