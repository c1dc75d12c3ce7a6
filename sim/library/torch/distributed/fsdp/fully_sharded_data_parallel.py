import math
import torch
import torch._C as _C
import torch.distributed as dist
from contextlib import ExitStack, contextmanager
from torch import nn
from torch.distributed.fsdp import _flat_param as flat, _runtime as runtime
from torch.distributed.fsdp.api import (
    BackwardPrefetch, CPUOffload, MixedPrecision, ShardingStrategy, StateDictConfig, StateDictType,
)
from torch.distributed.fsdp.wrap import recursive_wrap


def _factor(size):
    """what gradients are divided by before they are summed: the rest comes after"""
    factor = 1
    while size % factor == 0 and size / factor > factor:
        factor *= 2
    return float(factor)


class FullyShardedDataParallel(nn.Module):
    """A module whose parameters are sharded over ranks. Source: torch.distributed.fsdp"""

    def __init__(
        self, module, process_group=None, sharding_strategy=None, cpu_offload=None, auto_wrap_policy=None,
        backward_prefetch=BackwardPrefetch.BACKWARD_PRE, mixed_precision=None, ignored_modules=None,
        param_init_fn=None, device_id=None, sync_module_states=False, forward_prefetch=False, limit_all_gathers=True,
        use_orig_params=False, ignored_states=None, device_mesh=None
    ):
        super().__init__()
        self._ignored = _left_alone(ignored_modules, ignored_states)
        if param_init_fn is not None:
            _C.refuse("FSDP(param_init_fn=...) is not modelled", "make the module on the device")
        options = dict(
            process_group=process_group, sharding_strategy=sharding_strategy, cpu_offload=cpu_offload,
            backward_prefetch=backward_prefetch, mixed_precision=mixed_precision, device_id=device_id,
            sync_module_states=sync_module_states, forward_prefetch=forward_prefetch,
            limit_all_gathers=limit_all_gathers, use_orig_params=use_orig_params, device_mesh=device_mesh,
            ignored_modules=ignored_modules, ignored_states=ignored_states
        )
        self.sharding_strategy = ShardingStrategy.FULL_SHARD if sharding_strategy is None else sharding_strategy
        self._init_groups(process_group, device_mesh)
        options["process_group"] = (self.process_group, self._inter_node_pg) if self._inter_node_pg else process_group
        if auto_wrap_policy is not None:
            recursive_wrap(
                module, auto_wrap_policy, lambda child: FullyShardedDataParallel(child, **options),
                ignored=self._ignored
            )
        if self.world_size == 1:
            self.sharding_strategy = ShardingStrategy.NO_SHARD
        self.mixed_precision = MixedPrecision() if mixed_precision is None else mixed_precision
        self.cpu_offload = CPUOffload() if cpu_offload is None else cpu_offload
        self.limit_all_gathers, self._use_orig_params = limit_all_gathers, use_orig_params
        self.backward_prefetch, self.forward_prefetch = backward_prefetch, forward_prefetch
        self._is_root = self._shared = self._handle = self._zero_scalar = None
        self._sync_gradients = True
        self._state_dict_type, self._state_dict_config = StateDictType.FULL_STATE_DICT, StateDictConfig()
        self.compute_device = torch.device("cuda", _index(device_id))
        self._init_handle(module, device_id, sync_module_states)
        self._fsdp_wrapped_module = module
        if not use_orig_params and self._handle:
            self._flat_param = self._handle.flat_param

    def _init_groups(self, process_group, device_mesh):
        self._inter_node_pg = None
        if self.sharding_strategy in runtime.HYBRID:
            if device_mesh is not None:
                self._inter_node_pg, self.process_group = device_mesh.get_group(0), device_mesh.get_group(1)
            elif isinstance(process_group, tuple):
                self.process_group, self._inter_node_pg = process_group
            else:
                self.process_group, _ = dist.new_subgroups()
                per_node, world = self.process_group.size(), dist.get_world_size()
                for local in range(per_node):
                    ranks = list(range(local, world, per_node))
                    made = dist.new_group(ranks)
                    if dist.get_rank() in ranks:
                        self._inter_node_pg = made
        elif device_mesh is not None:
            self.process_group = device_mesh.get_group(0)
        else:
            self.process_group = dist.distributed_c10d._get_default_group() if process_group is None else process_group
        self.rank, self.world_size = self.process_group.rank(), self.process_group.size()
        size = self.world_size * (self._inter_node_pg.size() if self._inter_node_pg else 1)
        self._predivide_factor = _factor(size)
        self._postdivide_factor = size / self._predivide_factor

    def _init_handle(self, module, device_id, sync_module_states):
        if device_id is not None:
            queue, found, buffers = [module], [], []
            while queue:
                current = queue.pop(0)
                found.extend([
                    p for p in current.parameters(recurse=False)
                    if p.device.type == "cpu" and id(p) not in self._ignored[1]
                ])
                buffers.extend([b for b in current.buffers(recurse=False) if b.device.type == "cpu"])
                queue.extend([
                    m for m in current.children()
                    if not isinstance(m, FullyShardedDataParallel) and not any([m is i for i in self._ignored[0]])
                ])
            with torch.no_grad():
                for tensor in found + buffers:
                    tensor.data = tensor.to(self.compute_device)
            del found, buffers
            if module._parameter_list():
                tensor = None  # the last one moved is held on only where the module has no parameters of its own
        flat_params = [id(m._handle.flat_param) for m in self.fsdp_modules(module) if m._handle]
        taken = {id(p) for m in self.fsdp_modules(module) if m._handle for p in m._handle._params or ()}
        taken.update(self._ignored[1])
        params = [p for p in module.parameters() if id(p) not in flat_params and id(p) not in taken]
        if sync_module_states:
            states = [b.detach() for b in module.buffers()] + [p.detach() for p in params]
            dist._broadcast_coalesced(states, 250 * 1024 * 1024)
            del states
        if not params:
            return
        self._handle = flat.FlatParamHandle(
            params, module, self.compute_device, self.sharding_strategy, self.cpu_offload.offload_params,
            self.mixed_precision, self.process_group, self._use_orig_params
        )
        self._handle.shard()
        if self.cpu_offload.offload_params and self._handle.flat_param.is_cuda:
            self._handle.flat_param.data = self._handle.flat_param.cpu()
            if self._use_orig_params:
                self._handle._use_sharded_views()
        if not self._use_orig_params:
            while params:
                params.pop()

    @staticmethod
    def fsdp_modules(module, root_only=False):
        found = [m for m in module.modules() if isinstance(m, FullyShardedDataParallel)]
        return [m for m in found if m._is_root] if root_only else found

    @property
    def module(self):
        inner = self._fsdp_wrapped_module
        return getattr(inner, "_checkpoint_wrapped_module", inner)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_fsdp_wrapped_module"), name)

    def __getitem__(self, key):
        return self.module[key]

    def check_is_root(self):
        runtime.lazy_init(self)
        return self._is_root

    def forward(self, *args, **kwargs):
        handle = self._handle
        args, kwargs = runtime.root_pre_forward(self, args, kwargs)
        args, kwargs = runtime.pre_forward(self, handle, args, kwargs)
        output = self._fsdp_wrapped_module(*args, **kwargs)
        return runtime.post_forward(self, handle, output)

    @contextmanager
    def no_sync(self):
        runtime.lazy_init(self)
        if not self._is_root:
            raise RuntimeError(
                "`no_sync()` on inner FSDP instances is not supported. Please call `no_sync()` on root FSDP module."
            )
        modules = self.fsdp_modules(self)
        before = [m._sync_gradients for m in modules]
        for m in modules:
            m._sync_gradients = False
        try:
            yield
        finally:
            for m, flag in zip(modules, before):
                m._sync_gradients = flag

    def clip_grad_norm_(self, max_norm, norm_type=2.0):
        with torch.no_grad():
            return self._clip(float(max_norm), float(norm_type))

    def _clip(self, max_norm, norm_type):
        runtime.lazy_init(self)
        if not self._is_root:
            raise RuntimeError("`clip_grad_norm_()` should only be called on the root FSDP instance")
        if self._zero_scalar is None:
            self._zero_scalar = torch.tensor(0.0, device=self.compute_device)
        handles = self._shared.handles()
        if all([not handle.uses_sharded_strategy for handle in handles]):
            return torch.nn.utils.clip_grad_norm_(self.parameters(), max_norm, norm_type)
        params = []
        for handle in handles:
            params.extend(handle._params if handle._use_orig_params else [handle.flat_param])
        grads = [p.grad for p in params if p.grad is not None]
        local = self._grad_norm(params, norm_type)
        if norm_type == math.inf:
            total_norm = local
            dist.all_reduce(total_norm, op=dist.ReduceOp.MAX, group=self.process_group)
        else:
            total_norm = local ** norm_type
            dist.all_reduce(total_norm, group=self.process_group)
            total_norm = total_norm ** (1.0 / norm_type)
        if self.cpu_offload.offload_params:
            total_norm = total_norm.cpu()
        clip_coef = max_norm / (total_norm + 1e-6)
        clip_coef_clamped = torch.clamp(clip_coef, max=1.0)
        for grad in grads:
            grad.mul_(clip_coef_clamped.to(grad.device, grad.dtype))
        return total_norm if not grads else total_norm.to(grads[0].dtype)

    def _grad_norm(self, params, norm_type):
        grads = [p.grad for p in params if p.grad is not None]
        if not grads:
            return self._zero_scalar
        grad_norm = torch.linalg.vector_norm(
            torch.stack([torch.linalg.vector_norm(grad.detach(), norm_type, dtype=torch.float32) for grad in grads]),
            norm_type, dtype=torch.float32
        )
        return grad_norm.to(device=self.compute_device)

    @staticmethod
    @contextmanager
    def state_dict_type(module, state_dict_type, state_dict_config=None, optim_state_dict_config=None):
        modules = FullyShardedDataParallel.fsdp_modules(module)
        before = [(m._state_dict_type, m._state_dict_config) for m in modules]
        FullyShardedDataParallel.set_state_dict_type(module, state_dict_type, state_dict_config)
        try:
            yield
        finally:
            for m, (kind, config) in zip(modules, before):
                m._state_dict_type, m._state_dict_config = kind, config

    @staticmethod
    def set_state_dict_type(module, state_dict_type, state_dict_config=None, optim_state_dict_config=None):
        for m in FullyShardedDataParallel.fsdp_modules(module):
            m._state_dict_type = state_dict_type
            m._state_dict_config = StateDictConfig() if state_dict_config is None else state_dict_config

    def state_dict(self, destination=None, prefix="", keep_vars=False):
        """all parameters whole, each unit's gathered for as long as its modules' are taken"""
        if self._state_dict_type == StateDictType.LOCAL_STATE_DICT:
            _C.refuse(f"FSDP's {self._state_dict_type} is not modelled", "use FULL_STATE_DICT, or fully_shard")
        runtime.lazy_init(self)
        if self._is_root:
            for handle in self._shared.handles():
                handle.reset_grad_info()
        out = {} if destination is None else destination
        with torch.no_grad():
            with self._whole(self._state_dict_config):
                self._collect(self._fsdp_wrapped_module, prefix, out)
        return out

    def _collect(self, module, prefix, out):
        """states of a module and those below it, inner units by themselves"""
        if isinstance(module, FullyShardedDataParallel):
            module.state_dict(out, prefix)
            return
        config = self._state_dict_config
        keeps = not config.rank0_only or dist.get_rank() == 0
        shards = self._state_dict_type == StateDictType.SHARDED_STATE_DICT
        parameters = [*module._parameter_items(), *self._plain_views(module)]
        if shards:
            for name, value in parameters:
                if value is not None:
                    out[prefix + name] = ShardedTensor(value.detach(), self.process_group, config.offload_to_cpu)
            parameters = []
        for name, value in [*parameters, *module._buffer_items()]:
            if value is not None and keeps:
                value = value.detach()
                out[prefix + name] = value.cpu() if config.offload_to_cpu else value.clone()
        for name, child in module._module_items():
            if child is not None:
                is_wrapper = name == "_checkpoint_wrapped_module"
                self._collect(child, prefix if is_wrapper else prefix + name + ".", out)

    def _plain_views(self, module):
        """of flat parameters: the views that stand for a module's parameters"""
        handle = self._handle
        if handle is None or handle._use_orig_params:
            return []
        return [(name, getattr(owner, name)) for owner, name in handle._infos if owner is module]

    @staticmethod
    @contextmanager
    def summon_full_params(
        module, recurse=True, writeback=True, rank0_only=False, offload_to_cpu=False, with_grads=False
    ):
        """all parameters whole, on the current stream, for as long as the context lasts"""
        if with_grads or (rank0_only and writeback):
            _C.refuse("summon_full_params() of gradients, or writing from one rank, is not modelled", "leave it out")
        states = FullyShardedDataParallel.fsdp_modules(module) if recurse else [module]
        for root in FullyShardedDataParallel.fsdp_modules(module)[:1]:
            runtime.lazy_init(root)
        config = StateDictConfig(offload_to_cpu)
        with ExitStack() as stack, torch.no_grad():
            for state in states:
                stack.enter_context(state._whole(config))
                if state._handle and not state._handle._use_orig_params:
                    state._handle._use_unsharded_views(True)
            with torch.enable_grad():
                yield

    @contextmanager
    def _whole(self, config):
        """this unit's parameters gathered on the current stream, on the host if the dict is to be there"""
        handle = self._handle
        if handle is None:
            yield
            return
        handle._training_state = flat.SUMMON
        handle.reset_grad_info()
        handle.pre_unshard()
        handle.unshard()
        handle.post_unshard()
        if not handle._use_orig_params:
            handle._use_unsharded_views(False)
        moves = config.offload_to_cpu and handle.uses_sharded_strategy
        if moves:
            handle.whole_to_cpu()
        try:
            yield
        finally:
            if moves:
                handle.whole_from_cpu()
            runtime.reshard(self, handle, True)
            handle._training_state = flat.IDLE


def _left_alone(ignored_modules, ignored_states):
    """modules and ids of parameters that no flat parameter takes"""
    modules, params = [], set()
    for state in [*(ignored_modules or ()), *(ignored_states or ())]:
        if isinstance(state, nn.Module):
            modules.extend(state.modules())
            params.update([id(p) for p in state.parameters()])
        else:
            params.add(id(state))
    return modules, params


class ShardedTensor:
    """this rank's rows of a parameter"""

    def __init__(self, whole, group, offload_to_cpu):
        self._shape, chunks = whole.shape, whole.chunk(group.size())
        self._local = chunks[group.rank()].clone() if group.rank() < len(chunks) else None
        if offload_to_cpu and self._local is not None:
            self._local = self._local.cpu()

    def size(self, dim=None):
        return self._shape if dim is None else self._shape[dim]

    def local_tensor(self):
        return self._local


def _index(device_id):
    if device_id is None:
        return torch.cuda.current_device()
    return device_id if isinstance(device_id, int) else torch.device(device_id).index
