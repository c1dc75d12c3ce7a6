import torch
import torch._C as _C
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp._fully_shard._fsdp_param import alloc_storage, free_storage
from torch.distributed.fsdp.api import ShardingStrategy
from torch.distributed.tensor import DTensor

FORWARD, BACKWARD_PRE, BACKWARD_POST, SUMMON, IDLE = "forward", "backward_pre", "backward_post", "summon", "idle"
_PADDING = 42
_KEPT_AFTER_FORWARD = (ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy._HYBRID_SHARD_ZERO2)


def _padding(numel, dtype, device):
    return torch.ones(numel, dtype=dtype, device=device) * _PADDING


def _is_truly_contiguous(tensor):
    """not so by sizes of one alone, as channels-last kernels of one pixel are"""
    return tensor.stride(-1) == 1 and tensor.is_contiguous()


def _in_memory_order(tensor):
    if _is_truly_contiguous(tensor):
        return torch.flatten(tensor)
    return tensor.as_strided((tensor.numel(),), (1,))


def _set_tensor(module, name, tensor):
    """a plain tensor in a parameter's place"""
    module._parameters.pop(name, None)
    module.__dict__.pop(name, None)
    setattr(module, name, tensor)


def _unchanged(gradient):
    return gradient


def _spread(local, spec, stream):
    """what modules see of a DTensor's part. Source: torch.distributed.tensor.parallel._data_parallel_utils"""
    if spec is None:
        return local
    with torch.cuda.stream(torch.cuda.current_stream() if stream is None else stream):
        whole = DTensor.from_local(local, spec.mesh, spec.placements, shape=spec.shape, stride=spec.stride)
        if local.requires_grad:
            local.register_hook(_unchanged)
        return whole


def _set_param(module, name, param):
    module.__dict__.pop(name, None)
    module.register_parameter(name, param)


def _set_grad(param, view, replaces=False):
    """a view as a gradient; of another shape or type it takes the place of one that fits"""
    fits = param.shape == view.shape and param.dtype == view.dtype and param.device == view.device
    if fits and not replaces:
        param.grad = view
        return
    if param.grad is None:
        param.grad = torch.empty_like(param)
    param.grad.data = view


class FlatParamHandle:
    """Parameters of a module as one, of which each rank has a part. Source: torch.distributed.fsdp._flat_param"""

    def __init__(self, params, module, device, strategy, offload, mixed, group, use_orig_params, takes_parts):
        self._module, self.device, self._strategy, self._offload = module, device, strategy, offload
        self.process_group, self.rank, self.world_size = group, group.rank(), group.size()
        self._use_orig_params = use_orig_params
        self._training_state, self._skipped_views = IDLE, None
        self._pre_forward_order_index = self._post_forward_index = None
        self._needs_pre_forward_unshard = self._needs_pre_backward_unshard = self._prefetched = False
        self._ran_pre_backward_hook = False
        self._hook = self._accumulator = None
        self._orig_dtype = params[0].dtype
        self._param_dtype = mixed.param_dtype or self._orig_dtype
        self._reduce_dtype = mixed.reduce_dtype or self._param_dtype
        self._keeps_low = mixed.keep_low_precision_grads
        self._saved_grad_shard, self._post_backward_called = None, False
        self._takes_parts, self._compute_stream = takes_parts, None  # of DTensors
        self._flatten(params, module)
        self._use_unsharded_views(False)

    @property
    def uses_sharded_strategy(self):
        return self._strategy != ShardingStrategy.NO_SHARD

    @property
    def _mixed(self):
        return self._param_dtype != self._orig_dtype

    @property
    def _full_precision(self):
        return self._training_state == SUMMON

    # ---- one flat parameter

    def _flatten(self, params, module):
        self._infos, self._shared, tensors, self._numels, self._shapes, self._is_padding = [], [], [], [], [], []
        self._specs, self._strides = [], []  # strides: None of what lies as contiguous tensors do
        align = 16 // torch.empty(0, dtype=self._param_dtype).element_size() if self._use_orig_params else 0
        wanted, seen, total = {id(p) for p in params}, {}, 0
        first, padding = params[0], None  # the last padding goes last
        for _, submodule in module.named_modules(remove_duplicate=False):
            for name, param in list(submodule._parameter_items()):
                if param is None or id(param) not in wanted:
                    continue
                if id(param) in seen:
                    self._shared.append((submodule, name, *seen[id(param)]))
                    continue
                if align and total % align:
                    padding = self._padded_by(align - total % align, first)
                    tensors.append(padding)
                    total += align - total % align
                seen[id(param)] = (submodule, name)
                self._specs.append(param._spec if self._takes_parts and isinstance(param, DTensor) else None)
                if self._specs[-1] is not None:
                    param = param._local_tensor.requires_grad_()
                tensors.append(param)
                self._is_padding.append(False)
                self._infos.append((submodule, name))
                self._numels.append(param.numel())
                self._shapes.append(param.shape)
                self._strides.append(None if _is_truly_contiguous(param) else param.stride())
                total += param.numel()
        if align and total % self.world_size:
            padding = self._padded_by(self.world_size - total % self.world_size, first)
            tensors.append(padding)
        flat = torch.cat([_in_memory_order(t.detach()) for t in tensors], dim=0)
        if not self._use_orig_params and len({p.requires_grad for p in params}) > 1:
            raise ValueError("Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`")
        self.flat_param = nn.Parameter(flat, requires_grad=any([p.requires_grad for p in params]))
        self._unsharded_numel = flat.numel()
        self._params = None
        if self._use_orig_params:
            self._params = [t for t, padding in zip(tensors, self._is_padding) if not padding]
            self._params = [p if isinstance(p, nn.Parameter) else nn.Parameter(p) for p in self._params]
            self._tensors = [None] * len(self._params)

    def _padded_by(self, numel, like):
        self._numels.append(numel)
        self._is_padding.append(True)
        return _padding(numel, like.dtype, like.device)

    def shard(self):
        with torch.no_grad():
            if self.uses_sharded_strategy:
                chunks = torch.flatten(self.flat_param).chunk(self.world_size)
                chunk = chunks[self.rank] if self.rank < len(chunks) else chunks[0].new_empty(0)
                missing = chunks[0].numel() - chunk.numel()
                shard = chunk.clone()
                if missing > 0:
                    shard = nn.functional.pad(shard, [0, missing])
                self.flat_param.untyped_storage().resize_(0)
                self.flat_param.data = shard
                _C.forget_accumulator(self.flat_param)  # as set_() does
            if self._use_orig_params:
                self._use_sharded_views()

    def init_flat_param_attributes(self):
        with torch.no_grad():
            self._local_shard = self.flat_param.data
            _C.name_memory(self._local_shard, self._module, "FSDP: part of the flat parameter")
            if self._offload:
                self._local_shard = self._local_shard.pin_memory()
                self._cpu_grad = torch.zeros_like(self._local_shard, device="cpu").pin_memory()
            if self._mixed:
                self._mp_shard = torch.empty_like(self._local_shard, device=self.device, dtype=self._param_dtype)
                free_storage(self._mp_shard)
            if self.uses_sharded_strategy:
                numel = self.flat_param.numel() * self.world_size
                self._full_param_padded = torch.empty(numel, device=self.device, dtype=self._param_dtype)
                free_storage(self._full_param_padded)
                if self._mixed:
                    self._full_prec = torch.empty(numel, device=self.device, dtype=self.flat_param.dtype)
                    free_storage(self._full_prec)

    # ---- gathering

    def _padded(self):
        if self._full_precision and self._mixed:
            free_storage(self._full_param_padded)
            return self._full_prec
        return self._full_param_padded

    def needs_unshard(self):
        return self.uses_sharded_strategy and self._padded().untyped_storage().size() == 0

    def pre_unshard(self):
        """whether anything ran"""
        if self.uses_sharded_strategy and not self._offload and not self.needs_unshard():
            return False
        if self._mixed and not self._full_precision:
            alloc_storage(self._mp_shard)
            _C.name_memory(self._mp_shard, self._module, "FSDP: part of the flat parameter, cast")
            with torch.no_grad():
                self._mp_shard.copy_(self._local_shard.to(self.device, non_blocking=True))
            self.flat_param.data = self._mp_shard
            return True
        if self._offload and self.flat_param.device != self.device:
            self.flat_param.data = self.flat_param.to(self.device, non_blocking=True)
            if self._use_orig_params:
                self._use_sharded_views()
            return True
        return False

    def unshard(self):
        if not self.needs_unshard():
            self._use_unsharded(self._padded() if self.uses_sharded_strategy else self.flat_param)
            return
        padded = self._padded()
        alloc_storage(padded)
        _C.name_memory(padded, self._module, "FSDP: unsharded flat parameter")
        sharded = self.flat_param.data
        dist.all_gather_into_tensor(padded, sharded, self.process_group)
        if self._offload:
            sharded.record_stream(torch.cuda.current_stream())
        self._use_unsharded(padded)

    def _use_unsharded(self, padded):
        self.flat_param.data = padded[:self._unsharded_numel]
        moving = self._training_state in (FORWARD, BACKWARD_PRE)
        if self._use_orig_params:
            if self._skipped_views is not None and self._training_state == BACKWARD_PRE:
                return
            self._use_unsharded_views(not moving)
        elif self._training_state == FORWARD:
            self._use_unsharded_views(False)

    def post_unshard(self):
        if self._mixed and self.uses_sharded_strategy:
            self._free_low_precision()

    def _free_low_precision(self):
        if self._mp_shard.untyped_storage().size() != 0:
            self._mp_shard.record_stream(torch.cuda.current_stream())
            free_storage(self._mp_shard)

    def reshard(self, frees):
        self._use_sharded()
        if frees:
            padded = self._padded()
            padded.record_stream(torch.cuda.current_stream())
            free_storage(padded)

    def post_reshard(self):
        if self._mixed and not self.uses_sharded_strategy and not self._full_precision:
            self._free_low_precision()

    def _use_sharded(self):
        skips, whole = False, None
        if self._use_orig_params:
            is_forward = torch.is_grad_enabled() and self._training_state == FORWARD
            skips = is_forward and self._strategy in _KEPT_AFTER_FORWARD
            whole = self.flat_param.data if skips else None
        self.flat_param.data = self._local_shard
        if not self._use_orig_params:
            return
        if skips:
            self._skipped_views = whole
        else:
            self._use_sharded_views()
        if self._training_state == FORWARD and self._skipped_views is None:
            grad = self.flat_param.grad
            if grad is not None and self.uses_sharded_strategy and grad.numel() == self._unsharded_numel:
                self._use_unsharded_grad_views()
            else:
                self._use_sharded_grad_views()

    def whole_to_cpu(self):
        """all of it on the host instead"""
        self.flat_param.data = self.flat_param.to("cpu")
        self._show_whole()
        padded = self._padded()
        padded.record_stream(torch.cuda.current_stream())
        free_storage(padded)

    def whole_from_cpu(self):
        padded = self._padded()
        alloc_storage(padded)
        with torch.no_grad():
            padded[:self._unsharded_numel].copy_(self.flat_param)
        self._use_unsharded(padded)

    def _show_whole(self):
        if self._use_orig_params:
            self._use_unsharded_views(True)

    # ---- what the modules have

    def _views(self):
        return self._views_of(self.flat_param)

    def _views_of(self, whole):
        parts = torch.split(whole, self._numels, dim=0)
        parts = [p for p, padding in zip(parts, self._is_padding) if not padding]
        stream = self._compute_stream
        views = [self._view(i, p) for i, p in enumerate(parts)]
        return [_spread(view, spec, stream) for view, spec in zip(views, self._specs)]

    def _view(self, index, part):
        """a part of the flat parameter, or of what is like it, as the original parameter lies"""
        shape, strides = self._shapes[index], self._strides[index]
        return part.view(shape) if strides is None else part.as_strided(shape, strides)

    def _use_unsharded_views(self, as_params):
        with torch.enable_grad():
            views = self._views()
        for i, (view, (module, name)) in enumerate(zip(views, self._infos)):
            if self._use_orig_params and as_params and self._specs[i] is not None:
                _set_param(module, name, nn.Parameter(view, requires_grad=self.flat_param.requires_grad))
            elif self._use_orig_params and as_params:
                param = self._params[i]
                _set_param(module, name, param)
                param.data = view
            elif as_params:
                _set_param(module, name, nn.Parameter(view, requires_grad=self.flat_param.requires_grad))
            elif self._use_orig_params and self._training_state == FORWARD:
                self._tensors[i] = view
                module._parameters[name] = view
            elif self._use_orig_params and self._training_state == BACKWARD_PRE:
                tensor = self._tensors[i]
                tensor.data = view
                module._parameters[name] = tensor
            else:
                _set_tensor(module, name, view)
        for module, name, other, other_name in self._shared:
            value = getattr(other, other_name)
            if as_params:
                _set_param(module, name, value)
            elif self._use_orig_params and self._training_state in (FORWARD, BACKWARD_PRE):
                module._parameters[name] = value
            else:
                _set_tensor(module, name, value)

    def _places(self):
        """where parameters are: (module, name), shared ones last"""
        return self._infos + [(module, name) for module, name, _, _ in self._shared]

    def _in_shard(self):
        """of each original parameter: (where in this rank's part, how much of it)"""
        size = self.flat_param.numel()
        start, offset, out = size * self.rank if self.uses_sharded_strategy else 0, 0, []
        for numel, padding in zip(self._numels, self._is_padding):
            low, high = max([offset, start]), min([offset + numel, start + size])
            if not padding:
                out.append((low - start, high - low) if high > low else None)
            offset += numel
        return out

    def _in_param(self, index):
        """(where this rank's part of an original parameter begins, where it ends), or None"""
        size = self.flat_param.numel()
        start, offset = size * self.rank if self.uses_sharded_strategy else 0, 0
        for numel, padding in zip(self._numels, self._is_padding):
            if not padding:
                if index == 0:
                    low, high = max([offset, start]), min([offset + numel, start + size])
                    return (low - offset, high - offset) if high > low else None
                index -= 1
            offset += numel
        return None

    def _use_sharded_views(self):
        with torch.no_grad():
            self._skipped_views = None
            if not self.uses_sharded_strategy:
                return self._use_unsharded_views(True)
            empty = torch.empty(0, dtype=self.flat_param.dtype, device=self.flat_param.device)
            for param, place, (module, name) in zip(self._params, self._in_shard(), self._infos):
                _set_param(module, name, param)
                param.data = empty if place is None else self.flat_param[place[0]:place[0] + place[1]]
            for module, name, other, other_name in self._shared:
                _set_param(module, name, getattr(other, other_name))
            if self._training_state == BACKWARD_POST:
                for i in range(len(self._tensors)):
                    self._tensors[i] = None

    def _use_unsharded_grad_views(self):
        grad = self.flat_param.grad
        if grad is None:
            for param in self._params:
                param.grad = None
            return
        parts = torch.split(grad, self._numels, dim=0)
        parts = [p for p, padding in zip(parts, self._is_padding) if not padding]
        for i, (part, (module, name)) in enumerate(zip(parts, self._infos)):
            _set_grad(getattr(module, name), self._view(i, part))

    def _use_sharded_grad_views(self):
        with torch.no_grad():
            grad = self._sharded_grad()
            for param, place in zip(self._params, self._in_shard()):
                if grad is None or place is None or not param.requires_grad:
                    param.grad = None
                else:
                    part = grad[place[0]:place[0] + place[1]].reshape(param.shape)
                    _set_grad(param, part, self._keeps_low)

    def _sharded_grad(self):
        if self._offload and self.uses_sharded_strategy:
            return self._cpu_grad if self._post_backward_called or self.flat_param.grad is not None else None
        if self._saved_grad_shard is not None:
            return self._saved_grad_shard
        return self.flat_param.grad

    # ---- gradients

    def prepare_gradient_for_backward(self):
        grad = self.flat_param.grad
        if grad is None or (grad.numel() == self._unsharded_numel and grad.device == self.flat_param.device):
            return
        sharded = self._cpu_grad if self._offload else grad
        if grad.device == self.device:
            self._saved_grad_shard = sharded = grad.data
        if self._keeps_low and sharded.dtype != self._orig_dtype:
            sharded.data = sharded.to(self._orig_dtype)
        self.flat_param.grad = None

    def prepare_gradient_for_optim(self):
        if self._offload:
            self.flat_param.grad = self._cpu_grad
            self._lower_gradient()
        elif self._saved_grad_shard is not None and self._post_backward_called:
            self.flat_param.grad = self._saved_grad_shard
            self._lower_gradient()
        self._saved_grad_shard = None

    def _lower_gradient(self):
        """in the type of the computation, where it is to be kept"""
        grad = self.flat_param.grad
        if self._keeps_low and grad.dtype != self._param_dtype:
            grad.data = grad.to(self._param_dtype)
            if self._use_orig_params:
                self._use_sharded_grad_views()

    def reset_grad_info(self):
        if not self._use_orig_params:
            return
        if all([p.grad is None for p in self._params]):
            self.flat_param.grad = None
        self.flat_param.requires_grad = any([p.requires_grad for p in self._params])
