import torch
import torch._C as _C
import torch.distributed as dist
from torch.distributed.algorithms.join import Join, Joinable, JoinHook
from torch.distributed.optim._archive import archive_bytes
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
        self._all_state_dicts, self._stepped = [], set()  # ids of parameters that had a gradient in a step
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
        self._stepped.update([id(p) for group in self.param_groups for p in group["params"] if p.grad is not None])
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

    # ---- states of all ranks

    def consolidate_state_dict(self, to=0):
        if self._overlap_with_ddp:
            _C.refuse(
                "consolidating the states of an optimizer that steps in backward is not modelled",
                "leave out overlap_with_ddp",
            )
        self._sync_param_groups(self.param_groups, self.optim.param_groups)
        empty_messenger = torch.tensor([0], dtype=torch.uint8, device=self._default_device)
        self._all_state_dicts = []
        for rank in range(self.world_size):
            if self.rank == to:
                if rank == self.rank:
                    self._all_state_dicts.append(_copy_to(self.optim.state_dict(), torch.device("cpu")))
                else:
                    local_state_dict = self._received(rank)
                    self._all_state_dicts.append(_copy_to(local_state_dict, torch.device("cpu")))
            elif rank == self.rank:
                _ = self._sent(self.optim.state_dict())
            elif rank != to:
                _ = self._received(rank)

    @property
    def _default_device(self):
        return self.param_groups[0]["params"][0].device

    def _sent(self, obj):
        data = torch.empty(archive_bytes(obj), dtype=torch.uint8)
        length_tensor = torch.LongTensor([data.numel()]).to(self._default_device)
        data_send_tensor = data.to(self._default_device)
        source = dist.get_global_rank(self.process_group, self.rank)
        dist.broadcast(length_tensor, src=source, group=self.process_group, async_op=False)
        dist.broadcast(data_send_tensor, src=source, group=self.process_group, async_op=False)
        return obj

    def _received(self, rank):
        """another rank's state: its parameters are known, and its optimizer is as this one"""
        obj = self._state_dict_of(rank)
        nbytes = archive_bytes(obj)
        device = self._default_device
        source = dist.get_global_rank(self.process_group, rank)
        length_tensor = torch.LongTensor([0]).to(device)
        dist.broadcast(length_tensor, src=source, group=self.process_group, async_op=False)
        data_recv_tensor = torch.empty([nbytes], dtype=torch.uint8, device=device)
        dist.broadcast(data_recv_tensor, src=source, group=self.process_group, async_op=False)
        data_recv_tensor.cpu()
        return _made_on(obj, device)

    def _state_dict_of(self, rank):
        """its form, of tensors without memory"""
        like = self._example()
        state, groups, index = {}, [], 0
        for own, other in zip(self.optim.state_dict()["param_groups"], self._partition_parameters()[rank]):
            groups.append({**own, "params": list(range(index, index + len(other["params"])))})
            for param in other["params"]:
                if like is not None and id(param) in self._stepped:
                    state[index] = {key: self._formed(value, like[0], param) for key, value in like[1].items()}
                index += 1
        return {"state": state, "param_groups": groups}

    def _example(self):
        """(a parameter of this rank's, its state), the one of most dimensions; None: there are no states"""
        found = [(p, self.optim.state[p]) for p in self.optim.state if self.optim.state[p]]
        if not found and self._stepped and not any([id(p) in self._stepped for p in self._own_parameters()]):
            _C.refuse(
                "consolidating states where this rank has none is not modelled", "use no more ranks than parameters"
            )
        return max(found, key=lambda each: each[0].dim()) if found else None

    def _own_parameters(self):
        return [p for group in self.optim.param_groups for p in group["params"]]

    def _formed(self, value, like, param):
        """what another parameter has where `like` has this"""
        if not isinstance(value, torch.Tensor):
            return value
        if value.shape == like.shape and like.dim() > 0:
            return torch.empty_strided(param.shape, param.stride(), dtype=value.dtype, device="meta")
        if value.dim() > 0:
            _C.refuse(
                "consolidating states that are not of their parameters' sizes is not modelled",
                "save each rank's own states",
            )
        return torch.empty_like(value, device="cpu" if value.device.type == "cpu" else "meta")

    def state_dict(self):
        if len(self._all_state_dicts) == 0:
            raise RuntimeError(
                f"Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict("
                f"to={self.rank})` on all ranks beforehand if you meant to save the global state."
            )
        state_dict = super().state_dict()
        numbers = {id(p): i for i, p in enumerate([p for group in self.param_groups for p in group["params"]])}
        for rank, local_state_dict in enumerate(self._all_state_dicts):
            for own, other in zip(local_state_dict["param_groups"], self._partition_parameters()[rank]):
                for local, param in zip(own["params"], other["params"]):
                    if local in local_state_dict["state"]:
                        state_dict["state"][numbers[id(param)]] = local_state_dict["state"][local]
        state_dict["state"] = dict(sorted(state_dict["state"].items()))
        return state_dict

    def load_state_dict(self, state_dict):
        params = [p for group in self.param_groups for p in group["params"]]
        own = [id(p) for group in self._partition_parameters()[self.rank] for p in group["params"]]
        for index, value in state_dict["state"].items():
            param = params[index]
            if id(param) not in own:
                state_dict["state"][index] = None
                continue
            self.optim.state[param] = _copy_to(value, param.device)
            for name, each in self.optim.state[param].items():
                if isinstance(each, torch.Tensor) and each.dim() == 0:
                    self.optim.state[param][name] = each.cpu()
        super().load_state_dict(state_dict)
        self._sync_param_groups(state_dict["param_groups"], self.param_groups)
        self._sync_param_groups(self.param_groups, self.optim.param_groups)


def _copy_to(value, device):
    if isinstance(value, torch.Tensor):
        return value.to(device, non_blocking=True)
    if isinstance(value, (list, tuple)):
        values = [_copy_to(each, device) for each in value]
        return values if isinstance(value, list) else tuple(values)
    if isinstance(value, dict):
        return {key: _copy_to(each, device) for key, each in value.items()}
    return value


def _made_on(value, device):
    """as torch.load() makes it: all storages there"""
    if isinstance(value, torch.Tensor):
        return torch.empty_like(value, device=device)
    if isinstance(value, (list, tuple)):
        return type(value)([_made_on(each, device) for each in value])
    if isinstance(value, dict):
        return {key: _made_on(each, device) for key, each in value.items()}
    return value
