import torch
import torch._C as _C
import torch.distributed as dist
from torch.distributed.algorithms.join import Join, Joinable, JoinHook
from torch.distributed.optim._overlap import OverlapInfo, functional
from torch.optim.optimizer import Optimizer


class _ZeROJoinHook(JoinHook):
    def __init__(self, zero):
        self.zero = zero

    def main_hook(self):
        self.zero.step()


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimizer's states, each on one rank, which steps for its parameters and sends them to the others. Source:
    torch.distributed.optim.ZeroRedundancyOptimizer"""

    def __init__(
        self, params, optimizer_class, process_group=None, parameters_as_bucket_view=False, overlap_with_ddp=False,
        **defaults
    ):
        super().__init__(params, defaults)
        self.process_group = dist.group.WORLD if process_group is None else process_group
        self.world_size, self.rank = dist.get_world_size(self.process_group), dist.get_rank(self.process_group)
        self._optim_defaults, self._partition = defaults, None
        self._overlap_with_ddp = overlap_with_ddp
        if overlap_with_ddp:
            self._overlap_info, self._functional = OverlapInfo(self.world_size), functional(optimizer_class)
            return
        own = self._partition_parameters()[self.rank]
        self.optim = optimizer_class(own, **defaults)
        self._sync_param_groups(self.optim.param_groups, self.param_groups)
        self.parameters_as_bucket_view, self._buckets = parameters_as_bucket_view, []
        self._group_count = len(self.param_groups)  # groups added later are not asked
        self._trainable = self._trainable_mask()
        self._build_param_buckets()

    def _trainable_mask(self):
        return [p.requires_grad for group in self.param_groups[:self._group_count] for p in group["params"]]

    def _partition_parameters(self):
        """the parameter groups of each rank: the largest parameter first, to whom has least"""
        if self._partition is not None:
            return self._partition
        self._partition, sizes = [[] for _ in range(self.world_size)], [0] * self.world_size
        for group in self.param_groups:
            params_per_rank = [[] for _ in range(self.world_size)]
            for param in sorted(group["params"], key=lambda p: p.numel(), reverse=True):
                rank = sizes.index(min(sizes))
                params_per_rank[rank].append(param)
                sizes[rank] += param.numel()
            for rank, params in enumerate(params_per_rank):
                self._partition[rank].append({**group, "params": params})
        return self._partition

    def _build_param_buckets(self):
        """one tensor for each rank's parameters, which become parts of it"""
        if not self.parameters_as_bucket_view:
            return
        self._buckets = []
        for groups in self._partition_parameters():
            params = [p for group in groups for p in group["params"]]
            trained = [p for p in params if p.requires_grad]
            for param in params:
                if not param.requires_grad:
                    param.data = param.data.detach().clone()
            if not trained:
                self._buckets.append(torch.zeros(1, device=params[0].device if params else "cuda"))
                continue
            size = sum([p.numel() for p in trained])
            bucket, offset = torch.empty(size, dtype=trained[0].dtype, device=trained[0].device), 0
            for param in trained:
                end = offset + param.numel()
                bucket[offset:end].copy_(param.data.flatten())
                param.data = bucket[offset:end].view_as(param.data)
                offset = end
            self._buckets.append(bucket)

    @staticmethod
    def _sync_param_groups(source, target):
        for from_group, to_group in zip(source, target):
            for key, value in from_group.items():
                if key != "params":
                    to_group[key] = value

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        if "optim" in self.__dict__:
            self._partition = None
            groups = self._partition_parameters()[self.rank]
            self.optim.add_param_group(groups[-1])
            self._sync_param_groups(self.optim.param_groups, self.param_groups)
            self._build_param_buckets()

    def join_hook(self, **kwargs):
        return _ZeROJoinHook(self)

    @property
    def join_device(self):
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self):
        return self.process_group

    def _init_zero_for_overlap(self):
        info = self._overlap_info
        info.initialized = True
        info.assign(self.rank)
        info.build_tensors()
        self.optim = self._functional(info.params_per_rank[self.rank], **self._optim_defaults)

    def _functional_step(self, gradients):
        Join.notify_join_context(self)
        self.optim.step(gradients)

    def step(self, closure=None, **kwargs):
        if self._overlap_with_ddp:
            return None
        Join.notify_join_context(self)
        mask = self._trainable_mask()
        if mask != self._trainable:
            self._build_param_buckets()
            self._trainable = mask
        self._sync_param_groups(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(**kwargs) if closure is None else self.optim.step(closure=closure, **kwargs)
        self._sync_param_groups(self.optim.param_groups, self.param_groups)
        self._sync_params()
        return loss

    def _sync_params(self):
        handles = []
        for rank in range(self.world_size):
            handles.extend(self._broadcast_params_from_rank(rank))
        for handle in handles:
            handle.wait()

    def _broadcast_params_from_rank(self, rank):
        source = dist.get_global_rank(self.process_group, rank)
        if self.parameters_as_bucket_view:
            tensors = [self._buckets[rank]]
        else:
            tensors = [p.data for group in self._partition_parameters()[rank] for p in group["params"]]
        return [dist.broadcast(t, source, group=self.process_group, async_op=True) for t in tensors]

    def consolidate_state_dict(self, to=0):
        _C.refuse("ZeroRedundancyOptimizer.consolidate_state_dict() is not modelled", "save each rank's own states")
