# module: torch.nn
# defines: _IncompatibleKeys _load_hooks _load_state_dict _load_own
from collections import namedtuple
import torch


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

    def load(module, local_state_dict, prefix):
        local_metadata = {"assign_to_params_buffers": True} if assign else {}
        module._load_from_state_dict(local_state_dict, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs)
        for name, child in module._module_items():
            if child is not None:
                child_prefix = prefix + name + "."
                load(child, {k: v for k, v in local_state_dict.items() if k.startswith(child_prefix)}, child_prefix)
        keys = _IncompatibleKeys(missing_keys, unexpected_keys)
        for hook in _load_hooks(module, "loaded"):
            hook(module, keys)

    load(module, dict(state_dict), "")
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
                error_msgs.append(f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                                  f"checkpoint but received {type(value)}")
                continue
            if len(param.shape) == 0 and len(value.shape) == 1:
                value = value[0]
            if tuple(value.shape) != tuple(param.shape):
                error_msgs.append(f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in "
                                  f"current model is {param.shape}.")
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
