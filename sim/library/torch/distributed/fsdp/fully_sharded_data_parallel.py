import math
import torch
import torch._C as _C
import torch.distributed as dist
from contextlib import ExitStack, contextmanager
from torch import nn
from torch.distributed.fsdp import _flat_param as flat, _runtime as runtime
from torch.distributed.fsdp._buffers import Buffers
from torch.distributed.fsdp._fully_shard._fsdp_common import _apply_to_tensors, _cast_fp_tensor
from torch.distributed.fsdp._optim_load import optim_state_dict_to_load
from torch.distributed.fsdp._optim_state import optim_state_dict
from torch.distributed.fsdp._sharded_tensor import ShardedTensor, _rows_as_dtensor
from torch.distributed.fsdp.api import (
    BackwardPrefetch, CPUOffload, FullOptimStateDictConfig, FullStateDictConfig, LocalOptimStateDictConfig,
    LocalStateDictConfig, MixedPrecision, OptimStateDictConfig, ShardedOptimStateDictConfig, ShardedStateDictConfig,
    ShardingStrategy, StateDictConfig, StateDictSettings, StateDictType,
)
from torch.distributed.fsdp.wrap import recursive_wrap
from torch.distributed.tensor import DTensor, Replicate


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
        options = dict(
            process_group=process_group, sharding_strategy=sharding_strategy, cpu_offload=cpu_offload,
            backward_prefetch=backward_prefetch, mixed_precision=mixed_precision, device_id=device_id,
            sync_module_states=sync_module_states, forward_prefetch=forward_prefetch,
            limit_all_gathers=limit_all_gathers, use_orig_params=use_orig_params, device_mesh=device_mesh,
            ignored_modules=ignored_modules, ignored_states=ignored_states, param_init_fn=param_init_fn
        )
        self.sharding_strategy = ShardingStrategy.FULL_SHARD if sharding_strategy is None else sharding_strategy
        self._init_groups(process_group, device_mesh)
        options["process_group"] = (self.process_group, self._inter_node_pg) if self._inter_node_pg else process_group
        if auto_wrap_policy is not None:
            policy = auto_wrap_policy
            whole_types = tuple(mixed_precision._module_classes_to_ignore) if mixed_precision is not None else ()
            if whole_types:
                policy = _with_units_of(auto_wrap_policy, whole_types)
                _compute_in_float(module, whole_types)

            def wrap(child, **own):
                changed = {"mixed_precision": None, **own} if isinstance(child, whole_types) else own
                return FullyShardedDataParallel(child, **{**options, **changed})

            recursive_wrap(module, policy, wrap, ignored=self._ignored)
        if self.world_size == 1:
            self.sharding_strategy = ShardingStrategy.NO_SHARD
        self.mixed_precision = MixedPrecision() if mixed_precision is None else mixed_precision
        self.cpu_offload = CPUOffload() if cpu_offload is None else cpu_offload
        self.limit_all_gathers, self._use_orig_params = limit_all_gathers, use_orig_params
        self.backward_prefetch, self.forward_prefetch = backward_prefetch, forward_prefetch
        self._is_root = self._shared = self._handle = self._zero_scalar = self._loading = None
        self._device_mesh = device_mesh
        self.register_load_state_dict_post_hook(self._loaded)
        self._sync_gradients = True
        self._state_dict_type, self._state_dict_config = StateDictType.FULL_STATE_DICT, StateDictConfig()
        self._optim_state_dict_config = FullOptimStateDictConfig()
        self.compute_device = torch.device("cuda", _index(device_id))
        self._materialize(module, device_id, param_init_fn)
        self._buffers_of_unit = Buffers(module, self._ignored[0])
        self._init_handle(module, device_id, sync_module_states)
        self._fsdp_wrapped_module = module
        if not use_orig_params and self._handle:
            self._flat_param = self._handle.flat_param

    @property
    def _has_params(self):
        return self._handle is not None

    def _init_groups(self, process_group, device_mesh):
        self._inter_node_pg = None
        if self.sharding_strategy in runtime.HYBRID:
            if device_mesh is not None:
                self._inter_node_pg, self.process_group = device_mesh.get_group(0), device_mesh.get_group(1)
            elif isinstance(process_group, tuple):
                self.process_group, self._inter_node_pg = process_group
            else:
                c10d = dist.distributed_c10d
                per_node, world, rank = torch.cuda.device_count(), dist.get_world_size(), dist.get_rank()
                self.process_group = c10d._own_subgroup(per_node)
                others = c10d.Ranks(
                    world // per_node,
                    lambda: list(range(rank % per_node, world, per_node)),
                    lambda: [rank % per_node + per_node * node for node in range(world // per_node)],
                )
                self._inter_node_pg = c10d._own_group(others, rank // per_node)
        elif device_mesh is not None:
            self.process_group = device_mesh.get_group(0)
        else:
            self.process_group = dist.distributed_c10d._get_default_group() if process_group is None else process_group
        self.rank, self.world_size = self.process_group.rank(), self.process_group.size()
        size = self.world_size * (self._inter_node_pg.size() if self._inter_node_pg else 1)
        self._predivide_factor = _factor(size)
        self._postdivide_factor = size / self._predivide_factor

    def _materialize(self, module, device_id, param_init_fn):
        """what is on no device yet gets memory, module by module, the outermost first, but what is sharded already.
        Source: torch.distributed.fsdp._init_utils._need_to_materialize_module, _get_modules_to_materialize"""
        is_left_alone = lambda m: any([m is i for i in self._ignored[0]])
        flat = [id(m._handle.flat_param) for m in self.fsdp_modules(module) if m._handle]
        states = [p for p in module.parameters() if id(p) not in flat and id(p) not in self._ignored[1]]
        states += [b for m in module.modules() if not is_left_alone(m) for b in m.buffers(recurse=False)]
        is_meta = any([t.is_meta for t in states])
        states = None
        if not is_meta:
            return
        found, queue, seen = [], [module], {id(module)}
        while queue:
            found.append(queue.pop(0))
            for child in found[-1].children():
                if not isinstance(child, FullyShardedDataParallel) and not is_left_alone(child):
                    if id(child) not in seen:
                        seen.add(id(child))
                        queue.append(child)
        if param_init_fn is not None:
            for each in found:
                param_init_fn(each)
            return
        with torch.no_grad():
            for each in found:
                if list(each.parameters(recurse=False)) + list(each.buffers(recurse=False)):
                    each.to_empty(device=torch.device("cuda", _index(device_id)), recurse=False)
                    each.reset_parameters()

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
            buffers = [b for b in module.buffers() if not getattr(b, "_is_synced", False)]
            for buffer in buffers:
                buffer._is_synced = True
                del buffer
            states = [b.detach() for b in buffers] + [p.detach() for p in params]
            dist._broadcast_coalesced(states, 250 * 1024 * 1024, self.process_group)
            if self.sharding_strategy in runtime.HYBRID:
                states = [p.detach() for p in params]
                dist._broadcast_coalesced(states, 250 * 1024 * 1024, self._inter_node_pg)
            del states, buffers
        if not params:
            return
        self._handle = flat.FlatParamHandle(
            params, module, self.compute_device, self.sharding_strategy, self.cpu_offload.offload_params,
            self.mixed_precision, self.process_group, self._use_orig_params,
            self._device_mesh is not None and self._device_mesh._root is not self._device_mesh
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
            if name == "_flat_param":
                return self._handle.flat_param if self._handle else None
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
        # What is whole here: of units that are not sharded, and of no unit.
        sharded, whole, seen = [], [], {}
        for handle in handles:
            kind = sharded if handle.uses_sharded_strategy else whole
            kind.extend(handle._params if handle._use_orig_params else [handle.flat_param])
            seen.update(dict.fromkeys(handle._params if handle._use_orig_params else [handle.flat_param]))
        more = [p for p in self.parameters() if p not in seen]
        whole.extend(more)
        grads = [p.grad for p in [*seen, *more] if p.grad is not None]
        local, rest = self._grad_norm(sharded, norm_type), self._grad_norm(whole, norm_type) if whole else None
        if norm_type == math.inf:
            total_norm = local if rest is None else torch.maximum(local, rest)
            dist.all_reduce(total_norm, op=dist.ReduceOp.MAX, group=self.process_group)
        else:
            total_norm = local ** norm_type
            dist.all_reduce(total_norm, group=self.process_group)
            if rest is not None:
                total_norm += rest ** norm_type
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
        settings = (state_dict_type, state_dict_config, optim_state_dict_config)
        before = FullyShardedDataParallel.set_state_dict_type(module, *settings)
        try:
            yield
        finally:
            kinds = (before.state_dict_type, before.state_dict_config, before.optim_state_dict_config)
            FullyShardedDataParallel.set_state_dict_type(module, *kinds)

    @staticmethod
    def set_state_dict_type(module, state_dict_type, state_dict_config=None, optim_state_dict_config=None):
        before = FullyShardedDataParallel.get_state_dict_type(module)
        is_full = state_dict_type == StateDictType.FULL_STATE_DICT
        if optim_state_dict_config is None:
            optim_state_dict_config = FullOptimStateDictConfig() if is_full else ShardedOptimStateDictConfig()
        for m in FullyShardedDataParallel.fsdp_modules(module):
            m._state_dict_type = state_dict_type
            m._state_dict_config = StateDictConfig() if state_dict_config is None else state_dict_config
            m._optim_state_dict_config = optim_state_dict_config
        return before

    @staticmethod
    def get_state_dict_type(module):
        for m in FullyShardedDataParallel.fsdp_modules(module):
            return StateDictSettings(m._state_dict_type, m._state_dict_config, m._optim_state_dict_config)
        return None

    @staticmethod
    def optim_state_dict(model, optim, optim_state_dict=None, group=None):
        settings = FullyShardedDataParallel.get_state_dict_type(model)
        config = settings.optim_state_dict_config
        return _optim_state(
            model, optim, optim_state_dict, config.rank0_only, settings.state_dict_type, group, config.offload_to_cpu
        )

    @staticmethod
    def full_optim_state_dict(model, optim, optim_input=None, rank0_only=True, group=None):
        return _optim_state(model, optim, None, rank0_only, StateDictType.FULL_STATE_DICT, group, True)

    @staticmethod
    def sharded_optim_state_dict(model, optim, group=None):
        return _optim_state(model, optim, None, False, StateDictType.SHARDED_STATE_DICT, group, True)

    @staticmethod
    def optim_state_dict_to_load(
        model, optim, optim_state_dict, is_named_optimizer=False, load_directly=False, group=None
    ):
        config = FullyShardedDataParallel.get_state_dict_type(model).optim_state_dict_config
        original = FullyShardedDataParallel.fsdp_modules(model)[0]._use_orig_params
        given = optim_state_dict_to_load(optim_state_dict, model, optim, config.rank0_only, original, group)
        if load_directly:
            optim.load_state_dict(given)
        return given

    @staticmethod
    def shard_full_optim_state_dict(full_optim_state_dict, model, optim_input=None, optim=None):
        original = FullyShardedDataParallel.fsdp_modules(model)[0]._use_orig_params
        return optim_state_dict_to_load(full_optim_state_dict, model, optim, False, original, None)

    @staticmethod
    def flatten_sharded_optim_state_dict(sharded_optim_state_dict, model, optim):
        return FullyShardedDataParallel.shard_full_optim_state_dict(sharded_optim_state_dict, model, optim=optim)

    @staticmethod
    def scatter_full_optim_state_dict(full_optim_state_dict, model, optim_input=None, optim=None, group=None):
        original = FullyShardedDataParallel.fsdp_modules(model)[0]._use_orig_params
        return optim_state_dict_to_load(full_optim_state_dict, model, optim, True, original, group)

    def state_dict(self, destination=None, prefix="", keep_vars=False):
        """all parameters whole, or this rank's rows of them: each unit's gathered for as long as its modules' are
        taken. Source: torch.distributed.fsdp._state_dict_utils"""
        kind, config = self._state_dict_type, self._state_dict_config
        if self.sharding_strategy == ShardingStrategy.NO_SHARD:
            kind, config = StateDictType.FULL_STATE_DICT, StateDictConfig()
        if kind == StateDictType.LOCAL_STATE_DICT:
            _C.refuse(f"FSDP's {kind} is not modelled", "use FULL_STATE_DICT, or fully_shard")
        is_full = kind == StateDictType.FULL_STATE_DICT
        runtime.lazy_init(self)
        if self._is_root:
            for handle in self._shared.handles():
                handle.reset_grad_info()
        out = {} if destination is None else destination
        keeps = not (is_full and config.rank0_only) or self.rank == 0
        names = {}
        with torch.no_grad():
            with self._whole(is_full and config.rank0_only, is_full and config.offload_to_cpu):
                self._collect(self._fsdp_wrapped_module, prefix, out, names)
                self._hand_out(out, names, is_full, keeps, config)
            if self._handle:  # a unit without parameters leaves all as it is
                self._buffers_of_unit.hand_out(out, prefix, keeps, self)
        return out

    def _collect(self, module, prefix, out, names):
        """states of a module and those below it, inner units by themselves"""
        if isinstance(module, FullyShardedDataParallel):
            module.state_dict(out, prefix)
            return
        for name, value in module._parameter_items():
            if value is not None:
                names[id(module), name] = prefix + name
                out[prefix + name] = value.detach()
        for name, value in module._buffer_items():
            if value is not None and module._is_persistent(name):
                out[prefix + name] = value.detach()
        for name, child in module._module_items():
            if child is not None:
                is_wrapper = name == "_checkpoint_wrapped_module"
                self._collect(child, prefix if is_wrapper else prefix + name + ".", out, names)

    def _hand_out(self, out, names, is_full, keeps, config):
        """the unit's parameters as they go to the program"""
        for module, name in self._handle._places() if self._handle else []:
            key = names.get((id(module), name))
            if not keeps:
                out.pop(key, None)
            elif is_full:
                out[key] = out[key].detach().clone()
            elif self._device_mesh is not None:
                shard = _rows_as_dtensor(out[key], self._device_mesh)
                out[key] = shard.cpu() if config.offload_to_cpu else shard
                del shard
            else:
                out[key] = ShardedTensor(out[key], self.process_group, config.offload_to_cpu)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """parameters whole until those of all modules below are loaded"""
        runtime.lazy_init(self)
        for key in list(state_dict):
            if key.startswith(prefix):
                inner = prefix + "_fsdp_wrapped_module." + key[len(prefix):]
                state_dict[inner] = state_dict.pop(key)
        kind = self._state_dict_type
        if self.sharding_strategy == ShardingStrategy.NO_SHARD:
            kind = StateDictType.FULL_STATE_DICT
        if kind == StateDictType.LOCAL_STATE_DICT:
            _C.refuse(f"FSDP's {kind} is not modelled", "use FULL_STATE_DICT, or fully_shard")
        self._loading = self._whole()
        with torch.no_grad():
            if kind == StateDictType.SHARDED_STATE_DICT and self._handle:
                self._gather_given(state_dict, prefix + "_fsdp_wrapped_module.")
            else:
                self._loading.__enter__()

    def _loaded(self, module, keys):
        with torch.no_grad():
            self._loading.__exit__(None, None, None)
        self._loading = None

    def _gather_given(self, state_dict, prefix):
        names = {}
        for path, module in self._fsdp_wrapped_module.named_modules():
            for name in [*module._parameters, *module.__dict__]:
                inner = (path + "." if path else "") + name
                names[id(module), name] = prefix + inner.replace("_checkpoint_wrapped_module.", "")
        for module, name in self._handle._places():
            key = names[id(module), name]
            if key not in state_dict:
                continue
            param = state_dict.pop(key)
            if isinstance(param, DTensor):
                if param.device.type != "cuda":
                    param = param.to("cuda")
                placements = [*param.placements[:-1], Replicate()]
                state_dict[key] = param.redistribute(placements=placements).to_local()
                continue
            numel, rows = math.prod(param.size()), param.size()[0]
            chunk_size = -(-rows // self.world_size) * numel // rows
            if param.local_tensor() is not None:
                local_tensor = param.local_tensor().flatten()
                local_tensor = local_tensor.to(self.compute_device)
                missing = chunk_size - local_tensor.numel()
                if missing > 0:
                    local_tensor = nn.functional.pad(local_tensor, [0, missing])
            else:
                local_tensor = torch.zeros(chunk_size, dtype=param.dtype, device=self.compute_device)
            tensor = torch.empty(
                chunk_size * self.world_size, dtype=local_tensor.dtype, device=self.compute_device
            )
            dist.all_gather_into_tensor(tensor, local_tensor, group=self.process_group)
            tensor = tensor.narrow(0, 0, numel).reshape(param.size())
            state_dict[key] = tensor
        self._loading.__enter__()  # before what the last parameter took goes

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
        with ExitStack() as stack, torch.no_grad():
            for state in states:
                stack.enter_context(state._whole(rank0_only, offload_to_cpu))
            with torch.enable_grad():
                yield

    @contextmanager
    def _whole(self, rank0_only=False, offload_to_cpu=False):
        """this unit's parameters gathered on the current stream, and on the host if they are wanted there"""
        handle = self._handle
        if handle is None or handle._training_state == flat.SUMMON:
            yield
            return
        handle._training_state = flat.SUMMON
        handle.reset_grad_info()
        frees = handle.needs_unshard()
        handle.pre_unshard()
        runtime.limit(self)
        handle.unshard()
        handle.post_unshard()
        if rank0_only and self.rank != 0:
            runtime.reshard(self, handle, frees)
            try:
                yield
            finally:
                handle._training_state = flat.IDLE
            return
        moves = offload_to_cpu and handle.uses_sharded_strategy
        if moves:
            handle.whole_to_cpu()
        if not handle._use_orig_params:
            self._parameters.pop("_flat_param", None)
            handle._use_unsharded_views(True)
        try:
            yield
        finally:
            if not handle._use_orig_params:
                handle._use_unsharded_views(False)
                self._parameters["_flat_param"] = handle.flat_param
            if moves:
                handle.whole_from_cpu()
            runtime.reshard(self, handle, frees)
            handle._training_state = flat.IDLE


def _optim_state(model, optim, states, rank0_only, kind, group, offloads):
    states = optim.state_dict() if states is None else states
    original = FullyShardedDataParallel.fsdp_modules(model)[0]._use_orig_params
    shards = kind != StateDictType.FULL_STATE_DICT
    return optim_state_dict(model, optim, states, rank0_only, shards, group, original, offloads)


def _with_units_of(policy, types):
    """a policy by which modules of some types are units of their own, too"""

    def both(module, recurse, nonwrapped_numel=-1, **kwargs):
        chosen = policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel)
        return chosen or recurse or isinstance(module, types)

    return both


def _compute_in_float(root, types):
    """modules that mixed precision leaves alone get float32, and give what they would have got"""
    for module in root.modules():
        if isinstance(module, types):
            given = {}

            def before(module, args, given=given):
                def cast(x):
                    if not x.is_floating_point() or x.dtype == torch.float32:
                        return x
                    given["dtype"] = x.dtype
                    return x.to(torch.float32)

                return _apply_to_tensors(cast, args)

            def after(module, args, output, given=given):
                if "dtype" not in given:
                    return output
                return _apply_to_tensors(lambda x: _cast_fp_tensor(given["dtype"], x), output)

            module.register_forward_pre_hook(before)
            module.register_forward_hook(after)


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


def _index(device_id):
    index = device_id if device_id is None or isinstance(device_id, int) else torch.device(device_id).index
    return torch.cuda.current_device() if index is None else index
