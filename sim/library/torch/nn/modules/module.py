import torch
import torch._C as _C
from _attribute_tables import AttributeTable
from collections import namedtuple
from torch.nn.modules._always import call_always

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


def _load_hooks(module, kind):
    return list(module._hooks(kind).values()) if "_hook_tables" in module.__dict__ else []


def _load_state_dict(module, state_dict, strict, assign):
    """Module.load_state_dict: modules in their own order, whatever that of the dict"""
    missing_keys, unexpected_keys, error_msgs = [], [], []
    if not state_dict and hasattr(state_dict, "fill"):  # torch.hub.UnreadWeights
        state_dict.fill(module)

    def load(module, local_state_dict, prefix):
        local_metadata = {"assign_to_params_buffers": True} if assign else {}
        module._load_from_state_dict(
            local_state_dict, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs
        )
        for name, child in module._module_items():
            if child is not None:
                child_prefix = prefix + name + "."
                load(child, {k: v for k, v in local_state_dict.items() if k.startswith(child_prefix)}, child_prefix)
        keys = _IncompatibleKeys(missing_keys, unexpected_keys)
        for hook in _load_hooks(module, "loaded"):
            hook(module, keys)

    state_dict = dict(state_dict)
    load(module, state_dict, "")
    if strict:
        for keys, what in ((unexpected_keys, "Unexpected"), (missing_keys, "Missing")):
            if keys:
                listed = ", ".join(f'"{k}"' for k in keys)
                error_msgs.insert(0, f"{what} key(s) in state_dict: {listed}. ")
    if error_msgs:
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t" + "\n\t".join(error_msgs))
    return _IncompatibleKeys(missing_keys, unexpected_keys)


def _load_own(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
    """Module._load_from_state_dict: its own parameters and buffers"""
    for hook in _load_hooks(module, "load"):
        hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    own = {name: p for name, p in module._parameter_items() if p is not None}
    own.update({name: b for name, b in module._buffer_items() if b is not None and module._is_persistent(name)})
    for name, param in own.items():
        key = prefix + name
        if key in state_dict:
            value = state_dict[key]
            if not isinstance(value, torch.Tensor):
                error_msgs.append(
                    f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                    f"checkpoint but received {type(value)}"
                )
                continue
            if len(param.shape) == 0 and len(value.shape) == 1:
                value = value[0]
            if tuple(value.shape) != tuple(param.shape):
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in "
                    f"current model is {param.shape}."
                )
                continue
            with torch.no_grad():
                if not local_metadata.get("assign_to_params_buffers", False):
                    param.copy_(value)
                    continue
                if isinstance(param, torch.nn.Parameter):
                    if isinstance(value, torch.nn.Parameter):
                        value.requires_grad_(param.requires_grad)
                    else:
                        value = torch.nn.Parameter(value, requires_grad=param.requires_grad)
                setattr(module, name, value)
        elif strict:
            missing_keys.append(key)
    if strict:
        children = {name for name, child in module._module_items()}
        for key in state_dict:
            if key.startswith(prefix):
                head, dot, _ = key[len(prefix):].partition(".")
                if head not in (children if dot else own):
                    unexpected_keys.append(key)


class _Handle:
    """what register_*_hook gives: remove() takes the hook away"""

    def __init__(self, hooks, key):
        self.hooks, self.key = hooks, key

    def remove(self):
        self.hooks.pop(self.key, None)


class _BackwardHook:
    """one call of a module that has backward hooks. Source: torch.utils.hooks.BackwardHook"""

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs = None
        self.n_inputs = self.n_outputs = -1
        self.input_tensors_index = self.output_tensors_index = None

    def _through(self, values, callback):
        """the values, their tensors through a node that calls back, if one of them wants a gradient"""
        found = [i for i, value in enumerate(values) if isinstance(value, torch.Tensor)]
        if not torch.is_grad_enabled() or not any(values[i].requires_grad for i in found):
            return values, None
        new = torch.autograd.BackwardHookFunction.apply(callback, *[values[i] for i in found])
        values = list(values)
        for i, value in zip(found, new):
            values[i] = value
        return tuple(values), found

    def setup_input_hook(self, args):
        self.n_inputs = len(args)
        res, self.input_tensors_index = self._through(args, self._inputs_ready)
        return res

    def setup_output_hook(self, args):
        is_tuple = isinstance(args, tuple)
        if not is_tuple:
            args = (args,)
        self.n_outputs = len(args)
        res, self.output_tensors_index = self._through(args, self._outputs_ready)
        return res if is_tuple else res[0]

    def _packed(self, indices, values, size):
        res = [None] * size
        for i, value in zip(indices, values):
            res[i] = value
        return tuple(res)

    def _outputs_ready(self, grads, zeros_for):
        zeros = list(zeros_for(grads))[
            ::-1
        ]  # until the hooks have run, though they see None; the first is dropped first
        self.grad_outputs = self._packed(self.output_tensors_index, grads, self.n_outputs)
        for hook in self.user_pre_hooks:
            res = hook(self.module, self.grad_outputs)
            if res is not None:
                self.grad_outputs = res if isinstance(res, tuple) else (res,)
        local = self.grad_outputs
        if self.input_tensors_index is None:
            grad_inputs = (None,) * self.n_inputs
            for hook in self.user_hooks:
                res = hook(self.module, grad_inputs, self.grad_outputs)
                if res is not None and not (isinstance(res, tuple) and all(el is None for el in res)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or "
                        "None for all gradients."
                    )
            self.grad_outputs = None
        return tuple([local[i] for i in self.output_tensors_index])

    def _inputs_ready(self, grads, zeros_for):
        grads = zeros_for(grads)
        if self.grad_outputs is None:
            return grads
        res = self._packed(self.input_tensors_index, grads, self.n_inputs)
        for hook in self.user_hooks:
            out = hook(self.module, res, self.grad_outputs)
            if out is None:
                continue
            out = out if isinstance(out, tuple) else (out,)
            if len(out) != len(res):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(out)}, but expected {len(res)}"
                )
            res = out
        self.grad_outputs = None
        return tuple([res[i] for i in self.input_tensors_index])


class _NodeHooks:
    """Hooks of register_backward_hook: they stand at the node that made the result's first tensor.

    Source: torch/nn/modules/module.py, _call_impl.
    """

    def __init__(self, module, hooks):
        self.module, self.hooks = module, hooks

    def setup_input_hook(self, args):
        return args

    def setup_output_hook(self, result):
        value = result
        while not isinstance(value, torch.Tensor):
            if isinstance(value, dict):
                value = next(v for v in value.values() if isinstance(v, torch.Tensor))
            else:
                value = value[0]
        node = value.grad_fn
        if node is not None:
            for hook in self.hooks:
                node.register_hook(lambda inputs, outputs, hook=hook: hook(self.module, inputs, outputs))
        return result


def _backward_hook(module):
    at_node = list(module._hooks("backward_at_node").values())
    if at_node:
        return _NodeHooks(module, at_node)
    hooks, pre_hooks = list(module._hooks("backward").values()), list(module._hooks("backward_pre").values())
    return _BackwardHook(module, hooks, pre_hooks) if hooks or pre_hooks else None


class Module(_C.ModuleBase):
    training = True
    dump_patches = False
    _kept_apart = ("training", "_parameters", "_buffers", "_modules")

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, *inputs):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- what it holds

    def register_buffer(self, name, tensor, persistent=True):
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists")
        self._set_buffer(name, tensor, persistent)

    def register_module(self, name, module):
        self.add_module(name, module)

    def named_children(self):
        return iter(self._named_child_list())

    def children(self):
        return iter(self._child_list())

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        if memo is None:
            memo = set()
        if self not in memo:
            if remove_duplicate:
                memo.add(self)
            yield prefix, self
            for name, module in self._module_items():
                if module is not None:
                    yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def modules(self):
        for name, module in self.named_modules():
            yield module

    def parameters(self, recurse=True):
        if recurse:
            return iter(self._parameter_list())
        return iter([p for name, p in self._parameter_items() if p is not None])

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        if recurse and remove_duplicate:
            return iter(self._named_parameter_list(prefix))
        return self._named_members(lambda module: module._parameter_items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        if recurse:
            return iter(self._buffer_list())
        return iter([b for name, b in self._buffer_items() if b is not None])

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        if recurse and remove_duplicate:
            return iter(self._named_buffer_list(prefix))
        return self._named_members(lambda module: module._buffer_items(), prefix, recurse, remove_duplicate)

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        memo = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for module_prefix, module in modules:
            for name, member in get_members_fn(module):
                if member is None or member in memo:
                    continue
                if remove_duplicate:
                    memo.add(member)
                yield module_prefix + ("." if module_prefix else "") + name, member

    @property
    def _parameters(self):
        own = self._own_parameters()
        return AttributeTable(self, "_parameters", self._table_access) if own is None else own

    @_parameters.setter
    def _parameters(self, mapping):
        own_table = isinstance(mapping, AttributeTable) and mapping._owner is self
        self._replace_parameters(None if own_table else mapping)

    @property
    def _buffers(self):
        return AttributeTable(self, "_buffers", self._table_access)

    @property
    def _non_persistent_buffers_set(self):
        return set([name for name in self._buffers if not self._is_persistent(name)])

    @property
    def _modules(self):
        return AttributeTable(self, "_modules", self._table_access)

    def get_submodule(self, target):
        module = self
        for name in target.split(".") if target else []:
            module = getattr(module, name)
        return module

    def set_submodule(self, target, module, strict=False):
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def share_memory(self):
        return self

    def compile(self, *args, **kwargs):
        compiled = torch.compile(self.forward, *args, **kwargs)
        if _C.compile_mode() != "model":
            return
        if not self._is_torchs():
            self.forward = compiled
            return
        for child in self.children():
            child.compile(*args, **kwargs)

    def _is_torchs(self):
        """whether forward() is PyTorch's own code, which Dynamo does not compile unless other code calls it
        (torch/_dynamo/trace_rules.py, check_file)"""
        for base in type(self).__mro__:
            if "forward" in base.__dict__:
                return base.__module__.split(".")[0] == "torch"
        return False

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        return getattr(self.get_submodule(path), name)

    get_buffer = get_parameter

    def state_dict(self, destination=None, prefix="", keep_vars=False):
        for hook in _load_hooks(self, "save"):
            hook(self, prefix, keep_vars)
        out = {} if destination is None else destination
        for name, p in self._parameter_items():
            if p is not None:
                out[prefix + name] = p if keep_vars else p.detach()
        for name, b in self._buffer_items():
            if b is not None and self._is_persistent(name):
                out[prefix + name] = b if keep_vars else b.detach()
        for name, module in self._module_items():
            if module is not None:
                module.state_dict(out, prefix + name + ".")
        return out

    def load_state_dict(self, state_dict, strict=True, assign=False):
        given = [state_dict]
        del state_dict  # one that nobody else has goes when it has been copied
        return _load_state_dict(self, given.pop(), strict, assign)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        _load_own(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def register_state_dict_pre_hook(self, hook):
        return self._add_hook("save", hook)

    def register_load_state_dict_pre_hook(self, hook):
        return self._add_hook("load", hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return self._add_hook("load", hook if with_module else lambda module, *args: hook(*args))

    def register_load_state_dict_post_hook(self, hook):
        return self._add_hook("loaded", hook)

    # ---- moving and casting

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        for key, param in self._parameter_items():
            if param is None:
                continue
            param_applied = _C.without_grad(fn, param)
            param_grad = param.grad
            param._memory = param_applied
            if param_grad is not None:
                with torch.no_grad():
                    grad_applied = fn(param_grad)
                param.grad._memory = grad_applied
        for key in self._buffer_names():
            buf = getattr(self, key)
            if buf is not None:
                self._set_buffer(key, fn(buf), self._is_persistent(key))
        return self

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args, **kwargs):
        device, dtype, memory_format = None, None, kwargs.get("memory_format")
        for value in [*args, kwargs.get("device"), kwargs.get("dtype")]:
            if isinstance(value, torch.dtype):
                dtype = value
            elif isinstance(value, torch.Tensor):
                device, dtype = value.device, value.dtype
            elif value is not None and not isinstance(value, bool):
                device = value

        def move(t):
            return t.to(device)

        def convert(t):
            floating = t.is_floating_point() or t.is_complex()
            if memory_format is not None and t.dim() in (4, 5):
                return t.to(device, dtype if floating else None, memory_format=memory_format)
            return t.to(device, dtype if floating else None)

        before = _C.set_moves_module(True)
        self._apply(move if dtype is None and memory_format is None else convert)
        _C.set_moves_module(before)
        return self

    def cuda(self, device=None):
        before = _C.set_moves_module(True)
        self._apply(lambda t: t.cuda(device))
        _C.set_moves_module(before)
        return self

    def cpu(self):
        return self._apply(lambda t: t.cpu())

    def to_empty(self, *, device, recurse=True):
        return self._apply(lambda t: torch.empty_like(t, device=device), recurse)

    def float(self):
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self):
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type))

    # ---- modes and gradients

    def train(self, mode=True):
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for p in self.parameters():
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.requires_grad_(False)
                    p.grad.zero_()

    # ---- hooks

    def _hooks(self, kind):
        if "_hook_tables" not in self.__dict__:
            kinds = ("pre", "post", "backward", "backward_at_node", "backward_pre", "save", "load", "loaded")
            self._hook_tables = {kind: {} for kind in kinds}
            self._set_hooks(self._hook_tables["pre"], self._hook_tables["post"])
        return self._hook_tables[kind]

    @property
    def _forward_hooks(self):
        return self._hooks("post")

    @property
    def _forward_pre_hooks(self):
        return self._hooks("pre")

    @property
    def _backward_hooks(self):
        return self._hooks("backward_at_node" if self._is_full_backward_hook is False else "backward")

    @property
    def _backward_pre_hooks(self):
        return self._hooks("backward_pre")

    @property
    def _state_dict_hooks(self):
        return self._hooks("save")

    @property
    def _load_state_dict_pre_hooks(self):
        return self._hooks("load")

    @property
    def _load_state_dict_post_hooks(self):
        return self._hooks("loaded")

    @property
    def _is_full_backward_hook(self):
        kept = self.__dict__.get("_hook_tables")
        return kept.get("is_full") if kept is not None else None

    def _add_hook(self, kind, hook, prepend=False, with_kwargs=False, always_call=False):
        hooks = self._hooks(kind)
        key = max(hooks, default=-1) + 1
        hooks[key] = (hook, with_kwargs, always_call) if with_kwargs or always_call else hook
        if prepend:
            others = [(k, h) for k, h in hooks.items() if k != key]
            for k, h in others:
                del hooks[k]
                hooks[k] = h
        return _Handle(hooks, key)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return self._add_hook("pre", hook, prepend, with_kwargs)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return self._add_hook("post", hook, prepend, with_kwargs, always_call)

    def _call_always(self, *state):
        call_always(self, *state)

    def _set_backward_kind(self, is_full):
        if self._is_full_backward_hook is (not is_full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a "
                "single Module. Please use only one of them."
            )
        self._hooks("backward")
        self._hook_tables["is_full"] = is_full
        self._set_backward_hooks(_backward_hook)

    def register_full_backward_hook(self, hook, prepend=False):
        self._set_backward_kind(True)
        handle = self._add_hook("backward", hook, prepend)
        return handle

    def register_full_backward_pre_hook(self, hook, prepend=False):
        handle = self._add_hook("backward_pre", hook, prepend)
        self._set_backward_hooks(_backward_hook)
        return handle

    def register_backward_hook(self, hook):
        self._set_backward_kind(False)
        return self._add_hook("backward_at_node", hook)

    # ---- texts

    def extra_repr(self):
        return torch.nn._words_of(self)

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        lines = []
        for name, module in self._module_items():
            text = repr(module).split("\n")
            lines.append("(" + name + "): " + "\n  ".join(text))
        extra = self.extra_repr()
        said = extra.split("\n") if extra else []
        if not lines and len(said) < 2:
            return self._get_name() + "(" + extra + ")"
        return self._get_name() + "(\n  " + "\n  ".join(said + lines) + "\n)"
