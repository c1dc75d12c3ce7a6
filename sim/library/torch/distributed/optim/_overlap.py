import torch
import torch._C as _C
from torch import optim

# What a ZeroRedundancyOptimizer needs that steps inside a hook of DistributedDataParallel. Source:
# torch.distributed.optim.zero_redundancy_optimizer, torch.distributed.optim.functional_adam and others


class Assignment:
    """parameters of a bucket that one rank steps for"""

    def __init__(self, parameters, offset):
        self.parameters, self.offset, self.tensor = parameters, offset, None


class OverlapInfo:
    def __init__(self, world_size):
        # What comes first goes first: parameters outlive the tensors of which they are parts.
        self.assignments, self.ranks_of_bucket = [{} for _ in range(world_size)], []
        self.initialized = self.shard_buckets = False
        self.params_per_bucket, self.params_per_rank = [], [[] for _ in range(world_size)]
        self.offsets, self.broadcast_handles, self.seen = {}, [], 0
        self.futures, self.buckets = {}, {}

    def wait_for_broadcasts(self):
        for handle in self.broadcast_handles:
            handle.wait()
        handle = None
        self.broadcast_handles.clear()
        self.seen = 0
        self.futures.clear()
        self.buckets.clear()

    def assign(self, own):
        """each bucket to a rank, or parts of it to the ranks that have least"""
        world, buckets = len(self.params_per_rank), self.params_per_bucket
        self.ranks_of_bucket = [set() for _ in buckets]
        if not self.shard_buckets:
            for index, params in enumerate(buckets):
                self._give(index, params, 0, index % world, own)
            return
        sizes = [sum([p.numel() for p in params]) for params in buckets]
        threshold, given = sum(sizes) / world, [0] * world
        for index in sorted(range(len(buckets)), key=lambda i: sizes[i]):
            params, offset, size = buckets[index], 0, 0
            for place, param in enumerate(params):
                if size + param.numel() >= threshold and place > offset:
                    given[self._give_least(index, params[offset:place], offset, given, own)] += size
                    offset, size = place, 0
                size += param.numel()
            given[self._give_least(index, params[offset:], offset, given, own)] += size

    def _give_least(self, index, params, offset, given, own):
        free = [rank for rank in range(len(given)) if rank not in self.ranks_of_bucket[index]]
        rank = min(free, key=lambda rank: given[rank])
        self._give(index, params, offset, rank, own)
        return rank

    def _give(self, index, params, offset, rank, own):
        self.assignments[rank][index] = Assignment(params, offset)
        if rank == own:
            self.offsets[index] = len(self.params_per_rank[rank])
        self.params_per_rank[rank].extend(params)
        self.ranks_of_bucket[index].add(rank)

    def build_tensors(self):
        """one tensor for each assignment, of which its parameters become parts"""
        for assignments in self.assignments:
            for assignment in assignments.values():
                params = assignment.parameters
                size = sum([p.numel() for p in params])
                tensor, offset = torch.empty(size, dtype=params[-1].dtype, device=params[0].device), 0
                for param in params:
                    end = offset + param.numel()
                    tensor[offset:end].copy_(param.data.flatten())
                    param.data = tensor[offset:end].view_as(param.data)
                    offset = end
                assignment.tensor = tensor


class FunctionalOptimizer:
    """steps with gradients that it is given, one parameter after another"""

    def __init__(self, params, lr=None, **options):
        self.options, self.state, self.params = options, {}, params

    def step(self, gradients):
        params = [p for p, g in zip(self.params, gradients) if g is not None]
        for param in params:
            if id(param) not in self.state:
                self.state[id(param)] = self._start(param)
        with torch.no_grad():
            self._update(params, [g for g in gradients if g is not None])


class FunctionalAdam(FunctionalOptimizer):
    _decoupled = False

    def _start(self, param):
        names = ["exp_avg", "exp_avg_sq"] + (["max_exp_avg_sq"] if self.options.get("amsgrad") else [])
        return {name: torch.zeros_like(param) for name in names}

    def _update(self, params, grads):
        decay = self.options.get("weight_decay", 0.01 if self._decoupled else 0.0)
        for i, param in enumerate(params):
            grad = grads[i]
            state = self.state[id(param)]
            if decay != 0 and self._decoupled:
                param.mul_(1 - decay)
            elif decay != 0:
                grad = grad.add(param, alpha=decay)
            state["exp_avg"].lerp_(grad, 0.1)
            state["exp_avg_sq"].mul_(0.999).addcmul_(grad, grad, value=0.001)
            second = state["exp_avg_sq"]
            if "max_exp_avg_sq" in state:
                second = state["max_exp_avg_sq"]
                torch.maximum(second, state["exp_avg_sq"], out=second)
            denom = (second.sqrt() / 0.5).add_(1e-8)
            param.addcdiv_(state["exp_avg"], denom, value=-0.1)


class FunctionalAdamW(FunctionalAdam):
    _decoupled = True


class FunctionalSGD(FunctionalOptimizer):
    def _start(self, param):
        return {}

    def _update(self, params, grads):
        momentum, decay = self.options.get("momentum", 0.0), self.options.get("weight_decay", 0.0)
        for i, param in enumerate(params):
            grad = grads[i]
            state = self.state[id(param)]
            if decay != 0:
                grad = grad.add(param, alpha=decay)
            if momentum != 0:
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = torch.clone(grad).detach()
                else:
                    state["momentum_buffer"].mul_(momentum).add_(grad)
                buf = state["momentum_buffer"]
                grad = grad.add(buf, alpha=momentum) if self.options.get("nesterov") else buf
            param.add_(grad, alpha=-0.1)


def functional(optimizer_class):
    found = {optim.Adam: FunctionalAdam, optim.AdamW: FunctionalAdamW, optim.SGD: FunctionalSGD}.get(optimizer_class)
    if found is None:
        _C.refuse(
            "ZeroRedundancyOptimizer(overlap_with_ddp=True) of " + optimizer_class.__name__ + " is not modelled",
            "take Adam, AdamW or SGD",
        )
    return found
